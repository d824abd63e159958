"use strict";
// The lane cursor: arrow keys move through the lanes of a strip and between strips; the pointer does, too.
const strips = [...document.querySelectorAll(".strip")];
const tip = document.body.appendChild(document.createElement("div"));
tip.className = "tip";
tip.hidden = true;
const cellsOf = (strip) => strip.querySelectorAll("g");
const wordsOf = (cell) => cell.querySelector("title").textContent;
let marked = [];
function mark(lane) {
  for (const cell of marked) cell.classList.remove("at");
  marked = strips.map((strip) => cellsOf(strip)[lane]).filter(Boolean);
  for (const cell of marked) cell.classList.add("at");
}
function select(strip, lane, isKey) {
  const cells = cellsOf(strip);
  lane = Math.max(0, Math.min(cells.length - 1, lane));
  const words = wordsOf(cells[lane]);
  for (const other of strips) other.tabIndex = other === strip ? 0 : -1;
  strip.setAttribute("aria-valuenow", lane);
  strip.setAttribute("aria-valuetext", words);
  mark(lane);
  tip.textContent = strip.dataset.name + ", " + words;
  tip.hidden = false;
  const box = cells[lane].getBoundingClientRect();
  const width = Math.min(tip.offsetWidth, innerWidth);
  tip.style.left = Math.max(0, Math.min(innerWidth - width - 4, box.left)) + scrollX + "px";
  tip.style.top = box.bottom + scrollY + 4 + "px";
  if (isKey) strip.focus();
}
function hide() {
  tip.hidden = true;
  mark(-1);
}
strips.forEach((strip, index) => {
  const first = Math.max(0, [...cellsOf(strips[0])].findIndex((cell) => cell.querySelector("[href='#sx']")));
  strip.removeAttribute("aria-hidden");
  strip.setAttribute("role", "slider");
  strip.setAttribute("aria-label", "lanes of " + strip.dataset.name);
  strip.setAttribute("aria-valuemin", 0);
  strip.setAttribute("aria-valuemax", strip.dataset.last);
  strip.setAttribute("aria-valuenow", first);
  strip.setAttribute("aria-valuetext", wordsOf(cellsOf(strip)[first]));
  strip.tabIndex = index === 0 ? 0 : -1;
  const now = () => Number(strip.getAttribute("aria-valuenow"));
  strip.addEventListener("focus", () => select(strip, now(), false));
  strip.addEventListener("blur", hide);
  strip.addEventListener("pointerleave", () => document.activeElement !== strip && hide());
  strip.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("g");
    if (cell) select(strip, [...cellsOf(strip)].indexOf(cell), false);
  });
  strip.addEventListener("keydown", (event) => {
    const other = (step) => strips[index + step] || strip;
    const moves = {
      ArrowLeft: () => [strip, now() - 1],
      ArrowRight: () => [strip, now() + 1],
      PageUp: () => [strip, now() - 16],
      PageDown: () => [strip, now() + 16],
      Home: () => [strip, 0],
      End: () => [strip, Infinity],
      ArrowUp: () => [other(-1), now()],
      ArrowDown: () => [other(1), now()],
    };
    if (event.key === "Escape") return hide();
    if (!moves[event.key]) return;
    event.preventDefault();
    select(...moves[event.key](), true);
  });
});
// The table of waves: order by a column, rows by words.
const table = document.getElementById("waves");
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
  const heads = [...table.tHead.rows[0].cells];
  const collator = new Intl.Collator("en", { numeric: true });
  const count = document.getElementById("count");
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const isDown = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      const keys = new Map(rows.map((row) => [row, row.cells[column].textContent]));
      const compare = "n" in head.dataset
        ? (a, b) => parseFloat(keys.get(a)) - parseFloat(keys.get(b))
        : (a, b) => collator.compare(keys.get(a), keys.get(b));
      const sorted = [...rows].sort((a, b) => (isDown ? compare(b, a) : compare(a, b)));
      body.replaceChildren(...sorted);
    });
  });
  const filter = document.getElementById("filter");
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      if (!row.hidden) shown++;
    });
    count.textContent = shown + " of " + rows.length + " waves";
  };
  filter.closest(".tools").hidden = false;
  let timer = 0;
  filter.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, rows.length > 1000 ? 150 : 0);
  });
  apply();
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
