// The worker: one engine, the run that the page shows, and the pinned one. It answers with series for the plots.
//
//     page -> worker   engine { bytes }         gzip-compressed dumbbell.wasm
//                      run { id, plan, ... }    a newer one replaces one that is in progress
//                      view { from, to, columns }
//                      state { t }              the state of the senders and the queue
//                      pin { on }               keeps the run that is shown for comparison
//                      table {}                 the series as CSV
//     worker -> page   ready, partial, done, series, state, table, error
import { Engine } from "../engine.mjs";
import { eventsOf, MOST_EVENTS } from "./events.mjs";
import { after, grid, rates, reduced, roundWidth } from "./reduce.mjs";

/** A newer run replaces one that is in progress after this time, ms. */
const PAUSE_MS = 25;
/** The plots show a run in progress this often, ms. */
const PARTIAL_MS = 100;
/** Parts of a run between which it can be replaced. */
const SLICES = 50;
const NS = 1e-9;
/** A drop is shown for this part of the base RTT. */
const RECENT = 0.1;

/** The columns of a run's tables, with times in seconds. */
export class Series {
  constructor(run, plan, mss, until, link) {
    this.until = until;
    const known = new Set(run.tables().map((table) => table.name));
    const column = (table, name) => (known.has(table) ? run.column(table, name) : new Float64Array(0));
    const times = (table, name = "t_ns") => column(table, name).map((t) => t * NS);
    const there = plan.links.find(({ name }) => name === link) ?? plan.links[0];
    const back = plan.links.find(({ from, to }) => from === there.to && to === there.from);
    const bottleneck = there.name;
    this.ends = [plan.nodes[there.from], plan.nodes[there.to]];
    this.duration = plan.duration_ns * NS;
    this.names = plan.flows.map((flow) => flow.name);
    this.mss = mss;
    this.flows = this.names.map((name) => {
      const table = `flow/${name}`;
      if (!known.has(table)) return null;
      const own = { t: times(table) };
      for (const each of ["cwnd", "ssthresh", "srtt_ns", "rto_ns", "inflight", "phase", "timeouts"]) own[each] = column(table, each);
      const rtt = `rtt/${name}`;
      own.rtt = known.has(rtt) ? { t: times(rtt), ms: column(rtt, "rtt_ns").map((ns) => ns / 1e6) } : { t: [], ms: [] };
      return own;
    });
    const queue = `queue/${bottleneck}`;
    this.queue = { t: times(queue), packets: column(queue, "packets"), marks: column(queue, "marks") };
    const drops = `drops/${bottleneck}`;
    this.drops = { t: times(drops), flow: column(drops, "flow"), reason: column(drops, "reason") };
    const left = `departures/${bottleneck}`;
    this.departures = { t: times(left, "end_ns"), flow: column(left, "flow"), bytes: column(left, "bytes") };
    this.links = [there, back ?? { name: "", delay_ns: 0 }].map(({ name, delay_ns: delay }) => {
      const table = `departures/${name}`;
      return {
        start: times(table),
        end: name === bottleneck ? this.departures.t : times(table, "end_ns"),
        sojourn: column(table, "sojourn_ns"),
        flow: column(table, "flow"),
        bytes: column(table, "bytes"),
        delay: delay * NS,
      };
    });
  }

  /** What the plots show. */
  view({ from, to, columns }) {
    const { queue, drops, departures } = this;
    const known = columns * Math.min(Math.max((this.until - from) / (to - from), 0), 1);
    const cut = (values) => values.map((value, n) => (n > 2 * known + 1 ? null : value));
    const held = (of, values) => (of === null ? [] : cut(reduced(of.t, values, from, to, columns, true)));
    const width = roundWidth(Math.max(this.duration / 150, 0.01));
    const count = Math.ceil(this.duration / width - 1e-9);
    const shown = (t) => t >= from && t <= to;
    return {
      t: grid(from, to, columns),
      cwnd: this.flows.map((flow, n) => held(flow, flow?.cwnd).map((v) => (v === null ? null : v / this.mss[n]))),
      queue: held(queue, queue.packets),
      rtt: this.flows.map((flow) => (flow === null ? [] : reduced(flow.rtt.t, flow.rtt.ms, from, to, columns, false))),
      width,
      ends: Float64Array.from({ length: count + 1 }, (_, n) => Math.min(n * width, this.duration)),
      rates: this.flows.map((_, n) =>
        Array.from(rates(departures.t, departures.bytes, (row) => departures.flow[row] >> 1 === n, this.duration, width)),
      ),
      drops: Array.from(drops.t, (t, row) => [t, drops.flow[row] >> 1, drops.reason[row]]).filter(([t]) => shown(t)),
    };
  }

  /** The state at a time: of each flow that has begun, and of the queue. */
  state(t) {
    const row = (times) => after(times, t) - 1;
    const flows = this.flows.map((flow, n) => {
      const at = flow === null ? -1 : row(flow.t);
      if (at < 0) return null;
      const ssthresh = flow.ssthresh[at] / this.mss[n];
      return {
        phase: flow.phase[at],
        cwnd: flow.cwnd[at] / this.mss[n],
        // A threshold of 64 MB is the beginning's "arbitrarily high" [RFC 5681 §3.1].
        ssthresh: flow.ssthresh[at] < 6e7 ? ssthresh : null,
        pipe: flow.inflight[at] / this.mss[n],
        srtt: flow.srtt_ns[at] / 1e6,
        rto: flow.rto_ns[at] / 1e6,
        timeouts: flow.timeouts[at],
      };
    });
    const at = row(this.queue.t);
    return { flows, queue: at < 0 ? 0 : this.queue.packets[at], dropped: row(this.drops.t) + 1 };
  }

  /**
   * The packets between the routers at a time: in the queue of the bottleneck, on the link, on its way back, and those
   * that were dropped within the last part of a round trip.
   */
  packets(t) {
    const [there, back] = this.links;
    const onLink = ({ start, end, flow, bytes, delay }) => {
      const found = [];
      for (let row = after(start, t) - 1; row >= 0 && end[row] + delay >= t; row--) {
        // The places of its first and last bit, from 0 at the sending router to 1 at the other one.
        const place = (since) => Math.min(Math.max((t - since) / delay, 0), 1);
        found.push({ flow: flow[row] >> 1, bytes: bytes[row], head: place(start[row]), tail: place(end[row]) });
      }
      return found;
    };
    const waiting = [];
    // Packets leave in another order than they arrive if flows have queues of their own.
    const longest = this.queue.packets[after(this.queue.t, t) - 1] ?? 0;
    for (let row = after(there.start, t); row < there.start.length && waiting.length < longest; row++) {
      if (there.start[row] - there.sojourn[row] * NS <= t) waiting.push({ flow: there.flow[row] >> 1, bytes: there.bytes[row] });
    }
    const recent = 2 * there.delay * RECENT;
    const dropped = [];
    for (let row = after(this.drops.t, t) - 1; row >= 0 && this.drops.t[row] > t - recent; row--) {
      dropped.push({ flow: this.drops.flow[row] >> 1, reason: this.drops.reason[row] });
    }
    return { ends: this.ends, waiting, count: longest, there: onLink(there), back: onLink(back), dropped };
  }

  /** The series of the flows and of the queue as CSV: a row for each change. */
  csv() {
    const lines = ["series,t_s,cwnd_bytes,ssthresh_bytes,inflight_bytes,srtt_ms,rto_ms,rtt_ms,packets"];
    this.flows.forEach((flow, n) => {
      const name = this.names[n];
      flow?.t.forEach((t, row) => {
        const windows = [flow.cwnd[row], flow.ssthresh[row], flow.inflight[row]];
        lines.push([name, t, ...windows, blank(flow.srtt_ns[row] / 1e6), blank(flow.rto_ns[row] / 1e6), "", ""].join(","));
      });
      flow?.rtt.t.forEach((t, row) => lines.push(`${name},${t},,,,,,${flow.rtt.ms[row]},`));
    });
    this.queue.t.forEach((t, row) => lines.push(`queue,${t},,,,,,,${this.queue.packets[row]}`));
    return `${lines.join("\n")}\n`;
  }
}

function blank(value) {
  return Number.isFinite(value) ? value : "";
}

/** Answers the messages of a page. `post` sends to it, `pause` lets newer messages in. */
export function answering(post, pause) {
  let engine = null;
  let wasm = null;
  let wanted = 0;
  let shown = null; // may be a part of a run in progress
  let complete = null;
  let pinned = null;
  let view = null;

  const series = () => ({ ...shown.view(view), pinned: pinned && pinned.view(view) });

  async function run({ id, plan: planText, link, columns, from, to }) {
    wanted = id;
    const began = performance.now();
    const plan = JSON.parse(planText);
    const mss = plan.flows.map(() => 1448);
    view = { from, to, columns };
    const made = engine.start(planText);
    try {
      let [paused, drawn] = [began, began];
      const step = (plan.duration_ns * NS) / SLICES;
      while (made.advance(made.time + step)) {
        if (performance.now() - paused < PAUSE_MS) continue;
        if (performance.now() - drawn >= PARTIAL_MS) {
          shown = new Series(made, plan, mss, made.time, link);
          post({ kind: "partial", id, until: made.time, series: series() });
          drawn = performance.now();
        }
        await pause();
        if (wanted !== id) return;
        paused = performance.now();
      }
      const text = made.finish();
      if (wanted !== id) return;
      const results = JSON.parse(text);
      shown = new Series(made, plan, results.flows.map((flow) => flow.snd_mss_bytes || 1448), plan.duration_ns * NS, link);
      complete = shown;
      const flows = shown.flows.map((flow) => flow ?? { t: [], phase: [], timeouts: [], cwnd: [] });
      const events = eventsOf(flows, shown.drops, shown.queue);
      post({
        kind: "done",
        id,
        text,
        series: series(),
        events: events.slice(0, MOST_EVENTS),
        count: events.length,
        mss: shown.mss,
        took: performance.now() - began,
      });
    } finally {
      made.free();
    }
  }

  const answers = {
    async engine({ bytes }) {
      const plain = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
      wasm = await plain.arrayBuffer();
      engine = await Engine.load(wasm);
      post({ kind: "ready", version: engine.version });
    },
    run,
    view(next) {
      view = next;
      if (shown) post({ kind: "series", series: series() });
    },
    state({ t }) {
      if (complete) post({ kind: "state", t, ...complete.state(t), packets: complete.packets(t) });
    },
    pin({ on }) {
      pinned = on ? complete : null;
      if (shown) post({ kind: "series", series: series() });
    },
    table() {
      post({ kind: "table", text: complete ? complete.csv() : "" });
    },
  };
  return async ({ data }) => {
    try {
      await answers[data.kind](data);
    } catch (error) {
      post({ kind: "error", id: data.id, message: error.message });
      if (wasm) engine = await Engine.load(wasm); // an engine that has stopped can't be called again
    }
  };
}
