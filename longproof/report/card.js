/* What is known about one sentence: verdict, correction, evidence, the judges' votes and reasons. */
const ROUNDS = ["nothing", "place", "words", "window", "search", "scan", "source", "pages"];

function cardOf(sentence, actions) {
  const head = make(
    "header",
    {},
    make("h2", {}, say("sentence_n", { n: sentence.index + 1 })),
    tag(sentence.label),
    button("×", actions.close, { class: "close", "aria-label": say("close"), title: `${say("close")} (Esc)` }),
  );
  const claims = causesFirst(sentence).map((claim) => (isCause(claim, sentence) ? claimOf(claim, sentence, actions) : asideOf(claim, sentence, actions)));
  const none = claims.length ? null : make("p", { class: "none" }, say(sentence.label === "no_fact" ? "no_claims" : "unclaimed"));
  return make("article", { class: `card ${nameOf(sentence.label)}`, id: "card", "aria-label": say("sentence_n", { n: sentence.index + 1 }) }, head, claims, none);
}

/* What other scripts add to a claim, each a function of it. */
const extras = [];

/* A claim that isn't why the sentence has its label: its name first, the rest on demand. */
function asideOf(claim, sentence, actions) {
  const summary = make("summary", {}, tag(claim.label), make("bdi", {}, claim.text));
  return make("details", { class: "aside" }, summary, claimOf(claim, sentence, actions));
}

function claimOf(claim, sentence, actions) {
  const kinds = [...new Set(claim.errors.map((error) => error.kind).filter(Boolean))];
  const same = claim.text === answer.slice(sentence.start, sentence.end) && sentence.claims.length === 1;
  return make(
    "section",
    { class: `claim ${nameOf(claim.label)}` },
    sentence.claims.length > 1 || kinds.length ? make("p", { class: "labels" }, sentence.claims.length > 1 && tag(claim.label), kinds.map((kind) => make("span", { class: "kind" }, say(kind)))) : null,
    same ? null : make("p", { class: "claim-text" }, make("bdi", {}, claim.text)),
    claim.failure ? make("p", { class: "note" }, explained(claim.failure), claim.settle && [". ", claim.settle]) : null,
    claim.errors.map((error) => [correctionOf(error), error.reason && whyOf(error.reason)]),
    claim.errors.some((error) => error.reason) ? null : whyOf(lastReason(claim)),
    evidenceOf(claim, actions),
    lookedOf(claim),
    readingsOf(claim),
    extras.map((extra) => extra(claim)),
    votesOf(claim, actions),
    claim.caveat ? make("p", { class: "note" }, say(claim.caveat)) : null,
  );
}

function correctionOf(error) {
  if (!error.correction) return null;
  return make("p", { class: "correction" }, make("span", { class: "title" }, say("should_be")), make("del", {}, error.span.text), " → ", make("ins", {}, error.correction));
}

const whyOf = (reason) => reason && make("p", { class: "why" }, make("span", { class: "title" }, say("why")), make("bdi", {}, reason));

/* The last reason of a judge who saw it as the verdict does. */
const lastReason = (claim) => claim.judgements.findLast((one) => one.reason && one.label === claim.label)?.reason ?? "";

/* Quotes that overlap one already shown add nothing to the list; in the source all of them are marked. */
function distinct(spans) {
  const kept = [];
  for (const span of spans)
    if (!kept.some((other) => other.source_id === span.source_id && other.start < span.end && span.start < other.end)) kept.push(span);
  return kept;
}

/* A quote as whole sentences; what of them was quoted stands out. */
function quoteButton(span, actions, length = 400) {
  const one = documentOf(span.source_id);
  const at = one?.characters ? percent(span.start / one.characters) : "";
  const several = documents.length > 1 ? `${short(titleOf(one), 24)} ` : "";
  return make(
    "button",
    { type: "button", class: "quote", onclick: () => actions.open(span), title: say("open_there") },
    make("span", { class: "at" }, `${several}${at}`),
    make("q", {}, span.before && make("span", { class: "rest" }, short(span.before, length)), short(span.text, length), span.behind && make("span", { class: "rest" }, short(span.behind, length))),
  );
}

const quoteList = (spans, actions) =>
  make("ul", { class: "quotes" }, distinct(spans).map((span) => make("li", {}, quoteButton(span, actions))));

/* One side of a dispute: its label and its judges. */
function sideHead({ label, judges }) {
  const names = judges.map((judge) => short(data.judges[judge][0], 40)).join(say("comma"));
  return make("p", { class: "side" }, tag(label), " ", make("bdi", {}, names));
}

function evidenceOf(claim, actions) {
  const title = make("h3", {}, say("evidence"));
  if (claim.evidence.length) return [title, quoteList(claim.evidence, actions)];
  if (claim.sides.length) return claim.sides.map((side) => [sideHead(side), quoteList(side.quotes, actions)]);
  if (["no_fact", "open"].includes(claim.label)) return null;
  const looked = located(claim.window) && button(say("where_looked"), () => actions.open(claim.window), { class: "looked" });
  if (claim.failure === "needs_model") return looked && [title, make("p", { class: "none" }, looked)];
  return [title, make("p", { class: "none" }, say("no_evidence"), " ", looked)];
}

/* A word, explained where the mouse rests on it. */
const explained = (key, text = say(key)) => make("span", { title: Object.hasOwn(data.words, `${key}_is`) && say(`${key}_is`) }, text);

/* How far was looked: the steps, what was searched for (a model's words), how much of the source was read. */
function lookedOf(claim) {
  if (!claim.looked) return null;
  const { steps, read, whole } = claim.looked;
  const parts = steps.map((step) => [explained(step), step === "search" && searchedOf(claim.looked)]);
  if (read) parts.push(explained(whole ? "read_all" : "read_share", read));
  return parts.length ? make("p", { class: "rounds" }, make("span", { class: "title" }, say("looked_at")), parts.map((part, index) => [index > 0 && " → ", part])) : null;
}

function searchedOf({ queries, left_out }) {
  const told = queries.map((query) => make("q", {}, make("bdi", {}, query)));
  if (left_out) told.push(say("more_n", { n: left_out }));
  const [open, close] = say("in_brackets").split("{text}");
  return told.length ? [open, told.map((one, index) => [index > 0 && say("comma"), one]), close] : null;
}

function readingsOf(claim) {
  if (!claim.readings.length) return null;
  return [make("h3", {}, say("readings")), make("ul", { class: "readings" }, claim.readings.map((one) => make("li", {}, make("bdi", {}, one.text), " ", tag(one.label))))];
}

function votesOf(claim, actions) {
  if (!claim.judgements.length) return null;
  const rounds = ROUNDS.filter((round) => claim.judgements.some((one) => one.round === round));
  const head = ["judge", "looked_at", "vote", "reason"].map((key) => make("th", { scope: "col" }, say(key)));
  const rows = claim.judgements.map((one) => voteOf(one, claim, actions));
  const decided = explained(claim.decided_by, claim.decided_by === "nobody" ? say("decided_by_nobody") : say("decided_by", { who: say(claim.decided_by) }));
  return make(
    "details",
    { class: "votes", open: [null, "waiting"].includes(claim.label) || claim.decided_by === "arbiter" },
    make("summary", {}, make("span", { class: "word" }, say("votes")), make("span", { class: "tally", "aria-hidden": "true" }, [...new Map(claim.judgements.map((one) => [one.judge, sign(one.label ?? "failed")])).values()].join(" ")), make("span", { class: "by" }, decided)),
    claim.looked ? null : make("p", { class: "rounds" }, make("span", { class: "title" }, say("looked_at")), rounds.map((round, index) => [index > 0 && " → ", explained(round)])),
    make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows))),
  );
}

function voteOf(one, claim, actions) {
  const arbiter = claim.decided_by === "arbiter" && one === claim.judgements.at(-1);
  const quotes = one.quotes.map((span) => quoteButton(span, actions, 160));
  const [name, told] = data.judges[one.judge];
  const dropped = one.quotes_dropped ? make("p", { class: "note" }, say("quotes_dropped", { n: one.quotes_dropped })) : null;
  return make(
    "tr",
    { class: arbiter ? "arbiter" : null },
    make("th", { scope: "row" }, make("bdi", { title: told }, short(name, 40)), arbiter && make("span", { class: "kind" }, explained("arbiter"))),
    make("td", {}, explained(one.round)),
    make("td", {}, one.label ? tag(one.label) : make("span", { class: "note" }, say(one.failure))),
    make("td", {}, one.reason && make("bdi", {}, one.reason), quotes, dropped),
  );
}
