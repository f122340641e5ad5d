/* Puts the parts together: what is chosen, what is open, and the keys. */
const $ = (id) => document.getElementById(id);
const state = { sentence: null, source: null };

const source = { bar: make("div", { class: "bar" }), scroller: make("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": say("source") }) };
const filters = new Filters(filtered);
const strip = new Strip($("strip"), (index) => choose(index));
const view = new TextView(source.scroller, seen);
const response = new ResponseView($("response"), (index) => (state.sentence === index ? close() : choose(index)));
const finder = new Finder(view, response);

function setUp() {
  fill($("head"), outcomeLine(), tools(openHelp), making());
  $("response").prepend(make("div", { class: "bar" }, make("h2", {}, make("span", { class: "word" }, say("response"))), filters.element));
  $("response").setAttribute("aria-label", say("response"));
  $("source").setAttribute("aria-label", say("source"));
  source.where = make("span", { class: "where" });
  source.choice = documents.length > 1 ? make("select", { "aria-label": say("source"), onchange: (event) => show(event.target.value) }, documents.map((one) => make("option", { value: one.id }, plain(short(titleOf(one), 60))))) : make("h2", {}, make("bdi", {}, documents.length ? short(titleOf(documents[0]), 60) : say("no_source")));
  source.back = button(say("to_sentence"), () => response.focus(state.sentence), { class: "back", hidden: true });
  source.sheet = button("▴", () => sheet(), { class: "sheet", "aria-label": say("open_source") });
  fill(source.bar, source.choice, source.where, source.back, finder.element, source.sheet);
  $("source").append(source.bar, source.scroller);
  helpText();
  if (documents.length) show(documents[0].id);
  else source.scroller.replaceChildren(make("p", { class: "absent" }, say("no_source")));
  const linked = /^#s(\d+)$/.exec(location.hash);
  const first = linked ? Number(linked[1]) - 1 : sentences.findIndex(isWanted);
  if (sentences[first]) choose(first, { quiet: true });
}

/* Opens a document in the source pane, with the evidence of every sentence marked. */
function show(id) {
  if (state.source === id) return;
  state.source = id;
  if (source.choice.tagName === "SELECT") source.choice.value = id;
  const one = documentOf(id);
  view.load(one.text ?? "", one.language ?? "en");
  if (one.text === undefined) view.body.replaceChildren(make("p", { class: "absent" }, say("text_missing", { title: titleOf(one) })));
  mark();
  if (finder.words) finder.search();
}

function mark() {
  const marks = (evidence[state.source] ?? []).map(({ start, end, sentence, claim }) => ({
    start,
    end,
    class: ["evidence", nameOf(claim.label), sentence.index === state.sentence ? "chosen" : ""].join(" "),
    name: say("evidence_for", { n: sentence.index + 1, label: say(nameOf(claim.label)) }),
    pick: () => choose(sentence.index, { stay: true }),
  }));
  view.mark("evidence", marks);
}

/* Chooses a sentence: its card opens under it, the source opens at its evidence. */
function choose(index, { quiet = false, stay = false } = {}) {
  state.sentence = index;
  const sentence = sentences[index];
  response.open(index, cardOf(sentence, { close, open: openSpan }), quiet);
  strip.select(index);
  const places = causesFirst(sentence).map(placeOf).filter(Boolean);
  const shaded = causesFirst(sentence).map((claim) => located(claim.window)).find(Boolean);
  if (!stay && places[0]) show(places[0].id);
  view.window = shaded && shaded.id === state.source ? shaded : null;
  mark();
  source.back.hidden = false;
  if (!stay && places[0]) view.open(places[0].start);
  if (!quiet) response.spans[index].focus({ preventScroll: true });
  if (!quiet) history.replaceState(null, "", `#s${index + 1}`);
  fill($("news"), `${say("sentence_n", { n: index + 1 })}: ${say(nameOf(sentence.label))}`);
}

function close() {
  const index = state.sentence;
  state.sentence = null;
  response.open(null, null);
  strip.select(null);
  view.window = null;
  mark();
  source.back.hidden = true;
  response.focus(index);
}

function openSpan(span) {
  const place = located(span);
  show(span.source_id);
  sheet(true);
  if (state.sentence !== null) response.reveal(state.sentence);
  if (!place) return;
  view.open(place.start);
  source.scroller.classList.remove("flash");
  requestAnimationFrame(() => source.scroller.classList.add("flash"));
}

/* What a reader is led to: what the filters let through; without filters, what waits for a person, else problems. */
function isWanted(sentence) {
  if (filters.on) return filters.matches(sentence);
  return sentences.some((one) => one.waits) ? sentence.waits : sentence.problem;
}

function step(by) {
  const from = state.sentence ?? (by > 0 ? -1 : sentences.length);
  const order = by > 0 ? sentences : [...sentences].reverse();
  const ahead = order.filter((sentence) => (by > 0 ? sentence.index > from : sentence.index < from));
  const next = [...ahead, ...order].find(isWanted);
  if (next) choose(next.index);
  else fill($("news"), say("none_left"));
}

function filtered() {
  response.dim((sentence) => filters.matches(sentence));
  const count = sentences.filter((sentence) => filters.matches(sentence)).length;
  fill($("news"), say("filtered_n", { n: count, all: sentences.length }));
}

function seen(place) {
  if (!source.where || !view.text) return;
  const one = documentOf(state.source);
  const share = place.start / view.text.length;
  fill(source.where, `${percent(share)} · ${say("characters_n", { n: numeral(one.characters) })}`);
  const points = (offset) => (offset / view.text.length) * one.characters;
  strip.see({ id: one.id, start: points(place.start), end: points(place.end) });
}

/* On a narrow screen the source is a sheet at the foot. */
function sheet(open) {
  const up = $("source").classList.toggle("up", open);
  fill(source.sheet, up ? "▾" : "▴");
  source.sheet.setAttribute("aria-expanded", up);
}

function helpText() {
  const rows = [["n", "key_next"], ["p", "key_previous"], ["↓ ↑", "key_arrows"], ["Enter", "key_enter"], ["/", "key_search"], ["b", "key_back"], ["Esc", "key_escape"], ["?", "key_help"]];
  const table = make("table", {}, make("tbody", {}, rows.map(([key, meaning]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, key)), make("td", {}, say(meaning))))));
  fill($("help"), make("h2", {}, say("keys")), table, make("p", {}, say("strip_help")), button(say("close"), () => $("help").close(), { autofocus: true }));
}

function openHelp() {
  if (!$("help").open) $("help").showModal();
}

const KEYS = {
  n: () => step(1),
  p: () => step(-1),
  "/": () => finder.input.select() ?? finder.input.focus(),
  "?": openHelp,
  b: () => response.focus(state.sentence),
  Escape: () => state.sentence !== null && close(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches("textarea, input:not([type=radio], [type=checkbox])")) {
    if (event.key === "Escape") finder.clear();
    return;
  }
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});

setUp();
