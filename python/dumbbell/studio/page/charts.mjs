// The plots over time: windows, queue, RTT, throughput. They share the cursor, the zoom and the playhead.
import { element, flowColor, isDark } from "./dom.mjs";
import { svgOf } from "./svg.mjs";

const PANELS = [
  { key: "cwnd", title: "Congestion window", unit: "packets" },
  { key: "queue", title: "Queue", unit: "packets", drops: true },
  { key: "rtt", title: "RTT", unit: "ms" },
  { key: "rates", title: "Throughput at the bottleneck", unit: "Mbit/s" },
];
const AXIS = 52;
const GAP = 30;
const MOST_MARKS = 4000;

export class Charts {
  /** `zoomed(from, to)` after a selection, null for all; `hovered(t)` at a time under the pointer, null outside. */
  constructor(place, { zoomed, hovered }) {
    this.place = place;
    this.events = { zoomed, hovered };
    this.hidden = new Set();
    this.plots = [];
    this.series = null;
    new ResizeObserver(() => this.resize()).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
  }

  /** Columns of pixels, two points each. */
  get columns() {
    return Math.min(Math.max(Math.round((this.place.clientWidth - AXIS) / 1.5), 150), 1600);
  }

  /** Draw series. `range` is the time that is shown. */
  draw(series, range, names) {
    const shape = JSON.stringify([names, series.pinned ? series.pinned.cwnd.length : 0]);
    this.series = series;
    this.range = range;
    this.names = names;
    if (shape !== this.shape) {
      this.shape = shape;
      this.rebuild();
      return;
    }
    for (const [n, plot] of this.plots.entries()) plot.setData(this.data(PANELS[n]));
    this.mark(this.playhead);
  }

  data({ key }) {
    const { series } = this;
    const own = (of) => (key === "queue" ? [of.queue] : key === "rates" ? of.rates.map((r) => [...r, r.at(-1)]) : of[key]);
    const filled = (of, x) => own(of).map((values) => (values.length ? values : new Array(x.length).fill(null)));
    const x = key === "rates" ? series.ends : series.t;
    const mine = [x, ...filled(series, x)];
    if (!series.pinned) return mine;
    const other = key === "rates" ? series.pinned.ends : series.pinned.t;
    return uPlot.join([mine, [other, ...filled(series.pinned, other)]]);
  }

  rebuild() {
    if (!this.series) return;
    for (const plot of this.plots) plot.destroy();
    this.place.replaceChildren();
    this.place.classList.toggle("two", this.columnsOf() === 2);
    this.plots = PANELS.map((panel) => this.plot(panel));
    this.mark(this.playhead);
    this.toggle(null);
  }

  plot(panel) {
    const dark = isDark();
    const ink = dark ? "#c9ccd0" : "#444";
    const grid = { stroke: dark ? "#343a41" : "#e3e3e3", width: 1 };
    const axis = { stroke: ink, grid, ticks: grid, font: "12px system-ui, sans-serif" };
    const line = (n, pinned) => ({
      stroke: panel.key === "queue" ? ink : flowColor(n),
      width: pinned ? 1 : 1.5,
      alpha: pinned ? 0.6 : 1,
      dash: pinned ? [5, 4] : [],
      points: { show: false },
      // A time without samples is a gap, if it is longer than that between the samples of a slow flow.
      gaps: (_u, _series, _first, _last, gaps) => gaps.filter(([from, to]) => to - from > GAP * devicePixelRatio),
      paths: panel.key === "rates" ? uPlot.paths.stepped({ align: 1 }) : undefined,
    });
    const count = (of) => (panel.key === "queue" ? 1 : of.cwnd.length);
    const { series } = this;
    const lines = Array.from({ length: count(series) }, (_, n) => line(n, false));
    const pinned = series.pinned ? Array.from({ length: count(series.pinned) }, (_, n) => line(n, true)) : [];
    const box = element("div", { class: "canvas", role: "img" });
    const section = element("section", { class: "panel", "data-panel": panel.key }, element("h3", {}, `${panel.title} (${panel.unit})`), box);
    this.place.append(section);
    const plot = new uPlot(
      {
        ...this.size(),
        legend: { show: false },
        cursor: { sync: { key: "studio" }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
        scales: { x: { time: false, range: () => this.range }, y: { range: (_u, _least, most) => [0, (most || 1) * 1.08] } },
        axes: [{ ...axis, size: 28, values: (_u, at) => at.map((t) => `${Number(t.toPrecision(6))} s`) }, { ...axis, size: AXIS }],
        series: [{}, ...lines, ...pinned],
        hooks: {
          draw: panel.drops ? [(u) => this.drops(u)] : [],
          setSelect: [(u) => this.select(u)],
          setCursor: [(u) => this.hover(u)],
        },
      },
      this.data(panel),
      box,
    );
    plot.over.addEventListener("dblclick", () => this.events.zoomed(null));
    plot.over.append(element("div", { class: "future", "aria-hidden": "true" }));
    plot.panel = panel;
    return plot;
  }

  size() {
    const width = Math.max(this.place.clientWidth, 200);
    const two = this.columnsOf() === 2;
    const tall = (innerHeight - 380) / (two ? 2 : PANELS.length);
    return { width: two ? Math.floor((width - 16) / 2) : width, height: Math.round(Math.min(Math.max(tall, 180), 560)) };
  }

  columnsOf() {
    return this.place.clientWidth > 1300 ? 2 : 1;
  }

  resize() {
    this.place.classList.toggle("two", this.columnsOf() === 2);
    for (const plot of this.plots) plot.setSize(this.size());
    this.mark(this.playhead);
  }

  /** Mark drops by crosses above the queue, in the colors of their flows. */
  drops(u) {
    const { ctx, bbox } = u;
    const arm = 3.5 * devicePixelRatio;
    const drops = this.series.drops.filter(([, flow]) => !this.hidden.has(flow));
    const every = Math.max(1, Math.ceil(drops.length / MOST_MARKS));
    ctx.save();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (let n = 0; n < drops.length; n += every) {
      const [t, flow] = drops[n];
      const x = u.valToPos(t, "x", true);
      const y = bbox.top + arm + 2;
      ctx.strokeStyle = flowColor(flow);
      ctx.beginPath();
      ctx.moveTo(x - arm, y - arm);
      ctx.lineTo(x + arm, y + arm);
      ctx.moveTo(x - arm, y + arm);
      ctx.lineTo(x + arm, y - arm);
      ctx.stroke();
    }
    ctx.restore();
  }

  select(u) {
    const { left, width } = u.select;
    if (width < 6) return;
    const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (!u.cursor.event) return; // the others only follow
    this.events.zoomed([Math.max(from, 0), to]);
  }

  hover(u) {
    const { left, event } = u.cursor;
    if (!event) return; // the others only follow
    this.events.hovered(left < 0 ? null : u.posToVal(left, "x"));
  }

  /** Put the playhead: what comes later is dimmed. */
  mark(t) {
    this.playhead = t;
    if (t === undefined || !this.range) return;
    const part = (t - this.range[0]) / (this.range[1] - this.range[0]);
    const left = `${100 * Math.min(Math.max(part, 0), 1)}%`;
    for (const plot of this.plots) plot.over.querySelector(".future").style.left = left;
  }

  /** Hide or show a flow; null only applies what is hidden. */
  toggle(flow) {
    if (flow !== null) this.hidden.has(flow) ? this.hidden.delete(flow) : this.hidden.add(flow);
    const own = this.series.cwnd.length;
    for (const plot of this.plots) {
      if (plot.panel.key !== "queue") {
        plot.batch(() => {
          for (let n = 0; n < own; n++) plot.setSeries(n + 1, { show: !this.hidden.has(n) });
        });
      } else plot.redraw(false);
    }
  }

  /** Texts for readers without the plots. */
  describe(texts) {
    for (const plot of this.plots) {
      plot.root.parentElement.setAttribute("aria-label", `${plot.panel.title}: ${texts[plot.panel.key]}`);
    }
  }

  /** All plots as SVG: the flows that are shown, the pinned ones dashed. */
  svg(title) {
    const { series, names } = this;
    const curvesOf = (key, of, kind, suffix) =>
      key === "queue"
        ? [{ name: `waiting packets${suffix}`, color: "ink", kind }]
        : of.cwnd.map((_, n) => ({ name: `${names[n] ?? `flow ${n + 1}`}${suffix}`, color: n, kind: key === "rates" && kind === "line" ? "steps" : kind }));
    const panels = PANELS.map(({ key, title: name, unit, drops }) => {
      const own = curvesOf(key, series, "line", "");
      const curves = [...own, ...(series.pinned ? curvesOf(key, series.pinned, "dashes", ", pinned") : [])];
      const kept = curves.map((_, n) => n).filter((n) => key === "queue" || n >= own.length || !this.hidden.has(n));
      const data = this.data({ key });
      const seen = series.drops.filter(([, flow]) => !this.hidden.has(flow));
      const every = Math.max(1, Math.ceil(seen.length / MOST_MARKS));
      return {
        key,
        title: name,
        unit,
        curves: kept.map((n) => curves[n]),
        data: [data[0], ...kept.map((n) => data[n + 1])],
        marks: drops ? seen.filter((_, n) => n % every === 0) : [],
      };
    });
    return svgOf(title, panels, this.range);
  }

  /** All plots as one picture. */
  async picture(title) {
    const ratio = devicePixelRatio;
    const size = this.size();
    const [width, tall] = [size.width * ratio, (size.height + 28) * ratio];
    const canvas = element("canvas", { width, height: tall * this.plots.length + 40 * ratio });
    const ctx = canvas.getContext("2d");
    const style = getComputedStyle(document.body);
    ctx.fillStyle = style.backgroundColor;
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    ctx.fillStyle = style.color;
    ctx.font = `${13 * ratio}px system-ui, sans-serif`;
    ctx.fillText(title, 8 * ratio, 18 * ratio, width - 16 * ratio);
    this.names.forEach((name, n) => {
      ctx.fillStyle = flowColor(n);
      ctx.fillText(name, (8 + (n * (size.width - 16)) / this.names.length) * ratio, 36 * ratio);
    });
    this.plots.forEach((plot, n) => {
      const top = 40 * ratio + n * tall;
      ctx.fillStyle = style.color;
      ctx.fillText(`${plot.panel.title} (${plot.panel.unit})`, 8 * ratio, top + 18 * ratio);
      ctx.drawImage(plot.ctx.canvas, 0, top + 24 * ratio);
    });
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }
}
