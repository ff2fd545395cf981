// Progress in bytes while Python loads; and the service worker, for use without a network.
import { onLoading } from "./common/transport.js";

const line = document.getElementById("loading");
const [words, bar] = line.children;
const { bytes } = await (await fetch("manifest.json")).json();
const megabytes = (count) => (count / 1e6).toFixed(1);

onLoading((state) => {
  if (state.loaded) {
    bar.value = Math.min(1, state.loaded / bytes);
    words.textContent = state.loaded < bytes ? `Loading Python: ${megabytes(state.loaded)} of ${megabytes(bytes)} MB` : "Starting Python";
  }
  if (state.needs) { line.hidden = false; words.textContent = "Loading the solver z3"; bar.removeAttribute("value"); }
  if (state.ready || state.found) line.hidden = true;
  if (state.failed) { line.className = "error"; line.textContent = `Python could not be loaded: ${state.failed}. Reload the page to try again.`; }
});
if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("offline.js").catch(() => {}); // without it, the page needs its server
