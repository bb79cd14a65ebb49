"use strict";
// Figures: drawn when they come near the window, so that a long page opens at once.
function drawFigure(holder) {
  const target = document.getElementById(holder.dataset.for);
  const figure = JSON.parse(holder.textContent);
  Plotly.newPlot(target, figure.data, figure.layout, { responsive: true, displaylogo: false }).then(() => {
    target.closest("figure").classList.add("drawn");
    Plotly.Plots.resize(target);
  });
}
const holders = [...document.querySelectorAll("script.figure")];
if ("IntersectionObserver" in window) {
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watch.unobserve(entry.target);
      drawFigure(entry.target.querySelector("script.figure"));
    }
  }, { rootMargin: "600px" });
  holders.forEach((holder) => watch.observe(holder.closest("figure")));
} else {
  holders.forEach(drawFigure);
}
// Tables: a click on a heading sorts by it, a second one the other way round.
function compare(a, b) {
  const x = parseFloat(a), y = parseFloat(b);
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
}
document.querySelectorAll("table.data").forEach((table) => {
  table.querySelectorAll("th button").forEach((button, column) => {
    button.addEventListener("click", () => {
      const heading = button.parentElement, body = table.tBodies[0];
      const down = heading.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = [...body.rows].sort((p, q) => compare(p.cells[column].textContent, q.cells[column].textContent));
      if (down) sorted.reverse();
      body.append(...sorted);
    });
  });
});
document.querySelectorAll("button.csv").forEach((button) => {
  button.addEventListener("click", () => {
    const text = document.getElementById(button.dataset.for).textContent.replaceAll("<\\/", "</");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
});
