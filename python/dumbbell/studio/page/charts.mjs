// The panels of a run: windows, queue, RTT, throughput; beside those of the pinned run.
import { TimePanels } from "./time-panels.mjs";

const PANELS = [
  { key: "cwnd", title: "Congestion window", unit: "packets" },
  { key: "queue", title: "Queue", unit: "packets" },
  { key: "rtt", title: "RTT", unit: "ms" },
  { key: "rates", title: "Throughput at the bottleneck", unit: "Mbit/s" },
];
const MOST_MARKS = 4000;

export class Charts extends TimePanels {
  constructor(parent, events) {
    super(parent, { ...events, tall: (across) => (innerHeight - 380) / (across === 2 ? 2 : PANELS.length) });
  }

  /** Show the series of a run of `duration` seconds. `range` is the time that is shown. */
  update(series, names, range, duration) {
    const panels = PANELS.map((panel) => {
      const pinned = series.pinned ? curvesOf(panel.key, series.pinned, names) : [];
      const curves = [
        ...curvesOf(panel.key, series, names),
        ...pinned.map(({ name, flow, ...curve }) => ({ ...curve, name: `${name}, pinned`, dash: "5 4", opacity: 0.6 })),
        ...(panel.key === "queue" ? dropsOf(series.drops) : []),
      ];
      return { ...panel, zero: true, curves };
    });
    this.show(panels, range, [0, duration]);
  }

  isVisible({ flow }) {
    return !this.hidden.has(flow);
  }

  /** Hide or show a flow. */
  toggle(flow) {
    if (!this.hidden.delete(flow)) this.hidden.add(flow);
    for (const panel of this.panels) panel.ranges();
    this.draw();
  }

  /** Texts for readers without the plots. */
  describe(texts) {
    for (const { key, frame } of this.panels) {
      frame.setAttribute("aria-label", `${PANELS.find((panel) => panel.key === key).title}: ${texts[key]}`);
    }
  }
}

function curvesOf(key, of, names) {
  if (key === "queue") return [{ name: "waiting packets", color: "ink", kind: "line", x: of.t, y: of.queue }];
  const stepped = key === "rates";
  return of[key].map((values, n) => ({
    name: names[n] ?? `flow ${n + 1}`,
    color: n,
    flow: n,
    kind: stepped ? "steps" : "line",
    x: stepped ? of.ends : of.t,
    y: stepped ? [...values, values.at(-1)] : values,
  }));
}

/** Dropped packets: crosses above the queue, in the colors of their flows. */
function dropsOf(drops) {
  const every = Math.max(1, Math.ceil(drops.length / MOST_MARKS));
  const times = new Map();
  for (let n = 0; n < drops.length; n += every) {
    const [t, flow] = drops[n];
    if (!times.has(flow)) times.set(flow, []);
    times.get(flow).push(t);
  }
  return [...times].map(([flow, x]) => ({ name: "packet dropped", color: flow, flow, kind: "edge", x }));
}
