/* A new check: two texts, who judges, what it would cost. Below it stands the index of earlier ones. */
const mb = Math.round(data.bytes / 1e6);
const limits = say("limits", { mb, n: numeral(data.characters) });
const told = make("p", { class: "told", role: "status" });
const zones = { sources: zone("give_source", true), response: zone("give_response", false) };

/* Where files are dropped, chosen, or text is pasted; `texts` are those that the server has. */
function zone(key, several) {
  const held = { texts: [], list: make("ul", { class: "given" }) };
  const file = make("input", { type: "file", multiple: several, "aria-label": `${say(key)}: ${say("choose_file")}`, onchange: () => add(file.files).then(() => (file.value = "")) });
  held.paste = make("textarea", { rows: 4, placeholder: say("paste"), "aria-label": `${say(key)}: ${say("paste")}` });
  const add = (files) => trying(async () => {
    for (const one of [...files].slice(0, several ? 100 : 1)) held.texts = [...(several ? held.texts : []), await upload(one, one.name)];
    drawn(held);
  });
  const over = (on) => (event) => {
    event.preventDefault();
    held.element.classList.toggle("over", on);
  };
  held.element = make("section", { class: "zone", id: key, ondragover: over(true), ondragleave: over(false), ondrop: (event) => {
    over(false)(event);
    add(event.dataTransfer.files);
  } }, make("h2", {}, say(key)), make("p", { class: "note" }, say(`${key}_is`)), held.list, file, held.paste);
  return held;
}

function drawn(held) {
  const away = (one) => button("×", () => {
    held.texts = held.texts.filter((other) => other !== one);
    drawn(held);
  }, { "aria-label": say("take_away", { title: one.title }) });
  fill(held.list, held.texts.map((one) => make("li", {}, make("bdi", {}, short(one.title, 60)), ` · ${say("characters_n", { n: numeral(one.characters) })} `, away(one))));
}

async function upload(blob, title) {
  if (blob.size > data.bytes) throw new Error(say("too_large", { title, mb }));
  fill(told, say("reading_file", { title }));
  const text = await ask(`texts?name=${encodeURIComponent(title)}`, blob, "application/octet-stream");
  fill(told);
  return text;
}

/* Does something; what goes wrong is told. */
async function trying(work) {
  try {
    await work();
  } catch (error) {
    fill(told, error.message);
  }
}

const judges = data.offer.judges.map((name) => make("input", { type: "checkbox", checked: true, "aria-label": name }));
const model = make("input", { type: "text", autocomplete: "off" });
const person = make("input", { type: "checkbox", checked: data.offer.person });
const most = make("input", { type: "number", min: 0, max: data.offer.max_tokens, placeholder: data.offer.max_tokens === null ? null : numeral(data.offer.max_tokens), step: 1000 });
const reach = make("select", {}, ["", ...data.offer.reach].map((one) => make("option", { value: one }, say(`reach_${one}`))));
const labelled = (input, ...text) => make("label", {}, input, " ", text);

/* Texts as the server has them, and what was chosen. Pasted texts are given over first. */
async function choice() {
  for (const held of Object.values(zones)) {
    const text = held.paste.value;
    if (!text.trim() || (held === zones.response && held.texts.length)) continue;
    held.texts = [...held.texts, await upload(new Blob([text]), `${say("pasted")}.txt`)];
    held.paste.value = "";
    drawn(held);
  }
  const [response] = zones.response.texts;
  if (!response) throw new Error(say("need_response"));
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

const priced = () => trying(async () => {
  const cost = await ask("price", await choice());
  const money = cost.least_money ? say("price_money", { least: cost.least_money, most: cost.most_money }) : "";
  fill(told, cost.most ? `${say("price_between", cost)} ${money}` : say("price_none"));
});

const started = () => trying(async () => {
  const { run } = await ask("runs", await choice());
  location.assign(`runs/${run}`);
});

function panel() {
  const names = judges.map((box, n) => labelled(box, make("bdi", {}, data.offer.judges[n])));
  if (data.offer.openai) names.push(make("label", {}, say("openai_model"), " ", model));
  const some = names.length > 0;
  const rest = some ? [labelled(person, say("person")), make("label", {}, say("reach_label"), " ", reach), make("label", {}, say("most_tokens"), " ", most)] : [];
  return make("fieldset", { class: "panel" }, make("legend", {}, say("who_judges")), names, make("p", { class: "note" }, say(some ? "no_judge" : "no_panel")), rest);
}

const page = make("section", { id: "new" }, make("h1", {}, say("new_check")), make("div", { class: "zones" }, zones.sources.element, zones.response.element), make("p", { class: "note" }, limits), panel(), make("p", { class: "acts" }, button(say("price_it"), priced, { id: "price" }), button(say("start"), started, { id: "start" })), told);
document.getElementById("head").before(page);
COLUMNS.created = { value: (row) => row.created, down: true, cell: (row) => new Date(row.created).toLocaleString(document.documentElement.lang) };
sorted = { key: "created", down: true };
table();
for (const type of ["dragover", "drop"]) document.addEventListener(type, (event) => event.preventDefault());
