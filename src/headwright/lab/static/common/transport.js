// How a request reaches the server. The static page has a file of this name of its own, which asks Python in the browser.
import { reach } from "./connection.js";

const POLL = 1000; // milliseconds between two progress requests

/** The answer to one request; an error has a sentence as its message, and its field as `where`. `onProgress` gets {state, done}. */
export async function post(call, body, signal, onProgress = () => {}) {
  const name = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const polling = setInterval(() => fetch(`/api/progress/${name}`, { signal }).then((reply) => reply.json()).then(onProgress).catch(() => {}), POLL); // without progress nothing is shown
  let reply;
  try {
    reply = await reach(`/api/${call}`, {
      method: "POST", headers: { "content-type": "application/json", "x-headwright-question": name }, body: JSON.stringify(body), signal,
    }, () => onProgress({ state: "disconnected", done: null }));
  } finally { clearInterval(polling); }
  let answer;
  try { answer = JSON.parse(reply.text); } catch { answer = { error: `The lab answered with status ${reply.status}, and not in JSON.` }; }
  if (reply.ok) return answer;
  throw Object.assign(new Error(answer.error ?? `The lab answered with status ${reply.status}.`), { where: answer.where });
}
