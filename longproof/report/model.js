/* The report as the page needs it: sentences with their claims, places in UTF-16 units, what counts as a problem. */
const report = data.report;
const answer = report.case.response;
const documents = report.documents.filter((one) => one.role !== "response");
const titleOf = (one) => (one ? one.title || one.uri || say(one.role) : say("source"));
const points = Object.fromEntries(Object.entries(data.texts).map(([id, text]) => [id, new Points(text)]));
const answerPoints = new Points(answer);

/* A place in a source, in units; null where its text isn't here. */
function located(span) {
  return span && points[span.source_id] ? { id: span.source_id, ...points[span.source_id].units(span) } : null;
}

const sentences = report.sentences.map((sentence, index) => ({
  ...answerPoints.units(sentence),
  index,
  label: sentence.label,
  claims: report.claims.filter((claim) => claim.sentence === index),
}));

for (const sentence of sentences) {
  const errors = sentence.claims.flatMap((claim) => claim.errors);
  sentence.wrong = errors.map((error) => ({ ...answerPoints.units(error.span), class: "wrong" }));
  sentence.kinds = [...new Set(errors.map((error) => error.kind).filter(Boolean))];
  sentence.problem = ["contradicting", "fabricated", "ambiguous", null].includes(sentence.label);
}

/* Where the quotes of a claim stand, and else where it was looked for. */
const quotesOf = (claim) => claim.evidence.map(located).filter(Boolean);
const placeOf = (claim) => quotesOf(claim)[0] ?? located(claim.window);

/* Evidence of every sentence, by document, sorted: what stays marked in the source. */
const evidence = {};
for (const sentence of sentences)
  for (const claim of sentence.claims)
    for (const place of quotesOf(claim)) (evidence[place.id] ??= []).push({ ...place, sentence, claim });
for (const places of Object.values(evidence)) places.sort((a, b) => a.start - b.start);

const counted = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};
