/* Asks the server; what it refuses is thrown, in one line. `refused`: sent again, it would be refused again. */
async function ask(path, body, type = "application/json") {
  const sent = { method: "POST", headers: { "content-type": type }, body: type === "application/json" ? JSON.stringify(body) : body };
  const answer = await fetch(path, body === undefined ? {} : sent).catch(() => {
    throw new Error(say("server_gone"));
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  const told = text.startsWith("{") ? JSON.parse(text) : { error: text };
  throw Object.assign(new Error(told.error), { refused: [400, 413].includes(answer.status) && !told.again });
}
