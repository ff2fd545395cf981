// Questions of the page go to Python in a worker of this tab, one at a time. Nothing is sent anywhere.
const LIMIT = { check: 30, sheet: 20, verdict: 20, document: 30, verify: 120, design: 30, simulate: 30 }; // seconds; after that Python is stopped and started again
const ABANDONED = 4; // seconds that a question nobody waits for may still run when the next one comes
const exercises = fetch("exercises.json").then((reply) => reply.json());
const listeners = new Set();
const queue = [];
let worker = null;
let running = null; // the question that Python works on
let isReady = false;
let failed = null; // why Python could not be started

/** Be told how many bytes have arrived, and when Python is ready, needs more, or has failed. */
export function onLoading(listener) { listeners.add(listener); }
const tell = (state) => { for (const listener of listeners) listener(state); };

function begin() {
  isReady = false;
  worker?.terminate();
  worker = new Worker(new URL("../../worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    tell(data);
    if (data.ready) { isReady = true; next(); }
    if (data.failed) fail(data.failed);
    if (data.found) finish(data.found, data.broken);
  };
  worker.onerror = (event) => { event.preventDefault(); fail(event.message || "the worker could not be started"); };
}

/** Python cannot be started: all questions are answered with this. */
function fail(sentence) {
  failed = `Python could not be started in this browser: ${sentence}`;
  tell({ failed: sentence });
  while (queue.length) queue.shift().answered({ error: failed });
}

/** The running question is answered; Python is started again where it is broken or took too long. */
function finish(found, restart = false) {
  clearTimeout(running?.clock);
  const { answered } = running ?? {};
  running = null;
  if (restart) begin();
  answered?.(found);
  next();
}

function next() {
  if (failed || !isReady || running || !queue.length) return;
  running = queue.shift();
  const seconds = LIMIT[running.call];
  running.started = performance.now();
  running.clock = setTimeout(() => finish({ error: `this took more than ${seconds} seconds and was stopped; the command line has no such limit`, late: true }, true), seconds * 1000);
  worker.postMessage(JSON.stringify({ call: running.call, given: running.given }));
}

/** The answer to one question; one that is aborted is dropped, and stopped if it holds up another one. */
async function ask(call, given, signal) {
  signal?.throwIfAborted();
  const found = await new Promise((answered, rejected) => {
    const mine = { call, given, answered };
    signal?.addEventListener("abort", () => {
      if (queue.includes(mine)) queue.splice(queue.indexOf(mine), 1);
      mine.answered = null;
      rejected(signal.reason);
    }, { once: true });
    if (failed) { answered({ error: failed }); return; }
    queue.push(mine);
    if (running && !running.answered && performance.now() - running.started > ABANDONED * 1000) finish({}, true);
    else next();
  });
  if ("answer" in found) return found.answer;
  throw Object.assign(new Error(found.error), { where: found.where, late: found.late });
}

/** All answers of a text, each within its time. */
async function documentOf(given, signal, onProgress) {
  const { answers } = await ask("sheet", given, signal);
  const verdicts = [];
  for (let number = 0; number < answers; number++) {
    onProgress({ state: "working", done: number / answers });
    try { verdicts.push((await ask("verdict", { ...given, number }, signal)).verdict); } catch (error) {
      if (!error.late) throw error;
      verdicts.push(error.message);
    }
  }
  return ask("document", { ...given, verdicts }, signal);
}

/** Ask as the lab's pages ask their server: the answer, or an error with the field it is about. */
export async function post(call, given, signal, onProgress = () => {}) {
  if (call === "exercises") {
    const all = await exercises;
    if (!given.exercise) return all;
    const one = all.exercises.find(({ id }) => id === given.exercise);
    if (!one) throw Object.assign(new Error(`there is no exercise ${given.exercise} on this page`), { where: "exercise" });
    return { exercises: [one] };
  }
  return call === "document" ? documentOf(given, signal, onProgress) : ask(call, given, signal);
}

begin();
