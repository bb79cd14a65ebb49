//! When a receiver acknowledges on the stack `linux`.

use crate::modern::{MSS, linux, with_usual};
use dumbbell_testkit::listener::Listener;
use dumbbell_testkit::wire::{Fate, Faults, Wire, losing};
use dumbbell_units::Rate;

/// A segment each so many ms. Gives when ACKs left, in ms, and how many segments each was the first to acknowledge.
fn paced(ms: u64, segments: u64, changes: &[(&str, &str)]) -> Vec<(u64, u64)> {
    let law = Listener::new(1000.0 * MSS as f64).paced(Rate(MSS * 8 * 1000 / ms), MSS);
    let all = with_usual(
        &[("send_quantum", "segment"), ("unpaced_segments", "0"), ("pacing_credit", "0")],
        changes,
    );
    let mut wire = Wire::with_law("fixed", move |_| Box::new(law.clone()), "linux", &all, arrives());
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(segments * MSS);
    wire.run_until(100.0);
    let mut before = 0;
    wire.acks
        .iter()
        .map(|(at, acknowledged)| {
            let new = acknowledged - before;
            before = *acknowledged;
            (at.0 / 1_000_000, new)
        })
        .collect()
}

fn arrives() -> Faults<'static> {
    Box::new(|_, _, _| Fate::Arrives)
}

#[test]
fn sixteen_quick_acks_then_every_second_segment() {
    let acks = paced(10, 31, &[]);
    // The first segment leaves at 100 ms and arrives at 150; the last, the 31st, carries PSH.
    let quick: Vec<(u64, u64)> = (0..16).map(|i| (150 + 10 * i, 1)).collect();
    assert_eq!(acks[..16], quick);
    let slow: Vec<(u64, u64)> = (0..7).map(|i| (150 + 170 + 20 * i, 2)).collect();
    assert_eq!(acks[16..23], slow);
    assert_eq!(acks[23..], [(150 + 300, 1)]);
}

#[test]
fn without_quick_acks_every_second_from_the_start() {
    assert_eq!(paced(10, 5, &[("quick_acks", "0")]), [(160, 2), (180, 2), (190, 1)]);
}

#[test]
fn a_segment_alone_waits_for_40_ms_at_first() {
    // A segment each 60 ms, no quick ACKs. The first, at 150 ms, waits for 40 ms; the delay doubles: 80 ms is more than
    // the time between segments, so the second one, at 210 ms, is acknowledged with the third.
    let acks = paced(60, 6, &[("quick_acks", "0")]);
    assert_eq!(acks[0], (190, 1));
    assert_eq!(acks[1], (270, 2));
}

#[test]
fn a_constant_delay_is_constant() {
    let acks = paced(60, 3, &[("quick_acks", "0"), ("ack_delay", "50 ms"), ("ack_delay_min", "50 ms")]);
    assert_eq!(acks[..2], [(200, 1), (260, 1)]);
}

#[test]
fn a_pushed_segment_does_not_wait() {
    // Writes of three segments: each third one carries PSH.
    let changes = [("quick_acks", "0"), ("push_every", "4344 bytes")];
    assert_eq!(paced(10, 7, &changes), [(160, 2), (170, 1), (190, 2), (200, 1), (210, 1)]);
    let changes = [("quick_acks", "0"), ("push_every", "4344 bytes"), ("ack_pushed", "false")];
    assert_eq!(paced(10, 6, &changes), [(160, 2), (180, 2), (200, 2)]);
}

#[test]
fn a_growing_window_keeps_acks_quick() {
    // The window starts at 20 segments' worth and grows by two with each, up to 162/128 of that less the segment that is not
    // read yet.
    let count = |changes: &[(&str, &str)]| {
        let acks = paced(10, 41, changes);
        acks.iter().take_while(|a| a.1 == 1).count()
    };
    assert_eq!(count(&[("quick_acks", "2")]), 2);
    // 28,960 * 162 / 128 - 1448 - 28,960 = 6,244 bytes: three segments let it grow (2,896 each). While they do the two quick
    // ACKs of the start stay: five.
    assert_eq!(count(&[("quick_acks", "2"), ("autotuning", "true"), ("window_start", "28960 bytes")]), 5);
}

#[test]
fn after_three_further_reports_of_a_hole_are_merged() {
    // Segments 0 to 9 at once, the first is lost: the SACKs of 1, 2, 3 go at once, those of 4 to 9, which arrive in the same
    // instant, 1 ms (less than 5 % of the round trip of 100 ms) and 0.1 ms later, as one. Quick ACKs are off.
    let (_, wire) = linux(10, &[("quick_acks", "0")], losing(&[0]));
    let wire = wire.send(10).until_done();
    let sacks: Vec<u64> = wire.acks.iter().filter(|a| a.1 == 0).map(|a| a.0.0 / 100_000).collect();
    assert_eq!(sacks[..4], [1500, 1500, 1500, 1511]);
    let (_, wire) = linux(10, &[("quick_acks", "0"), ("sack_delay", "0 ms")], losing(&[0]));
    let wire = wire.send(10).until_done();
    assert_eq!(wire.acks.iter().filter(|a| a.1 == 0 && a.0.0 == 150_000_000).count(), 9);
}
