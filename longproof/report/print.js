/* On paper: every problem with its correction and evidence, written out when printing begins. */
function printedFindings() {
  const problems = sentences.filter((sentence) => sentence.problem);
  const items = problems.map((sentence) => {
    const claims = sentence.claims.filter((claim) => claim.label === sentence.label);
    const quotes = printedQuotes(claims.flatMap((claim) => claim.evidence));
    const disputes = claims.flatMap((claim) => claim.sides.map((side) => [sideHead(side), printedQuotes(side.quotes)]));
    const words = make("bdi", {}, answer.slice(sentence.start, sentence.end));
    const head = make("p", {}, tag(sentence.label), ` ${say("sentence_n", { n: sentence.index + 1 })} · `, words);
    return make("li", {}, head, claims.map(printedReasons), quotes, disputes);
  });
  const list = problems.length ? make("ol", {}, items) : make("p", {}, data.summed);
  return [make("h2", {}, say("findings")), list, data.totals.map((line) => make("p", { class: "note" }, line))];
}

const printedReasons = (claim) => [
  claim.errors.map((error) => [correctionOf(error), whyOf(error.reason)]),
  whyOf(claim.errors.some((error) => error.reason) ? "" : lastReason(claim)),
];

const printedQuotes = (spans) => distinct(spans).map((span) => make("blockquote", {}, printedQuote(span)));

function printedQuote(span) {
  const one = documentOf(span.source_id);
  const place = located(span);
  const text = place && one.text;
  const before = text ? (place.start > 80 ? "…" : "") + text.slice(Math.max(0, place.start - 80), place.start) : "";
  const after = text ? text.slice(place.end, place.end + 80) + (place.end + 80 < text.length ? "…" : "") : "";
  const at = one?.characters ? ` (${percent(span.start / one.characters)})` : "";
  return [make("span", { class: "at" }, `${short(titleOf(one), 40)}${at} `), make("bdi", {}, before, make("mark", {}, short(span.text, 400)), after)];
}

addEventListener("beforeprint", () => fill(document.getElementById("printed"), printedFindings()));
addEventListener("afterprint", () => fill(document.getElementById("printed")));
