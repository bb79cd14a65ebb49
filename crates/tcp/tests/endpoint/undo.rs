//! Undo of reductions: by timestamps, by D-SACKs, not at all [RFC 3522, RFC 3708].

use crate::linux_stack::{MSS, linux, resent, responses, timeline, with_usual};
use dumbbell_testkit::cc_recorder::CcRecorder;
use dumbbell_testkit::wire::{Fate, Faults, Wire};
use dumbbell_units::{Dur, Rate};
use proptest::prelude::*;

/// The first data segment is late by `ms`.
fn late(ms: u64) -> Faults<'static> {
    Box::new(
        move |forward, count, segment| {
            if forward && segment.payload > 0 && count == 0 { Fate::Late(Dur::millis(ms)) } else { Fate::Arrives }
        },
    )
}

/// Five segments at 0.1 s, the first late by 60 ms: SACKs of four at 0.2 s cause its retransmission. The original
/// arrives at 0.21 s, its ACK at 0.26 s; the retransmission arrives at 0.25 s and is reported as a duplicate at 0.3 s.
fn spurious(undo: &str) -> (Vec<String>, Vec<(u64, u64)>) {
    let (cc, mut wire) = linux(5, &[("undo", undo)], late(60));
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(5 * MSS);
    wire.run_until(1.0);
    assert_eq!(timeline(&wire).len(), 6);
    (responses(&cc), resent(&wire))
}

#[test]
fn a_timestamp_older_than_the_retransmission_undoes_the_reduction() {
    assert_eq!(spurious("timestamps"), (vec!["loss".into(), "undo".into()], vec![(200, 0)]));
}

#[test]
fn a_dsack_undoes_the_reduction_after_recovery() {
    assert_eq!(spurious("dsack").0, ["loss", "exit", "undo"]);
}

#[test]
fn both_undo_once_and_none_does_not() {
    assert_eq!(spurious("both").0, ["loss", "undo"]);
    assert_eq!(spurious("none").0, ["loss", "exit"]);
}

#[test]
fn the_reduction_for_a_true_loss_is_not_undone() {
    let faults: Faults<'static> =
        Box::new(
            |forward, count, segment| {
                if forward && segment.payload > 0 && count == 0 { Fate::Lost } else { Fate::Arrives }
            },
        );
    let (cc, wire) = linux(5, &[], faults);
    let _ = wire.send(5).until_done();
    assert_eq!(responses(&cc), ["loss", "exit"]);
}

#[test]
fn one_of_two_retransmissions_reported_is_not_enough() {
    // Segment 0 is late by 60 ms, 1 is lost: both are retransmitted, and only 0 arrives twice.
    let faults: Faults<'static> = Box::new(|forward, count, segment| match count {
        _ if !forward || segment.payload == 0 => Fate::Arrives,
        0 => Fate::Late(Dur::millis(60)),
        1 => Fate::Lost,
        _ => Fate::Arrives,
    });
    let (cc, wire) = linux(8, &[("undo", "dsack")], faults);
    let wire = wire.send(8).until_done();
    assert_eq!(resent(&wire).iter().map(|r| r.1).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(responses(&cc), ["loss", "exit"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// If segments are late but never lost, the window is soon as large as before the reduction: three round trips
    /// after the retransmission. The delay is at most 150 ms.
    #[test]
    fn lateness_alone_costs_no_window(
        variant in prop::sample::select(vec!["sack", "cubic", "westwood", "htcp", "bic"]),
        number in 30u64..200,
        ms in 30u64..150,
    ) {
        let late = || -> Faults<'static> {
            Box::new(move |forward, count, segment| {
                let hit = forward && segment.payload > 0 && count == number;
                if hit { Fate::Late(Dur::millis(ms)) } else { Fate::Arrives }
            })
        };
        let start = |faults| {
            let mut wire = Wire::new(variant, "linux", &[("initial_ssthresh", "20 packets")], faults);
            wire.receiver.listen();
            wire.sender.connect();
            wire.sender.write(1 << 40);
            wire
        };
        let mut wire = start(late());
        wire.run_until(3.0);
        let again = wire.sent.iter().find(|s| s.again).map(|s| s.at.as_secs());
        prop_assert_eq!(wire.sender.counters().timeouts, 0);
        if let Some(at) = again {
            let mut wire = start(late());
            wire.run_until(at - 0.001);
            let before = wire.sender.snapshot();
            wire.run_until(at + 0.3);
            let after = wire.sender.snapshot();
            prop_assert!(after.cwnd >= before.cwnd, "{} of {}", after.cwnd, before.cwnd);
            prop_assert!(after.ssthresh >= before.ssthresh, "{} of {}", after.ssthresh, before.ssthresh);
        }
    }
}

/// A segment every 30 ms after the first ten. 0 is lost twice, 13, 16 and 17 once. 0 is retransmitted at 400 ms, 13 at
/// 430 ms; the ACK of 0 at 500 ms ends the recovery of the data outstanding at 200 ms, and another starts at once, in
/// which 16 is retransmitted at 520 ms. The ACK of 13 at 530 ms echoes a time before that, but after the first
/// retransmission of all: nothing was spurious, and 17 is retransmitted next.
#[test]
fn the_ack_of_an_earlier_retransmission_is_not_that_of_an_original() {
    let mut times = [0; 24];
    let mut first = None;
    let faults: Faults<'static> = Box::new(move |forward, _, segment| {
        if !forward || segment.payload == 0 {
            return Fate::Arrives;
        }
        let number = segment.seq.0.wrapping_sub(*first.get_or_insert(segment.seq.0)) / MSS as u32;
        times[number as usize] += 1;
        let lost = matches!((number, times[number as usize]), (0, 1 | 2) | (13 | 16 | 17, 1));
        if lost { Fate::Lost } else { Fate::Arrives }
    });
    let cc = CcRecorder::new(1000.0 * MSS as f64).paced(Rate(MSS * 8 * 1000 / 30), MSS);
    let changes = with_usual(&[("send_quantum", "segment"), ("pacing_credit", "0")], &[("undo", "timestamps")]);
    let copy = cc.clone();
    let wire = Wire::with_cc("fixed", move |_| Box::new(copy.clone()), "linux", &changes, faults);
    let wire = wire.send(24).until_done();
    assert_eq!(resent(&wire), [(220, 0), (400, 0), (430, 13), (520, 16), (550, 17)]);
    assert_eq!(responses(&cc), ["loss", "exit", "loss", "exit"]);
}
