// Verify a certificate that is dropped on a page or chosen, as `headwright verify` does.
import { checkedBy, h } from "./dom.js";

/** Verify a file, and show the result in `place`. */
export async function checkFile(file, place) {
  const card = h("div", { class: "panel verdict", role: "status" }, h("p", {}, `Verifying ${file.name} …`));
  place.prepend(card);
  try {
    const { post } = await import("./transport.js"); // a page on which nothing is dropped needs no Python
    const found = await post("verify", { certificate: await file.text() });
    const kind = { verified: "proved", "not confirmed": "undecided" }[found.verdict] ?? "refuted";
    card.classList.add(kind);
    card.replaceChildren(h("p", {}, h("b", { class: `badge ${kind}` }, found.verdict[0].toUpperCase() + found.verdict.slice(1)),
      ` ${file.name}, by the ${checkedBy(found.checkers)}`), h("p", { class: "words" }, found.words), close(card));
  } catch (error) {
    card.replaceChildren(h("p", { class: "error" }, error.message), close(card));
  }
}

const close = (card) => h("button", { type: "button", class: "quiet", onclick: () => card.remove() }, "Close");

/** Let files be dropped anywhere on the page; `other(file)` takes those that are no certificate, or returns null. */
export function dropped(page, place, other = () => null) {
  page.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) { event.preventDefault(); page.classList.add("dropping"); } });
  page.addEventListener("dragleave", (event) => { if (!event.relatedTarget) page.classList.remove("dropping"); });
  page.addEventListener("drop", (event) => {
    page.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    if (!other(file)) checkFile(file, place);
  });
}
