/* What a person says of a claim, in its card: marks, accepted corrections, and decisions where the judges disagree.
   The server keeps it; what it hasn't taken yet stays in this browser, for every tab. */
const shelf = browserStorage();
const PLACE = `longproof ${data.run.id}`;

/* Where the browser keeps nothing, the page does. */
function browserStorage() {
  try {
    localStorage.removeItem("longproof");
    return localStorage;
  } catch {
    const held = new Map();
    return { getItem: (key) => held.get(key) ?? null, setItem: (key, text) => held.set(key, text), removeItem: (key) => held.delete(key) };
  }
}

const unsent = () => JSON.parse(shelf.getItem(PLACE)) ?? {};
const hold = (changed) => (Object.keys(changed).length ? shelf.setItem(PLACE, JSON.stringify(changed)) : shelf.removeItem(PLACE));

/* An object with another's innermost values in the place of its own. */
const merged = (before, given) => ({ ...before, ...Object.fromEntries(Object.entries(given).map(([key, value]) => [key, value instanceof Object ? merged(before[key] ?? {}, value) : value])) });

/* What of an object isn't the same in another. */
function without(all, sent) {
  const left = Object.entries(all).map(([key, value]) => [key, value instanceof Object ? without(value, sent[key] ?? {}) : value]);
  return Object.fromEntries(left.filter(([key, value]) => (value instanceof Object ? Object.keys(value).length : value !== sent[key])));
}

const saidOf = (id) => merged({ mark: "", note: "", accepted: {}, decision: {} }, data.run.marks[id] ?? {});

/* Keeps what is said of claims, by their ids: only what changes, so that no tab overwrites another's. */
function keep(changed) {
  hold(merged(unsent(), changed));
  data.run.marks = merged(data.run.marks, changed);
  drawRun();
  return send();
}

let sending = Promise.resolve();
let retry = 0;
const send = () => (sending = sending.then(handOver));

/* Hands over what the server hasn't taken: whether nothing is left. While it doesn't answer, that is tried again. */
async function handOver() {
  clearTimeout(retry);
  const changed = unsent();
  if (!Object.keys(changed).length) return true;
  try {
    heard(await ask(`${data.run.id}/marks`, changed));
    fill(trouble);
  } catch (error) {
    fill(trouble, error.message, " ", error.refused ? null : say("kept_here"));
    if (!error.refused) retry = setTimeout(send, 3000);
    if (!error.refused) return false;
  }
  hold(without(unsent(), changed));
  return true;
}

/* What the server says of the run; what is being typed stays as it is, and so does all where nothing is new: a button
   that is being pressed stays under the mouse. */
function heard(told) {
  const before = JSON.stringify(data.run);
  Object.assign(data.run, told, { marks: merged(told.marks, unsent()) });
  if (JSON.stringify(data.run) === before) return;
  drawRun();
  for (const one of document.querySelectorAll(".card input, .card select")) if (one !== document.activeElement) one.dispatchEvent(new Event("follow"));
}

/* A line to write in; how much it may hold is said, and how much it holds before it is full. */
function lineOf(word, value, change, most = data.longest) {
  const named = `${say(word)} (${say("at_most", { n: numeral(most) })})`;
  const count = make("span", { class: "note", role: "status" });
  const counted = () => fill(count, input.value.length < 0.8 * most ? null : say("n_of_most", { n: numeral(input.value.length), most: numeral(most) }));
  const input = make("input", { type: "text", value: value(), maxlength: most, placeholder: named, "aria-label": named, oninput: counted, onchange: () => change(input.value), onfollow: () => (input.value = value()) });
  return [input, count];
}

/* A box or a button that is checked where `on` says so. */
function checkOf(type, on, change, more) {
  const follow = (event) => (event.target.checked = on());
  return make("input", { type, checked: on(), onchange: (event) => change(event.target.checked), onfollow: follow, ...more });
}

/* A claim's corrections that may be made, with their numbers. */
const known = (claim) => (["contradicting", "fabricated"].includes(claim.label) ? claim.errors.map((error, n) => ({ error, n })).filter(({ error }) => error.correction != null) : []);

function findingOf(claim) {
  const { id } = claim;
  const choice = (mark, word) => make("label", {}, checkOf("radio", () => saidOf(id).mark === mark, () => keep({ [id]: { mark } }), { name: `mark-${id}`, value: mark }), " ", say(word));
  const note = lineOf("note", () => saidOf(id).note, (text) => keep({ [id]: { note: text } }));
  const accepts = known(claim).map(({ error, n }) => make("label", { class: "accept" }, checkOf("checkbox", () => saidOf(id).accepted[n] === true, (on) => keep({ [id]: { accepted: { [n]: on } } }), { "data-key": `${id}:${n}` }), ` ${say("accept")}: `, make("bdi", {}, error.correction || say("leave_out"))));
  return [make("fieldset", { class: "mark" }, make("legend", {}, say("finding_is")), choice("right", "right"), choice("wrong", "mark_wrong"), choice("unclear", "unclear"), note), accepts];
}

const DECISIONS = ["contradicting", "fabricated", "ambiguous", "no_fact", "out_dependent", "implicitly_supported", "explicitly_supported", "not_found"];

function disputeOf(claim) {
  const decided = (key) => saidOf(claim.id).decision[key] ?? "";
  const decide = (key) => (value) => keep({ [claim.id]: { decision: { [key]: value } } });
  const line = (key, word) => lineOf(word, () => decided(key), decide(key));
  const options = ["", ...DECISIONS].map((label) => make("option", { value: label, selected: label === decided("label") }, label ? say(label) : say("leave_open")));
  const choice = make("select", { "aria-label": say("decide"), onchange: () => decide("label")(choice.value), onfollow: () => (choice.value = decided("label")) }, options);
  const seen = make("details", {}, make("summary", {}, say("shown_judges")), data.run.disputes[claim.id].map((text) => make("p", {}, make("bdi", {}, text))));
  return make("fieldset", { class: "mark decide" }, make("legend", {}, say("decide")), choice, line("reason", "why"), line("wrong", "wrong_words"), line("correction", "right_words"), seen);
}

extras.push((claim) => {
  if (Object.hasOwn(data.run.disputes, claim.id)) return disputeOf(claim);
  return claim.label && !["open", "waiting"].includes(claim.label) ? findingOf(claim) : null;
});
