//! Tail loss probes: when they are sent, which segment, and the effect of their ACKs [RFC 8985 §7].

use crate::linux_stack::{MSS, config, linux, responses, timeline, with_config};
use dumbbell_testkit::wire::{Fate, losing};
use dumbbell_units::Dur;
use dumbbell_wire::TcpFlags;

#[test]
fn two_round_trips_after_the_last_ack_the_last_segment_is_sent_again() {
    // Five segments at 0.1 s, the last two lost. ACKs of 0 to 2 at 0.2 s; two are outstanding: probe at 0.2 + 2 * 0.1
    // s, the last one. Its SACK at 0.5 s shows that 3 is lost.
    let (cc, wire) = linux(5, &[], losing(&[3, 4]));
    let wire = wire.send(5).until_done();
    assert_eq!(timeline(&wire)[5..], [(400, 4, true), (500, 3, true)]);
    assert_eq!((wire.sender.counters().timeouts, responses(&cc)), (0, vec!["loss".into(), "exit".into()]));
}

#[test]
fn the_probe_of_a_single_segment_allows_for_a_delayed_ack_but_not_beyond_the_timeout() {
    // The last of five is lost: one outstanding, 2 * 100 + 200 ms would be 0.6 s; the timeout of 300 ms from the last
    // ACK is earlier.
    let (_, wire) = linux(5, &[], losing(&[4]));
    let wire = wire.send(5).until_done();
    assert_eq!(timeline(&wire)[5..], [(500, 4, true)]);
    assert_eq!(wire.sender.counters().timeouts, 0);
    // With a shorter allowance for the delayed ACK: 0.2 + 0.2 + 0.05 s.
    let mut config = config(&[], &[]);
    if let Some(rack) = &mut config.recovery.rack {
        rack.tlp_ack_delay = Dur::millis(50);
    }
    let (_, wire) = with_config(5, config, losing(&[4]));
    assert_eq!(timeline(&wire.send(5).until_done())[5..], [(450, 4, true)]);
}

#[test]
fn new_data_is_preferred_as_a_probe() {
    // A window of two, both lost. The probe at 0.1 + 0.2 s is the next segment, beyond the window. Its SACK at 0.4 s
    // shows that both are lost; PRR allows one for it, and the next with the ACK of that.
    let (_, wire) = linux(2, &[], losing(&[0, 1]));
    let wire = wire.send(10).until_done();
    assert_eq!(
        timeline(&wire)[..5],
        [(100, 0, false), (100, 1, false), (300, 2, false), (400, 0, true), (500, 1, true)]
    );
    assert_eq!(wire.sender.counters().timeouts, 0);
}

#[test]
fn the_timeout_follows_a_single_probe() {
    // Everything is lost: the probe repeats the only segment at 0.4 s (the timeout of 0.3 s after 0.1 s is earlier than
    // 2 * 0.1 + 0.2 s), then the timer is restarted: 0.7 s, and doubles.
    let (cc, wire) = linux(1, &[], losing(&[0, 1, 2]));
    let wire = wire.send(1).until_done();
    assert_eq!(timeline(&wire), [(100, 0, false), (400, 0, true), (700, 0, true), (1300, 0, true)]);
    assert_eq!((wire.sender.counters().timeouts, responses(&cc)[0].as_str()), (2, "timeout"));
}

#[test]
fn a_loss_that_the_probe_repaired_is_a_loss() {
    // The last segment written is lost and the probe repairs it. The ACK of data written later shows that only one of
    // the two arrived: one loss is reported to congestion control.
    let probe = |faults| {
        let (cc, mut wire) = linux(5, &[("idle_restart", "false")], faults);
        wire.receiver.listen();
        wire.sender.connect();
        wire.sender.write(5 * MSS);
        wire.run_until(1.0);
        wire.sender.write(MSS);
        wire.run_until(2.0);
        (responses(&cc), wire.sent.len())
    };
    assert_eq!(probe(losing(&[4])), (vec!["loss".into(), "exit".into()], 7));
    // If only its ACK was lost (the fifth: all are quick), the receiver reports that the probe arrived twice: no loss.
    let mut acks = 0;
    let faults = move |forward: bool, _: u64, segment: &dumbbell_tcp::Segment| {
        acks += u32::from(!forward && !segment.flags.contains(TcpFlags::SYN));
        if !forward && acks == 5 { Fate::Lost } else { Fate::Arrives }
    };
    assert_eq!(probe(Box::new(faults)), (vec![], 7));
}

#[test]
fn without_probes_the_timer_repairs_the_tail() {
    let (_, wire) = linux(5, &[("tlp", "false")], losing(&[3, 4]));
    let wire = wire.send(5).until_done();
    // 0.2 s + 300 ms, then the second one with the ACK.
    assert_eq!(timeline(&wire)[5..], [(500, 3, true), (600, 4, true)]);
    assert_eq!(wire.sender.counters().timeouts, 1);
}
