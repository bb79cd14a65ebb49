//! The timers of an endpoint as its peer observes them: retransmission and backoff, delayed ACKs [RFC 6298, RFC 5681
//! §4.2].

use dumbbell_testkit::wire::{Fate, Wire, losing};

#[test]
fn the_timeout_doubles_until_something_arrives() {
    // The first data segment is lost four times. First RTO after the handshake's sample of 100 ms: 100 + 4 x 50 =
    // 300 ms, below the minimum of 1 s; then 2 s, 4 s, 8 s.
    let faults = Box::new(
        |forward: bool, count: u64, segment: &dumbbell_tcp::Segment| {
            if forward && segment.payload > 0 && count < 4 { Fate::Lost } else { Fate::Arrives }
        },
    );
    let wire = Wire::new("newreno", "rfc", &[("initial_window", "1 packet")], faults).send(1).until_done();
    let times: Vec<f64> = wire.sent.iter().map(|s| s.at.as_secs()).collect();
    let gaps: Vec<f64> = times.windows(2).map(|w| ((w[1] - w[0]) * 1e3).round() / 1e3).collect();
    assert_eq!(gaps, [1.0, 2.0, 4.0, 8.0]);
    assert_eq!(wire.sender.counters().timeouts, 4);
}

#[test]
fn a_delayed_acknowledgment_waits_for_its_timer_or_a_second_segment() {
    // One segment: its ACK is sent 200 ms after its arrival. (A FIN with the data would be acknowledged at once.)
    let mut wire = Wire::new("newreno", "rfc", &[("ack_delay", "200 ms")], Box::new(|_, _, _| Fate::Arrives));
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(1000);
    let arrival = 0.15; // SYN 50 ms, SYN-ACK 50 ms, data 50 ms
    wire.run_until(0.34);
    assert_eq!((wire.receiver.delivered(), wire.sender.snapshot().snd_una), (1000, 0));
    wire.run_until(arrival + 0.2 + 0.05 + 0.001);
    assert_eq!(wire.sender.snapshot().snd_una, 1000);
}

#[test]
fn congestion_control_receives_one_way_delays_with_timestamps() {
    // LP keeps the smallest delay: the wire's 50 ms in one direction, in whole microseconds, or the round trip of 100
    // ms without timestamps.
    for (timestamps, smallest) in [("true", 0.05), ("false", 0.1)] {
        let changes = [("timestamps", timestamps), ("ack_every", "1")];
        let wire = Wire::new("lp", "rfc", &changes, Box::new(|_, _, _| Fate::Arrives)).send(20).until_done();
        let column = dumbbell_cc::find("lp").unwrap().columns.iter().position(|c| *c == "delay_min").unwrap();
        let mut row = Vec::new();
        wire.sender.observe_cc(&mut row);
        assert!((row[column] - smallest).abs() < 1e-6, "timestamps {timestamps}: {row:?}");
    }
}

#[test]
fn after_a_timeout_the_window_grows_although_it_was_not_used_before() {
    // Eight segments, all data of the application, in a window of ten; all are lost. After the timeout the window
    // limits sending: 1, 2, 4 segments and the last one, at intervals of a round trip of 100 ms.
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let changes = [("recovery", recovery), ("ack_every", "1")];
        let lost: Vec<u64> = (0..8).collect();
        let wire = Wire::new("veno", "rfc", &changes, losing(&lost)).send(8).until_done();
        let again: Vec<(u64, u64)> =
            wire.sent.iter().filter(|s| s.again).map(|s| (s.at.0 / 1_000_000, s.number)).collect();
        let expected = [(1100, 0), (1200, 1), (1200, 2), (1300, 3), (1300, 4), (1300, 5), (1300, 6), (1400, 7)];
        assert_eq!(again, expected, "{recovery}");
    }
}
