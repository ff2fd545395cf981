// Python in a worker: loads itself with progress in bytes, then answers one question after the other.
const counted = self.fetch.bind(self);
let loaded = 0;

/** Count what arrives, for the page's progress bar. */
self.fetch = async (...asked) => {
  const response = await counted(...asked);
  if (!response.body) return response;
  const count = new TransformStream({ transform(chunk, out) { loaded += chunk.byteLength; self.postMessage({ loaded }); out.enqueue(chunk); } });
  return new Response(response.body.pipeThrough(count), { status: response.status, headers: response.headers });
};

const bytes = async (name) => {
  const response = await self.fetch(new URL(`python/${name}`, self.location.href));
  if (!response.ok) throw new Error(`${name} could not be loaded (${response.status})`);
  return response.arrayBuffer();
};

async function start() {
  const { loadPyodide } = await import("./python/pyodide.mjs");
  const [python, modules] = await Promise.all([loadPyodide({ indexURL: new URL("python/", self.location.href).href }), bytes("modules.zip")]);
  const place = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(modules, "zip", { extractDir: place });
  const answer = python.runPython("from headwright.page.answering import answer\nanswer");
  return { python, place, answer };
}

const ready = start();
ready.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ failed: String(error.message ?? error).trim().split("\n").at(-1) }));

self.onmessage = async ({ data: { number, question } }) => {
  const { python, place, answer } = await ready;
  let found = JSON.parse(answer(question));
  if (found.needs) {
    self.postMessage({ number, needs: found.needs });
    python.unpackArchive(await bytes("z3_solver.whl"), "wheel", { extractDir: place });
    found = JSON.parse(answer(question));
  }
  self.postMessage({ number, found });
};
