/* The head of the page: the outcome in one line, the filters, how it was made. */
function outcomeLine() {
  return make(
    "div",
    { class: `outcome ${report.verdict}` },
    make("p", { class: "case" }, make("bdi", {}, short(report.case.id, 60)), " · ", make("bdi", {}, short(documents.map(titleOf).join(", "), 80))),
    make("h1", {}, make("span", { class: "stamp" }, make("b", { "aria-hidden": "true" }, sign(report.verdict)), " ", make("span", { class: "word" }, say(report.verdict))), make("span", { class: "outcome-says" }, data.summed)),
    data.triage ? make("p", { class: "triage" }, data.triage) : null,
    data.hints ? make("div", { class: "hints" }, make("h2", {}, data.hints[0]), make("ul", {}, data.hints[1].map((row) => make("li", {}, row)))) : null,
    data.missing.map((title) => make("p", { class: "triage" }, say("text_missing", { title: short(title, 60) }))),
  );
}

const tools = (openHelp) => make("div", { class: "tools" }, button(say("print"), () => print(), { id: "print" }), themeButton(), button(say("keys"), openHelp, { id: "keys", title: "?" }));

/* Chips by label and by kind; a chip that is pressed keeps its sentences bright and the others dim. */
class Filters {
  constructor(onChange) {
    this.labels = new Set();
    this.kinds = new Set();
    this.onChange = onChange;
    this.element = make("div", { class: "filters" });
    this.renew();
  }

  /* The chips of what is there now; while some are pressed they stay as they are. */
  renew() {
    if (this.on) return;
    const labels = counted(sentences.map((one) => nameOf(one.label)));
    const kinds = counted(sentences.flatMap((one) => one.kinds));
    const known = Object.keys(data.signs);
    const order = [...labels.keys()].sort((a, b) => known.indexOf(a) - known.indexOf(b));
    fill(
      this.element,
      make("span", { class: "note" }, say(sentences.length === 1 ? "sentences_one" : "sentences_n", { n: numeral(sentences.length) }), say("colon")),
      make("div", { role: "group", "aria-label": say("filter_labels") }, order.map((label) => this.chip(this.labels, label, labels.get(label), label))),
      kinds.size ? make("div", { role: "group", "aria-label": say("filter_kinds") }, [...kinds].map(([kind, count]) => this.chip(this.kinds, kind, count, "kinds"))) : null,
    );
  }

  chip(chosen, value, count, look) {
    const chip = button("", () => {
      if (!chosen.delete(value)) chosen.add(value);
      chip.setAttribute("aria-pressed", chosen.has(value));
      this.onChange();
    }, { class: `chip ${look}`, "aria-pressed": "false", "data-value": value });
    const mark = look === "kinds" ? null : make("b", { "aria-hidden": "true" }, `${sign(value)} `);
    return fill(chip, mark, say(value), make("span", { class: "count" }, ` ${count}`));
  }

  get on() {
    return this.labels.size + this.kinds.size > 0;
  }

  matches(sentence) {
    const label = !this.labels.size || this.labels.has(nameOf(sentence.label));
    return label && (!this.kinds.size || sentence.kinds.some((kind) => this.kinds.has(kind)));
  }
}

/* A value of the stamp, as people read it: what is inside of it in rows, a list one below the other. */
function stamped(value) {
  if (Array.isArray(value)) return value.map((one) => make("div", {}, stamped(one)));
  if (value instanceof Object) return stampTable(value);
  return make("bdi", {}, typeof value === "number" ? numeral(value) : String(value));
}

/* What isn't set is left out. */
const isSet = (value) => value != null && value !== "" && !(value instanceof Object && !Object.values(value).some(isSet));

function stampTable(stamp) {
  const rows = Object.entries(stamp).filter(([, value]) => isSet(value)).map(([key, value]) => make("tr", {}, make("th", { scope: "row" }, short(key.replaceAll("_", " "), 40)), make("td", {}, stamped(value))));
  return rows.length ? make("table", {}, make("tbody", {}, rows)) : null;
}

/* What it cost and how to make it again: the lines that the terminal has, then what the stamp says. */
function making() {
  const files = documents.map((one) => make("li", {}, make("bdi", {}, titleOf(one)), ` · ${say(one.role)} · ${say("characters_n", { n: numeral(one.characters) })} `, one.uri ? address(one.uri) : null, " ", make("code", {}, short(one.id, 30))));
  return make(
    "details",
    { class: "making" },
    make("summary", {}, make("span", {}, data.cost)),
    make("div", {}, data.totals.filter((line) => line !== data.cost).map((line) => make("p", {}, line)), make("ul", {}, files), stampTable(report.stamp)),
  );
}
