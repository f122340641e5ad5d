/* Text and elements. All that is shown goes through text nodes: nothing is ever parsed as HTML, and
   characters that act (controls, direction overrides) become marks that are read. */
const data = JSON.parse(document.getElementById("data").textContent);
const ACTING = new RegExp(data.acting.pattern, "gu");

function say(key, filled = {}) {
  const phrase = Object.hasOwn(data.words, key) ? data.words[key] : String(key);
  return phrase.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(filled, name) ? filled[name] : whole));
}

/* What no label is called: undecided, or not checked where no model has read. */
const nameOf = (label) => label ?? (data.unread ? "not_checked" : "undecided");
const sign = (label) => data.signs[nameOf(label)] ?? "—";
const percent = (share) => `${Math.round(share * 100)}%`;
const numeral = (number) => number.toLocaleString("en");

/* Too long a text without its middle: cut at spaces, where there are some near. */
function short(text, length) {
  if (text.length <= length) return text;
  const [head, tail] = [text.slice(0, length / 2), text.slice(-length / 2)];
  const [last, first] = [head.lastIndexOf(" "), tail.indexOf(" ")];
  return `${last > length / 4 ? head.slice(0, last) : head} … ${first >= 0 && first < length / 4 ? tail.slice(first + 1) : tail}`;
}

function markOf(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `⟦${data.acting.names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`}⟧`;
}

/* For attributes and titles, where there is no room for elements. */
const plain = (text) => String(text).replace(ACTING, markOf);

/* Text nodes and marks for this text; each knows the offset (in UTF-16 units) of its first character. */
function shown(text, offset = 0) {
  const nodes = [];
  const add = (node, start) => nodes.push(Object.assign(node, { start: offset + start }));
  let at = 0;
  for (const match of text.matchAll(ACTING)) {
    if (match.index > at) add(document.createTextNode(text.slice(at, match.index)), at);
    add(make("span", { class: "acting" }, document.createTextNode(markOf(match[0]))), match.index);
    at = match.index + match[0].length;
  }
  if (at < text.length) add(document.createTextNode(text.slice(at)), at);
  return nodes;
}

/* An element. `on…` attributes must be functions; everything else is a plain attribute. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, plain(value));
  }
  fill(element, ...children);
  return element;
}

function fill(element, ...children) {
  const nodes = children.flat(Infinity).filter((child) => child != null && child !== false);
  element.replaceChildren(...nodes.flatMap((child) => (child instanceof Node ? child : shown(String(child)))));
  return element;
}

const button = (text, onclick, attributes = {}) => make("button", { type: "button", onclick, ...attributes }, text);

/* The sign and the name of a label, as a small tag. */
const tag = (label) =>
  make("span", { class: `tag ${nameOf(label)}` }, make("b", { "aria-hidden": "true" }, sign(label)), ` ${say(nameOf(label))}`);

/* Only web addresses become links, and only those that parse as such. */
function address(uri) {
  try {
    if (["http:", "https:"].includes(new URL(uri).protocol))
      return make("a", { href: uri, rel: "noreferrer noopener", target: "_blank" }, make("bdi", {}, uri));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return make("bdi", {}, uri);
}

/* How often each value is there, in the order of first sight. */
function counted(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/* Offsets in the report count code points; a browser counts UTF-16 units. */
class Points {
  constructor(text) {
    this.wide = [];
    for (const match of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) this.wide.push(match.index - this.wide.length);
  }
  unit(point) {
    let low = 0;
    let high = this.wide.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.wide[middle] < point) low = middle + 1;
      else high = middle;
    }
    return point + low;
  }
  units(place) {
    return { start: this.unit(place.start), end: this.unit(place.end) };
  }
}

/* [start, end) cut where marks begin and end; each piece with the marks over it. Marks are sorted by start. */
function pieces(start, end, marks) {
  const over = marks.filter((mark) => mark.start < end && mark.end > start);
  const edges = new Set([start, end]);
  for (const mark of over) {
    if (mark.start > start) edges.add(mark.start);
    if (mark.end < end) edges.add(mark.end);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  let active = [];
  let next = 0;
  return sorted.slice(1).map((to, index) => {
    active = active.filter((mark) => mark.end > sorted[index]);
    while (next < over.length && over[next].start <= sorted[index]) active.push(over[next++]);
    return { start: sorted[index], end: to, marks: active };
  });
}

/* Light, dark, or as the system has it; each click goes on to the next. */
const THEMES = ["auto", "light", "dark"];

function themeButton() {
  const root = document.documentElement;
  const theme = button(
    say("theme_auto"),
    () => {
      root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme ?? "auto") + 1) % THEMES.length];
      fill(theme, say(`theme_${root.dataset.theme}`));
    },
    { id: "theme" },
  );
  return theme;
}
