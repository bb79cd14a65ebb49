// Panels over time with one cursor, one zoom and one playhead. A worker reduces the series to the columns of their width.
import { element, shownColor } from "../../plots/web/dom.mjs";
import { drawCursor, read } from "../../plots/web/interact.mjs";
import { legendOf } from "../../plots/web/marks.mjs";
import { Panel } from "../../plots/web/panel.mjs";
import { Panels } from "../../plots/web/panels.mjs";
import { colorOf } from "./dom.mjs";
import { svgOf } from "./svg.mjs";

const AXIS = 52;
const TWO = 1300; // width from which panels are beside each other
const BRIDGE = 30; // a time without samples is a gap, if it is longer than that between the samples of a slow flow

/** The marks of curves by their kind. */
const KINDS = {
  line: { kind: "line", dash: "", bridge: BRIDGE },
  steps: { kind: "line", dash: "", steps: true },
  dashes: { kind: "line", dash: "5 4", bridge: BRIDGE },
  points: { kind: "points", symbol: "." },
  crosses: { kind: "points", symbol: "x", size: 3 },
  edge: { kind: "edge", symbol: "x" },
};

export class TimePanels extends Panels {
  heading = "h3";
  zoomsY = false;
  leastIndent = AXIS; // numbers of another width don't move the plots

  /**
   * `zoomed(range)` after a selection, null for all; `hovered(t)` at a time under the pointer, null outside; `tall(across)`:
   * the height of a panel in pixels, as the window permits; `legends`: true if each panel has one.
   */
  constructor(parent, { zoomed, hovered = () => {}, tall, legends }) {
    super(parent);
    this.legends = legends;
    this.events = { zoomed, hovered };
    this.tall = tall;
  }

  /** Columns of pixels, two points each. */
  get pixelColumns() {
    return Math.min(Math.max(Math.round((this.place.clientWidth - AXIS) / 1.5), 150), 1600);
  }

  /**
   * Show panels: { key, title, unit, zero, curves }. A curve has `name`, `color` (see `colorOf`), `kind`, its points `x` and `y`,
   * and perhaps `flow`, `dash` and `opacity`. `range` is the time that is shown, a part of `whole`.
   */
  show(panels, range, whole) {
    const given = panels.map((panel) => described(panel, whole));
    const shape = JSON.stringify(panels.map(({ title, curves }) => [title, this.legends && curves.map(({ name, color, kind }) => [name, color, kind])]));
    if (shape === this.shape) this.panels.forEach((panel, n) => panel.update(given[n]));
    else {
      this.clear();
      this.shape = shape;
      this.panels = given.map((panel) => new Panel(panel, this, this.place));
      if (this.legends) for (const panel of this.panels) panel.frame.before(legend(panel));
    }
    const part = range[0] > whole[0] || range[1] < whole[1] ? range : null;
    for (const panel of this.panels) panel.zoomX = part;
    this.draw();
  }

  clear() {
    this.place.replaceChildren();
    this.panels = [];
    this.shape = this.under = null;
  }

  prepare(panel) {
    super.prepare(panel);
    panel.frame.setAttribute("role", "img");
    panel.frame.setAttribute("aria-label", `${panel.title} over time: ${panel.marks.map(({ label }) => label).join(", ")}`);
  }

  isDecisive(mark) {
    return this.isVisible(mark);
  }

  acrossOf(width) {
    return width > TWO ? 2 : 1;
  }

  heightOf() {
    return Math.round(Math.min(Math.max(this.tall(this.across), 180), 560));
  }

  draw() {
    super.draw();
    this.mark(this.playhead);
    if (this.under) read(this.under.panel, this.under.panel.scaleX.at(this.under.t), this.under.panel.area.top);
  }

  /** Shows the same points at once; the worker has finer ones. */
  zoom(_panel, range) {
    for (const panel of this.panels) panel.zoomX = range;
    this.draw();
    this.wanted = range;
    this.asked ??= requestAnimationFrame(() => {
      this.asked = null;
      this.events.zoomed(this.wanted);
    });
  }

  pointed(panel, t) {
    for (const other of this.panels) {
      if (other === panel) continue;
      other.over.replaceChildren();
      if (t !== null) drawCursor(other, other.scaleX.at(t));
    }
    this.under = t === null ? null : { panel, t };
    this.events.hovered(t);
  }

  /** Put the playhead: what comes later is dimmed. */
  mark(t) {
    this.playhead = t;
    if (t === undefined) return;
    for (const panel of this.panels) {
      if (!panel.area) continue;
      panel.later ??= element("div", { class: "future", "aria-hidden": "true" });
      panel.frame.append(panel.later);
      const { left, right, top, bottom } = panel.area;
      const from = Math.min(Math.max(panel.scaleX.at(t), left), right);
      panel.later.style.cssText = `left:${from}px;width:${right - from}px;top:${top}px;height:${bottom - top}px`;
    }
  }

  /** All panels as SVG on white paper. */
  svg(title) {
    const paper = { ink: "#222222", muted: "#5f5f5f", line: "#dddddd", paper: "#ffffff" };
    return this.drawn(title, 720, (name, own) => own ?? paper[name]);
  }

  /** All panels as one picture, in the page's colors. */
  async picture(title) {
    const text = this.drawn(title, Math.max(this.width, 300), (name, own) => shownColor(own ?? name));
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = element("canvas", { width: image.width * devicePixelRatio, height: image.height * devicePixelRatio });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  drawn(title, width, color) {
    const text = svgOf(title, this.panels, width, color);
    this.draw();
    return text;
  }
}

function described({ title, unit, zero, curves, ...others }, whole) {
  const marks = curves.map(({ name, color, kind, ...points }) => ({ ...KINDS[kind], label: name, color: colorOf(color), ...points }));
  return { ...others, title: `${title} (${unit})`, x: { label: "time (s)", unit: "s", range: whole }, y: { label: "", zero }, marks };
}

function legend(panel) {
  const entries = legendOf(panel).map(({ label, drawn }) => element("span", {}, drawn, label));
  return element("p", { class: "legend" }, ...entries);
}
