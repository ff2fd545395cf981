// Questions to the server: asked a moment after the last change, and given up when a newer one comes.

/** One kind of question. `answered(answer, seconds)`, `failed(sentence, field)` and `waiting(yes)` are told what happens. */
export class Asker {
  constructor(call, { wait = 150, by = post, answered, failed, waiting = () => {} }) {
    Object.assign(this, { call, wait, by, answered, failed, waiting });
    this.timer = 0;
    this.running = null;
  }

  /** Ask, unless something newer is asked before long. */
  ask(body) {
    this.cancel();
    this.waiting(true);
    this.timer = setTimeout(() => this.#go(body), this.wait);
  }

  /** Forget what was asked. */
  cancel() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = null;
    this.waiting(false);
  }

  async #go(body) {
    const mine = new AbortController();
    this.running = mine;
    const started = performance.now();
    try {
      const answer = await this.by(this.call, body, mine.signal);
      if (this.running !== mine) return;
      this.waiting(false);
      this.answered(answer, (performance.now() - started) / 1000);
    } catch (error) {
      if (this.running !== mine) return; // superseded: nobody wants to hear of it
      this.waiting(false);
      this.failed(error.message, error.where ?? null);
    }
  }
}

/** The answer to one question; an error has a sentence as its message, and the field it is about as `where`. */
export async function post(call, body, signal) {
  let reply;
  try {
    reply = await fetch(`/api/${call}`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The lab does not answer. Is “headwright lab” still running?");
  }
  const said = await reply.json().catch(() => ({ error: `The lab answered with ${reply.status}, and not in JSON.` }));
  if (reply.ok) return said;
  throw Object.assign(new Error(said.error ?? `The lab answered with ${reply.status}.`), { where: said.where });
}
