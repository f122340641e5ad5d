/* The index: one row a report, sorted by any column, filtered by verdict and by kind of error. */
const VERDICTS = ["hallucinated", "undecided", "faithful"];
const chosen = { verdict: new Set(), kind: new Set() };
let sorted = { key: "verdict", down: false };

/* How a column sorts: what compares, and whether the largest comes first at the first click. */
const COLUMNS = {
  verdict: { value: (row) => VERDICTS.indexOf(row.verdict), cell: (row) => [tag(row.verdict), row.triage ? make("span", { class: "note" }, ` ${say("no_model")}`) : null] },
  report: { value: (row) => row.case, cell: (row) => make("a", { href: row.href }, make("bdi", {}, short(row.case, 60))) },
  wrong: { value: (row) => row.wrong, down: true, number: true, cell: (row) => (row.sentences ? `${row.wrong} / ${row.sentences}` : "—") },
  kinds: { value: (row) => row.kinds.map(([kind]) => say(kind)).join(" ") || "\uffff", cell: (row) => row.kinds.map(([kind, count]) => make("span", { class: "kind" }, count > 1 ? `${say(kind)} ${count}` : say(kind))) },
  covered: { value: (row) => row.coverage, number: true, cell: (row) => (row.sentences ? percent(row.coverage) : "—") },
  calls: { value: (row) => row.calls, down: true, number: true, cell: (row) => numeral(row.calls) },
  cost: { value: (row) => row.tokens, down: true, number: true, cell: (row) => numeral(row.tokens) },
};

const kept = (row) =>
  (!chosen.verdict.size || chosen.verdict.has(row.verdict)) && (!chosen.kind.size || row.kinds.some(([kind]) => chosen.kind.has(kind)));

function compare(a, b) {
  const { value } = COLUMNS[sorted.key];
  const [left, right] = [value(a), value(b)];
  const order = typeof left === "string" ? left.localeCompare(right) : left - right;
  return (sorted.down ? -order : order) || a.case.localeCompare(b.case, undefined, { numeric: true });
}

function sortBy(key) {
  sorted = { key, down: sorted.key === key ? !sorted.down : Boolean(COLUMNS[key].down) };
  table();
  document.querySelector(`[data-key="${key}"] button`).focus();
}

function heading(key) {
  const mine = sorted.key === key;
  const order = mine ? (sorted.down ? "descending" : "ascending") : null;
  const arrow = make("span", { "aria-hidden": "true" }, mine ? (sorted.down ? " ↓" : " ↑") : "");
  return make("th", { scope: "col", "aria-sort": order, "data-key": key, class: COLUMNS[key].number ? "number" : null }, make("button", { type: "button", onclick: () => sortBy(key) }, say(`column_${key}`), arrow));
}

function table() {
  const rows = data.rows.filter(kept).sort(compare);
  const body = rows.map((row) => make("tr", { class: row.verdict }, Object.values(COLUMNS).map((column) => make("td", { class: column.number ? "number" : null }, column.cell(row)))));
  fill(document.getElementById("main"), make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, Object.keys(COLUMNS).map(heading))), make("tbody", {}, body))));
  fill(document.getElementById("news"), say("reports_n", { n: rows.length, all: data.rows.length }));
}

function chips(group, values, name, look) {
  const all = values.map(([value, count]) => {
    const chip = button([look(value), make("span", { class: "count" }, ` ${count}`)], () => {
      if (!chosen[group].delete(value)) chosen[group].add(value);
      chip.setAttribute("aria-pressed", chosen[group].has(value));
      table();
    }, { class: `chip ${group === "kind" ? "" : value}`, "aria-pressed": "false", "data-value": value });
    return chip;
  });
  return all.length ? make("div", { role: "group", "aria-label": name }, all) : null;
}

function setUp() {
  const verdicts = counted(data.rows.map((row) => row.verdict));
  const kinds = [...counted(data.rows.flatMap((row) => row.kinds.map(([kind]) => kind)))].sort((a, b) => b[1] - a[1]);
  const shownVerdicts = VERDICTS.filter((verdict) => verdicts.has(verdict)).map((verdict) => [verdict, verdicts.get(verdict)]);
  fill(
    document.getElementById("head"),
    make(
      "div",
      {},
      make("h1", {}, say("index_title"), make("span", { class: "outcome-says" }, say("index_says", data.sums))),
      data.sums.failed ? make("p", { class: "triage" }, make("a", { href: "#failures" }, say("index_failed", { n: data.sums.failed, all: data.sums.all }))) : null,
      data.sums.triage ? make("p", { class: "triage" }, say("index_triage", { n: data.sums.triage })) : null,
    ),
    themeButton(),
    make("div", { class: "filters" }, chips("verdict", shownVerdicts, say("column_verdict"), (value) => [make("b", { "aria-hidden": "true" }, `${sign(value)} `), say(value)]), chips("kind", kinds, say("filter_kinds"), say)),
  );
  fill(document.getElementById("failures"), data.failures?.length ? [make("h2", {}, say("index_failures")), make("ul", {}, data.failures.map(failure)), make("p", {}, make("a", { href: "./results.jsonl" }, "results.jsonl"))] : null);
  table();
}

/* A case without a report: its id, its line in the file of cases, and why. */
const failure = (one) => make("li", {}, make("b", {}, make("bdi", {}, short(one.id, 60))), ` · ${say("case_line", { n: one.line })}${say("colon")}`, make("bdi", {}, one.failure));

setUp();
