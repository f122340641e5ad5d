/* A text of any length, of which only what is near the view stands in the page. Knows: chunks, their heights,
   marks over them. Does not know: claims. Offsets are UTF-16 units. */
const CHUNK = 2500;

function cut(text) {
  const chunks = [];
  for (let start = 0; start < text.length; ) {
    const end = start + CHUNK >= text.length ? text.length : breakAfter(text, start, start + CHUNK);
    chunks.push({ start, end, joined: start > 0 && text[start - 1] !== "\n", height: 0, measured: false, node: null });
    start = end;
  }
  return chunks;
}

/* The best place for a cut near `near`: after a line, after a sentence, after a word, between characters. */
function breakAfter(text, start, near) {
  const ahead = text.slice(near, near + CHUNK / 2).indexOf("\n");
  if (ahead >= 0) return near + ahead + 1;
  const behind = text.slice(start, near);
  for (const stop of ["\n", "。", ". ", " "]) {
    const at = behind.lastIndexOf(stop);
    if (at > CHUNK / 2) return start + at + stop.length;
  }
  const code = text.charCodeAt(near);
  return code >= 0xdc00 && code <= 0xdfff ? near + 1 : near;
}

/* Widths of the lines of a chunk in ems, to guess its height before it is drawn. */
const lineEms = (text) => text.split("\n").map((line) => line.length - 0.52 * (line.match(/[\0-\u02ff]/g)?.length ?? 0));

class TextView {
  constructor(scroller, onView) {
    this.scroller = scroller;
    this.onView = onView;
    this.body = make("div", { class: "book" });
    scroller.replaceChildren(this.body);
    scroller.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.resized()).observe(scroller);
    this.load("", "en");
  }

  load(text, language) {
    this.text = text;
    this.chunks = cut(text);
    this.layers = { evidence: [], found: [] };
    this.window = null;
    this.width = 0;
    this.body.replaceChildren();
    this.body.lang = language;
    this.scroller.scrollTop = 0;
    this.resized();
  }

  /* Marks of one layer: `{start, end, class, …}` sorted by start. Drawn chunks are drawn again. */
  mark(layer, marks) {
    this.layers[layer] = marks;
    for (const chunk of this.chunks) if (chunk.node) this.draw(chunk);
    this.later();
  }

  later() {
    this.waiting ??= requestAnimationFrame(() => this.render());
  }

  resized() {
    const width = this.body.clientWidth;
    if (!width || width === this.width) return this.later();
    this.width = width;
    const style = getComputedStyle(this.body);
    const em = Number.parseFloat(style.fontSize);
    const line = Number.parseFloat(style.lineHeight);
    for (const chunk of this.chunks) {
      chunk.ems ??= lineEms(this.text.slice(chunk.start, chunk.end));
      chunk.height = chunk.ems.reduce((sum, ems) => sum + Math.ceil((ems * em) / width || 0.4) * line, 0);
      chunk.measured = false;
    }
    this.render();
  }

  place() {
    let top = 0;
    for (const chunk of this.chunks) {
      chunk.top = top;
      top += chunk.height;
      if (chunk.node) chunk.node.style.top = `${chunk.top}px`;
    }
    this.body.style.height = `${top}px`;
  }

  /* Draws what is near the view, drops the rest, and keeps what is being read where it is. */
  render() {
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.waiting = null;
    this.place();
    const { scrollTop, clientHeight } = this.scroller;
    const anchor = this.chunks[this.indexAt(scrollTop)];
    const inside = anchor ? scrollTop - anchor.top : 0;
    const near = (chunk) => chunk.top < scrollTop + 2 * clientHeight && chunk.top + chunk.height > scrollTop - clientHeight;
    for (const chunk of this.chunks) {
      if (near(chunk)) this.draw(chunk, true);
      else if (chunk.node) chunk.node = chunk.node.remove() ?? null;
    }
    this.measure();
    if (anchor && Math.abs(anchor.top + inside - scrollTop) > 0.5) this.scroller.scrollTop = anchor.top + inside;
    this.onView(this.seen());
  }

  measure() {
    for (const chunk of this.chunks) {
      if (!chunk.node || chunk.measured) continue;
      chunk.height = chunk.node.getBoundingClientRect().height;
      chunk.measured = true;
    }
    this.place();
  }

  indexAt(y) {
    const index = this.chunks.findIndex((chunk) => chunk.top + chunk.height > y);
    return index < 0 ? this.chunks.length - 1 : index;
  }

  seen() {
    const { scrollTop, clientHeight } = this.scroller;
    const at = (y) => {
      const chunk = this.chunks[this.indexAt(y)];
      const share = chunk ? Math.min(1, Math.max(0, (y - chunk.top) / (chunk.height || 1))) : 0;
      return chunk ? chunk.start + share * (chunk.end - chunk.start) : 0;
    };
    return { start: at(scrollTop), end: at(scrollTop + clientHeight) };
  }

  draw(chunk, once = false) {
    if (chunk.node && once) return;
    const node = make("div", { class: chunk.joined ? "chunk joined" : "chunk" });
    const marks = [...this.layers.evidence, ...this.inFound(chunk)].sort((a, b) => a.start - b.start);
    let start = chunk.start;
    while (start < chunk.end) {
      const stop = this.text.indexOf("\n", start);
      const end = stop < 0 || stop >= chunk.end ? chunk.end : stop;
      node.append(this.line(start, end, marks));
      start = end + 1;
    }
    node.style.top = `${chunk.top}px`;
    if (chunk.node) chunk.node.replaceWith(node);
    else this.insert(chunk, node);
    chunk.node = node;
    chunk.measured = false;
  }

  /* In the order of the text, so that reading and tabbing follow it. */
  insert(chunk, node) {
    const after = this.chunks.find((other) => other.start > chunk.start && other.node);
    this.body.insertBefore(node, after?.node ?? null);
  }

  inFound(chunk) {
    return this.layers.found.filter((mark) => mark.start < chunk.end && mark.end > chunk.start);
  }

  line(start, end, marks) {
    const children = pieces(start, end, marks).map((piece) => {
      const nodes = shown(this.text.slice(piece.start, piece.end), piece.start);
      return piece.marks.length ? marked(piece, nodes) : nodes;
    });
    const read = this.window && start < this.window.end && end > this.window.start;
    return make("p", { class: read ? "read" : null }, children);
  }

  /* Scrolls so that this place stands in the upper third, drawing on the way. */
  open(start) {
    const chunk = this.chunks.find((other) => other.end > start) ?? this.chunks.at(-1);
    if (!chunk) return;
    this.place();
    this.scroller.scrollTop = chunk.top - this.scroller.clientHeight * 0.3;
    for (let turn = 0; turn < 5; turn++) {
      this.render();
      const off = this.offset(chunk, start);
      if (Math.abs(off) < 1) break;
      const before = this.scroller.scrollTop;
      this.scroller.scrollTop = before + off;
      if (this.scroller.scrollTop === before) break;
    }
    this.render();
  }

  offset(chunk, start) {
    const box = this.scroller.getBoundingClientRect();
    return this.rect(chunk, start).top - box.top - box.height * 0.3;
  }

  rect(chunk, start) {
    const walker = document.createTreeWalker(chunk.node, NodeFilter.SHOW_TEXT);
    let found = null;
    for (let node = walker.nextNode(); node && (node.start ?? 0) <= start; node = walker.nextNode())
      if (node.start !== undefined) found = node;
    if (!found) return chunk.node.getBoundingClientRect();
    const range = document.createRange();
    const at = Math.min(start - found.start, found.length - 1);
    range.setStart(found, at);
    range.setEnd(found, at + 1);
    return range.getBoundingClientRect();
  }
}

/* A run of text under marks: one element; what is clickable among them is a button for the keyboard too. */
function marked(piece, nodes) {
  const link = piece.marks.find((mark) => mark.pick);
  const classes = [...new Set(piece.marks.flatMap((mark) => mark.class))].join(" ");
  if (!link) return make("mark", { class: classes }, nodes);
  const pick = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    link.pick();
  };
  const first = link.start === piece.start;
  return make(
    "mark",
    { class: classes, role: first ? "button" : null, tabindex: first ? 0 : null, title: link.name, onclick: pick, onkeydown: pick },
    nodes,
  );
}
