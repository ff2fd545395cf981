// Questions of the page go to Python in a worker of this tab. Nothing is sent anywhere.
const LIMIT = { check: 30, document: 120, verify: 120, exercises: 20 }; // seconds; more, and Python is stopped and started again
let worker = null;
let number = 0;
let isReady = null;
const waiting = new Map();
const listeners = new Set();

/** Be told how many bytes have arrived, and when Python is ready or has failed. */
export function onLoading(listener) { listeners.add(listener); }

function begin() {
  worker = new Worker(new URL("../../worker.js", import.meta.url), { type: "module" });
  isReady = new Promise((ready, failed) => {
    worker.onmessage = ({ data }) => {
      if (data.ready) ready();
      if (data.failed) failed(new Error(data.failed));
      if (data.found) { waiting.get(data.number)?.(data.found); waiting.delete(data.number); }
      for (const listener of listeners) listener(data);
    };
    worker.onerror = (event) => failed(new Error(event.message || "Python could not be started"));
  });
  isReady.catch(() => {});
}

function stop() { worker.terminate(); waiting.clear(); begin(); }

/** Ask Python, as the lab's pages ask their server: the answer, or an error with the field it is about. */
export async function post(call, given, signal) {
  if (!worker) begin();
  await isReady;
  signal?.throwIfAborted();
  const mine = ++number;
  const found = await new Promise((answered, failed) => {
    const clock = setTimeout(() => { stop(); failed(new Error(`this took more than ${LIMIT[call]} seconds and was stopped; the command line has no such limit`)); }, LIMIT[call] * 1000);
    signal?.addEventListener("abort", () => { clearTimeout(clock); if (waiting.has(mine)) stop(); failed(signal.reason); }, { once: true });
    waiting.set(mine, (one) => { clearTimeout(clock); answered(one); });
    worker.postMessage({ number: mine, question: JSON.stringify({ call, given }) });
  });
  if ("answer" in found) return found.answer;
  throw Object.assign(new Error(found.error), { where: found.where });
}

begin();
