/* The response as prose: every sentence a button with its label, wrong words marked, its card opening under it. */
class ResponseView {
  constructor(element, onPick) {
    this.onPick = onPick;
    this.found = [];
    this.spans = sentences.map((sentence) => this.sentence(sentence));
    this.prose = make("div", { class: "prose", lang: answerLanguage });
    let at = 0;
    for (const [index, sentence] of sentences.entries()) {
      this.prose.append(...shown(answer.slice(at, sentence.start), at), this.spans[index]);
      at = sentence.end;
    }
    this.prose.append(...shown(answer.slice(at), at));
    element.append(make("div", { class: "reading" }, this.prose));
    this.focusable(0);
  }

  sentence(sentence) {
    const pick = () => this.onPick(sentence.index);
    return fill(
      make("span", {
        class: `sentence ${nameOf(sentence.label)}`,
        id: `s${sentence.index + 1}`,
        role: "button",
        tabindex: -1,
        "aria-expanded": "false",
        onclick: () => String(getSelection()) || pick(),
        onkeydown: (event) => this.key(event, sentence.index, pick),
      }),
      this.words(sentence),
    );
  }

  words(sentence) {
    const marks = [...sentence.wrong, ...this.found].sort((a, b) => a.start - b.start);
    const text = pieces(sentence.start, sentence.end, marks).map((piece) => {
      const nodes = shown(answer.slice(piece.start, piece.end), piece.start);
      const ended = piece.marks.find((mark) => mark.error?.accepted && mark.end === piece.end);
      const marks = [...new Set(piece.marks.map((mark) => mark.class))].join(" ");
      const replaced = piece.marks.some((mark) => mark.error?.accepted);
      return [marks ? make(replaced ? "del" : "mark", { class: marks }, nodes) : nodes, ended && make("ins", {}, ended.error.correction)];
    });
    return [make("bdi", {}, text), this.note(sentence)];
  }

  /* Problems say their name; what holds shows its sign and says its name to screen readers. */
  note(sentence) {
    const name = say(nameOf(sentence.label));
    const note = sentence.problem || sentence.label === "out_dependent" ? tag(sentence.label) : make("span", { class: `tag quiet ${nameOf(sentence.label)}`, title: name }, sign(sentence.label), make("span", { class: "unseen" }, ` ${name}`));
    note.prepend("\u2060"); /* no line break between a sentence and its note */
    return note;
  }

  /* A sentence of which more is known than before. */
  renew(sentence) {
    const span = this.spans[sentence.index];
    span.className = `sentence ${nameOf(sentence.label)}${span.classList.contains("dim") ? " dim" : ""}`;
    fill(span, this.words(sentence));
  }

  key(event, index, pick) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") pick();
    else if (step && this.spans[index + step]) this.focus(index + step);
    else return;
    event.preventDefault();
  }

  focusable(index) {
    for (const [at, span] of this.spans.entries()) span.tabIndex = at === index ? 0 : -1;
  }

  /* Where no sentence is open there is nothing to go back to. */
  focus(index) {
    if (index === null) return;
    this.focusable(index);
    this.spans[index].focus();
  }

  mark(found) {
    this.found = found;
    for (const sentence of sentences) fill(this.spans[sentence.index], this.words(sentence));
  }

  dim(matches) {
    for (const sentence of sentences) this.spans[sentence.index].classList.toggle("dim", !matches(sentence));
  }

  /* Opens the card under a sentence; null closes it. Quietly: the page itself stays at its top. */
  open(index, card, quiet) {
    this.card?.remove();
    for (const span of this.spans) span.setAttribute("aria-expanded", "false");
    this.card = card;
    if (index === null) return;
    this.focusable(index);
    this.spans[index].setAttribute("aria-expanded", "true");
    this.spans[index].after(card);
    if (!quiet || getComputedStyle(this.prose.parentElement).overflowY === "auto") this.reveal(index);
  }

  /* As much of the card as there is room for, and the sentence in any case. */
  reveal(index) {
    this.card.scrollIntoView({ block: "nearest" });
    this.spans[index].scrollIntoView({ block: "nearest" });
  }
}
