//! Congestion marks from the wire to congestion control [RFC 3168, RFC 8257, RFC 9768].

use crate::delivery::faulty;
use crate::linux_stack::{MSS, responses};
use dumbbell_testkit::cc_recorder::{CcCall, CcRecorder};
use dumbbell_testkit::wire::{Fate, Faults, Wire};
use proptest::prelude::*;

fn wire<'a>(segments: u64, changes: &[(&str, &str)], faults: Faults<'a>) -> (CcRecorder, Wire<'a>) {
    let cc = CcRecorder::new((segments * MSS) as f64);
    let copy = cc.clone();
    (cc, Wire::with_cc("fixed", move |_| Box::new(copy.clone()), "linux", changes, faults))
}

fn marking(numbers: &'static [u64]) -> Faults<'static> {
    Box::new(move |forward, count, segment| {
        let hit = forward && segment.payload > 0 && numbers.contains(&count);
        if hit { Fate::Marked } else { Fate::Arrives }
    })
}

fn marked(cc: &CcRecorder) -> u64 {
    cc.calls().iter().map(|h| if let CcCall::Ack(a) = h { a.marked } else { 0 }).sum()
}

#[test]
fn marks_cause_one_reduction_in_each_window() {
    // A window of 10, every second segment of the first two windows marked: the first mark causes a reduction, the
    // others of that window don't, then the next one does.
    for feedback in ["classic", "dctcp", "accurate"] {
        let changes = [("ecn", "true"), ("ecn_feedback", feedback)];
        let (cc, wire) = wire(10, &changes, marking(&[0, 2, 4, 6, 8, 12, 14, 16, 18]));
        let wire = wire.send(60).until_done();
        let responses = responses(&cc);
        assert_eq!(responses.iter().filter(|a| *a == "ecn").count(), 2, "{feedback} {responses:?}");
        assert_eq!((wire.resent(), responses.contains(&"loss".into())), (vec![], false), "{feedback}");
    }
}

#[test]
fn without_ecn_nothing_is_marked() {
    let (cc, wire) = wire(10, &[], marking(&[0, 5]));
    let _ = wire.send(30).until_done();
    assert_eq!((responses(&cc), marked(&cc)), (vec![], 0));
}

#[test]
fn proportional_rate_reduction_shrinks_the_window_after_a_mark() {
    // Reno with a window of 20 in avoidance and one mark: PRR needs a round trip from 20 to 10; the window doesn't
    // grow.
    let faults = marking(&[200]);
    let changes = [("ecn", "true"), ("initial_window", "20 packets"), ("initial_ssthresh", "20 packets")];
    let mut wire = Wire::new("sack", "linux", &changes, faults);
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(1 << 40);
    let mut smallest = f64::INFINITY;
    let mut windows = Vec::new();
    for step in 0..4000 {
        wire.run_until(0.1 + f64::from(step) * 0.0005);
        let cwnd = wire.sender.snapshot().cwnd / MSS as f64;
        smallest = smallest.min(cwnd);
        windows.push(cwnd);
    }
    let top = windows.iter().copied().fold(0.0, f64::max);
    // The ACKs of one window arrive at the same time: the last increase may not be observed.
    assert!((smallest - top / 2.0).abs() <= 0.5, "{smallest} of {top}");
    assert_eq!(wire.resent(), Vec::<u64>::new());
}

#[test]
fn algorithms_that_count_marks_reduce_themselves() {
    // All packets are marked: alpha stays at 1, so that each round trip of 100 ms halves the window of 20, to at
    // least 2.
    let all: Faults<'static> = Box::new(|_, _, _| Fate::Marked);
    let start = [("initial_window", "20 packets"), ("initial_ssthresh", "20 packets")];
    let mut wire = Wire::new("dctcp", "linux", &start, all);
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(1 << 40);
    for (at, cwnd) in [(0.15, 20.0), (0.25, 10.0), (0.35, 5.0), (0.45, 3.0), (0.55, 2.0), (0.95, 2.0)] {
        wire.run_until(at);
        assert_eq!((at, wire.sender.snapshot().cwnd / MSS as f64), (at, cwnd));
    }
    // Prague, whose segments are paced, reaches the same window.
    let all: Faults<'static> = Box::new(|_, _, _| Fate::Marked);
    let mut wire = Wire::new("prague", "linux", &start, all);
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(1 << 40);
    wire.run_until(3.0);
    assert_eq!(wire.sender.snapshot().cwnd / MSS as f64, 2.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// With the counters' option and no loss every marked byte is reported to congestion control.
    #[test]
    fn every_marked_byte_is_reported(window in 1u64..40, segments in 1u64..200, seed in any::<u64>(), share in 0.0..1.0f64) {
        let mut random = dumbbell_units::random::Stream::new(seed, "marks");
        let mut bytes = 0;
        {
            let count = &mut bytes;
            let faults: Faults<'_> = Box::new(move |forward, _, segment| {
                if forward && segment.payload > 0 && random.uniform() < share {
                    *count += u64::from(segment.payload);
                    return Fate::Marked;
                }
                Fate::Arrives
            });
            let (cc, wire) = wire(window, &[("ecn", "true"), ("ecn_feedback", "accurate")], faults);
            let wire = wire.send(segments).until_done();
            let reported = marked(&cc);
            drop(wire);
            prop_assert_eq!(reported, bytes);
        }
    }

    /// With loss, delay and marks everything arrives, and no more bytes are reported as marked than were delivered.
    #[test]
    fn with_faults_everything_arrives_and_reported_marks_are_bounded(
        feedback in prop::sample::select(vec!["classic", "dctcp", "accurate"]),
        window in 1u64..40,
        segments in 1u64..120,
        seed in any::<u64>(),
        loss in 0.0..0.2f64,
    ) {
        let mut inner = faulty(seed, loss, 0.1, 0.1);
        let mut random = dumbbell_units::random::Stream::new(seed, "marks");
        let faults: Faults<'static> = Box::new(move |forward, count, segment| match inner(forward, count, segment) {
            Fate::Arrives if random.uniform() < 0.3 => Fate::Marked,
            fate => fate,
        });
        let changes = [("ecn", "true"), ("ecn_feedback", feedback), ("rto_max", "5 s")];
        let (cc, wire) = wire(window, &changes, faults);
        let wire = wire.send(segments).until_done();
        let counters = wire.sender.counters();
        prop_assert!(counters.sent_bytes - counters.retransmitted_bytes == segments * MSS);
        prop_assert!(feedback == "accurate" || marked(&cc) <= segments * MSS);
    }
}
