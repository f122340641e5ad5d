/* A new check: two texts, who judges, what it would cost. Below it stands the index of earlier ones. */
const mb = Math.round(data.bytes / 1e6);
const limits = say("limits", { mb, n: numeral(data.characters) });
const told = make("p", { class: "told", id: "told", role: "status" });
const zones = { sources: zone("give_source", 100), response: zone("give_response", 1) };
let turns = Promise.resolve();
let waiting = 0;

/* Does one thing after another; until all are done, nothing can be started. What went wrong with a text is told beside
   it, the rest below. */
function inTurn(work) {
  if (!waiting) for (const one of [zones.sources.wrong, zones.response.wrong, told]) fill(one);
  waiting += 1;
  lock();
  turns = turns.then(work).catch((error) => {
    const place = error.zone?.wrong ?? told;
    if (error.zone) fill(told);
    fill(place, place.textContent, place.textContent && " · ", error.message);
    place.scrollIntoView({ block: "nearest" });
  }).then(() => {
    waiting -= 1;
    lock();
  });
}

/* An error about one of the two texts. */
const wrongWith = (held, message) => Object.assign(new Error(message), { zone: held });

const lock = () => acts.forEach((one) => (one.disabled = waiting > 0));

/* Where files are dropped, chosen, or text is pasted; `texts` are those that the server has. */
function zone(key, most) {
  const held = { texts: [], list: make("ul", { class: "given" }), wrong: make("p", { class: "wrong-with", role: "alert" }) };
  const file = make("input", { type: "file", multiple: most > 1, "aria-label": `${say(key)}: ${say("choose_file")}`, onchange: () => {
    add([...file.files]);
    file.value = "";
  } });
  held.paste = make("textarea", { rows: 4, placeholder: say("paste"), "aria-label": `${say(key)}: ${say("paste")}` });
  held.take = (text) => {
    held.texts = most > 1 ? [...held.texts, text] : [text];
    drawn(held);
  };
  const add = (files) => {
    if (files.length > most) inTurn(() => Promise.reject(wrongWith(held, say("too_many", { n: most }))));
    else for (const one of files) inTurn(async () => held.take(await upload(held, one, one.name)));
  };
  const over = (on) => (event) => {
    event.preventDefault();
    held.element.classList.toggle("over", on);
  };
  held.element = make("section", { class: "zone", id: key, ondragover: over(true), ondragleave: over(false), ondrop: (event) => {
    over(false)(event);
    add([...event.dataTransfer.files]);
  } }, make("h2", {}, say(key)), make("p", { class: "note" }, say(`${key}_is`)), held.wrong, held.list, file, held.paste);
  return held;
}

function drawn(held) {
  const away = (one) => button("×", () => {
    held.texts = held.texts.filter((other) => other !== one);
    drawn(held);
  }, { "aria-label": say("take_away", { title: one.title }) });
  fill(held.list, held.texts.map((one) => make("li", {}, make("bdi", {}, short(one.title, 60)), ` · ${say("characters_n", { n: numeral(one.characters) })} `, away(one))));
}

async function upload(held, blob, title) {
  if (blob.size > data.bytes) throw wrongWith(held, say("too_large", { title, mb }));
  fill(told, say("reading_file", { title }));
  const bytes = await blob.arrayBuffer().catch(() => Promise.reject(wrongWith(held, say("unreadable", { title }))));
  const text = await ask(`texts?name=${encodeURIComponent(title)}`, bytes, "application/octet-stream").catch((error) => Promise.reject(wrongWith(held, error.message)));
  fill(told);
  return text;
}

const judges = data.offer.judges.map((name) => make("input", { type: "checkbox", checked: true, "aria-label": name }));
const model = make("input", { type: "text", autocomplete: "off" });
const person = make("input", { type: "checkbox", checked: data.offer.person });
const most = make("input", { type: "number", min: 0, max: data.offer.max_tokens, placeholder: data.offer.max_tokens === null ? null : numeral(data.offer.max_tokens), step: 1000 });
const reach = make("select", {}, ["", ...data.offer.reach].map((one) => make("option", { value: one }, say(`reach_${one}`))));
const labelled = (input, ...text) => make("label", {}, input, " ", text);

/* A pasted text goes by its first words. */
const beginning = (text) => [...text.slice(0, 400).replace(/[^\p{L}\p{N} ,'’，、-]+/gu, " ").trim()].slice(0, 40).join("").trim() || say("pasted");

/* Texts as the server has them, and what was chosen. Pasted texts are given over first. */
async function choice() {
  for (const held of Object.values(zones)) {
    const text = held.paste.value;
    if (!text.trim()) continue;
    if (held === zones.response && held.texts.length) throw wrongWith(held, say("one_response"));
    held.take(await upload(held, new Blob([text]), `${beginning(text)}.txt`));
    held.paste.value = "";
  }
  if (!zones.sources.texts.length) throw wrongWith(zones.sources, say("need_source"));
  const [response] = zones.response.texts;
  if (!response) throw wrongWith(zones.response, say("need_response"));
  return {
    sources: zones.sources.texts,
    response,
    judges: judges.flatMap((one, n) => (one.checked ? [n] : [])),
    model: model.value.trim(),
    person: person.checked,
    reach: reach.value || null,
    max_tokens: most.value ? Number(most.value) : null,
  };
}

const priced = () => inTurn(async () => {
  const cost = await ask("price", await choice());
  const money = cost.least_money ? say("price_money", { least: cost.least_money, most: cost.most_money }) : "";
  const most = cost.most ? say("price_most", cost) : "";
  const swapped = cost.swapped ? say("swapped") : "";
  fill(told, `${swapped} ${cost.calls ? `${say("price_first", cost)} ${money} ${most}` : say("price_none")}`);
});

/* Begins a run and leaves the page: this turn never ends, so that no second run is begun meanwhile. */
const leaveFor = (begin) => () => inTurn(async () => {
  const { run } = await begin();
  location.assign(`runs/${run}`);
  await new Promise(() => {});
});
const started = leaveFor(async () => ask("runs", await choice()));
const exampleShown = leaveFor(() => ask("example", { language: document.documentElement.lang }));
addEventListener("pageshow", (event) => event.persisted && location.reload());

const acts = [button(say("price_it"), priced, { id: "price" }), button(say("start"), started, { id: "start" })];

function panel() {
  const names = judges.map((box, n) => labelled(box, make("bdi", {}, data.offer.judges[n])));
  if (data.offer.openai) names.push(make("label", {}, say("openai_model"), " ", model));
  const some = names.length > 0;
  const rest = some ? [labelled(person, say("ask_me")), make("label", {}, say("reach_label"), " ", reach), make("label", {}, say("most_tokens"), " ", most)] : [];
  return make("fieldset", { class: "panel" }, make("legend", {}, say("who_judges")), names, make("p", { class: "note" }, say(some ? "no_judge" : "no_panel")), rest);
}

const page = make("section", { id: "new" }, make("h1", {}, say("new_check")), make("p", {}, say("what_it_does"), " ", button(say("show_example"), exampleShown, { id: "example" })), make("div", { class: "zones" }, zones.sources.element, zones.response.element), make("p", { class: "note" }, limits), panel(), make("p", { class: "acts" }, acts), told);
document.getElementById("head").before(page);
COLUMNS.created = { value: (row) => row.created, down: true, cell: (row) => new Date(row.created).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }) };
sorted = { key: "created", down: true };
let naming = null;
let parting = null;
COLUMNS.report.cell = (row) => [
  naming === row.id ? nameLine(row) : make("a", { href: row.href }, make("bdi", {}, short(row.case, 60))),
  make("div", { class: "about" }, row.sources.length ? make("bdi", {}, say("against", { title: short(row.sources.join(", "), 60) })) : null, changer(row, "rename"), changer(row, "delete")),
];
table();

/* Says and does what is done to an earlier check; what goes wrong is told above the list. */
async function change(row, act, body) {
  try {
    await ask(`runs/${row.id}/${act}`, body);
    fill(told);
    return true;
  } catch (error) {
    fill(told, error.message);
    return false;
  }
}

/* Renaming opens a line to write in; deleting asks once more. */
function changer(row, act) {
  const sure = act === "delete" && parting === row.id;
  const done = async () => {
    if (sure && (await change(row, act, {}))) data.rows = data.rows.filter((other) => other !== row);
    parting = act === "delete" && !sure ? row.id : null;
    naming = act === "rename" ? row.id : null;
    table();
    document.getElementById("parting")?.focus();
    document.getElementById("naming")?.select();
  };
  return button(say(sure ? "delete_sure" : act), done, { class: sure ? "change sure" : "change", id: sure ? "parting" : null, "aria-label": `${say(sure ? "delete_sure" : act)} ${row.case}` });
}

function nameLine(row) {
  const input = make("input", { type: "text", id: "naming", value: row.case, maxlength: 200, "aria-label": `${say("rename")} ${row.case}`, onkeydown: (event) => {
    if (event.key === "Escape") input.value = row.case;
    if (["Enter", "Escape"].includes(event.key)) input.blur();
  }, onblur: async () => {
    const name = input.value.trim();
    if (name !== row.case && (await change(row, "rename", { name }))) row.case = name || row.title;
    if (naming === row.id) naming = null;
    table();
  } });
  return input;
}
for (const type of ["dragover", "drop"]) document.addEventListener(type, (event) => event.preventDefault());
