//! F-RTO: what follows a timeout, spurious or not.

use crate::modern::{answers, linux, resent, timeline};
use dumbbell_testkit::wire::{Fate, Faults, losing};
use dumbbell_units::Dur;

/// The first so many segments are late by 380 ms.
fn delay_spike(segments: u64) -> Faults<'static> {
    Box::new(move |forward, count, segment| {
        let hit = forward && segment.payload > 0 && count < segments;
        if hit { Fate::Late(Dur::millis(380)) } else { Fate::Arrives }
    })
}

const WITHOUT: [(&str, &str); 2] = [("tlp", "false"), ("undo", "none")];

#[test]
fn a_spurious_timeout_sends_one_segment_again() {
    // Window 4 at 0.1 s, late: the timer at 0.1 + 0.3 s sends 0 again. Its ACK at 0.5 s lets out new segments instead of 1 to
    // 3, which arrive at 0.53 s; their ACKs show that they were not lost.
    let (law, wire) = linux(4, &WITHOUT, delay_spike(4));
    let wire = wire.send(30).until_done();
    assert_eq!(resent(&wire), [(400, 0)]);
    assert_eq!(timeline(&wire)[5], (500, 4, false));
    assert_eq!(answers(&law), ["timeout", "undo"]);
    assert_eq!(wire.receiver.duplicate_bytes(), 1448);
}

#[test]
fn without_it_all_go_again() {
    // The window of two after the ACK of 0 goes to 1 and 2; the ACK of the original 1 lets out 3 before its own comes.
    let changes = [WITHOUT[0], WITHOUT[1], ("frto", "false")];
    let (law, wire) = linux(4, &changes, delay_spike(4));
    let wire = wire.send(30).until_done();
    assert_eq!(resent(&wire).iter().map(|r| r.1).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(answers(&law)[0], "timeout");
}

#[test]
fn a_true_one_is_found_a_round_trip_later() {
    // All four are lost. The ACK of 0 at 0.5 s lets out two new segments; their SACKs at 0.6 s say that there are holes: 1
    // and 2 go again with the window of two, and 3 with their ACKs.
    let (law, wire) = linux(4, &WITHOUT, losing(&[0, 1, 2, 3]));
    let wire = wire.send(30).until_done();
    assert_eq!(resent(&wire), [(400, 0), (600, 1), (600, 2), (700, 3)]);
    assert_eq!(timeline(&wire)[5..7], [(500, 4, false), (500, 5, false)]);
    assert!(!answers(&law).contains(&"undo".into()));
}

#[test]
fn without_new_data_it_goes_on_as_usual() {
    // Nothing but the four: the ACK of 0 at 0.5 s can't let out anything new.
    let (_, wire) = linux(4, &WITHOUT, losing(&[0, 1, 2, 3]));
    assert_eq!(resent(&wire.send(4).until_done()), [(400, 0), (500, 1), (500, 2), (600, 3)]);
}
