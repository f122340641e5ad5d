/* What a person says of a claim, in its card: marks, accepted corrections, and decisions where the judges disagree.
   The server keeps it; what it hasn't taken yet stays in this browser, for every tab. */
const PLACE = `longproof ${data.run.id}`;

/* What the browser doesn't keep, or has no room for: the page keeps it. */
let held = {};

/* What the server hasn't taken. An entry that is damaged is none. */
function unsent() {
  try {
    return merged(JSON.parse(localStorage.getItem(PLACE)) ?? {}, held);
  } catch {
    return held;
  }
}

function hold(changed) {
  held = {};
  try {
    if (Object.keys(changed).length) localStorage.setItem(PLACE, JSON.stringify(changed));
    else localStorage.removeItem(PLACE);
  } catch {
    held = changed;
  }
}

/* An object with another's innermost values in the place of its own. */
const merged = (before, given) => ({ ...before, ...Object.fromEntries(Object.entries(given).map(([key, value]) => [key, value instanceof Object ? merged(before[key] ?? {}, value) : value])) });

/* What of an object isn't the same in another. */
function without(all, sent) {
  const left = Object.entries(all).map(([key, value]) => [key, value instanceof Object ? without(value, sent[key] ?? {}) : value]);
  return Object.fromEntries(left.filter(([key, value]) => (value instanceof Object ? Object.keys(value).length : value !== sent[key])));
}

const saidOf = (id) => merged({ mark: "", note: "", accepted: {}, decision: {} }, data.run.marks[id] ?? {});

/* Keeps what is said of claims, by their ids: only what changes, so that no tab overwrites another's. What is being
   typed is sent when it rests. */
function keep(changed, typing = false) {
  hold(merged(unsent(), changed));
  data.run.marks = merged(data.run.marks, changed);
  clearTimeout(retry);
  if (typing) {
    retry = setTimeout(send, 1000);
    return retry;
  }
  drawRun();
  return send();
}

let sending = Promise.resolve();
let retry = 0;
const send = () => (sending = sending.then(handOver));

/* Hands over what the server hasn't taken, of some claims at a time: whether nothing is left. While it takes nothing,
   that is tried again; of what it refuses, each claim is sent alone, so that only what is wrong is dropped. */
async function handOver() {
  clearTimeout(retry);
  const left = Object.entries(unsent());
  let refusal = null;
  for (let most = 20; left.length; ) {
    const part = left.slice(0, most);
    const changed = Object.fromEntries(part);
    try {
      heard(await ask(`${data.run.id}/marks`, changed));
      fill(trouble, refusal);
    } catch (error) {
      if (!error.refused) {
        fill(trouble, error.message, " ", say("kept_here"));
        retry = setTimeout(send, 3000);
        return false;
      }
      most = 1;
      if (part.length > 1) continue;
      fill(trouble, (refusal = error.message));
    }
    hold(without(unsent(), changed));
    left.splice(0, part.length);
  }
  return true;
}

/* What the server says of the run; what is being typed stays as it is, and so does all where nothing is new: a button
   that is being pressed stays under the mouse. */
function heard(told) {
  const before = JSON.stringify(data.run);
  Object.assign(data.run, told, { marks: merged(told.marks, unsent()) });
  if (JSON.stringify(data.run) === before) return;
  drawRun();
  for (const one of document.querySelectorAll(".card input, .card select")) one.dispatchEvent(new Event("follow"));
}

/* A line to write in, which is kept as it is typed; what another tab wrote shows, unless something is being typed. How much it may hold is said, and how much it holds before it is full. */
function lineOf(word, value, change, most = data.longest) {
  const named = `${say(word)} (${say("at_most", { n: numeral(most) })})`;
  const count = make("span", { class: "note", role: "status" });
  const counted = () => fill(count, input.value.length < 0.8 * most ? null : say("n_of_most", { n: numeral(input.value.length), most: numeral(most) }));
  let set = value();
  const typed = () => {
    counted();
    change(input.value, true);
  };
  const done = () => change((set = input.value));
  const follow = () => {
    if (input !== document.activeElement || input.value === set) input.value = set = value();
  };
  const input = make("input", { type: "text", value: set, maxlength: most, placeholder: named, "aria-label": named, oninput: typed, onchange: done, onfollow: follow });
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
  const note = lineOf("note", () => saidOf(id).note, (text, typing) => keep({ [id]: { note: text } }, typing));
  const accepts = known(claim).map(({ error, n }) => make("label", { class: "accept" }, checkOf("checkbox", () => saidOf(id).accepted[n] === true, (on) => keep({ [id]: { accepted: { [n]: on } } }), { "data-key": `${id}:${n}` }), ` ${say("accept")}: `, make("bdi", {}, error.correction || say("leave_out"))));
  return [make("fieldset", { class: "mark" }, make("legend", {}, say("finding_is")), choice("right", "right"), choice("wrong", "mark_wrong"), choice("unclear", "unclear"), note), accepts];
}

const DECISIONS = ["contradicting", "fabricated", "ambiguous", "no_fact", "out_dependent", "implicitly_supported", "explicitly_supported", "not_found"];

function disputeOf(claim) {
  const decided = (key) => saidOf(claim.id).decision[key] ?? "";
  const decide = (key) => (value, typing) => keep({ [claim.id]: { decision: { [key]: value } } }, typing);
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
