use dumbbell_link::{Course, CoursePlan, OutagePlan, Outages, Service, StepPlan};
use dumbbell_units::Time;

const MBIT: u64 = 1_000_000;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const END: Time = Time(100 * S);

fn rates(steps: &[(u64, u64, bool)], period_ns: Option<u64>) -> Course {
    let steps = steps.iter().map(|&(at_ns, value, ramp)| StepPlan { at_ns, value, ramp }).collect();
    Course::new(CoursePlan { steps, period_ns, start_ns: 0 })
}

fn down(at_ns: u64, for_ns: u64, every_ns: Option<u64>, drops: bool) -> Outages {
    Outages::new(vec![OutagePlan { at_ns, for_ns, every_ns, drops }])
}

fn finish(course: Course, begin: u64, bytes: u32, outages: &Outages) -> u64 {
    Service::rate(course, END).finish(Time(begin), bytes, outages).0
}

/// RFC 7928 §8.2.6, first experiment: 100 and 10 Mbit/s in phases of 20 s.
fn slow_phases() -> Course {
    rates(&[(0, 100 * MBIT, false), (20 * S, 10 * MBIT, false)], Some(40 * S))
}

#[test]
fn a_packet_in_service_is_finished_at_the_new_rate() {
    let none = Outages::default();
    let at = |begin: u64| finish(slow_phases(), begin, 1500, &none);
    // 12 000 bits: 120 us at 100 Mbit/s, 1200 us at 10 Mbit/s.
    assert_eq!(at(5 * S), 5 * S + 120 * US);
    assert_eq!(at(25 * S), 25 * S + 1200 * US);
    // Out exactly when the rate changes.
    assert_eq!(at(20 * S - 120 * US), 20 * S);
    // Half of it before: the other 6000 bits take 600 us.
    assert_eq!(at(20 * S - 60 * US), 20 * S + 600 * US);
    // One bit (10 ns) is left: it takes 100 ns.
    assert_eq!(at(20 * S - 120 * US + 10), 20 * S + 100);
    // Upwards: 300 us of the 1200 before, 9000 bits at 100 Mbit/s take 90 us.
    assert_eq!(at(40 * S - 300 * US), 40 * S + 90 * US);
    assert_eq!(at(80 * S - 300 * US), 80 * S + 90 * US);
}

#[test]
fn a_packet_may_outlast_many_changes() {
    // 100 and 10 Mbit/s for 10 us each: 1100 bits in 20 us. 10 periods carry 11 000 bits; the last 1000 take the next
    // 10 us.
    let fast = rates(&[(0, 100 * MBIT, false), (10 * US, 10 * MBIT, false)], Some(20 * US));
    assert_eq!(finish(fast, 0, 1500, &Outages::default()), 210 * US);
}

#[test]
fn work_is_rounded_up_once() {
    // 3 bit/s, from 1 s on 1 bit/s: a byte takes 1 s for 3 bits and 5 s for the others, whatever the begin.
    let odd = rates(&[(0, 3, false), (S, 1, false)], None);
    assert_eq!(finish(odd.clone(), 0, 1, &Outages::default()), 6 * S);
    // From 1/3 s (rounded down to ns) on: 2 bits and 1 ns x 3 bit/s before the change; 6 s less 3 ns after it.
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
    let whole = Service::rate(up(), END);
    let bits = |from: u64, to: u64| whole.capacity(Time(from), Time(to), &none);
    assert!((bits(0, S) - 15e6).abs() < 1e-3 && (bits(0, S / 2) - 6.25e6).abs() < 1e-3);
    assert!((bits(0, 2 * S) - 35e6).abs() < 1e-3);
    // Across its end: 1 ms before, 20 Mbit/s - 10 kbit/s on average 19.995 Mbit/s: 19 995 bits in that ms; of 30 000
    // bits 10 005 are left for 20 Mbit/s: 500.25 us.
    assert_eq!(finish(up(), S - MS, 3750, &none), S + 500_250);
}

#[test]
fn a_ramp_in_packets_takes_as_long_as_in_one_piece() {
    // 1000 packets of 1500 bytes one after the other: 12 Mbit; 10 t + 5 t^2 = 12 at t = (sqrt(340) - 10) / 10 s.
    let mut service = Service::rate(rates(&[(0, 10 * MBIT, false), (S, 20 * MBIT, true)], None), END);
    let end = (0..1000).fold(Time(0), |t, _| service.finish(t, 1500, &Outages::default()));
    let expected = (340f64.sqrt() - 10.0) / 10.0 * 1e9;
    // Each packet is rounded up to a ns: half a ns on average, at most one.
    assert!((0.0..=1001.0).contains(&(end.0 as f64 - expected)), "{end:?} {expected}");
}

#[test]
fn an_outage_holds_what_is_in_service() {
    let held = down(10 * MS, 100 * MS, None, false);
    let at = |begin: u64| finish(Course::constant(10 * MBIT), begin, 1500, &held);
    // 600 us before the outage: half is out, the other half follows it.
    assert_eq!(at(9_400 * US), 110 * MS + 600 * US);
    assert_eq!(at(8_800 * US), 10 * MS); // just in time
    assert_eq!(at(10 * MS), 111_200 * US);
    assert_eq!(at(110 * MS), 111_200 * US);
    let mut service = Service::rate(Course::constant(10 * MBIT), END);
    let opens = |service: &Service, t: u64| service.opens(Time(t), &held).0;
    assert_eq!(opens(&service, 10 * MS - 1), 10 * MS - 1);
    assert_eq!(opens(&service, 10 * MS), 110 * MS);
    assert_eq!(opens(&service, 110 * MS), 110 * MS);
    assert_eq!(service.next(Time(50 * MS), &held), Time(110 * MS));
}

#[test]
fn outages_come_again() {
    // Down for 5 ms every 10 ms from 3 ms on: up at 0..3, 8..13, 18..23 ms. 12 ms of work from 0 on: 3 + 5 + 4 ms.
    let held = down(3 * MS, 5 * MS, Some(10 * MS), false);
    assert_eq!(finish(Course::constant(10 * MBIT), 0, 15_000, &held), 22 * MS);
    assert_eq!(held.held_until(Time(7_999_999)), Some(Time(8 * MS)));
    assert_eq!(held.held_until(Time(8 * MS)), None);
    assert_eq!(held.next_hold(Time(8 * MS)), Time(13 * MS));
    assert_eq!(held.next_hold(Time(13 * MS)), Time(23 * MS));
    // Half of the time: 10 Mbit/s x 50 ms in 100 ms.
    let service = Service::rate(Course::constant(10 * MBIT), END);
    assert!((service.capacity(Time(0), Time(100 * MS), &held) - 500_000.0).abs() < 1e-6);
}

#[test]
fn outages_that_overlap_are_one() {
    let span = |at: u64, long: u64| OutagePlan { at_ns: at, for_ns: long, every_ns: None, drops: false };
    let held = Outages::new(vec![span(10, 10), span(15, 20), span(35, 5)]);
    let service = Service::rate(Course::constant(10 * MBIT), END);
    assert_eq!(service.opens(Time(10), &held), Time(40));
}

#[test]
fn outages_that_drop_take_no_time_but_packets() {
    let lossy = down(10 * MS, 5 * MS, Some(20 * MS), true);
    assert!(!lossy.hold());
    assert_eq!(finish(Course::constant(10 * MBIT), 9 * MS, 1500, &lossy), 10_200 * US);
    let within = |a: u64, b: u64| lossy.drop_within(Time(a), Time(b));
    assert!(!within(8 * MS, 10 * MS - 1)); // out before it begins
    assert!(within(8 * MS, 10 * MS) && within(9 * MS, 11 * MS) && within(12 * MS, 13 * MS));
    assert!(within(15 * MS - 1, 16 * MS) && !within(15 * MS, 16 * MS));
    assert!(within(16 * MS, 31 * MS) && !within(36 * MS, 49 * MS));
    // It is no capacity all the same.
    let service = Service::rate(Course::constant(10 * MBIT), END);
    assert!((service.capacity(Time(0), Time(40 * MS), &lossy) - 300_000.0).abs() < 1e-6);
}

#[test]
fn an_outage_without_end_ends_the_search() {
    let held = down(MS, u64::MAX, None, false);
    let mut service = Service::rate(Course::constant(10 * MBIT), END);
    assert!(service.finish(Time(0), 15_000, &held) > END);
    assert!(service.opens(Time(2 * MS), &held) > END);
    // Two that take turns are without end too.
    let turn = |at: u64| OutagePlan { at_ns: at, for_ns: 5 * MS, every_ns: Some(10 * MS), drops: false };
    let held = Outages::new(vec![turn(0), turn(5 * MS)]);
    assert!(service.finish(Time(0), 1500, &held) > END);
    assert_eq!(service.capacity(Time(0), Time(S), &held), 0.0);
}

#[test]
fn a_constant_course_is_a_constant_rate() {
    let mut service = Service::rate(Course::constant(7_200_000), END);
    let rate = dumbbell_units::Rate(7_200_000);
    for bytes in [1, 40, 577, 1500, 9000] {
        let expected = Time(123) + rate.time_for(dumbbell_units::Bytes(bytes));
        assert_eq!(service.finish(Time(123), bytes as u32, &Outages::default()), expected);
    }
    assert_eq!(service.next(Time(5), &Outages::default()), Time(5));
}
