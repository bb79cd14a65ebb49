//! Conservation of packets for all features of links: sent + duplicated = received + dropped + waiting + in flight.

use crate::plans::{Row, cbr, count, text};
use dumbbell_plan::QueueResult;
use proptest::prelude::*;
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

/// Returns random features of a link, by key of the plan.
pub fn features() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let share = 0.0..0.3f64;
    let jitter = prop_oneof![
        (0..20 * MS).prop_map(|m| json!({"distribution": "uniform", "max_ns": m})),
        (0..5 * MS, 0..5 * MS).prop_map(|(m, s)| json!({"distribution": "normal", "mean_ns": m, "sd_ns": s})),
        (0..5 * MS).prop_map(|m| json!({"distribution": "exponential", "mean_ns": m})),
        (0..5 * MS, 1.1..4.0f64).prop_map(|(m, s)| json!({"distribution": "pareto", "mean_ns": m, "shape": s})),
    ];
    let course = |least: u64, most: u64| {
        let steps = (prop::collection::vec((1..200 * MS, least..most, any::<bool>()), 0..5), least..most);
        (steps, any::<bool>()).prop_map(|((mut later, first), repeats)| {
            later.sort_by_key(|s| s.0);
            later.dedup_by_key(|s| s.0);
            let mut steps = vec![json!({"at_ns": 0, "value": first, "ramp": false})];
            steps.extend(later.iter().map(|(at, v, ramp)| json!({"at_ns": at, "value": v, "ramp": ramp})));
            let period = repeats.then_some(200 * MS);
            json!({"steps": steps, "period_ns": period, "start_ns": 0})
        })
    };
    let outages = prop::collection::vec((0..500 * MS, 1..50 * MS, any::<bool>(), any::<bool>()), 1..3).prop_map(|o| {
        let outage = |(at, long, repeats, drops): (u64, u64, bool, bool)| {
            json!({"at_ns": at, "for_ns": long, "every_ns": repeats.then_some(long + 70 * MS), "drops": drops})
        };
        json!(o.into_iter().map(outage).collect::<Vec<_>>())
    });
    let trace = prop::collection::btree_map(0..300u64, 1..4u64, 1..80).prop_filter_map("lasts", |counts| {
        let last = *counts.keys().last()?;
        (last > 0).then(|| json!({"counts": counts.into_iter().collect::<Vec<_>>(), "period_ms": last}))
    });
    let loss = prop_oneof![
        share.clone().prop_map(|p| json!(p)),
        (share.clone(), 0.1..1.0f64, 0.0..1.0f64, 0.0..0.1f64)
            .prop_map(|(p, r, b, g)| json!({"p": p, "r": r, "loss_bad": b, "loss_good": g})),
    ];
    let reordering = (share.clone(), 1..6u64, 0.0..0.9f64, 0..30 * MS, prop::option::of(1..6u64)).prop_map(
        |(share, gap, c, delay, extent)| {
            json!({"share": share, "gap": gap, "correlation": c, "delay_ns": delay, "extent": extent})
        },
    );
    let service = prop_oneof![
        course(MBIT, 20 * MBIT).prop_map(|c| ("rate_course", c)),
        trace.prop_map(|t| ("opportunities", t)),
    ];
    let duplication = (share.clone(), 0..10 * MS).prop_map(|(s, d)| json!({"share": s, "delay_ns": d}));
    let policer = (MBIT..8 * MBIT, 1000..20_000u64, any::<bool>())
        .prop_map(|(r, b, m)| json!({"rate_bps": r, "burst_bytes": b, "marks": m}));
    let all = (
        prop::option::of(service),
        prop::option::of(course(0, 40 * MS).prop_map(|c| ("delay_course", c))),
        prop::option::of(outages.prop_map(|o| ("outages", o))),
        prop::option::of(loss.prop_map(|l| ("loss", l))),
        prop::option::of(jitter.prop_map(|j| ("jitter", j))),
        prop::option::of(reordering.prop_map(|r| ("reordering", r))),
        prop::option::of(duplication.prop_map(|d| ("duplication", d))),
        prop::option::of(policer.prop_map(|p| ("policer", p))),
        prop::option::of(share.prop_map(|p| ("corruption", json!({"packets": p})))),
        any::<(bool, bool)>(),
    );
    all.prop_map(|(a, b, c, d, e, f, g, h, i, (jumps, overtakes))| {
        let flags = [Some(("jitter_reorders", json!(jumps))), Some(("delay_reorders", json!(overtakes)))];
        [a, b, c, d, e, f, g, h, i].into_iter().chain(flags).flatten().collect()
    })
}

/// Three links in a row, with random features on the middle one and one neighbor, and flows of each kind over all
/// links.
fn plan(first: &[(&'static str, Value)], middle: &[(&'static str, Value)], seed: u64, measure_from: u64) -> Row {
    let mut row = Row::new(&[(20 * MBIT, MS), (5 * MBIT, 5 * MS), (20 * MBIT, 0)]);
    for (key, value) in first {
        row = row.link(0, 1, key, value.clone());
    }
    for (key, value) in middle {
        row = row.link(1, 2, key, value.clone()).link(2, 1, key, value.clone());
    }
    let queue = json!({"name": "droptail", "params": {"limit": "20 packets"}});
    let ping = json!({"kind": "ping", "interval_ns": 20 * MS, "packet_bytes": 100, "count": 0, "timeout_ns": 100 * MS});
    let transfer = json!({"kind": "transfer", "bytes": 30_000, "repeat": 0, "every_ns": 200 * MS});
    row.link(1, 2, "queue", queue)
        .set("/seed", json!(seed))
        .set("/measure_from_ns", json!(measure_from))
        .set("/duration_ns", json!(1500 * MS))
        .set("/trace/packets", json!(true))
        .tcp(0, 3, "sack", json!({"ecn": true}), json!({"kind": "bulk"}))
        .tcp(0, 3, "newreno", json!({"preset": "ns2"}), json!({"kind": "bulk"}))
        .tcp(0, 3, "cubic", json!({}), transfer)
        .udp(0, 3, cbr(MBIT, 700))
        .udp(0, 3, ping)
}

/// Checks that each packet of a link has left it, was lost with a reason, or is still there.
pub(crate) fn conserved(q: &QueueResult) -> Result<(), TestCaseError> {
    let waiting = (q.waiting_at_start + q.arrivals, q.departures + q.drops + q.waiting_at_end);
    prop_assert_eq!(waiting.0, waiting.1, "{}", &q.name);
    let on_wire = (q.on_wire_at_start + q.departures + q.duplicated, q.delivered + q.wire_losses + q.on_wire_at_end);
    prop_assert_eq!(on_wire.0, on_wire.1, "{}", &q.name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn packets_are_conserved(
        first in features(),
        middle in features(),
        seed in 0..1000u64,
        from in prop_oneof![Just(0), 1..1200 * MS],
    ) {
        let out = plan(&first, &middle, seed, from).run();
        for q in &out.queues {
            conserved(q)?;
            prop_assert_eq!(
                q.drops,
                q.drops_full + q.drops_early + q.drops_forced + q.drops_scripted + q.drops_policed,
                "{}", &q.name
            );
            prop_assert_eq!(q.wire_losses, q.losses_random + q.losses_corrupted + q.losses_outage + q.losses_retries, "{}", &q.name);
        }
        // Each packet that a link delivers enters the next one, so the counts of one link check those of another.
        for (link, next) in [(0, 2), (2, 4), (5, 3), (3, 1)] {
            prop_assert_eq!(out.queues[link].delivered, out.queues[next].arrivals, "{}", &out.queues[link].name);
        }
        if from == 0 {
            let sum = |of: fn(&QueueResult) -> u64| out.queues.iter().map(of).sum::<u64>();
            let (sent, received, dropped) = (count(&out, 0), count(&out, 1), count(&out, 2));
            prop_assert_eq!(
                sent + sum(|q| q.duplicated),
                received + dropped + sum(|q| q.waiting_at_end) + sum(|q| q.on_wire_at_end)
            );
            prop_assert_eq!(dropped, sum(|q| q.drops) + sum(|q| q.wire_losses));
        }
    }

    #[test]
    fn the_same_plan_gives_the_same_output(first in features(), middle in features(), seed in 0..1000u64) {
        let row = plan(&first, &middle, seed, 100 * MS);
        let (a, b) = (row.run(), row.run());
        prop_assert_eq!(text(&a), text(&b));
        prop_assert_eq!(format!("{:?}", a.trace), format!("{:?}", b.trace));
    }

    /// With a flow that enters at a router, the link there has several feeders and no lookahead. (The flow sends
    /// nothing: it would start at the end.)
    #[test]
    fn lookahead_changes_no_result(first in features(), middle in features(), seed in 0..1000u64) {
        let late = json!({"kind": "cbr", "rate_bps": 8, "packet_bytes": 1, "jitter": 0.0, "phase_ns": 1_500_000_000u64});
        let ahead = plan(&first, &middle, seed, 0);
        let mut waiting = plan(&first, &middle, seed, 0);
        for (from, to) in [(1, 3), (2, 3), (2, 0), (1, 0)] {
            waiting = waiting.udp(from, to, late.clone());
        }
        let (a, b) = (ahead.run(), waiting.run());
        let flows = |o: &dumbbell_sim::Output| serde_json::to_string(&o.flows[..5]).unwrap();
        prop_assert_eq!(flows(&a), flows(&b));
    }
}
