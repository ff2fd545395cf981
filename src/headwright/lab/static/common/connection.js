// The connection to the server. While it is down a banner says so, and requests wait until the server answers again.
import { h } from "./dom.js";

const RETRY = 1000; // milliseconds between two attempts to reconnect
let reconnecting = null; // a promise while the connection is down

/** The reply as {ok, status, text}; a request that fails because the server is down is repeated once it is up again. `down()` is called each time. */
export async function reach(address, options = {}, down = () => {}) {
  for (;;) {
    try {
      const reply = await fetch(address, options);
      return { ok: reply.ok, status: reply.status, text: await reply.text() };
    } catch (error) {
      if (error.name === "AbortError") throw error;
      down();
      await Promise.race([reconnect(), aborted(options.signal)]);
    }
  }
}

function aborted(signal) {
  return new Promise((_, reject) => { signal?.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")), { once: true }); });
}

/** Show the banner and try again until the server answers; all waiting requests share one attempt. */
function reconnect() {
  reconnecting ??= (async () => {
    const banner = h("div", { id: "connection", class: "banner", role: "alert" }, h("b", {}, "Connection to the lab lost. "),
      "What is shown may be out of date. Is ", h("code", {}, `headwright lab --port ${location.port}`), " running? This page reconnects automatically.");
    document.body.prepend(banner);
    for (;;) {
      await new Promise((done) => { setTimeout(done, RETRY); });
      try { await fetch("/static/theme.css", { cache: "no-store" }); break; } catch { /* still down */ }
    }
    banner.remove();
    reconnecting = null;
  })();
  return reconnecting;
}
