/* On paper: every problem with its correction and evidence, written out when printing begins. */
function printedFindings() {
  const problems = sentences.filter((sentence) => sentence.problem);
  const items = problems.map((sentence) => {
    const claims = sentence.claims.filter((claim) => claim.label === sentence.label);
    const quotes = distinct(claims.flatMap((claim) => claim.evidence)).map((span) => make("blockquote", {}, printedQuote(span)));
    const words = answer.slice(sentence.start, sentence.end);
    return make("li", {}, make("p", {}, tag(sentence.label), ` ${say("sentence_n", { n: sentence.index + 1 })} · `, make("bdi", {}, words)), claims.flatMap((claim) => [claim.errors.map((error) => [correctionOf(error), whyOf(error.reason)]), whyOf(claim.errors.some((error) => error.reason) ? "" : lastReason(claim))]), quotes);
  });
  return [make("h2", {}, say("findings")), problems.length ? make("ol", {}, items) : make("p", {}, data.summed), data.totals.map((line) => make("p", { class: "note" }, line))];
}

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
