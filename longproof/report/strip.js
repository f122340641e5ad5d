/* The strip of the book: across, where in the source; down, the order of the response. A faithful summary in
   order is a falling line; a part with nothing above it was left out; a dashed turn of the line is disorder. */
const SVG = "http://www.w3.org/2000/svg";
const LEFT_OUT = 0.03; /* share of the source from which a part without evidence is worth showing */
const LEFT_OUT_CHARACTERS = 2500;
const MANY_QUOTES = 8;
const OUT_OF_ORDER = 0.08; /* share of the source */

function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/* Sources side by side: where each begins, as a share of all. */
const sources = report.documents.filter((one) => one.role === "source");
const characters = sources.reduce((sum, one) => sum + one.characters, 0) || 1;
const begins = {};
sources.reduce((sum, one) => ((begins[one.id] = sum), sum + one.characters), 0);
const shareOf = (id, offset) => (id in begins ? (begins[id] + offset) / characters : null);

const sharesOf = ({ source_id: id, start, end }) => [shareOf(id, start), shareOf(id, end)];
const spansOf = (claim) => citedOf(claim).filter((span) => span.source_id in begins).map(sharesOf);
/* The place where a claim was looked for; null where that is most of the source, which is no place. */
function windowOf(claim) {
  if (!claim.window || !(claim.window.source_id in begins)) return null;
  const [start, end] = sharesOf(claim.window);
  return end - start < 0.5 ? [start, end] : null;
}

/* Where a sentence comes from, as a share of the source; null where nobody knows. */
function centreOf(sentence) {
  const quotes = sentence.claims.flatMap(spansOf).map(([start]) => start).sort((a, b) => a - b);
  if (quotes.length) return quotes[quotes.length >> 1];
  const windows = sentence.claims.map(windowOf).filter(Boolean);
  return windows.length ? (windows[0][0] + windows[0][1]) / 2 : null;
}

/* Long parts of the source without evidence: no quote for far longer than is usual here, or, where quotes
   are few, no window. */
function leftOut() {
  const quotes = report.claims.flatMap(spansOf).sort((a, b) => a[0] - b[0]);
  const many = quotes.length >= MANY_QUOTES;
  const touched = many ? quotes : [...quotes, ...report.claims.map(windowOf).filter(Boolean)].sort((a, b) => a[0] - b[0]);
  if (!touched.length) return [];
  const gaps = [];
  let at = 0;
  for (const [start, end] of [...touched, [1, 1]]) {
    if (start > at) gaps.push([at, start]);
    at = Math.max(at, end);
  }
  const lengths = gaps.map(([start, end]) => end - start).sort((a, b) => a - b);
  const usual = many ? lengths[lengths.length >> 1] : 0;
  return gaps.filter(([start, end]) => end - start >= Math.max(LEFT_OUT, LEFT_OUT_CHARACTERS / characters, 5 * usual));
}

/* The most sentences that stand in the source's order: a longest non-falling run of centres (patience sorting). */
function inOrder(placed) {
  const tails = [];
  for (const one of placed) {
    let pile = tails.findIndex((tail) => tail.centre > one.centre);
    if (pile < 0) pile = tails.length;
    one.before = tails[pile - 1] ?? null;
    tails[pile] = one;
  }
  const run = [];
  for (let one = tails.at(-1); one; one = one.before) run.unshift(one);
  return run;
}

/* Sentences that lie clearly away from where their neighbours in order would have them. */
function outOfOrder() {
  const placed = sentences.map((sentence) => ({ sentence, centre: centreOf(sentence) })).filter((one) => one.centre !== null);
  const run = inOrder(placed);
  return placed.filter((one) => {
    const after = run.find((other) => other.sentence.index >= one.sentence.index);
    const before = run.findLast((other) => other.sentence.index <= one.sentence.index);
    return (after && one.centre > after.centre + OUT_OF_ORDER) || (before && one.centre < before.centre - OUT_OF_ORDER);
  }).map((one) => one.sentence);
}

/* Numbers with runs of neighbours joined: 3, 7–9. */
function ranges(numbers) {
  const runs = [];
  for (const number of numbers) {
    if (runs.at(-1)?.[1] === number - 1) runs.at(-1)[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(", ");
}

class Strip {
  constructor(element, onPick) {
    this.element = element;
    this.onPick = onPick;
    this.renew();
    new ResizeObserver(() => this.resized()).observe(element);
  }

  renew() {
    this.gaps = leftOut();
    this.astray = new Set(outOfOrder());
    if (this.width) this.paint(this.width);
  }

  resized() {
    const style = getComputedStyle(this.element);
    const width = Math.floor(this.element.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight));
    if (width && width !== this.width) this.paint((this.width = width));
  }

  paint(width) {
    const height = Math.max(78, Math.min(150, innerHeight * 0.16, 32 + sentences.length * 12));
    this.box = { left: 0, right: width - 72, top: 2, bottom: height - 22, width, height };
    const picture = draw("svg", { width, height, role: "img", "aria-label": plain(this.told().join(" ")) });
    picture.append(...this.ground(), ...this.path(), ...sentences.flatMap((sentence) => this.row(sentence)), ...this.scale());
    this.view = draw("rect", { class: "view", y: this.box.bottom - 1.5, height: 3, rx: 1.5 });
    this.current = draw("line", { class: "current", x1: this.box.left, x2: width });
    picture.append(this.view, this.current);
    picture.addEventListener("click", (event) => this.pick(event));
    this.element.replaceChildren(make("h2", { class: "unseen" }, say("strip")), picture, this.legend());
    this.see(this.seen ?? null);
    this.select(this.selected ?? null);
  }

  x(share) {
    return this.box.left + share * (this.box.right - this.box.left);
  }

  y(index) {
    return this.box.top + ((index + 0.5) / Math.max(1, sentences.length)) * (this.box.bottom - this.box.top);
  }

  ground() {
    const { left, right, top, bottom, width } = this.box;
    const plane = draw("rect", { class: "plane", x: left, y: top, width: right - left, height: bottom - top, rx: 3 });
    const nowhere = draw("rect", { class: "nowhere", x: right + 10, y: top, width: width - right - 10, height: bottom - top, rx: 3 });
    const gaps = this.gaps.map(([start, end]) => {
      const gap = draw("rect", { class: "gap", x: this.x(start), y: top, width: this.x(end) - this.x(start), height: bottom - top });
      gap.append(draw("title", {}, say("left_out_n", { place: `${percent(start)}–${percent(end)}` })));
      return gap;
    });
    return [this.hatching(), plane, nowhere, ...gaps];
  }

  hatching() {
    const line = draw("path", { d: "M0 6L6 0", class: "hatch" });
    return draw("defs", {}, draw("pattern", { id: "hatching", width: 6, height: 6, patternUnits: "userSpaceOnUse" }, line));
  }

  path() {
    const lines = [];
    let before = null;
    for (const sentence of sentences) {
      const centre = centreOf(sentence);
      if (centre === null) continue;
      const at = { sentence, x: this.x(centre), y: this.y(sentence.index) };
      const turn = before && this.astray.has(sentence) !== this.astray.has(before.sentence);
      if (before) lines.push(draw("line", { class: turn ? "path astray" : "path", x1: before.x, y1: before.y, x2: at.x, y2: at.y }));
      before = at;
    }
    return lines;
  }

  row(sentence) {
    const y = this.y(sentence.index);
    const name = nameOf(sentence.label);
    const row = (this.box.bottom - this.box.top) / sentences.length;
    const windows = sentence.claims.map(windowOf).filter(Boolean);
    const from = this.x(Math.min(...windows.map(([start]) => start)));
    const to = this.x(Math.max(...windows.map(([, end]) => end)));
    const thick = Math.min(4, row);
    const bar = windows.length ? draw("rect", { class: "bar", x: from, y: y - thick / 2, width: Math.max(2, to - from), height: thick }) : "";
    const quotes = sentence.claims.flatMap(spansOf).map(([start]) => draw("circle", { class: `quote ${name}`, cx: this.x(start), cy: y, r: row < 3 ? 1.4 : 2.4 }));
    return [bar, ...quotes, ...this.problem(sentence, y)];
  }

  problem(sentence, y) {
    if (!sentence.problem) return [];
    const centre = causesFirst(sentence).flatMap(spansOf)[0]?.[0];
    const x = centre === undefined ? this.box.right + 10 + (this.box.width - this.box.right - 10) / 2 : this.x(centre);
    const text = draw("text", { x, y: y + 4, class: `sign ${nameOf(sentence.label)}` }, sign(sentence.label));
    text.append(draw("title", {}, plain(`${say("sentence_n", { n: sentence.index + 1 })}: ${say(nameOf(sentence.label))}`)));
    return [draw("circle", { class: "halo", cx: x, cy: y, r: 7 }), text];
  }

  scale() {
    const { bottom, right, width } = this.box;
    const marks = [0, 0.25, 0.5, 0.75, 1].map((share) => draw("text", { class: "tick", x: this.x(share), y: bottom + 14, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, percent(share)));
    const nowhere = draw("text", { class: "tick", x: right + 10 + (width - right - 10) / 2, y: bottom + 14, "text-anchor": "middle" }, say("nowhere"));
    const edges = sources.slice(1).map((one) => draw("line", { class: "edge", x1: this.x(shareOf(one.id, 0)), x2: this.x(shareOf(one.id, 0)), y1: this.box.top, y2: bottom }));
    return [...marks, nowhere, ...edges];
  }

  /* The picture in words. */
  told() {
    const problems = sentences.filter((sentence) => sentence.problem).map((sentence) => sentence.index + 1);
    return [
      say("strip_is", { n: sentences.length }),
      problems.length ? say("strip_problems", { list: ranges(problems) }) : "",
      ...this.compared(),
    ].filter(Boolean);
  }

  /* What is left out and out of order; nothing where no evidence says so. */
  compared() {
    if (report.triage || !report.claims.some((claim) => spansOf(claim).length)) return [];
    const gaps = this.gaps.map(([start, end]) => `${percent(start)}–${percent(end)}`);
    const astray = [...this.astray].map((sentence) => sentence.index + 1);
    return [
      gaps.length ? say("left_out_n", { place: gaps.join(", ") }) : say("nothing_left_out"),
      astray.length ? say("out_of_order", { list: ranges(astray) }) : say("in_order"),
    ];
  }

  legend() {
    return make("p", { class: "legend" }, make("span", { class: "axis" }, say("strip_axes")), this.compared().map((line) => make("span", {}, line)));
  }

  pick(event) {
    const box = this.element.querySelector("svg").getBoundingClientRect();
    const row = ((event.clientY - box.top - this.box.top) / (this.box.bottom - this.box.top)) * sentences.length;
    const x = (event.clientX - box.left - this.box.left) / (this.box.right - this.box.left);
    const away = (sentence) => Math.hypot((sentence.index + 0.5 - row) / sentences.length, ((centreOf(sentence) ?? 1.05) - x) * 2);
    const nearest = sentences.reduce((best, sentence) => (best && away(best) <= away(sentence) ? best : sentence), null);
    if (nearest) this.onPick(nearest.index);
  }

  /* Shows which part of the source is in view: `{id, start, end}` in code points, or null. */
  see(place) {
    this.seen = place;
    if (!this.view) return;
    const start = place && shareOf(place.id, place.start);
    this.view.style.display = start == null ? "none" : "";
    if (start == null) return;
    this.view.setAttribute("x", this.x(start));
    this.view.setAttribute("width", Math.max(3, this.x(shareOf(place.id, place.end)) - this.x(start)));
  }

  select(index) {
    this.selected = index;
    if (!this.current) return;
    this.current.style.display = index === null ? "none" : "";
    for (const edge of ["y1", "y2"]) this.current.setAttribute(edge, this.y(index ?? 0));
  }
}
