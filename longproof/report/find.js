/* Search in the response and in the open source, both at once. */
const MOST_FOUND = 10000;

function findIn(text, words) {
  if (!words) return [];
  const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&"), "giu");
  const found = [];
  for (const match of text.matchAll(pattern)) {
    if (found.push({ start: match.index, end: match.index + match[0].length, class: "found" }) === MOST_FOUND) break;
  }
  return found;
}

class Finder {
  constructor(source, response) {
    this.source = source;
    this.response = response;
    this.found = [];
    this.input = make("input", { type: "search", id: "find", placeholder: say("search_texts"), "aria-label": say("search_texts"), oninput: () => this.later(), onkeydown: (event) => this.key(event) });
    this.told = make("span", { class: "told", role: "status" });
    this.element = make("div", { class: "finder", role: "search" }, this.input, this.told, button("↑", () => this.step(-1), { "aria-label": say("found_before") }), button("↓", () => this.step(1), { "aria-label": say("found_next") }));
  }

  later() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.search(), 120);
  }

  key(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (this.words !== this.input.value) this.search();
    else this.step(event.shiftKey ? -1 : 1);
  }

  /* Looks again, from what is in view on; moves the source only where it has a match. */
  search() {
    clearTimeout(this.waiting);
    this.words = this.input.value;
    const here = findIn(answer, this.words);
    this.found = findIn(this.source.text, this.words);
    this.response.mark(here);
    this.inResponse = here.length;
    const from = this.source.seen().start;
    this.at = Math.max(0, this.found.findIndex((mark) => mark.start >= from)) - 1;
    this.step(1);
  }

  step(by) {
    const { found } = this;
    if (found.length) {
      this.at = (this.at + by + found.length) % found.length;
      this.source.mark("found", found.map((mark, index) => (index === this.at ? { ...mark, class: "found here" } : mark)));
      this.source.open(found[this.at].start);
    } else this.source.mark("found", []);
    const of = found.length === MOST_FOUND ? `${numeral(found.length)}+` : numeral(found.length);
    fill(this.told, this.words ? say("found_n", { at: found.length ? numeral(this.at + 1) : 0, n: of, response: this.inResponse }) : "");
  }

  clear() {
    this.input.value = "";
    this.search();
    this.input.blur();
  }
}
