/* The bar of a run: how far it is, stop, go on, decide, correct; and the claims that come while it goes on. */
const runBar = make("section", { id: "run", "aria-label": say("all_runs") });
const trouble = make("p", { class: "triage", role: "alert" });
const states = make("div", { class: "states" });
document.body.classList.add("served");
$("head").after(fill(runBar, make("a", { href: "../" }, say("all_runs")), states, trouble));

/* Does something; what goes wrong is told in the bar. */
async function telling(work) {
  try {
    const done = await work();
    fill(trouble);
    return done;
  } catch (error) {
    fill(trouble, error.message);
    return null;
  }
}

/* Decisions are handed over before they are handed in; stopping waits for nothing. */
const go = async (act, body = {}) => (act !== "go" || (await send())) && telling(async () => {
  heard(await ask(`${data.run.id}/${act}`, body));
  if (data.run.state === "running") watch();
});

/* Asks again and again while the run goes on; who begins to watch anew watches alone. */
const LOOK_MS = 500;
let watches = 0;
let newest = -1;
const claimsSeen = [];

async function watch() {
  const turn = ++watches;
  let ended = false;
  while (!ended && turn === watches) {
    try {
      hear(await ask(`${data.run.id}/now?seen=${newest}`));
      fill(trouble);
      ended = data.run.state !== "running";
    } catch (error) {
      fill(trouble, error.message);
      ended = error.refused;
    }
    if (!ended) await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

/* What other tabs said or did meanwhile. */
async function look() {
  if (document.hidden || !(await send())) return;
  const before = data.run.state;
  await telling(async () => heard(await ask(`${data.run.id}/now`)));
  if (data.run.state !== before) watch();
}

/* What the server tells: how far the run is; or the run and its page's data, without texts. What is being typed stays
   as it is. */
function hear({ seen: latest, asked, run, report: now, ...page }) {
  if (!run) return $("asked") && fill($("asked"), askedSoFar(asked));
  newest = latest;
  heard(run);
  if (now.documents.length !== report.documents.length) return location.reload();
  Object.assign(data, page);
  Object.assign(report, { verdict: now.verdict, stamp: now.stamp });
  const changed = new Set();
  for (const [n, claim] of now.claims.entries()) {
    const text = JSON.stringify(claim);
    if (claimsSeen[n] === text) continue;
    claimsSeen[n] = text;
    if (report.claims[n]) changed.add(report.claims[n].sentence);
    report.claims[n] = claimFrom(claim);
    changed.add(claim.sentence);
  }
  for (const gone of report.claims.splice(now.claims.length)) changed.add(gone.sentence);
  claimsSeen.length = now.claims.length;
  for (const [index, [, , label]] of now.sentences.entries()) {
    if (sentences[index].label !== label) changed.add(index);
    sentences[index].label = label;
  }
  for (const index of changed) {
    concluded(sentences[index]);
    response.renew(sentences[index]);
  }
  if (changed.size) redraw();
  const first = sentences.findIndex(isWanted);
  if (state.sentence === null && ["done", "waiting"].includes(data.run.state) && first >= 0) choose(first, { quiet: true });
  else if (changed.has(state.sentence) && !response.card.contains(document.activeElement)) reopen();
  fill($("head"), outcomeLine(), tools(openHelp), making());
  return drawRun();
}

function redraw() {
  gather();
  strip.renew();
  filters.renew();
  mark();
}

function drawRun() {
  const { state: now, told } = data.run;
  const parts = { running, stopped: again, failed: again, waiting, done: finished }[now];
  const at = states.contains(document.activeElement) && document.activeElement.id;
  fill(states, parts(now, told));
  if (at) $(at)?.focus();
  for (const claim of report.claims) drawCorrections(claim);
}

/* Corrections that are made stand in the text, behind the words that they replace. */
function drawCorrections(claim) {
  const { accepted } = saidOf(claim.id);
  const changed = known(claim).filter(({ error, n }) => Boolean(error.accepted) !== (accepted[n] === true));
  for (const { error } of changed) error.accepted = !error.accepted;
  if (changed.length) response.renew(sentences[claim.sentence]);
}

const askedSoFar = ({ calls, tokens, waiting: open }) => (calls || open ? say("asked_so_far", { calls: numeral(calls), tokens: numeral(tokens), waiting: open }) : null);

const running = (_, told) => {
  const stop = button(say("stop"), () => {
    stop.disabled = true;
    go("stop");
  }, { id: "stop" });
  const bar = told.claims ? make("progress", { max: told.claims, value: told.checked, "aria-label": say("running") }) : null;
  return [make("span", { class: "at-work", role: "status" }, say(`at_${told.node ?? "read"}`, told)), bar, make("span", { id: "asked", class: "at-work" }, askedSoFar(told)), stop];
};

const again = (now) => [make("span", {}, say(`is_${now}`, { why: data.run.why })), button(say("go_on"), () => go("go"), { id: "go" })];

function waiting() {
  const ids = Object.keys(data.run.disputes);
  const decided = ids.filter((id) => saidOf(id).decision.label).length;
  const name = lineOf("your_name", () => $("name")?.value ?? "", () => {}, 80);
  name[0].id = "name";
  return [make("span", {}, say("decide_n", { n: ids.length, decided })), data.run.why ? make("span", { class: "triage" }, data.run.why) : null, name, button(say("hand_in"), () => go("go", { name: $("name").value }), { id: "decide" })];
}

/* All corrections are made, but for findings that the person marked wrong; once they are, all are taken back. */
function finished() {
  const right = report.claims.filter((claim) => known(claim).length && saidOf(claim.id).mark !== "wrong");
  const all = right.flatMap((claim) => known(claim).map(({ n }) => [claim.id, n]));
  const some = new Set(report.claims.flatMap((claim) => known(claim).map(({ error }) => JSON.stringify([error.span.start, error.span.end, error.correction])))).size;
  const back = all.length > 0 && all.every(([id, n]) => saidOf(id).accepted[n] === true);
  const every = (claim) => ({ accepted: Object.fromEntries(known(claim).map(({ n }) => [n, !back])) });
  const take = () => keep(Object.fromEntries(right.map((claim) => [claim.id, every(claim)])));
  const { made, ruled_out: out } = data.run.corrections;
  const link = (name, text) => make("a", { href: `${data.run.id}/${name}`, download: "" }, text);
  const counts = make(
    "span",
    {},
    [say("accepted_n", { n: made, all: some }), " ", out ? [say("ruled_out", { n: out }), " "] : null, say("corrected_as")],
  );
  const forms = [link("corrected.txt", "TXT"), link("corrected.docx", "DOCX")];
  return [
    some ? [button(say(back ? "take_back_all" : "accept_all", { n: some }), take, { id: "accept-all" }), counts, forms] : null,
    link("report.json", say("export_json")),
    data.run.editable ? button(say("edit"), openEditor, { id: "edit" }) : null,
  ];
}

/* The text to be edited and checked again: with the corrections that are made, until it is edited. */
const editor = make("textarea", { "aria-label": say("edit"), lang: answerLanguage });
const editing = make("dialog", { id: "editing" });
const editWrong = make("p", { class: "triage", role: "alert" });
let unedited = "";

async function openEditor() {
  if (editor.value === unedited) await telling(async () => {
    const answer = await fetch(`${data.run.id}/corrected.txt`);
    editor.value = await answer.text();
    unedited = editor.value;
  });
  editing.showModal();
}

async function checkEdited(event) {
  event.target.disabled = true;
  try {
    const { run } = await ask(`${data.run.id}/again`, new Blob([editor.value]), "application/octet-stream");
    location.assign(run);
  } catch (error) {
    fill(editWrong, error.message);
    event.target.disabled = false;
  }
}

fill(editing, make("h2", {}, say("edit")), make("p", {}, say("edit_is")), editor, editWrong, make("div", { class: "acts" }, button(say("close"), () => editing.close()), button(say("check_again"), checkEdited, { id: "again", class: "main" })));
document.body.append(editing);

function reopen() {
  if (state.sentence !== null) choose(state.sentence, { quiet: true, stay: true });
}

window.addEventListener("focus", look);
document.addEventListener("visibilitychange", look);
data.run.marks = merged(data.run.marks, unsent());
drawRun();
reopen();
send();
if (data.run.state === "running") watch();
