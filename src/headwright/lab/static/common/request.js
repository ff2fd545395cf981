// Requests to the server: sent shortly after the last change, and cancelled when a newer one replaces them or on demand.
import { h, tell } from "./dom.js";
import { post } from "./transport.js";

const SLOW = 1.5; // seconds after which progress and a Cancel button are shown

/** Progress in words. */
const progressWords = ({ state, done }) => (state === "disconnected" ? ", waiting for the connection" : state === "waiting" ? ", waiting for a free worker" : done === null ? "" : `, about ${Math.floor(100 * done)}% done`);

/**
 * One kind of request. Calls `answered(answer, seconds)`, `failed(sentence, field)` and `waiting(yes)`.
 * A slow request is shown in the view of `state`, with a button that cancels it and frees the worker.
 */
export class Asker {
  constructor(call, { state = null, what = "Working", wait = 150, by = post, answered, failed, waiting = () => {} }) {
    Object.assign(this, { call, state, what, wait, by, answered, failed, waiting });
    this.timer = 0;
    this.running = null;
    this.clock = 0;
    this.line = null;
  }

  /** Send, unless a newer request comes within `wait` milliseconds. */
  ask(body) {
    this.cancel();
    this.waiting(true);
    this.body = body;
    this.timer = setTimeout(() => this.#go(body), this.wait);
  }

  /** Drop the current request. */
  cancel() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = null;
    this.#clear();
    this.waiting(false);
  }

  /** Cancel on the user's demand, and offer to repeat. */
  stop() {
    this.cancel();
    this.failed("Cancelled.", null);
    this.#show(`${this.what}: cancelled`, "Try again", () => this.ask(this.body));
  }

  /** A line with a button, and a bar where the fraction done is known. */
  #show(text, label, pressed, done = null) {
    const place = this.state?.root.getElementById("working");
    this.line ??= place?.appendChild(h("p", { class: "working", role: "status" }, h("span", {}, text), h("progress", { max: 1, hidden: true, "aria-label": this.what }), h("button", { type: "button", onclick: pressed }, label)));
    if (!this.line) return;
    const [words, bar] = this.line.children;
    tell(words, text);
    bar.hidden = done === null;
    if (done !== null) bar.value = done;
  }

  #watch(started) {
    this.#clear();
    this.clock = setInterval(() => {
      const seconds = (performance.now() - started) / 1000;
      if (seconds >= SLOW) this.#show(`${this.what}: ${Math.floor(seconds)} s${progressWords(this.progress)}`, "Cancel", () => this.stop(), this.progress.done);
    }, 250);
  }

  #clear() {
    clearInterval(this.clock);
    this.line?.remove();
    this.line = null;
  }

  async #go(body) {
    const mine = new AbortController();
    this.running = mine;
    this.progress = { state: "working", done: null };
    const started = performance.now();
    this.#watch(started);
    try {
      const answer = await this.by(this.call, body, mine.signal, (progress) => { if (this.running === mine && progress.state !== "unknown") this.progress = progress; });
      if (this.running !== mine) return;
      this.#clear();
      this.waiting(false);
      this.answered(answer, (performance.now() - started) / 1000);
    } catch (error) {
      if (this.running !== mine) return; // replaced by a newer request
      this.#clear();
      this.waiting(false);
      this.failed(error.message, error.where ?? null);
    }
  }
}
