// Figures of a report: each is described by JSON in a script element, and drawn into the element beside it.
import { element, svg } from "./dom.mjs";
import { listenToKeys, pan, zoomAbout } from "./interact.mjs";
import { sample } from "./marks.mjs";
import { Panel } from "./panel.mjs";
import { Panels } from "./panels.mjs";

/** Panels with a legend, whose entries hide and show curves, and buttons that zoom. */
class Figure extends Panels {
  constructor(given, parent) {
    const bar = element("div", { class: "bar" });
    parent.append(bar);
    super(parent);
    this.title = given.title;
    this.columns = given.columns;
    this.shareY = given.share_y;
    bar.append(this.legend(given.legend), this.tools());
    this.voice = element("div", { class: "unseen", role: "status" });
    parent.append(this.voice);
    this.panels = given.panels.map((panel) => new Panel(panel, this, this.place));
    this.back.parentElement.hidden = !this.panels.some((panel) => panel.zoomable);
    this.fit();
  }

  legend(entries) {
    const buttons = (entries.length > 1 ? entries : []).map((entry) => {
      const onclick = () => {
        const shown = this.hidden.delete(entry.label);
        if (!shown) this.hidden.add(entry.label);
        button.setAttribute("aria-pressed", shown);
        this.draw();
      };
      const button = element("button", { type: "button", title: "hide or show", "aria-pressed": true, onclick },
        sample(entry), element("span", {}, entry.label));
      return button;
    });
    return element("div", { class: "legend" }, ...buttons);
  }

  tools() {
    const tool = (text, name, onclick) => element("button", { type: "button", title: name, "aria-label": name, onclick }, text);
    const all = (act) => () => {
      const done = new Set();
      for (const panel of this.panels) {
        if (!panel.zoomable || done.has(panel.axis)) continue;
        done.add(panel.axis);
        act(panel);
      }
    };
    this.left = tool("\u2190", "move left", all((panel) => pan(panel, (panel.area.right - panel.area.left) / 3)));
    this.right = tool("\u2192", "move right", all((panel) => pan(panel, (panel.area.left - panel.area.right) / 3)));
    this.back = tool("all", "show all", all((panel) => this.zoom(panel, null, null)));
    return element("div", { class: "tools" }, tool("+", "zoom in", all((panel) => zoomAbout(panel, 0.5))),
      tool("\u2212", "zoom out", all((panel) => zoomAbout(panel, 2))), this.left, this.right, this.back);
  }

  prepare(panel) {
    super.prepare(panel);
    listenToKeys(panel);
    panel.frame.tabIndex = 0;
    panel.frame.setAttribute("role", "application");
    panel.frame.setAttribute("aria-roledescription", "figure");
    panel.frame.setAttribute("aria-label", panel.description());
  }

  draw() {
    super.draw();
    const zoomed = this.panels.some((panel) => panel.zoomX || panel.zoomY);
    for (const button of [this.left, this.right, this.back]) button.disabled = !zoomed;
  }

  wholeY(panel) {
    if (!this.shareY) return panel.wholeY;
    const same = this.panels.filter((p) => !p.grid && p.y.log === panel.y.log);
    return [Math.min(...same.map((p) => p.wholeY[0])), Math.max(...same.map((p) => p.wholeY[1]))];
  }

  speak(text) {
    this.voice.textContent = text;
  }
}

/** Draws the figures of a report. */
export function drawFigures() {
  const patterns = svg("svg", { width: 0, height: 0, class: "patterns", "aria-hidden": "true" }, document.body);
  const hatch = svg("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)" }, svg("defs", {}, patterns));
  svg("path", { d: "M0 0V7", style: "stroke:var(--paper)", "stroke-width": 3 }, hatch);
  for (const script of document.querySelectorAll("script.figure-data")) {
    new Figure(JSON.parse(script.textContent), document.getElementById(script.dataset.for));
    script.closest("figure").classList.add("drawn");
  }
}
