//! Packet-delivery traces against numbers worked by hand (the rules: src/opportunities.rs, after mm-link of
//! mahimahi).

use dumbbell_link::{Opportunities, OpportunitiesPlan, OutagePlan, Outages, Transmitter, check};
use dumbbell_units::Time;

const MS: u64 = 1_000_000;
const END: Time = Time(10_000 * MS);

/// A trace, one line for each number.
fn plan(lines: &[u64]) -> OpportunitiesPlan {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for ms in lines {
        match counts.last_mut().filter(|(at, _)| at == ms) {
            Some((_, n)) => *n += 1,
            None => counts.push((*ms, 1)),
        }
    }
    let plan = OpportunitiesPlan { counts, period_ms: *lines.last().unwrap() };
    check::opportunities(&plan).unwrap();
    plan
}

fn transmitter(lines: &[u64], outages: &[OutagePlan]) -> Transmitter {
    Transmitter::trace(Opportunities::new(&plan(lines)), Outages::holding(outages), (Time(0), END))
}

/// Returns the end of each transmission in ms, with a queue that is never empty from `from` on.
fn ends(lines: &[u64], from: u64, sizes: &[u32], outages: &[OutagePlan]) -> Vec<f64> {
    let mut transmitter = transmitter(lines, outages);
    let mut at = transmitter.earliest_start_idle(Time(from));
    let mut found = Vec::new();
    for size in sizes {
        at = transmitter.earliest_start(at);
        at = transmitter.finish(at, *size);
        found.push(at.0 as f64 / MS as f64);
    }
    found
}

fn plain(lines: &[u64], sizes: &[u32]) -> Vec<f64> {
    ends(lines, 0, sizes, &[])
}

#[test]
fn a_full_packet_takes_one_opportunity() {
    assert_eq!(plain(&[1, 2, 2, 5], &[1500; 4]), [1.0, 2.0, 2.0, 5.0]);
}

#[test]
fn several_small_packets_share_one() {
    // 3 x 500 in the first; 1400 in the second, whose last 100 bytes are the start of the next packet.
    assert_eq!(plain(&[1, 4, 6, 9], &[500, 500, 500, 1400, 1500, 100]), [1.0, 1.0, 1.0, 4.0, 6.0, 6.0]);
}

#[test]
fn a_large_packet_takes_several() {
    // 2000 bytes each: 1500 + 500 | 1000 + 500 .. : three packets in four opportunities.
    assert_eq!(plain(&[1, 2, 3, 4], &[2000; 3]), [2.0, 3.0, 4.0]);
    assert_eq!(plain(&[1, 2, 3, 4], &[6000]), [4.0]);
}

#[test]
fn the_last_time_is_the_zero_of_the_next_round() {
    // Rounds of 5 ms: 1, 5, 6, 10, 11, 15.
    assert_eq!(plain(&[1, 5], &[1500; 6]), [1.0, 5.0, 6.0, 10.0, 11.0, 15.0]);
    // From the second round on a line at 0 has the time of the last line: 2 ms has two opportunities.
    assert_eq!(plain(&[0, 1, 2], &[1500; 6]), [1.0, 2.0, 2.0, 3.0, 4.0, 4.0]);
    assert_eq!(plain(&[0, 0, 3], &[1500; 4]), [3.0, 3.0, 3.0, 6.0]);
    // A packet can start in one round and end in the next.
    assert_eq!(plain(&[1, 5], &[1000, 3000]), [1.0, 6.0]);
}

#[test]
fn an_arrival_at_the_time_of_an_opportunity_is_too_late() {
    let at = |from: u64| ends(&[1, 4], from, &[100], &[])[0];
    assert_eq!((at(MS - 1), at(MS), at(MS + 1), at(4 * MS - 1), at(4 * MS)), (1.0, 4.0, 4.0, 4.0, 5.0));
}

#[test]
fn unused_bytes_of_an_opportunity_are_lost() {
    let mut transmitter = transmitter(&[1, 4], &[]);
    let at = transmitter.earliest_start_idle(Time(0));
    assert_eq!(transmitter.finish(at, 100), Time(MS));
    // A packet that arrives 1 us later waits for the next one.
    let later = transmitter.earliest_start_idle(Time(MS + 1000));
    assert_eq!(later, Time(4 * MS));
    assert_eq!(transmitter.earliest_start(later), later);
    assert_eq!(transmitter.finish(later, 1500), later);
    // No bytes are left of it.
    assert_eq!(transmitter.earliest_start(later), Time(5 * MS));
}

#[test]
fn opportunities_in_an_outage_are_lost() {
    // Down from 2 to below 5 ms: of 1, 2, 3, 4, 5 the first and the last remain.
    let held = [OutagePlan { at_ns: 2 * MS, for_ns: 3 * MS, every_ns: None, drops: false }];
    assert_eq!(ends(&[1, 2, 3, 4, 5], 0, &[1500, 1500, 1500], &held), [1.0, 5.0, 6.0]);
    assert_eq!(ends(&[1, 2, 3, 4, 5], 0, &[2000], &held), [5.0]);
    // An outage that includes every opportunity of every round.
    let all = [OutagePlan { at_ns: 0, for_ns: 2 * MS, every_ns: Some(3 * MS), drops: false }];
    let mut transmitter = transmitter(&[1, 3], &all);
    assert!(transmitter.earliest_start_idle(Time(0)) > END);
    assert!(transmitter.finish(Time(MS), 3000) > END);
}

#[test]
fn the_capacity_is_that_of_the_opportunities() {
    let between = |from: u64, to: u64| {
        let trace = Opportunities::new(&plan(&[1, 2, 2, 5]));
        let window = (Time(from * MS), Time(to * MS));
        Transmitter::trace(trace, Outages::default(), window).sent_and_capacity().1
    };
    assert_eq!(between(0, 5), 4.0 * 12_000.0);
    assert_eq!(between(0, 10), 8.0 * 12_000.0);
    assert_eq!(between(2, 7), 4.0 * 12_000.0); // 5, 6, 7, 7
    let mut transmitter = transmitter(&[1, 2, 2, 5], &[]);
    let at = transmitter.earliest_start_idle(Time(0));
    transmitter.finish(at, 2000);
    assert_eq!(transmitter.sent_and_capacity().0, 16_000.0);
}

#[test]
fn a_trace_cut_at_the_end_of_the_run_gives_the_same() {
    let whole = plan(&[1, 3, 7, 50]);
    let cut = OpportunitiesPlan { counts: vec![(1, 1), (3, 1), (7, 1)], period_ms: 50 };
    for t in [0, MS, 2 * MS, 3 * MS, 6 * MS] {
        let after = |plan: &OpportunitiesPlan| Opportunities::new(plan).after(Time(t));
        assert_eq!(after(&whole), after(&cut));
    }
}
