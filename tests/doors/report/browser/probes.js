/* What the browser tests ask a page about itself. */
const scroller = document.querySelector(".scroller");

/* True if the first element of this kind stands whole in what is seen of the source. */
function inView(selector) {
  const [seen, box] = [document.querySelector(selector)?.getBoundingClientRect(), scroller.getBoundingClientRect()];
  return Boolean(seen) && seen.height > 0 && seen.top >= box.top - 1 && seen.bottom <= box.bottom + 1;
}

/* Lines met while scrolling from top to end, by the offset at which each begins. */
function scrolled(done) {
  const met = {};
  const start = (line) => line.firstChild.start ?? line.firstChild.firstChild.start;
  const step = () => {
    for (const line of document.querySelectorAll(".chunk p")) if (line.firstChild) met[start(line)] = line.textContent;
    const before = scroller.scrollTop;
    scroller.scrollTop += scroller.clientHeight;
    if (scroller.scrollTop === before) done(met);
    else requestAnimationFrame(() => requestAnimationFrame(step));
  };
  scroller.scrollTop = 0;
  requestAnimationFrame(() => requestAnimationFrame(step));
}

/* The line under a point a little below the top of the source. */
function lineRead() {
  const box = scroller.getBoundingClientRect();
  return document.elementFromPoint(box.left + box.width / 2, box.top + 40).closest("p").textContent;
}

function colour(text) {
  const numbers = text.match(/[\d.]+(e-?\d+)?/g).map(Number);
  const scale = text.startsWith("color(") ? 255 : 1;
  return [...numbers.slice(0, 3).map((n) => n * scale), numbers[3] ?? 1];
}

const over = (top, under) => [...[0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])), 1];

function ground(element) {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(colour(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
}

/* WCAG 2.2, relative luminance and contrast ratio. */
function luminance(rgb) {
  const linear = rgb.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

function tooFaint(theme) {
  document.documentElement.dataset.theme = theme;
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!text || !element.checkVisibility() || element.closest("script, style, .unseen")) continue;
    const back = ground(element);
    const front = over(colour(element.ownerSVGElement ? style.fill : style.color), back);
    const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) faint.push([element.className.baseVal ?? element.className, element.textContent.slice(0, 30), ratio.toFixed(2)]);
  }
  return faint;
}

/* What sticks out of the window to the right, where nothing cuts it off or lets it scroll. */
function tooWide() {
  const held = (element) => {
    for (let e = element.parentElement; e !== document.body; e = e.parentElement)
      if (getComputedStyle(e).overflowX !== "visible" && e.getBoundingClientRect().right <= innerWidth) return !e.matches(".reading, .scroller");
    return false;
  };
  const wide = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
  return wide.filter((e) => !held(e)).map((e) => e.outerHTML.slice(0, 120));
}
