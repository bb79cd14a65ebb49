//! RACK: which segments are lost, and when they are found [RFC 8985 §6].

use crate::linux_stack::{linux, resent, responses, timeline};
use dumbbell_testkit::wire::{Fate, Faults, losing};
use dumbbell_units::Dur;

/// Segment `number` is late by `ms` when it is sent for the first time.
fn late(number: u64, ms: u64) -> Faults<'static> {
    Box::new(move |forward, count, segment| {
        if forward && segment.payload > 0 && count == number { Fate::Late(Dur::millis(ms)) } else { Fate::Arrives }
    })
}

#[test]
fn two_sacks_wait_for_a_quarter_of_the_smallest_rtt() {
    // Segments 0, 1, 2 are sent at 0.1 s, the first is lost. SACKs of 1 and 2 at 0.2 s: fewer than three, so that the
    // reordering window is 100 / 4 = 25 ms: lost at 0.1 + 0.1 + 0.025 s, by the timer. Nothing else is retransmitted.
    let (cc, wire) = linux(3, &[], losing(&[0]));
    let wire = wire.send(3).until_done();
    assert_eq!(timeline(&wire), [(100, 0, false), (100, 1, false), (100, 2, false), (225, 0, true)]);
    assert_eq!(responses(&cc), ["loss", "exit"]);
    assert_eq!(wire.sender.counters().timeouts, 0);
}

#[test]
fn with_ticks_it_expires_at_a_tick() {
    // 25 ms plus the 2 ms that are added to a short timer: seven ticks of 4 ms, and one because no timer is early.
    let (_, wire) = linux(3, &[("timer_tick", "4 ms")], losing(&[0]));
    assert_eq!(resent(&wire.send(3).until_done()), [(232, 0)]);
}

#[test]
fn a_loss_during_a_recovery_starts_another() {
    // Window 10. Segment 3 is lost, and its retransmission; so is segment 15, the first sent after the start of
    // recovery at 0.2 s. At 0.3 s both are found lost and are retransmitted. The ACK of 3 at 0.4 s ends the recovery,
    // which covers the data sent before it; 15 is not acknowledged yet.
    let mut sent = [0; 100];
    let faults: Faults<'static> = Box::new(move |forward, _, segment| {
        let offset = segment.seq.0.wrapping_sub((u32::MAX - 5_000).wrapping_add(1));
        if !forward || segment.payload == 0 {
            return Fate::Arrives;
        }
        let number = (offset / 1448) as usize;
        sent[number] += 1;
        let hit = (number == 3 && sent[3] <= 2) || (number == 15 && sent[15] == 1);
        if hit { Fate::Lost } else { Fate::Arrives }
    });
    let (cc, wire) = linux(10, &[("undo", "none")], faults);
    let wire = wire.send(60).until_done();
    assert_eq!(resent(&wire)[..3], [(200, 3), (300, 3), (300, 15)]);
    assert_eq!(responses(&cc), ["loss", "exit", "loss", "exit"]);
}

#[test]
fn a_segment_late_by_less_is_not_retransmitted() {
    let (cc, wire) = linux(3, &[], late(0, 24));
    let wire = wire.send(3).until_done();
    assert_eq!((wire.resent(), responses(&cc)), (vec![], vec![]));
    let (_, wire) = linux(3, &[], late(0, 26));
    assert_eq!(resent(&wire.send(3).until_done()), [(225, 0)]);
}

#[test]
fn three_sacks_do_not_wait() {
    // Segments 0 to 3, the first lost: the third SACK arrives with the others at 0.2 s.
    let (_, wire) = linux(4, &[], losing(&[0]));
    assert_eq!(resent(&wire.send(4).until_done()), [(200, 0)]);
}

#[test]
fn after_reordering_three_sacks_wait_too() {
    // Segment 0 of the first window of four is late by 10 ms: observed when it arrives after the others. Three SACKs
    // cause its retransmission at 0.2 s, which arrives twice, and its D-SACK doubles the reordering window. In a later
    // window the first one is lost: now the window, 2 * 100 / 4 = 50 ms, is added to the round trip.
    let faults: Faults<'static> = Box::new(|forward, count, segment| match count {
        _ if !forward || segment.payload == 0 => Fate::Arrives,
        0 => Fate::Late(Dur::millis(10)),
        41 => Fate::Lost,
        _ => Fate::Arrives,
    });
    let (_, wire) = linux(4, &[], faults);
    let wire = wire.send(100).until_done();
    let sent = timeline(&wire);
    let lost = sent[41];
    let again = resent(&wire);
    assert_eq!(again[0], (200, 0));
    assert_eq!(again[1], (lost.0 + 150, lost.1));
    assert_eq!((again.len(), wire.sender.counters().timeouts), (2, 0));
}

#[test]
fn a_lost_retransmission_is_found_by_later_segments() {
    // Window 10. Segment 3 is lost, and its retransmission. The ACKs of recovery allow new segments; the SACK of the
    // first one sent after the retransmission arrives a round trip later and shows that it is lost. One loss is
    // reported to congestion control: it is one recovery.
    let mut lost = 0;
    let faults: Faults<'static> = Box::new(move |forward, _, segment| {
        let offset = segment.seq.0.wrapping_sub((u32::MAX - 5_000).wrapping_add(1));
        let hit = forward && segment.payload > 0 && offset == 3 * 1448 && lost < 2;
        lost += u32::from(hit);
        if hit { Fate::Lost } else { Fate::Arrives }
    });
    let (cc, wire) = linux(10, &[], faults);
    let wire = wire.send(60).until_done();
    let again = resent(&wire);
    assert_eq!((again.len(), again[0].1, again[1].1), (2, 3, 3));
    assert_eq!(again[1].0 - again[0].0, 100);
    assert_eq!(responses(&cc), ["loss", "exit"]);
    assert_eq!(wire.sender.counters().timeouts, 0);
}

#[test]
fn a_timeout_marks_only_old_segments_as_lost() {
    // Two windows of one segment each: 0 is sent at 0.1 s and lost. The application writes one more just before the
    // timer expires at 0.4 s (no probes): that one is only 50 ms old and is not retransmitted.
    let (cc, mut wire) = linux(10, &[("tlp", "false"), ("nagle", "false")], losing(&[0]));
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(1448);
    wire.run_until(0.35);
    wire.sender.write(1448);
    wire.run_until(2.0);
    // The SACK of segment 1 arrives at 0.45 s, the timer expired at 0.4 s.
    assert_eq!(timeline(&wire), [(100, 0, false), (350, 1, false), (400, 0, true)]);
    assert_eq!(wire.sender.counters().timeouts, 1);
    assert_eq!(responses(&cc)[0], "timeout");
}
