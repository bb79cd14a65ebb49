// Tables: a click on a heading sorts by it, a second one in the other direction. Numbers sort by value, also with a
// unit ("500 kbit/s" before "2 Mbit/s"); texts sort by the numbers in them; missing values stay at the end.
import { download } from "../../plots/web/dom.mjs";

const PREFIXES = { n: 1e-9, "\u00b5": 1e-6, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
function amount(text) {
  const found = /^([-+\u2212]?\d[\d.,]*(?:e[-+]?\d+)?)(?:\s*([nu\u00b5mkMGT]?)(?:bit|bytes?|B|s|Hz|packets?|%)(?:\/s)?)?(?:\s*[[(\u00b1].*)?$/.exec(text);
  return found ? parseFloat(found[1].replace("\u2212", "-").replaceAll(",", "")) * (PREFIXES[found[2]] ?? 1) : NaN;
}
const collator = new Intl.Collator(undefined, { numeric: true });
function sortRows(rows, column, down) {
  const keyed = rows.map((row) => {
    const text = row.cells[column].textContent.trim();
    return { row, text, value: amount(text), missing: text === "-" || text === "" };
  });
  const numeric = keyed.every((k) => k.missing || !Number.isNaN(k.value));
  keyed.sort((a, b) => {
    if (a.missing !== b.missing) return a.missing ? 1 : -1;
    return (numeric ? a.value - b.value : collator.compare(a.text, b.text)) * (down ? -1 : 1) || 0;
  });
  return keyed.map((k) => k.row);
}
document.querySelectorAll("table.data").forEach((table) => {
  table.querySelectorAll("th button").forEach((button, column) => {
    button.addEventListener("click", () => {
      const heading = button.parentElement, body = table.tBodies[0];
      const down = heading.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...sortRows([...body.rows], column, down));
    });
  });
});

document.querySelectorAll("button.csv").forEach((button) => {
  button.addEventListener("click", () => {
    const text = JSON.parse(document.getElementById(button.dataset.for).textContent);
    download(button.dataset.name, new Blob([text], { type: "text/csv" }));
  });
});
document.querySelectorAll("button.svg").forEach((button) => {
  button.addEventListener("click", () => {
    const drawing = button.closest("figure").querySelector(".static svg");
    download(button.dataset.name, new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" }));
  });
});

// Paper has no closed parts: what the screen folds is printed, except for scenarios and rows of figures.
const folded = [...document.querySelectorAll("header details, #lessons > details, #claims details")];
let closed = [];
addEventListener("beforeprint", () => {
  closed = folded.filter((part) => !part.open);
  closed.forEach((part) => { part.open = true; });
});
addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
