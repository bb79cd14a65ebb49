// Events of a run, and the reason for each with its source.

/** The most events that a page lists. */
export const MOST_EVENTS = 20000;

/**
 * The events of a run, in the order of time: drops at the bottleneck, congestion marks, phases and timeouts.
 *
 * `flows` has, for each flow, the columns of its table, times in seconds; `drops` and `queue` those of the bottleneck.
 */
export function eventsOf(flows, drops, queue) {
  const found = [];
  drops.t.forEach((t, row) => found.push({ t, kind: "drop", flow: drops.flow[row] >> 1, reason: drops.reason[row] }));
  for (let row = 1; row < queue.t.length; row++) {
    const count = queue.marks[row] - queue.marks[row - 1];
    if (count > 0) found.push({ t: queue.t[row], kind: "mark", flow: null, count });
  }
  flows.forEach(({ t, phase, timeouts, cwnd }, flow) => {
    for (let row = 1; row < t.length; row++) {
      const windows = { before: cwnd[row - 1], after: cwnd[row] };
      if (timeouts[row] > timeouts[row - 1]) found.push({ t: t[row], kind: "timeout", flow, ...windows });
      else if (phase[row] !== phase[row - 1]) {
        found.push({ t: t[row], kind: "phase", flow, from: phase[row - 1], to: phase[row], ...windows });
      } else if (cwnd[row] < 0.9 * cwnd[row - 1]) found.push({ t: t[row], kind: "cut", flow, ...windows });
    }
  });
  found.sort((a, b) => a.t - b.t);
  return found;
}

/** The sources of drops by their reason. */
const DROPS = {
  full: "The queue was at its limit, and the arriving packet was dropped (RFC 2309 §2, tail drop).",
  early: "The queue discipline dropped the packet before the queue was full, to signal congestion (RFC 7567 §2).",
  forced: "The average queue was beyond the discipline's upper threshold, where each arriving packet is dropped.",
  loss: "The packet was lost on the link at random: the setting Random loss. The queue has no part in it.",
};

/** One line about an event. */
export function headline(model, event) {
  const who = event.flow === null ? "" : `flow ${event.flow + 1}: `;
  if (event.kind === "drop") return `${who}packet dropped (${model.reasons[event.reason]})`;
  if (event.kind === "mark") return event.count === 1 ? "a packet is marked (CE)" : `${event.count} packets are marked (CE)`;
  if (event.kind === "timeout") return `${who}retransmission timeout`;
  if (event.kind === "cut") return `${who}the window is reduced`;
  return `${who}${model.phases[event.from]} → ${model.phases[event.to]}`;
}

/** Why an event happened: sentences with their source. `variant` is the row of the flow's variant in the registry. */
export function explanation(model, event, variant, mss) {
  const window = () => `The window was ${packets(event.before, mss)} and is now ${packets(event.after, mss)}.`;
  const source = () => `Source: ${variant.source}.`;
  if (event.kind === "drop") return [DROPS[model.reasons[event.reason]] ?? ""];
  if (event.kind === "mark") {
    return ["The queue discipline set the codepoint CE instead of dropping the packet, since its flow uses ECN (RFC 3168 §5)."];
  }
  if (event.kind === "timeout") {
    return [
      "No ACK for the oldest outstanding segment arrived before the retransmission timeout (RFC 6298 §5). " +
        "The sender retransmits from there, in slow start (RFC 5681 §3.1), and doubles the timeout.",
      window(),
    ];
  }
  const name = event.kind === "phase" ? model.phases[event.to] : "";
  if (name === "recovery") {
    return [
      "Duplicate or selective ACKs showed that a segment is missing, or ACKs reported marks. The sender retransmits before a timeout " +
        "(fast recovery: RFC 5681 §3.2, RFC 6675 §5).",
      `${variant.name} on a loss: ${variant.on_loss}. On marks: ${variant.on_ecn}.`,
      window(),
      source(),
    ];
  }
  if (event.kind === "cut") {
    return [
      `${variant.name} on a loss: ${variant.on_loss}. On marks: ${variant.on_ecn}. On delay: ${variant.on_delay}.`,
      window(),
      source(),
    ];
  }
  if (name === "congestion avoidance") {
    return ["The window has reached ssthresh, or the end of a recovery: it now grows slowly (RFC 5681 §3.1).", window(), source()];
  }
  if (name === "slow start") {
    return ["The window is below ssthresh: each ACK lets it grow by the data that it acknowledges (RFC 5681 §3.1).", window()];
  }
  return [`The state of ${variant.name} is now “${name}”.`, window(), source()];
}

function packets(bytes, mss) {
  return `${(bytes / mss).toFixed(1)} packets`;
}
