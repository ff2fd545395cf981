for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") !== "descending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const value = row.cells[column].dataset.value;
        return value === undefined ? row.cells[column].textContent : value === "" ? -Infinity : Number(value);
      };
      const order = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
      body.append(...[...body.rows].sort((a, b) => (down ? order(b, a) : order(a, b))));
    });
  });
}

for (const pattern of document.querySelectorAll(".pattern")) {
  const image = pattern.querySelector("img");
  const words = JSON.parse(document.getElementById(pattern.dataset.words).textContent);
  const [rows, keys] = [JSON.parse(pattern.dataset.rows), JSON.parse(pattern.dataset.keys)];
  const bin = (edges, share) => {
    const at = Math.max(0, Math.min(edges.length - 2, Math.floor(share * (edges.length - 1))));
    const held = words.slice(edges[at], edges[at + 1]);
    const shown = held.length > 8 ? [...held.slice(0, 4), "…", ...held.slice(-4)] : held;
    const last = edges[at + 1] - 1;
    return `${edges[at]}${last > edges[at] ? "–" + last : ""} ${shown.join(" ")}`;
  };
  image.addEventListener("pointermove", (event) => {
    const box = image.getBoundingClientRect();
    const row = bin(rows, (event.clientY - box.top) / box.height);
    const key = bin(keys, (event.clientX - box.left) / box.width);
    pattern.querySelector("output").textContent = `row ${row} | key ${key}`;
  });
}
