// Questions to the server: asked a moment after the last change, and given up when a newer one comes, or when told to.
import { h, tell } from "./dom.js";

const SOON = 1.5; // seconds after which it is said that work goes on, and can be given up

const OFTEN = 1000; // milliseconds between two looks at how far it is

/** How far something is, in words: what is known of it, and no more. */
const farness = ({ state, done }) => (state === "waiting" ? ", waiting for a free worker" : done === null ? "; how much is left is not known" : `, about ${Math.floor(100 * done)}% done`);

/**
 * One kind of question. `answered(answer, seconds)`, `failed(sentence, field)` and `waiting(yes)` are told what happens.
 * What takes long is said in the room of `state`, with a button to give it up: that frees the worker, too.
 */
export class Asker {
  constructor(call, { state = null, what = "Working", wait = 150, by = post, answered, failed, waiting = () => {} }) {
    Object.assign(this, { call, state, what, wait, by, answered, failed, waiting });
    this.timer = 0;
    this.running = null;
    this.clock = 0;
    this.line = null;
  }

  /** Ask, unless something newer is asked before long. */
  ask(body) {
    this.cancel();
    this.waiting(true);
    this.body = body;
    this.timer = setTimeout(() => this.#go(body), this.wait);
  }

  /** Forget what was asked. */
  cancel() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = null;
    this.#rest();
    this.waiting(false);
  }

  /** Give up what is being worked on, and say so. */
  stop() {
    this.cancel();
    this.failed("This was given up.", null);
    this.#say(`${this.what}: given up`, "Ask again", () => this.ask(this.body));
  }

  /** A line with a button, in the room; and a bar where it is known how much is done. */
  #say(text, label, pressed, done = null) {
    const place = this.state?.root.getElementById("working");
    this.line ??= place?.appendChild(h("p", { class: "working", role: "status" }, h("span", {}, text), h("progress", { max: 1, hidden: true, "aria-label": this.what }), h("button", { type: "button", onclick: pressed }, label)));
    if (!this.line) return;
    const [words, bar] = this.line.children;
    tell(words, text);
    bar.hidden = done === null;
    if (done !== null) bar.value = done;
  }

  #work(started) {
    this.#rest();
    this.clock = setInterval(() => {
      const seconds = (performance.now() - started) / 1000;
      if (seconds >= SOON) this.#say(`${this.what}: ${Math.floor(seconds)} s${farness(this.far)}`, "Cancel", () => this.stop(), this.far.done);
    }, 250);
  }

  #rest() {
    clearInterval(this.clock);
    this.line?.remove();
    this.line = null;
  }

  async #go(body) {
    const mine = new AbortController();
    this.running = mine;
    this.far = { state: "working", done: null };
    const started = performance.now();
    this.#work(started);
    try {
      const answer = await this.by(this.call, body, mine.signal, (far) => { if (this.running === mine && far.state !== "unknown") this.far = far; });
      if (this.running !== mine) return;
      this.#rest();
      this.waiting(false);
      this.answered(answer, (performance.now() - started) / 1000);
    } catch (error) {
      if (this.running !== mine) return; // superseded: nobody wants to hear of it
      this.#rest();
      this.waiting(false);
      this.failed(error.message, error.where ?? null);
    }
  }
}

/** The answer to one question; an error has a sentence as its message, and the field it is about as `where`. `heard` is told how far it is. */
export async function post(call, body, signal, heard = () => {}) {
  const name = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const looking = setInterval(() => fetch(`/api/progress/${name}`, { signal }).then((reply) => reply.json()).then(heard).catch(() => {}), OFTEN); // where nobody knows, nobody says
  let reply;
  try {
    reply = await fetch(`/api/${call}`, {
      method: "POST", headers: { "content-type": "application/json", "x-headwright-question": name }, body: JSON.stringify(body), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The lab does not answer. Is “headwright lab” still running?");
  } finally { clearInterval(looking); }
  const said = await reply.json().catch(() => ({ error: `The lab answered with ${reply.status}, and not in JSON.` }));
  if (reply.ok) return said;
  throw Object.assign(new Error(said.error ?? `The lab answered with ${reply.status}.`), { where: said.where });
}
