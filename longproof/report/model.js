/* The report as the page needs it: sentences with their claims, places in UTF-16 units, what counts as a problem. */
const report = data.report;
const answer = report.case.response;
const answerLanguage = report.documents.find((one) => one.role === "response")?.language ?? document.documentElement.lang;
const documents = report.documents.filter((one) => one.role !== "response");
const titleOf = (one) => (one ? one.title || one.uri || say(one.role) : say("source"));
const documentOf = (id) => documents.find((one) => one.id === id);
for (const one of documents) one.points = one.text === undefined ? null : new Points(one.text);

/* Spans as the rest of the page reads them, with what their sentences have before and behind them. One without a text
   of its own takes it from its document. */
function spanOf([number, start, end, before = 0, behind = 0]) {
  const one = report.documents[number];
  const place = { source_id: one?.id, start, end };
  if (typeof before === "string") return { ...place, before: "", text: before, behind: "" };
  const text = (from, to) => one.text.slice(one.points.unit(from), one.points.unit(to));
  return { ...place, before: text(start - before, start), text: text(start, end), behind: text(end, end + behind) };
}

const NOTHING = { label: null, failure: null, caveat: "", looked: null, settle: "", errors: [], readings: [] };
const claimFrom = (claim) => ({
  ...NOTHING,
  ...claim,
  window: claim.window ? { source_id: report.documents[claim.window[0]].id, start: claim.window[1], end: claim.window[2] } : null,
  evidence: (claim.evidence ?? []).map(spanOf),
  sides: (claim.sides ?? []).map(([label, judges, spans]) => ({ label, judges, quotes: spans.map(spanOf) })),
  judgements: (claim.judgements ?? []).map((one) => ({ label: null, failure: null, reason: "", ...one, quotes: (one.quotes ?? []).map(spanOf) })),
});
report.claims = report.claims.map(claimFrom);
const answerPoints = new Points(answer);

/* A place in a source, in units; null where its text isn't here. */
function located(span) {
  const points = span && documentOf(span.source_id)?.points;
  return points ? { id: span.source_id, ...points.units(span) } : null;
}

const sentences = report.sentences.map(([start, end, label], index) => ({ ...answerPoints.units({ start, end }), index, label }));

/* What follows for a sentence from its claims. */
function concluded(sentence) {
  sentence.claims = report.claims.filter((claim) => claim.sentence === sentence.index);
  const errors = sentence.claims.flatMap((claim) => claim.errors);
  sentence.wrong = errors.map((error) => ({ ...answerPoints.units(error.span), class: "wrong", error }));
  sentence.kinds = [...new Set(errors.map((error) => error.kind).filter(Boolean))];
  sentence.waits = sentence.claims.some((claim) => claim.label === "waiting");
  sentence.problem = ["contradicting", "fabricated", "ambiguous", "undecided", "waiting"].includes(nameOf(sentence.label));
}
sentences.forEach(concluded);

/* What speaks for a verdict, or for each side where there is none. */
const citedOf = (claim) => [...claim.evidence, ...claim.sides.flatMap((side) => side.quotes)];

/* Where the quotes of a claim stand, and else where it was looked for. */
const quotesOf = (claim) => citedOf(claim).map(located).filter(Boolean);
const placeOf = (claim) => quotesOf(claim)[0] ?? located(claim.window);

/* A claim that is shown whole: it gave its sentence the label, or waits for a person. */
const isCause = (claim, sentence) => claim.label === "waiting" || (!sentence.waits && claim.label === sentence.label);

/* The claims of a sentence, those that are shown whole first. */
const causesFirst = (sentence) => [
  ...sentence.claims.filter((claim) => isCause(claim, sentence)),
  ...sentence.claims.filter((claim) => !isCause(claim, sentence)),
];

/* Evidence of every sentence, by document, sorted: what stays marked in the source. */
let evidence;
function gather() {
  evidence = {};
  for (const sentence of sentences)
    for (const claim of sentence.claims)
      for (const place of quotesOf(claim)) (evidence[place.id] ??= []).push({ ...place, sentence, claim });
  for (const places of Object.values(evidence)) places.sort((a, b) => a.start - b.start);
}
gather();
