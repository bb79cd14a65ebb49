//! The columns of a queue in the results, from the meter of its link (docs/reference/metrics.md).

use crate::link::Link;
use dumbbell_plan::{Name, QueueResult};
use dumbbell_qdisc::DropReason;
use dumbbell_units::Time;

/// Returns the result of a link's queue in the measured time `span`.
pub(crate) fn queue_result(link: &mut Link, discipline: Name, span: (Time, Time)) -> QueueResult {
    let (from, end) = span;
    let seconds = end.since(from).as_secs();
    link.settle();
    let (waiting_at_end, on_wire_at_end) = (link.backlog(end).packets, link.packets_on_wire());
    let mut waits = link.meter.take_waits();
    let means = waits.backlog.means(end);
    let sojourn = &waits.sojourn;
    let varying = link.use_of_capacity();
    let m = &link.meter;
    let counts = m.measured();
    let rare = counts.rare();
    let of = |reason: DropReason| rare.drops[reason as usize];
    let (drops, waiting_at_start) = (rare.queue_drops(), m.waiting_at_start());
    debug_assert_eq!(waiting_at_start + counts.arrivals, counts.departures + drops + waiting_at_end, "{}", link.name);
    let crossed = m.on_wire_at_start() + counts.departures + rare.duplicated;
    QueueResult {
        name: std::mem::take(&mut link.name).into(),
        discipline,
        arrivals: counts.arrivals,
        departures: counts.departures,
        delivered: crossed - rare.wire_losses() - on_wire_at_end,
        waiting_at_start,
        waiting_at_end,
        on_wire_at_start: m.on_wire_at_start(),
        on_wire_at_end,
        drops,
        drops_full: of(DropReason::Full),
        drops_early: of(DropReason::Early),
        drops_forced: of(DropReason::Forced),
        drops_scripted: of(DropReason::Scripted),
        drops_policed: of(DropReason::Policed),
        wire_losses: rare.wire_losses(),
        losses_random: of(DropReason::Loss),
        losses_corrupted: of(DropReason::Corrupted),
        losses_outage: of(DropReason::Outage),
        losses_retries: of(DropReason::Retries),
        duplicated: rare.duplicated,
        reordered: rare.reordered,
        largest_reordering_extent: rare.largest_extent,
        marks: rare.marks,
        mean_backlog_packets: means.map(|(packets, _)| packets).into(),
        mean_backlog_bytes: means.map(|(_, bytes)| bytes).into(),
        mean_sojourn_ms: sojourn.mean_ms().into(),
        p50_sojourn_ms: sojourn.percentile_ms(0.5).into(),
        p95_sojourn_ms: sojourn.percentile_ms(0.95).into(),
        p99_sojourn_ms: sojourn.percentile_ms(0.99).into(),
        max_sojourn_ms: sojourn.max_ms().into(),
        utilization: match varying {
            None => m.busy.as_secs() / seconds,
            Some((sent, capacity)) if capacity > 0.0 => sent / capacity,
            Some(_) => 0.0,
        },
        throughput_bps: (counts.departed_bytes * 8) as f64 / seconds,
        capacity_bps: varying.map_or(link.rate().0 as f64, |(_, capacity)| capacity / seconds),
    }
}
