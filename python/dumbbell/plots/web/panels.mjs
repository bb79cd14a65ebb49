// Panels beside and below each other: their places, their zoom, and which marks are hidden.
import { element } from "./dom.mjs";
import { listen } from "./interact.mjs";

const COLUMN = 300; // smallest width of a panel, in pixels
const HEIGHTS = { 1: 330, 2: 280, 3: 240 }; // of panels, by their number beside each other
const LEAST = 120; // smallest height of a panel

/** `columns`: how many at most are beside each other, where each has at least `COLUMN` pixels. */
export class Panels {
  heading = "div";
  zoomsY = true;
  across = 1;
  leastIndent = 0;
  panels = [];
  hidden = new Set();

  constructor(parent) {
    this.place = element("div", { class: "panels" });
    parent.append(this.place);
    new ResizeObserver(() => requestAnimationFrame(() => this.fit())).observe(parent);
  }

  /** Prepares a new panel, which has no drawing yet. */
  prepare(panel) {
    listen(panel);
  }

  isVisible(mark) {
    return !this.hidden.has(mark.label);
  }

  /** True if the values of a mark count for the ends of the axes. */
  isDecisive() {
    return true;
  }

  wholeY(panel) {
    return panel.wholeY;
  }

  acrossOf(width) {
    return Math.max(1, Math.min(this.columns, this.panels.length, Math.floor(width / COLUMN)));
  }

  heightOf(panel, narrow) {
    const usual = narrow ? Math.min(250, HEIGHTS[this.across]) : HEIGHTS[this.across];
    return Math.max(LEAST, usual * (panel.height ?? 1));
  }

  fit() {
    const width = Math.floor(this.place.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    this.draw();
  }

  draw() {
    if (!this.width || !this.panels.length) return;
    this.across = this.acrossOf(this.width);
    this.place.style.gridTemplateColumns = `repeat(${this.across}, minmax(0, 1fr))`;
    const width = Math.floor((this.width - (this.across - 1) * 24) / this.across);
    this.indent = this.leastIndent;
    for (const panel of this.panels) panel.draw(width);
    // Panels below each other with the same x axis begin at the same place.
    const stacked = this.across === 1 && this.panels.every((panel) => panel.axis === this.panels[0].axis && !panel.grid);
    const indents = stacked ? this.panels.map((panel) => panel.area.left) : [];
    this.indent = Math.max(this.leastIndent, ...indents);
    for (const panel of stacked ? this.panels : []) if (panel.area.left < this.indent) panel.draw(width);
  }

  zoom(panel, x, y) {
    for (const other of this.panels) if (other.zoomable && other.axis === panel.axis) other.zoomX = x;
    panel.zoomY = y;
    if (!x && !y) for (const other of this.panels) if (other.axis === panel.axis) other.zoomY = null;
    this.draw();
  }

  /** The pointer is at a place of a panel's x axis, or, with null, at none. */
  pointed(_panel, _measure) {}
}
