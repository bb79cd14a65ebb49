//! The handshake's times and datagrams [RFC 9001 §4, RFC 9000 §8.1, §14.1].

use crate::wire::{CLIENT, Fate, SERVER, Wire, given as params};
use dumbbell_quic::{Config, Form, Frame, State};
use dumbbell_units::Time;

/// When the request arrives at the server and the first byte of the response at the client, ms.
fn request_and_response(rtt_ms: u64, handshake: &str) -> (f64, f64) {
    let mut wire = Wire::new("newreno", rtt_ms / 2, &[("handshake", handshake)]);
    wire.client().write(0, 300);
    wire.client().finish(0);
    wire.run_while("request", |w| w.ends[SERVER].delivered() < 300);
    let request = wire.now;
    wire.server().write(0, 10_000);
    wire.server().finish(0);
    wire.run_while("response", |w| w.ends[CLIENT].delivered() == 0);
    (request.0 as f64 / 1e6, wire.now.0 as f64 / 1e6)
}

#[test]
fn the_request_leaves_after_one_round_trip_and_with_0_rtt_at_once() {
    for rtt in [10, 40, 200] {
        let rtt_ms = rtt as f64;
        // Half a round trip after it leaves, the request arrives; the response half a round trip later.
        assert_eq!(request_and_response(rtt, "1-rtt"), (1.5 * rtt_ms, 2.0 * rtt_ms));
        assert_eq!(request_and_response(rtt, "0-rtt"), (0.5 * rtt_ms, 1.0 * rtt_ms));
        assert_eq!(request_and_response(rtt, "none"), (0.5 * rtt_ms, 1.0 * rtt_ms));
    }
}

#[test]
fn a_client_hello_of_2_kb_takes_two_padded_datagrams() {
    let mut wire = Wire::new("newreno", 20, &[]);
    wire.run_until(300);
    let first: Vec<_> = wire.sent.iter().filter(|s| s.from == CLIENT && s.at == Time::ZERO).collect();
    assert_eq!(first.iter().map(|s| s.datagram.bytes).collect::<Vec<_>>(), [1200, 1200]);
    // 1200 - 43 (header and tag) - 4 or 5 (CRYPTO header): 1153, then the rest of 2062.
    let pieces: Vec<_> = first.iter().flat_map(|s| s.frames()).collect();
    let lengths: Vec<u32> =
        pieces.iter().filter_map(|f| if let Frame::Crypto { len, .. } = f { Some(*len) } else { None }).collect();
    assert_eq!(lengths.iter().sum::<u32>(), 2062);
    assert_eq!((wire.ends[CLIENT].state(), wire.ends[SERVER].state()), (State::Established, State::Established));
    // Initial and Handshake packets share the server's first datagram.
    let answer = wire.sent.iter().find(|s| s.from == SERVER && s.datagram.packets().count() > 1).unwrap();
    let forms: Vec<Form> = answer.datagram.packets().map(|(p, _)| p.form).collect();
    assert_eq!(forms, [Form::Initial, Form::Handshake]);
}

#[test]
fn a_server_pads_initial_packets_only_if_they_are_ack_eliciting() {
    // [RFC 9000 §14.1]. The ACK of the first half of ClientHello: header and tag 43, ACK frame 5.
    let mut wire = Wire::new("newreno", 20, &[]);
    wire.run_until(300);
    let initial: Vec<_> = wire
        .sent
        .iter()
        .filter(|s| s.from == SERVER && s.datagram.packets().any(|(p, _)| p.form == Form::Initial))
        .map(|s| s.datagram.bytes)
        .collect();
    assert_eq!(initial, [48, 1200]);
}

#[test]
fn a_server_with_a_long_chain_waits_for_the_clients_packets() {
    // The server may send 3 x 2400 = 7200 bytes before a Handshake packet arrives: of 12 kB the rest waits a round
    // trip.
    let mut wire = Wire::new("newreno", 20, &[("server_flight", "12 kB")]);
    wire.client().write(0, 300);
    wire.run_while("request", |w| w.ends[SERVER].delivered() < 300);
    assert!((95.0..=105.0).contains(&(wire.now.0 as f64 / 1e6)), "{:?}", wire.now);
    let early = |at: &Time| at.0 < 40_000_000;
    let sent: u32 = wire.sent.iter().filter(|s| s.from == SERVER && early(&s.at)).map(|s| s.datagram.bytes).sum();
    assert!((6000..=7200).contains(&sent), "{sent}");
}

#[test]
fn an_address_token_lifts_the_limit() {
    let mut wire = Wire::new("newreno", 20, &[("server_flight", "9 kB"), ("address_token", "true")]);
    wire.client().write(0, 300);
    wire.run_while("request", |w| w.ends[SERVER].delivered() < 300);
    assert_eq!(wire.now, Time(60_000_000));
}

#[test]
fn every_lost_datagram_of_the_handshake_is_repaired() {
    for lost in 0..8 {
        let mut seen = 0;
        let mut wire = Wire::new("newreno", 20, &[]).fates(move |_| {
            seen += 1;
            if seen == lost + 1 { Fate::Dropped } else { Fate::Arrives }
        });
        wire.client().write(0, 300);
        wire.run_while("request", |w| w.ends[SERVER].delivered() < 300);
        // The first PTO is 3 x 333 ms [RFC 9002 §6.2.2]: everything is repaired within two of them.
        assert!(wire.now < Time(2_200_000_000), "datagram {lost}: {:?}", wire.now);
    }
}

#[test]
fn an_idle_timeout_below_its_unit_is_refused() {
    // Connections of a few nanoseconds, one after the other, would keep a run from its end.
    let row = dumbbell_cc::find("newreno").unwrap();
    for (given, is_valid) in [("0 ms", false), ("1 ns", false), ("999 us", false), ("1 ms", true)] {
        let config = Config::read("rfc9002", &params(&[("idle_timeout", given)]), row);
        assert_eq!(config.is_ok(), is_valid, "{given}");
    }
}

#[test]
fn close_and_idle_timeout_end_both_sides() {
    let mut wire = Wire::new("newreno", 20, &[]);
    wire.run_until(200);
    let now = wire.now;
    wire.client().close(now);
    wire.run_until(230);
    assert_eq!((wire.ends[CLIENT].state(), wire.ends[SERVER].state()), (State::Closing, State::Draining));
    wire.run_until(2000);
    assert_eq!((wire.ends[CLIENT].state(), wire.ends[SERVER].state()), (State::Closed, State::Closed));
    let mut wire = Wire::new("newreno", 20, &[("idle_timeout", "5 s")]);
    wire.run_until(5000);
    assert!(wire.ends.iter().all(|e| e.is_open()));
    // The last packets of the handshake arrive by 0.2 s.
    wire.run_until(5200);
    assert!(wire.ends.iter().all(|e| e.state() == State::Closed));
}

#[test]
fn the_spin_bit_has_the_period_of_a_round_trip() {
    let mut wire = Wire::new("newreno", 20, &[("handshake", "none")]);
    wire.client().write(0, 10_000_000);
    wire.run_until(2000);
    let mut flips = Vec::new();
    let mut last = false;
    for s in wire.sent.iter().filter(|s| s.from == CLIENT) {
        for (packet, _) in s.datagram.packets() {
            if packet.spin != last {
                (last, flips) = (packet.spin, [&flips[..], &[s.ms()]].concat());
            }
        }
    }
    // Once a round trip of 40 ms, later by up to 25 ms of a delayed ACK.
    assert!(flips.len() > 8 && flips.windows(2).all(|w| (40.0..=66.0).contains(&(w[1] - w[0]))), "{flips:?}");
}
