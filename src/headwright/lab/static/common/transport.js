// How a request reaches the server. The static page has a file of this name of its own, which asks Python in the browser.
import { reach } from "./connection.js";

/** The answer to one request; an error has a sentence as its message, and its field as `where`. `onProgress` gets {state, done}. */
export async function post(call, body, signal, onProgress = () => {}) {
  const reply = await reach(`/api/${call}`, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
  }, () => onProgress({ state: "disconnected", done: null }));
  let answer;
  try { answer = JSON.parse(reply.text); } catch { answer = { error: `The lab answered with status ${reply.status}, and not in JSON.` }; }
  if (reply.ok) return answer;
  throw Object.assign(new Error(answer.error ?? `The lab answered with status ${reply.status}.`), { where: answer.where });
}
