// Progress in bytes while Python loads; then the service worker, for use without a network.
import { h } from "./common/dom.js";
import { onLoading } from "./common/transport.js";

const line = document.getElementById("loading");
const [words, bar] = line.children;
const total = fetch("manifest.json").then((reply) => reply.json()).then(({ bytes }) => bytes);
const megabytes = (count) => (count / 1e6).toFixed(1);
const AFTER = 2000; // milliseconds: the first verdict comes first
const isSecure = "serviceWorker" in navigator && location.protocol.startsWith("http");

if (isSecure && navigator.serviceWorker.controller) {
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    line.before(h("p", { class: "note", role: "status" }, "This page has a new version. ", h("button", { type: "button", onclick: () => location.reload() }, "Reload")));
  }, { once: true });
}

onLoading(async (state) => {
  if (state.failed) { line.hidden = false; line.className = "error"; line.textContent = `Python could not be loaded: ${state.failed}. Reload the page to try again.`; return; }
  if (state.needs) { line.hidden = false; words.textContent = "Loading the solver z3, which this answer needs"; bar.removeAttribute("value"); }
  if (state.ready || state.found) line.hidden = true;
  if (state.ready) document.documentElement.dataset.python = "ready";
  if (state.ready && isSecure) setTimeout(() => navigator.serviceWorker.register("offline.js").catch(() => {}), AFTER); // without it, the page needs its server
  if (state.loaded && !state.ready && bar.hasAttribute("value")) {
    const bytes = await total;
    bar.value = Math.min(1, state.loaded / bytes);
    words.textContent = state.loaded < bytes ? `Loading Python: ${megabytes(state.loaded)} of ${megabytes(bytes)} MB` : "Starting Python";
  }
});
