//! Relations that hold between the metrics of every run (docs/reference/metrics.md): 10,000 random plans over all
//! variants, queue disciplines, stacks and applications, with several flows, impairments, changing rates and late
//! measurements.

use crate::conservation::features;
use crate::plans::Row;
use dumbbell_plan::{FlowResult, Plan, QueueResult};
use dumbbell_sim::Output;
use proptest::prelude::*;
use serde_json::{Value, json};

const KBIT: u64 = 1000;
const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;
/// IP bytes of the largest packet.
const LARGEST: u32 = 1500;
/// IP bytes of the smallest ACK: stack `ns2` has headers of 16 bytes.
const ACK: u32 = 16;
/// Relative error of sums of f64.
const ROUNDING: f64 = 1e-9;

pub type Features = Vec<(&'static str, Value)>;

/// A link: rate, delay, discipline with its parameters, features of the forward and the reverse direction.
pub type LinkSketch = ((u64, u64), Value, Features, Features);

pub fn queue() -> impl Strategy<Value = Value> {
    let disciplines: Vec<&'static str> = dumbbell_qdisc::registry().iter().map(|d| d.name).collect();
    (prop::sample::select(disciplines), prop::option::of(1..40u32)).prop_map(|(name, limit)| {
        let row = dumbbell_qdisc::find(name).unwrap();
        let has_limit = row.params.iter().any(|p| p.name == "limit");
        match limit.filter(|_| has_limit && matches!(name, "droptail" | "codel" | "pie" | "red" | "fq_codel")) {
            Some(packets) => json!({"name": name, "params": {"limit": format!("{packets} packets")}}),
            None => json!({"name": name}),
        }
    })
}

pub fn link() -> impl Strategy<Value = LinkSketch> {
    let rare = || prop_oneof![3 => Just(Vec::new()), 1 => features()];
    ((200 * KBIT..20 * MBIT, 0..20 * MS), queue(), rare(), rare())
}

/// A flow: name of a variant or None for datagrams, stack, application, start and stop in ms, direction.
pub type FlowSketch = (Option<&'static str>, &'static str, bool, Value, (u64, Option<u64>), bool);

pub fn flow() -> impl Strategy<Value = FlowSketch> {
    let variants: Vec<&'static str> = dumbbell_cc::registry().iter().map(|v| v.name).collect();
    let stacks: Vec<&'static str> = dumbbell_tcp::PRESETS.iter().map(|p| p.name).collect();
    let repeat = 0..3u64;
    let every = prop_oneof![Just(0), 1..300 * MS];
    let source = || (50 * KBIT..12 * MBIT, 60..1500u32, 0.0..0.9f64);
    let cbr = || {
        source().prop_map(|(rate, bytes, jitter)| {
            json!({"kind": "cbr", "rate_bps": rate, "packet_bytes": bytes, "jitter": jitter, "phase_ns": null})
        })
    };
    let onoff = || {
        (source(), 1..100 * MS, 1..100 * MS, any::<bool>()).prop_map(|((rate, bytes, _), on, off, random)| {
            json!({"kind": "onoff", "rate_bps": rate, "packet_bytes": bytes, "on_ns": on, "off_ns": off,
                "exponential": random})
        })
    };
    let transfer = (1..60_000u64, repeat.clone(), every.clone()).prop_map(
        |(bytes, repeat, every)| json!({"kind": "transfer", "bytes": bytes, "repeat": repeat, "every_ns": every}),
    );
    let page = (1..60_000u64, 1..2000u64, repeat, every).prop_map(|(bytes, request, repeat, every)| {
        json!({"kind": "page", "bytes": bytes, "request_bytes": request, "repeat": repeat, "every_ns": every})
    });
    let ping = (MS..50 * MS, 30..1500u32, 0..20u64, MS..200 * MS).prop_map(|(interval, bytes, count, timeout)| {
        json!({"kind": "ping", "interval_ns": interval, "packet_bytes": bytes, "count": count, "timeout_ns": timeout})
    });
    let workload =
        (10.0..400.0f64, 500.0..40_000.0f64, 0..30u64, any::<bool>()).prop_map(|(per_s, mean, count, reuse)| {
            json!({"kind": "workload", "arrivals": {"kind": "poisson", "per_s": per_s}, "arrivals_of": "w",
                "sizes": {"kind": "exponential", "mean": mean}, "count": count,
                "connections": if reuse { "reuse" } else { "new" }})
        });
    let over_tcp = prop_oneof![
        4 => Just(json!({"kind": "bulk"})), 1 => transfer, 1 => page, 1 => cbr(), 1 => onoff(), 1 => workload
    ];
    let tcp = (prop::sample::select(variants), prop::sample::select(stacks), any::<bool>(), over_tcp)
        .prop_map(|(variant, stack, ecn, app)| (Some(variant), stack, ecn, app));
    let datagrams = prop_oneof![cbr(), onoff(), ping].prop_map(|app| (None, "rfc", false, app));
    let times = (0..200u64, prop::option::weighted(0.3, 1..400u64)).prop_map(|(a, b)| (a, b.map(|b| a + b)));
    (prop_oneof![4 => tcp, 1 => datagrams], times, prop::bool::weighted(0.8))
        .prop_map(|((variant, stack, ecn, app), times, forward)| (variant, stack, ecn, app, times, forward))
}

/// Adds flow number `n`.
pub fn with_flow(row: Row, n: usize, from: usize, to: usize, flow: FlowSketch) -> Row {
    let (variant, stack, ecn, app, (start, stop), _) = flow;
    let row = match variant {
        Some(variant) => row.tcp(from, to, variant, json!({"preset": stack, "ecn": ecn}), app),
        None => row.udp(from, to, app),
    };
    row.set(&format!("/flows/{n}/start_ns"), json!(start * MS))
        .set(&format!("/flows/{n}/stop_ns"), json!(stop.map(|stop| stop * MS)))
}

fn row() -> impl Strategy<Value = Row> {
    let links = prop::collection::vec(link(), 1..4);
    let flows = prop::collection::vec(flow(), 1..4);
    let times = (20..400u64, prop_oneof![Just(0.0), 0.0..0.95f64], prop_oneof![Just(0), 1..20 * MS]);
    (links, flows, times, any::<u64>()).prop_map(|(links, flows, (duration, from, jitter), seed)| {
        let paths: Vec<(u64, u64)> = links.iter().map(|(path, ..)| *path).collect();
        let mut row = Row::new(&paths)
            .set("/seed", json!(seed))
            .set("/duration_ns", json!(duration * MS))
            .set("/measure_from_ns", json!((duration as f64 * from) as u64 * MS))
            .set("/start_jitter_ns", json!(jitter));
        for (n, (_, queue, forward, backward)) in links.iter().enumerate() {
            for (features, from, to) in [(forward, n, n + 1), (backward, n + 1, n)] {
                row = row.link(from, to, "queue", queue.clone());
                for (key, value) in features {
                    row = row.link(from, to, key, value.clone());
                }
            }
        }
        for (n, flow) in flows.into_iter().enumerate() {
            let (from, to) = if flow.5 { (0, links.len()) } else { (links.len(), 0) };
            row = with_flow(row, n, from, to, flow);
        }
        row
    })
}

/// The links from the data sender to the data receiver of a flow, or back, in their order.
fn path(plan: &Plan, flow: usize, forward: bool) -> Vec<usize> {
    let links = plan.links.len() / 2;
    if (plan.flows[flow].from == 0) == forward {
        (0..links).map(|n| 2 * n).collect()
    } else {
        (0..links).rev().map(|n| 2 * n + 1).collect()
    }
}

/// Shortest time of a packet over a link, ms: its smallest delay, and the transmission at its highest rate.
fn shortest_ms(plan: &Plan, link: usize, bytes: u32) -> f64 {
    let link = &plan.links[link];
    let values = |course: &dumbbell_link::ProfilePlan| course.steps.iter().map(|s| s.value).collect::<Vec<u64>>();
    let delay = link.delay_course.as_ref().map_or(link.delay_ns, |c| *values(c).iter().min().unwrap());
    let highest = match &link.rate_course {
        Some(course) => *values(course).iter().max().unwrap(),
        None => link.rate_bps,
    };
    // A delivery trace has no rate: a packet may be sent at the instant at which it arrives.
    let transmission = if link.opportunities.is_some() { 0.0 } else { f64::from(bytes) * 8e3 / highest as f64 };
    delay as f64 * 1e-6 + transmission
}

/// A lower bound of a flow's round-trip times, ms.
fn idle_rtt_ms(plan: &Plan, flow: usize, f: &FlowResult) -> f64 {
    use dumbbell_plan::AppPlan::{Bulk, Ping};
    let (request, answer) = match &plan.flows[flow].application {
        // Bulk senders send full packets. Their headers may not count: ns-2's Vegas sends data packets without them.
        Bulk {} => ((f.sent_bytes / f.sent_packets.max(1)) as u32, ACK),
        Ping { packet_bytes, .. } => (*packet_bytes, *packet_bytes),
        _ => (ACK + 1, ACK),
    };
    let over = |forward, bytes| path(plan, flow, forward).iter().map(|&l| shortest_ms(plan, l, bytes)).sum::<f64>();
    over(true, request) + over(false, answer)
}

fn check_numbers(row: &impl serde::Serialize) -> Result<(), TestCaseError> {
    for (key, value) in serde_json::to_value(row).unwrap().as_object().unwrap() {
        prop_assert!(value.as_f64().is_none_or(|v| v >= 0.0 && v.is_finite()), "{} = {}", key, value);
    }
    Ok(())
}

fn check_ascending(values: [Option<f64>; 6]) -> Result<(), TestCaseError> {
    let [least, p50, p95, p99, most, mean] = values;
    let ascending: Vec<f64> = [least, p50, p95, p99, most].into_iter().flatten().collect();
    prop_assert!(ascending.is_sorted(), "{:?}", ascending);
    if let (Some(least), Some(mean), Some(most)) = (least, mean, most) {
        prop_assert!((least * (1.0 - ROUNDING)..=most * (1.0 + ROUNDING)).contains(&mean), "{:?}", values);
    }
    Ok(())
}

/// The measured time of a flow, s.
fn seconds(plan: &Plan, f: &FlowResult) -> f64 {
    (f.stop_s - f.start_s.max(plan.measure_from_ns as f64 * 1e-9)).max(0.0)
}

fn check_flow(plan: &Plan, n: usize, f: &FlowResult) -> Result<(), TestCaseError> {
    check_numbers(f)?;
    prop_assert!(f.dropped_packets <= f.sent_packets && f.retransmitted_packets <= f.sent_packets, "{:?}", f);
    prop_assert!(f.drop_rate.get().is_none_or(|share| share <= 1.0), "{:?}", f);
    prop_assert!(f.retransmitted_bytes <= f.sent_bytes && f.pings_lost <= f.pings_sent, "{:?}", f);
    prop_assert!(f.transfers_completed <= f.transfers_started, "{:?}", f);
    prop_assert!(f.goodput_bps <= f.throughput_bps * (1.0 + ROUNDING), "{:?}", f);
    let bits = f.goodput_bps * seconds(plan, f);
    prop_assert!((bits - f.delivered_bytes as f64 * 8.0).abs() <= 1e-6 * bits || bits == 0.0, "{:?}", f);
    check_ascending([
        f.rtt_min_ms.get(),
        f.rtt_p50_ms.get(),
        f.rtt_p95_ms.get(),
        f.rtt_p99_ms.get(),
        f.rtt_max_ms.get(),
        f.rtt_mean_ms.get(),
    ])?;
    let [least, p50, p95, p99] =
        [f.ack_delay_min_ms.get(), f.ack_delay_p50_ms.get(), f.ack_delay_p95_ms.get(), f.ack_delay_p99_ms.get()];
    check_ascending([least, p50, p95, p99, f.ack_delay_max_ms.get(), f.ack_delay_mean_ms.get()])?;
    let idle = idle_rtt_ms(plan, n, f) * (1.0 - ROUNDING);
    for rtt in [f.rtt_min_ms.get(), f.ack_delay_min_ms.get(), f.ack_delay_first_mean_ms.get()].into_iter().flatten() {
        prop_assert!(rtt >= idle, "{} ms, idle {} ms: {:?}", rtt, idle, f);
    }
    Ok(())
}

/// Wire bits that a link may send at the border of the measurement beyond its capacity: a packet counts as a whole when
/// its transmission begins, so the last one may count although it ends later. A delivery trace may send several packets
/// at the instant at which the measurement begins.
fn border_bits(plan: &Plan, link: usize) -> f64 {
    let instant = plan.links[link].opportunities.as_ref().map_or(0, |t| t.counts.iter().map(|c| c.1).max().unwrap());
    (1 + instant) as f64 * f64::from(LARGEST) * 8.0
}

fn check_queue(plan: &Plan, n: usize, q: &QueueResult, seconds: f64) -> Result<(), TestCaseError> {
    check_numbers(q)?;
    prop_assert_eq!(q.waiting_at_start + q.arrivals, q.departures + q.drops + q.waiting_at_end, "{:?}", q);
    let left = q.delivered + q.wire_losses + q.on_wire_at_end;
    prop_assert_eq!(q.on_wire_at_start + q.departures + q.duplicated, left, "{:?}", q);
    prop_assert!(q.utilization <= 1.0 + ROUNDING, "{:?}", q);
    let bits = q.capacity_bps * seconds * (1.0 + ROUNDING) + border_bits(plan, n);
    prop_assert!(q.throughput_bps * seconds <= bits, "{:?}", q);
    let times = [
        None,
        q.p50_sojourn_ms.get(),
        q.p95_sojourn_ms.get(),
        q.p99_sojourn_ms.get(),
        q.max_sojourn_ms.get(),
        q.mean_sojourn_ms.get(),
    ];
    check_ascending(times)
}

/// All flows of a direction together receive at most the capacity of each link of their path, and the packets that had
/// passed that link before the measurement began.
fn check_shares(plan: &Plan, out: &Output) -> Result<(), TestCaseError> {
    let measured = (plan.duration_ns - plan.measure_from_ns) as f64 * 1e-9;
    for forward in [true, false] {
        let flows: Vec<usize> = (0..plan.flows.len()).filter(|&n| (plan.flows[n].from == 0) == forward).collect();
        let Some(&first) = flows.first() else { continue };
        let bits = flows.iter().map(|&n| out.flows[n].throughput_bps * seconds(plan, &out.flows[n])).sum::<f64>();
        let mut beyond = 0;
        for &link in path(plan, first, true).iter().rev() {
            let q = &out.queues[link];
            beyond += q.on_wire_at_start;
            let stored = beyond as f64 * f64::from(LARGEST) * 8.0;
            let most = q.capacity_bps * measured + border_bits(plan, link) + stored;
            prop_assert!(bits <= most * (1.0 + ROUNDING), "{} > {} bits: {:?} {:?}", bits, most, q, out.flows);
            beyond += q.waiting_at_start;
        }
    }
    Ok(())
}

/// On one link of constant rate and delay, packets arrive as far apart as they were sent: in any interval at most the
/// link's rate and one packet.
fn check_lone_link(plan: &Plan, out: &Output) -> Result<(), TestCaseError> {
    let lone = plan.links.len() == 2;
    for (n, f) in out.flows.iter().enumerate() {
        let link = &plan.links[path(plan, n, true)[0]];
        let constant = link.rate_course.is_none() && link.opportunities.is_none() && link.delay_course.is_none();
        if lone && constant && link.jitter.is_none() && link.reordering.is_none() {
            let most = link.rate_bps as f64 * seconds(plan, f) + f64::from(LARGEST) * 8.0;
            prop_assert!(f.throughput_bps * seconds(plan, f) <= most, "{:?}", f);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn metrics_of_a_run_agree_with_each_other(row in row()) {
        let plan = row.plan();
        let out = row.run();
        let measured = (plan.duration_ns - plan.measure_from_ns) as f64 * 1e-9;
        for (n, f) in out.flows.iter().enumerate() {
            check_flow(&plan, n, f)?;
        }
        for (n, q) in out.queues.iter().enumerate() {
            check_queue(&plan, n, q, measured)?;
        }
        check_shares(&plan, &out)?;
        check_lone_link(&plan, &out)?;
        for t in &out.transfers {
            prop_assert!(t.end_s.is_none_or(|end| end >= t.start_s), "{:?}", t);
        }
    }
}
