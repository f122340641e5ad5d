/* What a person says of a claim, in its card: marks, accepted corrections, and decisions where the judges disagree.
   The server keeps it; the page holds the same. */
const saidOf = (id) => ({ mark: "", note: "", accepted: [], decision: {}, ...data.run.marks[id] });

/* Keeps fields of claims, by their ids. */
async function keep(changed) {
  for (const [id, fields] of Object.entries(changed)) data.run.marks[id] = { ...saidOf(id), ...fields };
  drawRun();
  await telling(() => ask(`${data.run.id}/marks`, changed));
}

/* A claim's corrections that may be made, with their numbers. */
const known = (claim) => (["contradicting", "fabricated"].includes(claim.label) ? claim.errors.map((error, n) => ({ error, n })).filter(({ error }) => error.correction != null) : []);

function findingOf(claim) {
  const said = saidOf(claim.id);
  const choice = (mark, word) => make("label", {}, make("input", { type: "radio", name: `mark-${claim.id}`, value: mark, checked: said.mark === mark, onchange: () => keep({ [claim.id]: { mark } }) }), " ", say(word));
  const note = make("input", { type: "text", value: said.note, maxlength: 2000, placeholder: say("note"), "aria-label": say("note"), onchange: (event) => keep({ [claim.id]: { note: event.target.value } }) });
  const accepts = known(claim).map(({ error, n }) => {
    const accept = (event) => {
      const others = saidOf(claim.id).accepted.filter((one) => one !== n);
      keep({ [claim.id]: { accepted: event.target.checked ? [...others, n] : others } });
    };
    return make("label", { class: "accept" }, make("input", { type: "checkbox", checked: said.accepted.includes(n), "data-key": `${claim.id}:${n}`, onchange: accept }), ` ${say("accept")}: `, make("bdi", {}, error.correction || say("leave_out")));
  });
  return [make("fieldset", { class: "mark" }, make("legend", {}, say("finding_is")), choice("right", "right"), choice("wrong", "mark_wrong"), choice("unclear", "unclear"), note), accepts];
}

const DECISIONS = ["contradicting", "fabricated", "ambiguous", "no_fact", "out_dependent", "implicitly_supported", "explicitly_supported", "not_found"];

function disputeOf(claim) {
  const { decision } = saidOf(claim.id);
  const set = (key) => (event) => keep({ [claim.id]: { decision: { ...saidOf(claim.id).decision, [key]: event.target.value } } });
  const labels = ["", ...DECISIONS].map((label) => make("option", { value: label, selected: label === (decision.label ?? "") }, label ? say(label) : say("leave_open")));
  const line = (key, word) => make("input", { type: "text", value: decision[key] ?? "", maxlength: 2000, placeholder: say(word), "aria-label": say(word), onchange: set(key) });
  const seen = make("details", {}, make("summary", {}, say("shown_judges")), data.run.disputes[claim.id].map((text) => make("p", {}, make("bdi", {}, text))));
  return make("fieldset", { class: "mark decide" }, make("legend", {}, say("decide")), make("select", { "aria-label": say("decide"), onchange: set("label") }, labels), line("reason", "why"), line("wrong", "wrong_words"), line("correction", "right_words"), seen);
}

extras.push((claim) => {
  if (Object.hasOwn(data.run.disputes, claim.id)) return disputeOf(claim);
  return claim.label && !["open", "waiting"].includes(claim.label) ? findingOf(claim) : null;
});
