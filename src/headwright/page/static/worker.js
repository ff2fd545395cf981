// Python in a worker: loads itself with progress in bytes, then answers one question after the other.
const WASM = "application/wasm";
const fetched = self.fetch.bind(self);
let loaded = 0;

/** Count what arrives, for the page's progress bar, on a copy: browsers keep compiled code only of the response itself. */
self.fetch = async (...asked) => {
  let response = await fetched(...asked);
  const counter = new WritableStream({ write(chunk) { loaded += chunk.byteLength; self.postMessage({ loaded }); } });
  response.clone().body?.pipeTo(counter).catch(() => {}); // who asked learns of it, too
  if (response.ok && response.url.endsWith(".wasm") && response.headers.get("content-type") !== WASM) response = new Response(response.body, { headers: { "content-type": WASM } }); // some servers do not know the type
  return response;
};

const bytes = async (name) => {
  const response = await self.fetch(new URL(`python/${name}`, self.location.href));
  if (!response.ok) throw new Error(`${name} could not be loaded (${response.status})`);
  return response.arrayBuffer();
};

async function start() {
  const archive = bytes("modules.zip");
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([import("./python/pyodide.js"), import("./python/pyodide.asm.js")]);
  const env = { PYDANTIC_DISABLE_PLUGINS: "1" }; // there are none: looking for them is slow
  const python = await loadPyodide({ indexURL: new URL("python/", self.location.href).href, createPyodideModule, env });
  const place = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(await archive, "zip", { extractDir: place });
  python.pyimport("headwright.grading.grade"); // what the first answer needs
  const { answer, solver_loaded: solverLoaded } = python.pyimport("headwright.page.answering");
  return { python, place, answer, solverLoaded };
}

const lastLine = (error) => String(error.message ?? error).trim().split("\n").at(-1).slice(0, 200);
const ready = start();
ready.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ failed: lastLine(error) }));

self.onmessage = async ({ data: question }) => {
  try {
    const { python, place, answer, solverLoaded } = await ready;
    let found = JSON.parse(answer(question));
    if (found.needs) {
      self.postMessage({ needs: found.needs });
      python.unpackArchive(await bytes("z3_solver.whl"), "wheel", { extractDir: place });
      solverLoaded();
      found = JSON.parse(answer(question));
    }
    self.postMessage({ found });
  } catch (error) { // Python itself has failed, as where its stack or memory is full
    self.postMessage({ found: { error: `this could not be computed in a browser (${lastLine(error)}); the command line may` }, broken: true });
  }
};
