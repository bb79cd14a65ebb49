// Figures of a run beside those of the pinned one, and the state at a time.
import { element } from "../../plots/web/dom.mjs";
import { flowColor, shown } from "./dom.mjs";

/** Jain's index of rates: 1 if all are equal [Jain, Chiu and Hawe 1984]. As in metrics/fairness.py. */
export function jain(rates) {
  const total = rates.reduce((sum, x) => sum + x, 0) ** 2;
  const squares = rates.length * rates.reduce((sum, x) => sum + x * x, 0);
  return squares > 0 ? total / squares : NaN;
}

/** Rows of the table: name, unit, value of the results (a number or null), digits. */
const OF_FLOW = [
  ["Goodput", "Mbit/s", (flow) => flow.goodput_bps / 1e6, 3],
  ["Packets dropped", "%", (flow) => (flow.drop_rate === null ? null : 100 * flow.drop_rate), 3],
  ["Timeouts", "", (flow) => flow.timeouts, 0],
  ["RTT, median", "ms", (flow) => flow.rtt_p50_ms, 1],
  ["RTT, 95 %", "ms", (flow) => flow.rtt_p95_ms, 1],
  ["RTT, 99 %", "ms", (flow) => flow.rtt_p99_ms, 1],
  ["Completion time", "s", (flow) => flow.completion_time_s, 3],
];
const OF_PATH = [
  ["Jain's index", "", ({ flows }) => jain(flows.map((flow) => flow.goodput_bps)), 3],
  ["Utilization", "%", ({ queues }) => 100 * queues[0].utilization, 1],
  ["Drops at the queue", "packets", ({ queues }) => queues[0].drops, 0],
  ["Marks", "packets", ({ queues }) => queues[0].marks, 0],
  ["Random losses", "packets", ({ queues }) => queues[0].losses_random, 0],
  ["Delay in the queue, median", "ms", ({ queues }) => queues[0].p50_sojourn_ms, 1],
  ["Delay in the queue, 95 %", "ms", ({ queues }) => queues[0].p95_sojourn_ms, 1],
  ["Delay in the queue, 99 %", "ms", ({ queues }) => queues[0].p99_sojourn_ms, 1],
];

/** Two tables: of the flows, and of the path. */
export function tables(results, pinned) {
  return [flowTable(results, pinned), pathTable(results, pinned)];
}

function flowTable(results, pinned) {
  const heads = results.flows.map((flow, n) =>
    element("th", { scope: "col" }, swatch(n), `${n + 1} ${flow.variant ?? ""}`),
  );
  const rows = OF_FLOW.filter(([, , value]) => results.flows.some((flow) => value(flow) !== null)).map(([name, unit, value, digits]) => {
    const cells = results.flows.map((flow, n) => cell(value(flow), pinned?.flows[n] && value(pinned.flows[n]), digits));
    return element("tr", {}, element("th", { scope: "row" }, name, unitOf(unit)), ...cells);
  });
  const head = element("tr", {}, element("td", {}), ...heads);
  return element("table", { class: "figures" }, element("caption", {}, "Flows"), element("thead", {}, head), element("tbody", {}, ...rows));
}

function pathTable(results, pinned) {
  const rows = OF_PATH.map(([name, unit, value, digits]) =>
    element("tr", {}, element("th", { scope: "row" }, name, unitOf(unit)), cell(value(results), pinned && value(pinned), digits)),
  );
  return element("table", { class: "figures" }, element("caption", {}, "Bottleneck"), element("tbody", {}, ...rows));
}

function cell(value, pinned, digits) {
  const old = pinned === null || pinned === undefined ? null : element("span", { class: "pinned" }, `pinned ${shown(pinned, digits)}`);
  return element("td", {}, shown(value, digits), old);
}

function unitOf(unit) {
  return unit ? element("span", { class: "unit" }, ` ${unit}`) : "";
}

function swatch(n) {
  return element("span", { class: "swatch", style: `background:${flowColor(n)}`, "aria-hidden": "true" });
}

const OF_STATE = [
  ["phase", "", (flow, phases) => phases[flow.phase]],
  ["cwnd", "packets", (flow) => shown(flow.cwnd, 1)],
  ["ssthresh", "packets", (flow) => shown(flow.ssthresh, 1)],
  ["pipe", "packets", (flow) => shown(flow.pipe, 1)],
  ["srtt", "ms", (flow) => shown(flow.srtt, 1)],
  ["RTO", "ms", (flow) => shown(flow.rto, 0)],
  ["timeouts", "", (flow) => shown(flow.timeouts, 0)],
];

/** The state of the senders at a time, in the words of RFC 5681, 6298 and 6675. */
export function stateTable(state, phases) {
  const heads = state.flows.map((_, n) => element("th", { scope: "col" }, swatch(n), `${n + 1}`));
  const rows = OF_STATE.map(([name, unit, value]) => {
    const cells = state.flows.map((flow) => element("td", { class: name === "phase" ? "words" : null }, flow === null ? "–" : value(flow, phases)));
    return element("tr", {}, element("th", { scope: "row" }, name, unitOf(unit)), ...cells);
  });
  const queue = element(
    "tr",
    {},
    element("th", { scope: "row" }, "queue", unitOf("packets")),
    element("td", { class: "words", colspan: state.flows.length }, `${state.queue}; ${state.dropped} dropped so far`),
  );
  const head = element("tr", {}, element("td", {}), ...heads);
  const caption = element("caption", {}, `At ${state.t.toFixed(3)} s`);
  return element("table", { class: "figures" }, caption, element("thead", {}, head), element("tbody", {}, ...rows, queue));
}

/** One sentence about a run. */
export function summary(results) {
  const parts = results.flows.map((flow, n) => `flow ${n + 1} ${shown(flow.goodput_bps / 1e6, 2)} Mbit/s`);
  return `Goodput: ${parts.join(", ")}. Jain's index ${shown(jain(results.flows.map((flow) => flow.goodput_bps)), 3)}.`;
}

/** What the plots show, in words. */
export function descriptions(results) {
  const flows = (value) => results.flows.map((flow, n) => `flow ${n + 1} ${value(flow)}`).join(", ");
  const queue = results.queues[0];
  return {
    cwnd: flows((flow) => `mean ${shown(flow.cwnd_mean_packets, 1)} packets, timeouts: ${flow.timeouts}`),
    queue: `mean ${shown(queue.mean_backlog_packets, 1)} packets, drops: ${queue.drops}, marks: ${queue.marks}`,
    rtt: flows((flow) => `median ${shown(flow.rtt_p50_ms, 1)} ms, 99 % ${shown(flow.rtt_p99_ms, 1)} ms`),
    rates: flows((flow) => `mean ${shown(flow.throughput_bps / 1e6, 2)} Mbit/s`),
  };
}
