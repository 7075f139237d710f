// The host of the page: a model that speaks to the local server. What the lab asks of any host is this much:
//   model.get("start")              what to begin with: points, labels, names, lessons
//   model.send(request)             ask for a fit; request.id comes back with the answer
//   model.on("msg:custom", heard)   answers: {id, answer}, {id, error}, or {id, lost: true} if nobody answers
import lab from "./lab.js";

const handlers = [];
const tell = (message) => handlers.forEach((heard) => heard(message));

async function ask(request) {
  let reply, content;
  try {
    reply = await fetch("fit", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
    });
    content = await reply.json();
  } catch {
    return tell({ id: request.id, lost: true });
  }
  if (reply.status === 401) return tell({ id: request.id, lost: true, error: content.error });
  tell(reply.ok ? { id: request.id, answer: content } : { id: request.id, error: content.error });
}

const start = await (await fetch("start.json")).json();
lab.render({
  model: {
    get: (name) => ({ start })[name],
    send: ask,
    on: (event, heard) => handlers.push(heard),
  },
  el: document.getElementById("lab"),
});
