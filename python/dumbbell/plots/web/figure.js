"use strict";
// Figures of a page: each is described by JSON in a script element, and drawn into the element beside it.

const COLUMN = 300; // smallest width of a panel, in pixels

class Figure {
  constructor(given, parent) {
    this.title = given.title;
    this.columns = given.columns;
    this.shareY = given.share_y;
    this.hidden = new Set();
    this.bar(given, parent);
    this.place = html("div", "panels", parent);
    this.voice = html("div", "unseen", parent);
    this.voice.setAttribute("role", "status");
    this.across = 1;
    this.panels = given.panels.map((panel) => new Panel(panel, this, this.place));
    this.back.parentElement.hidden = !this.panels.some((panel) => panel.zoomable);
    new ResizeObserver(() => requestAnimationFrame(() => this.fit())).observe(parent);
    this.fit();
  }

  // The legend, whose entries hide and show curves, and the buttons that zoom.
  bar(given, parent) {
    const bar = html("div", "bar", parent);
    const legend = html("div", "legend", bar);
    for (const entry of given.legend.length > 1 ? given.legend : []) {
      const button = html("button", "", legend);
      button.type = "button";
      button.title = "hide or show";
      button.setAttribute("aria-pressed", "true");
      drawSample(entry, button);
      html("span", "", button, entry.label);
      button.addEventListener("click", () => {
        const shown = this.hidden.delete(entry.label);
        if (!shown) this.hidden.add(entry.label);
        button.setAttribute("aria-pressed", String(shown));
        this.draw();
      });
    }
    const tools = html("div", "tools", bar);
    const tool = (text, name, act) => {
      const button = html("button", "", tools, text);
      button.type = "button";
      button.title = name;
      button.setAttribute("aria-label", name);
      button.addEventListener("click", act);
      return button;
    };
    const all = (act) => () => {
      const done = new Set();
      for (const panel of this.panels) {
        if (!panel.zoomable || done.has(panel.axis)) continue;
        done.add(panel.axis);
        act(panel);
      }
    };
    tool("+", "zoom in", all((panel) => zoomAbout(panel, 0.5)));
    tool("\u2212", "zoom out", all((panel) => zoomAbout(panel, 2)));
    this.left = tool("\u2190", "move left", all((panel) => pan(panel, (panel.area.right - panel.area.left) / 3)));
    this.right = tool("\u2192", "move right", all((panel) => pan(panel, (panel.area.left - panel.area.right) / 3)));
    this.back = tool("all", "show all", all((panel) => this.zoom(panel, null, null)));
  }

  fit() {
    const width = Math.floor(this.place.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    this.across = Math.max(1, Math.min(this.columns, this.panels.length, Math.floor(width / COLUMN)));
    this.place.style.gridTemplateColumns = `repeat(${this.across}, minmax(0, 1fr))`;
    this.draw();
  }

  draw() {
    const width = Math.floor((this.width - (this.across - 1) * 24) / this.across);
    this.indent = 0;
    for (const panel of this.panels) panel.draw(width);
    // Panels below each other with the same x axis begin at the same place.
    const stacked = this.across === 1 && this.panels.every((panel) => panel.axis === this.panels[0].axis && !panel.grid);
    const indents = stacked ? this.panels.map((panel) => panel.area.left) : [];
    this.indent = Math.max(0, ...indents);
    for (const panel of stacked ? this.panels : []) if (panel.area.left < this.indent) panel.draw(width);
    const zoomed = this.panels.some((panel) => panel.zoomX || panel.zoomY);
    for (const button of [this.left, this.right, this.back]) button.disabled = !zoomed;
  }

  wholeY(panel) {
    if (!this.shareY) return panel.wholeY;
    const same = this.panels.filter((p) => !p.grid && p.y.log === panel.y.log);
    return [Math.min(...same.map((p) => p.wholeY[0])), Math.max(...same.map((p) => p.wholeY[1]))];
  }

  zoom(panel, x, y) {
    for (const other of this.panels) if (other.zoomable && other.axis === panel.axis) other.zoomX = x;
    panel.zoomY = y;
    if (!x && !y) for (const other of this.panels) if (other.axis === panel.axis) other.zoomY = null;
    this.draw();
  }

  speak(text) {
    this.voice.textContent = text;
  }
}

// Draws a legend entry's line, symbol or area.
function drawSample(entry, parent) {
  const root = svg("svg", { width: 26, height: 14, "aria-hidden": "true" }, parent);
  const color = paint(entry.color);
  if (entry.area) {
    svg("rect", { x: 5, y: 1, width: 16, height: 12, style: `fill:${color}`, opacity: entry.area }, root);
    if (entry.hatched) svg("rect", { x: 5, y: 1, width: 16, height: 12, style: "fill:url(#hatch)" }, root);
  }
  if (entry.dash !== undefined) {
    svg("path", { d: "M1 7H25", style: `stroke:${color}`, "stroke-width": 2, "stroke-dasharray": entry.dash }, root);
  }
  if (entry.symbol) drawSymbols(entry, symbolPath(entry.symbol, 13, 7, 4), root);
}

function drawFigures() {
  const patterns = svg("svg", { width: 0, height: 0, class: "patterns", "aria-hidden": "true" }, document.body);
  const hatch = svg("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)" }, svg("defs", {}, patterns));
  svg("path", { d: "M0 0V7", style: "stroke:var(--paper)", "stroke-width": 3 }, hatch);
  for (const script of document.querySelectorAll("script.figure-data")) {
    new Figure(JSON.parse(script.textContent), document.getElementById(script.dataset.for));
    script.closest("figure").classList.add("drawn");
  }
}
drawFigures();
