//! The transmitter with rate profiles and outages against numbers worked by hand (the rules: src/transmitter.rs).

use dumbbell_link::{OutagePlan, Outages, Profile, ProfilePlan, StepPlan, Transmitter};
use dumbbell_units::Time;

const MBIT: u64 = 1_000_000;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const END: Time = Time(100 * S);

fn rates(steps: &[(u64, u64, bool)], period_ns: Option<u64>) -> Profile {
    let steps = steps.iter().map(|&(at_ns, value, ramp)| StepPlan { at_ns, value, ramp }).collect();
    Profile::new(ProfilePlan { steps, period_ns, start_ns: 0 })
}

fn down(at_ns: u64, for_ns: u64, every_ns: Option<u64>) -> OutagePlan {
    OutagePlan { at_ns, for_ns, every_ns, drops: false }
}

fn held(plans: &[OutagePlan]) -> Outages {
    Outages::holding(plans)
}

fn finish(profile: Profile, begin: u64, bytes: u32, outages: &Outages) -> u64 {
    transmitter(profile, outages).finish(Time(begin), bytes).0
}

fn transmitter(profile: Profile, outages: &Outages) -> Transmitter {
    Transmitter::rate(profile, outages.clone(), (Time(0), END))
}

/// Returns the bits that can be sent between two times.
fn bits(profile: Profile, outages: &Outages, from: u64, to: u64) -> f64 {
    Transmitter::rate(profile, outages.clone(), (Time(from), Time(to))).sent_and_capacity().1
}

/// RFC 7928 §8.2.6, first experiment: 100 and 10 Mbit/s in phases of 20 s.
fn slow_phases() -> Profile {
    rates(&[(0, 100 * MBIT, false), (20 * S, 10 * MBIT, false)], Some(40 * S))
}

#[test]
fn a_packet_in_transmission_is_finished_at_the_new_rate() {
    let none = Outages::default();
    let at = |begin: u64| finish(slow_phases(), begin, 1500, &none);
    // 12 000 bits: 120 us at 100 Mbit/s, 1200 us at 10 Mbit/s.
    assert_eq!(at(5 * S), 5 * S + 120 * US);
    assert_eq!(at(25 * S), 25 * S + 1200 * US);
    // The transmission ends exactly when the rate changes.
    assert_eq!(at(20 * S - 120 * US), 20 * S);
    // Half of it before the change: the other 6000 bits take 600 us.
    assert_eq!(at(20 * S - 60 * US), 20 * S + 600 * US);
    // One bit (10 ns) is left: it takes 100 ns.
    assert_eq!(at(20 * S - 120 * US + 10), 20 * S + 100);
    // A rising rate: 300 of 1200 us before the change, then 9000 bits at 100 Mbit/s take 90 us.
    assert_eq!(at(40 * S - 300 * US), 40 * S + 90 * US);
    assert_eq!(at(80 * S - 300 * US), 80 * S + 90 * US);
}

#[test]
fn a_transmission_can_include_many_changes() {
    // 100 and 10 Mbit/s for 10 us each: 1100 bits in 20 us. 10 periods carry 11 000 bits; the last 1000 take the next
    // 10 us.
    let fast = rates(&[(0, 100 * MBIT, false), (10 * US, 10 * MBIT, false)], Some(20 * US));
    assert_eq!(finish(fast, 0, 1500, &Outages::default()), 210 * US);
}

#[test]
fn work_is_rounded_up_once() {
    // 3 bit/s, from 1 s on 1 bit/s: a byte takes 1 s for 3 bits and 5 s for the others, whatever the start.
    let odd = rates(&[(0, 3, false), (S, 1, false)], None);
    assert_eq!(finish(odd.clone(), 0, 1, &Outages::default()), 6 * S);
    // From 1/3 s (rounded down to ns) on: 2 bits and 1 ns x 3 bit/s before the change; 6 s minus 3 ns after it.
    assert_eq!(finish(odd, 333_333_333, 1, &Outages::default()), 7 * S - 1);
}

#[test]
fn ramps_are_integrated() {
    let none = Outages::default();
    // 10 to 20 Mbit/s within 1 s: 10 t + 5 t^2 = 0.012 Mbit at t = 1.199280862706 ms.
    let up = || rates(&[(0, 10 * MBIT, false), (S, 20 * MBIT, true)], None);
    assert_eq!(finish(up(), 0, 1500, &none), 1_199_281);
    // 20 to 10 Mbit/s: at 0.5 s the rate is 15; 15 t - 5 t^2 = 0.012 at t = 0.800213447187 ms.
    let fall = || rates(&[(0, 20 * MBIT, false), (S, 10 * MBIT, true)], None);
    assert_eq!(finish(fall(), 500 * MS, 1500, &none), 500 * MS + 800_214);
    // The ramp as a whole carries 15 Mbit, half up the first 6.25 Mbit.
    let between = |from: u64, to: u64| bits(up(), &none, from, to);
    assert!((between(0, S) - 15e6).abs() < 1e-3 && (between(0, S / 2) - 6.25e6).abs() < 1e-3);
    assert!((between(0, 2 * S) - 35e6).abs() < 1e-3);
    // Across the end of the ramp: 1 ms before it, 20 Mbit/s - 10 kbit/s on average 19.995 Mbit/s: 19 995 bits in that
    // ms; of 30 000 bits 10 005 are left for 20 Mbit/s: 500.25 us.
    assert_eq!(finish(up(), S - MS, 3750, &none), S + 500_250);
}

#[test]
fn the_packets_of_a_ramp_take_as_long_as_one_large_packet() {
    // 1000 packets of 1500 bytes one after the other: 12 Mbit; 10 t + 5 t^2 = 12 at t = (sqrt(340) - 10) / 10 s.
    let mut transmitter = transmitter(rates(&[(0, 10 * MBIT, false), (S, 20 * MBIT, true)], None), &Outages::default());
    let end = (0..1000).fold(Time(0), |t, _| transmitter.finish(t, 1500));
    let expected = (340f64.sqrt() - 10.0) / 10.0 * 1e9;
    // Each packet is rounded up to a ns: half a ns on average, at most 1 ns.
    assert!((0.0..=1001.0).contains(&(end.0 as f64 - expected)), "{end:?} {expected}");
}

#[test]
fn an_outage_holds_the_packet_in_transmission() {
    let held = held(&[down(10 * MS, 100 * MS, None)]);
    let at = |begin: u64| finish(Profile::constant(10 * MBIT), begin, 1500, &held);
    // 600 us before the outage: half is sent before, the other half after it.
    assert_eq!(at(9_400 * US), 110 * MS + 600 * US);
    assert_eq!(at(8_800 * US), 10 * MS); // ends as the outage starts
    assert_eq!(at(10 * MS), 111_200 * US);
    assert_eq!(at(110 * MS), 111_200 * US);
    let mut transmitter = transmitter(Profile::constant(10 * MBIT), &held);
    let opens = |t: u64| transmitter.earliest_start_idle(Time(t)).0;
    assert_eq!([opens(10 * MS - 1), opens(10 * MS), opens(110 * MS)], [10 * MS - 1, 110 * MS, 110 * MS]);
    assert_eq!(transmitter.earliest_start(Time(50 * MS)), Time(110 * MS));
}

#[test]
fn outages_repeat() {
    // Down for 5 ms every 10 ms from 3 ms on: up at 0..3, 8..13, 18..23 ms. 12 ms of work from 0 on: 3 + 5 + 4 ms.
    let held = held(&[down(3 * MS, 5 * MS, Some(10 * MS))]);
    assert_eq!(finish(Profile::constant(10 * MBIT), 0, 15_000, &held), 22 * MS);
    assert_eq!(held.until(Time(7_999_999)), Some(Time(8 * MS)));
    assert_eq!(held.until(Time(8 * MS)), None);
    assert_eq!(held.next(Time(8 * MS)), Time(13 * MS));
    assert_eq!(held.next(Time(13 * MS)), Time(23 * MS));
    // Half of the time: 10 Mbit/s x 50 ms in 100 ms.
    assert!((bits(Profile::constant(10 * MBIT), &held, 0, 100 * MS) - 500_000.0).abs() < 1e-6);
}

#[test]
fn overlapping_outages_are_one() {
    let held = held(&[down(10, 10, None), down(15, 20, None), down(35, 5, None)]);
    assert_eq!(transmitter(Profile::constant(10 * MBIT), &held).earliest_start_idle(Time(10)), Time(40));
}

#[test]
fn dropping_outages_take_packets_but_no_time() {
    let plan = OutagePlan { drops: true, ..down(10 * MS, 5 * MS, Some(20 * MS)) };
    assert!(held(&[plan]).is_empty());
    let lossy = Outages::dropping(&[plan]);
    let touch = |a: u64, b: u64| lossy.overlap(Time(a), Time(b));
    assert!(!touch(8 * MS, 10 * MS - 1)); // ends before the outage starts
    assert!(touch(8 * MS, 10 * MS) && touch(9 * MS, 11 * MS) && touch(12 * MS, 13 * MS));
    assert!(touch(15 * MS - 1, 16 * MS) && !touch(15 * MS, 16 * MS));
    assert!(touch(16 * MS, 31 * MS) && !touch(36 * MS, 49 * MS));
}

#[test]
fn an_outage_without_end_ends_the_search() {
    let never = held(&[down(MS, u64::MAX, None)]);
    let mut transmitter = transmitter(Profile::constant(10 * MBIT), &never);
    assert!(transmitter.finish(Time(0), 15_000) > END);
    assert!(transmitter.earliest_start_idle(Time(2 * MS)) > END);
    // Two alternating outages have no end either.
    let turns = held(&[down(0, 5 * MS, Some(10 * MS)), down(5 * MS, 5 * MS, Some(10 * MS))]);
    assert!(finish(Profile::constant(10 * MBIT), 0, 1500, &turns) > END.0);
    assert_eq!(bits(Profile::constant(10 * MBIT), &turns, 0, S), 0.0);
}

#[test]
fn a_packet_across_the_window_counts_in_part() {
    // Counted from 10 to 20 ms: of packets of 2 ms at 10 Mbit/s from 9, 15 and 19 ms on, 1, 2 and 1 ms.
    let mut s = Transmitter::rate(Profile::constant(10 * MBIT), Outages::default(), (Time(10 * MS), Time(20 * MS)));
    for begin in [1, 9, 15, 19] {
        s.finish(Time(begin * MS), 2500);
    }
    let (sent, capacity) = s.sent_and_capacity();
    assert!((sent - 40_000.0).abs() < 1e-6 && (capacity - 100_000.0).abs() < 1e-6, "{sent} {capacity}");
}

#[test]
fn a_constant_profile_is_a_constant_rate() {
    let mut transmitter = transmitter(Profile::constant(7_200_000), &Outages::default());
    let rate = dumbbell_units::Rate(7_200_000);
    for bytes in [1, 40, 577, 1500, 9000] {
        let expected = Time(123) + rate.time_for(dumbbell_units::Bytes(bytes));
        assert_eq!(transmitter.finish(Time(123), bytes as u32), expected);
    }
    assert_eq!(transmitter.earliest_start(Time(5)), Time(5));
}
