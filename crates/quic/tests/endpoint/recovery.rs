//! Timelines of loss detection, worked by hand from RFC 9002.

use crate::wire::{CLIENT, Fate, SERVER, Wire};
use dumbbell_cc::Phase;
use dumbbell_quic::{Datagram, Frame, State};
use dumbbell_units::Time;
use dumbbell_wire::Ecn;

/// A connection that begins established on a path of 2 x 50 ms, without MTU discovery and pacing; the datagrams of the
/// client with these numbers (from 0) are lost.
fn wire(lost: &'static [usize], more: &[(&str, &str)]) -> Wire {
    let params = [&[("handshake", "none"), ("mtu_discovery", "false"), ("pacing", "false")], more].concat();
    let mut count = 0;
    Wire::new("newreno", 50, &params).fates(move |s| {
        let number = count;
        count += usize::from(s.from == CLIENT);
        if s.from == CLIENT && lost.contains(&number) { Fate::Dropped } else { Fate::Arrives }
    })
}

/// Bytes of stream data in a full datagram: 1200 - 26 (header and tag) - 7 or less.
const FULL: u64 = 1166;

#[test]
fn a_packet_is_lost_when_the_third_after_it_is_acknowledged() {
    let mut wire = wire(&[2], &[]);
    wire.client().write(0, 8 * FULL);
    wire.run_until(99);
    assert_eq!(wire.data_of(CLIENT).len(), 8);
    wire.run_until(100);
    // Packets 0 to 7 leave at 0. Packet 3 arrives after a gap, so each of 3, 4, 5 (and 6, 7) is acknowledged at once.
    // The ACK of 5 = 2 + kPacketThreshold declares 2 lost; the repair is packet 8.
    assert_eq!(wire.data_of(CLIENT)[8..], [(100.0, 8)]);
    assert_eq!(wire.ends[CLIENT].lost_packets(), 1);
    assert_eq!(wire.ends[CLIENT].snapshot().phase, Phase::Recovery);
    // The application limits the sender, so that cwnd did not grow: half of 12,000.
    assert_eq!(wire.ends[CLIENT].cwnd(), 6000.0);
    // The repair is acknowledged at 200 ms: recovery ends, and nothing else is sent.
    wire.run_until(3000);
    assert_eq!(wire.data_of(CLIENT).len(), 9);
    assert_eq!(wire.ends[CLIENT].snapshot().phase, Phase::Avoidance);
    assert_eq!(wire.ends[CLIENT].counters().timeouts, 0);
}

#[test]
fn a_packet_is_lost_after_nine_eighths_of_the_round_trip() {
    // Of two packets the first is lost: only one later packet is acknowledged.
    let mut wire = wire(&[1], &[]);
    wire.client().write(0, 3 * FULL);
    wire.run_until(3000);
    // Packets 0, 1, 2 leave at 0. Packet 2 arrives after a gap and is acknowledged at once: the ACK of 0 and 2 arrives
    // at 100 ms. RTT 100 ms: packet 1 is lost 112.5 ms after it was sent.
    assert_eq!(wire.data_of(CLIENT), [(0.0, 0), (0.0, 1), (0.0, 2), (112.5, 3)]);
}

#[test]
fn the_pto_doubles_and_sends_two_probes() {
    // All packets from the second on are lost: packet 0 gives an RTT sample.
    let mut wire = wire(&[], &[]);
    wire.client().write(0, FULL);
    wire.run_until(1000);
    // The ACK of the single packet waits 25 ms: RTT 125 ms - the first sample doesn't subtract the delay [RFC 9002
    // §5.3].
    assert_eq!(wire.ends[CLIENT].srtt().unwrap().as_millis(), 125.0);
    let mut wire = wire.fates(|s| if s.from == CLIENT { Fate::Dropped } else { Fate::Arrives });
    wire.client().write(0, FULL);
    wire.run_until(4500);
    // PTO = 125 + 4 x 62.5 + 25 = 400 ms after 1000; two probes each time; then 800 ms after these, then 1600.
    let times: Vec<f64> = wire.data_of(CLIENT).iter().skip(1).map(|(at, _)| *at).collect();
    assert_eq!(times, [1000.0, 1400.0, 2200.0, 3800.0]);
    let pings: Vec<f64> = wire.sent.iter().filter(|s| s.frames() == [Frame::Ping]).map(|s| s.ms()).collect();
    assert_eq!(pings, [1400.0, 2200.0, 3800.0]);
    assert_eq!(wire.ends[CLIENT].counters().timeouts, 3);
    // No packet is declared lost, and the window is unchanged: a PTO is no sign of congestion [RFC 9002 §6.2].
    assert_eq!((wire.ends[CLIENT].lost_packets(), wire.ends[CLIENT].cwnd()), (0, 12_000.0));
}

#[test]
fn a_longer_outage_is_persistent_congestion() {
    let mut wire = wire(&[], &[]);
    wire.client().write(0, FULL);
    wire.run_until(1000);
    // Everything that the client sends until 4 s is lost; the probes of 1400, 2200 and 3800 ms too.
    let mut wire =
        wire.fates(|s| if s.from == CLIENT && s.at < Time(4_000_000_000) { Fate::Dropped } else { Fate::Arrives });
    wire.client().write(0, 4 * FULL);
    wire.run_until(8000);
    // The probes of 7000 ms (3800 + 3200) are acknowledged at 7100. The lost packets span 1000 to 3800 ms, more than
    // three PTOs of 400 ms [RFC 9002 §7.6.1]: cwnd falls to 2 x 1200.
    let client = &wire.ends[CLIENT];
    assert_eq!(wire.ends[SERVER].received(), 5 * FULL);
    assert!(client.cwnd() <= 4.0 * 1200.0, "{}", client.cwnd());
    assert_eq!(client.snapshot().ssthresh, 6000.0);
}

#[test]
fn an_ack_of_a_packet_that_was_skipped_closes_the_connection() {
    let mut wire = wire(&[], &[("skip_numbers", "true")]);
    wire.client().write(0, 1_000_000);
    let skipped = |w: &Wire| {
        let numbers: Vec<u64> = w.data_of(CLIENT).iter().map(|(_, n)| *n).collect();
        numbers.windows(2).find(|n| n[1] == n[0] + 2).map(|n| n[0] + 1)
    };
    wire.run_while("a skipped number", |w| skipped(w).is_none());
    let number = skipped(&wire).unwrap();
    // An honest receiver reports a gap, which is not a loss.
    let mut honest = Datagram::default();
    wire.run_while("ACK", |w| {
        !w.sent.iter().any(|s| s.from == SERVER && acked_from(&s.datagram).is_some_and(|n| n == number + 1))
    });
    assert_eq!(wire.ends[CLIENT].state(), State::Established);
    assert_eq!(wire.ends[CLIENT].lost_packets(), 0);
    // A receiver that acknowledges every number up to the largest claims to have the skipped one.
    let now = wire.now;
    honest.copy_from(&Datagram::with_ack(1_000_000, (number, number + 2)));
    wire.client().on_datagram(&honest, Ecn::NOT_ECT, now);
    assert_eq!(wire.ends[CLIENT].state(), State::Closing);
}

/// The first number of the first range of a datagram's ACK.
fn acked_from(datagram: &Datagram) -> Option<u64> {
    let frames = datagram.packets().flat_map(|(_, frames)| frames);
    frames.filter_map(|f| datagram.ranges_of(f).first().map(|r| r.0)).next()
}

#[test]
fn a_mark_halves_the_window_once_a_round_trip() {
    let mut count = 0;
    let params = [("handshake", "none"), ("mtu_discovery", "false"), ("ecn", "true"), ("pacing", "false")];
    let mut wire = Wire::new("newreno", 50, &params).fates(move |s| {
        count += usize::from(s.from == CLIENT);
        if s.from == CLIENT && (count == 2 || count == 3) { Fate::Marked } else { Fate::Arrives }
    });
    wire.client().write(0, 8 * FULL);
    wire.run_until(500);
    let client = &wire.ends[CLIENT];
    assert_eq!((client.cwnd(), client.lost_packets(), client.counters().fast_retransmits), (6000.0, 0, 0));
}
