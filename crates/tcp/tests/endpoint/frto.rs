//! F-RTO: the segments after a timeout, spurious or not [RFC 5682 §3.1].

use crate::linux_stack::{linux, resent, responses, timeline};
use dumbbell_testkit::wire::{Fate, Faults, losing};
use dumbbell_units::Dur;

/// The first `segments` segments are late by 380 ms.
fn delay_spike(segments: u64) -> Faults<'static> {
    Box::new(move |forward, count, segment| {
        let hit = forward && segment.payload > 0 && count < segments;
        if hit { Fate::Late(Dur::millis(380)) } else { Fate::Arrives }
    })
}

const WITHOUT: [(&str, &str); 2] = [("tlp", "false"), ("undo", "none")];

#[test]
fn a_spurious_timeout_retransmits_one_segment() {
    // Window 4 at 0.1 s, late: the timer at 0.1 + 0.3 s retransmits 0. Its ACK at 0.5 s allows new segments instead of
    // 1 to 3, which arrive at 0.53 s; their ACKs show that they were not lost.
    let (cc, wire) = linux(4, &WITHOUT, delay_spike(4));
    let wire = wire.send(30).until_done();
    assert_eq!(resent(&wire), [(400, 0)]);
    assert_eq!(timeline(&wire)[5], (500, 4, false));
    assert_eq!(responses(&cc), ["timeout", "undo"]);
    assert_eq!(wire.receiver.duplicate_bytes(), 1448);
}

#[test]
fn without_frto_all_are_retransmitted() {
    // The window of two after the ACK of 0 is used for 1 and 2; the ACK of the original 1 allows 3 before its own ACK
    // arrives.
    let changes = [WITHOUT[0], WITHOUT[1], ("frto", "false")];
    let (cc, wire) = linux(4, &changes, delay_spike(4));
    let wire = wire.send(30).until_done();
    assert_eq!(resent(&wire).iter().map(|r| r.1).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(responses(&cc)[0], "timeout");
}

#[test]
fn a_true_timeout_is_detected_a_round_trip_later() {
    // All four are lost. The ACK of 0 at 0.5 s allows two new segments; their SACKs at 0.6 s show holes: 1 and 2 are
    // retransmitted with the window of two, and 3 with their ACKs.
    let (cc, wire) = linux(4, &WITHOUT, losing(&[0, 1, 2, 3]));
    let wire = wire.send(30).until_done();
    assert_eq!(resent(&wire), [(400, 0), (600, 1), (600, 2), (700, 3)]);
    assert_eq!(timeline(&wire)[5..7], [(500, 4, false), (500, 5, false)]);
    assert!(!responses(&cc).contains(&"undo".into()));
}

#[test]
fn without_new_data_recovery_continues_as_usual() {
    // Only the four: the ACK of 0 at 0.5 s can't allow a new segment.
    let (_, wire) = linux(4, &WITHOUT, losing(&[0, 1, 2, 3]));
    assert_eq!(resent(&wire.send(4).until_done()), [(400, 0), (500, 1), (500, 2), (600, 3)]);
}
