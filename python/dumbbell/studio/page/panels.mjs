// Plots of panels below each other, as the worker for files makes them: curves over time with a common zoom.
import { element, flowColor, isDark } from "./dom.mjs";
import { svgOf, valueRange } from "./svg.mjs";

const LEFT_AXIS = 64;

export class Panels {
  /** `zoomed(from, to)` after a selection; without arguments for all. */
  constructor(place, zoomed) {
    this.place = place;
    this.zoomed = zoomed;
    this.plots = [];
    this.shown = null;
    new ResizeObserver(() => this.resize()).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
  }

  /** Columns of pixels, two points each. */
  get columns() {
    return Math.min(Math.max(Math.round((this.width() - LEFT_AXIS) / 1.5), 150), 1600);
  }

  /** Draw `panels` in the time `range`: [from, to] in seconds. */
  draw(panels, range) {
    const shape = (all) => JSON.stringify(all.map(({ key, curves }) => [key, curves]));
    const same = this.shown && shape(this.shown.panels) === shape(panels);
    this.shown = { panels, range };
    if (!same) return this.rebuild();
    for (const [n, plot] of this.plots.entries()) plot.setData(panels[n].data);
  }

  clear() {
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    this.shown = null;
    this.place.replaceChildren();
  }

  rebuild() {
    if (!this.shown) return;
    const { shown } = this;
    this.clear();
    this.shown = shown;
    this.place.classList.toggle("two", this.two());
    this.plots = shown.panels.map((panel) => this.plot(panel));
  }

  plot(panel) {
    const dark = isDark();
    const ink = dark ? "#c9ccd0" : "#444";
    const lines = dark ? "#343a41" : "#e3e3e3";
    const axis = { stroke: ink, grid: { stroke: lines, width: 1 }, ticks: { stroke: lines, width: 1 }, font: "12px system-ui, sans-serif" };
    const paint = ({ color }) => (color === "ink" ? ink : flowColor(color));
    const series = panel.curves.map((curve) => {
      const dots = curve.kind === "points" || curve.kind === "crosses";
      const points = dots ? { show: true, size: curve.kind === "crosses" ? 7 : 3, fill: paint(curve), stroke: paint(curve) } : { show: false };
      return {
        stroke: paint(curve),
        width: 1.5,
        dash: curve.kind === "dashes" ? [5, 4] : [],
        points,
        paths: dots ? () => null : undefined,
      };
    });
    const entries = panel.curves.map((curve) =>
      element("span", { class: `entry ${curve.kind}` }, element("span", { class: "swatch", style: `background:${paint(curve)}`, "aria-hidden": "true" }), curve.name),
    );
    const label = `${panel.title} over time: ${panel.curves.map(({ name }) => name).join(", ")}`;
    const box = element("div", { class: "canvas", role: "img", "aria-label": label });
    const heading = element("h3", {}, `${panel.title} (${panel.unit})`);
    this.place.append(element("section", { class: "panel", "data-panel": panel.key }, heading, element("p", { class: "legend" }, ...entries), box));
    const plot = new uPlot(
      {
        ...this.size(),
        legend: { show: false },
        cursor: { sync: { key: "files" }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
        scales: { x: { time: false, range: () => this.shown.range }, y: { range: (_u, least, most) => valueRange(least, most) } },
        axes: [{ ...axis, size: 28, values: (_u, at) => at.map((t) => `${Number(t.toPrecision(7))} s`) }, { ...axis, size: LEFT_AXIS }],
        series: [{}, ...series],
        hooks: { setSelect: [(u) => this.select(u)] },
      },
      panel.data,
      box,
    );
    plot.over.addEventListener("dblclick", () => this.zoomed());
    return plot;
  }

  select(u) {
    const { left, width } = u.select;
    if (width < 6) return;
    const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (!u.cursor.event) return; // the others only follow
    this.zoomed(from, to);
  }

  width() {
    return Math.max(this.place.clientWidth, 200);
  }

  two() {
    return this.place.clientWidth > 1300;
  }

  size() {
    const tall = (innerHeight - 260) / 2;
    return { width: this.two() ? Math.floor((this.width() - 16) / 2) : this.width(), height: Math.round(Math.min(Math.max(tall, 200), 560)) };
  }

  resize() {
    this.place.classList.toggle("two", this.two());
    for (const plot of this.plots) plot.setSize(this.size());
  }

  /** The figure as SVG. */
  svg(title) {
    return svgOf(title, this.shown.panels, this.shown.range);
  }
}
