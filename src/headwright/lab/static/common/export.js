// Export: downloads, pictures as standalone files, and text for the clipboard.
import { speak } from "./dom.js";

/** Save text or a blob under a name. */
export function download(name, content, type = "application/json") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 5000);
}

/** Put text on the clipboard; with the older command where the new one is not allowed. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(`${what} copied`);
}

/** A word as a shell reads it back, whatever is in it. */
export const quoted = (word) => (/^[\w./:@=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Lines of a shell that write a file, whatever is in it. */
export function here(name, content) {
  let end = "END";
  while (content.split("\n").includes(end)) end += "_";
  return `cat > ${quoted(name)} <<'${end}'\n${content.replace(/\n?$/, "\n")}${end}\n`;
}

/** A text as Python writes it: what JSON escapes, Python reads back. */
export const literal = (text) => JSON.stringify(text);

/** A short message at the bottom of the page. */
export function toast(text) {
  document.querySelector(".toast")?.remove();
  const note = Object.assign(document.createElement("div"), { className: "toast", textContent: text });
  document.body.append(note);
  speak(text);
  setTimeout(() => note.remove(), 2600);
}

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
  "font-size", "font-family", "font-weight", "font-style", "text-anchor", "dominant-baseline", "paint-order"];

/** A picture as a file of its own: what the page's style says is written into it. */
export function standalone(svg) {
  const twin = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [twin, ...twin.querySelectorAll("*")];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    if (style.display === "none") { to[index].setAttribute("display", "none"); return; }
    for (const name of KEPT) to[index].setAttribute(name, style.getPropertyValue(name));
    to[index].removeAttribute("class");
    to[index].removeAttribute("tabindex");
  });
  const box = svg.viewBox.baseVal;
  twin.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  twin.setAttribute("width", box.width);
  twin.setAttribute("height", box.height);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: box.x, y: box.y, width: box.width, height: box.height, fill: getComputedStyle(document.body).backgroundColor })) paper.setAttribute(name, value);
  twin.prepend(paper);
  return new XMLSerializer().serializeToString(twin);
}

/** The same as pixels, twice as fine as on the screen. */
export async function pixels(svg, factor = 2) {
  const url = URL.createObjectURL(new Blob([standalone(svg)], { type: "image/svg+xml" }));
  const image = new Image();
  await new Promise((done, failed) => { image.onload = done; image.onerror = failed; image.src = url; });
  const box = svg.viewBox.baseVal;
  const canvas = Object.assign(document.createElement("canvas"), { width: box.width * factor, height: box.height * factor });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}
