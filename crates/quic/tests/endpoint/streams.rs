//! Streams: no head-of-line blocking between them, flow control, thousands on one connection.

use crate::wire::{CLIENT, Fate, SERVER, Wire};

#[test]
fn a_loss_on_one_stream_does_not_delay_another() {
    // Two streams in turn; the third data packet, of stream 0, is lost.
    let params = [("handshake", "none"), ("mtu_discovery", "false"), ("pacing", "false")];
    let mut count = 0;
    let mut wire = Wire::new("newreno", 50, &params).fates(move |s| {
        count += usize::from(s.from == CLIENT);
        if s.from == CLIENT && count == 3 { Fate::Dropped } else { Fate::Arrives }
    });
    wire.client().write(0, 5000);
    wire.client().write(1, 5000);
    wire.run_until(51);
    let server = &wire.ends[SERVER];
    assert_eq!(server.delivered_of(1), 5000);
    assert!(server.delivered_of(0) < 2500, "{}", server.delivered_of(0));
    wire.run_until(400);
    assert_eq!(wire.ends[SERVER].delivered_of(0), 5000);
}

#[test]
fn flow_control_limits_the_data_in_flight_and_never_stops_it() {
    for params in [[("window", "20 kB"), ("stream_window", "1 MB")], [("window", "1 MB"), ("stream_window", "20 kB")]] {
        let mut wire = Wire::new("newreno", 50, &params);
        wire.client().write(0, 500_000);
        wire.client().finish(0);
        wire.run_while("transfer", |w| !w.ends[CLIENT].everything_acknowledged());
        assert_eq!(wire.ends[SERVER].delivered(), 500_000);
        // At most a window a round trip: 25 round trips of 100 ms; an update after half a window makes it up to 50.
        assert!((2.5..=6.0).contains(&(wire.now.0 as f64 / 1e9)), "{:?}", wire.now);
    }
}

#[test]
fn a_stream_of_no_data_ends() {
    let mut wire = Wire::new("newreno", 50, &[]);
    wire.client().finish(0);
    wire.run_while("end", |w| !w.ends[SERVER].peer_has_finished());
    wire.run_while("ACK", |w| !w.ends[CLIENT].everything_acknowledged());
}

#[test]
fn thousands_of_streams_are_finished_once_each_with_losses() {
    let mut sent = 0;
    let mut wire = Wire::new("newreno", 5, &[("handshake", "none")]).fates(move |s| {
        sent += usize::from(s.from == CLIENT);
        if s.from == CLIENT && sent % 50 == 0 { Fate::Dropped } else { Fate::Arrives }
    });
    let bytes = |stream: u32| u64::from(stream % 7) * 300;
    let all: u64 = (0..3000).map(bytes).sum();
    let mut finished = Vec::new();
    for stream in 0..3000 {
        wire.client().write(stream, bytes(stream));
        wire.client().finish(stream);
    }
    wire.run_while("transfers", |w| !w.ends[CLIENT].everything_acknowledged());
    while let Some(stream) = wire.server().take_finished() {
        finished.push(stream);
    }
    finished.sort_unstable();
    assert_eq!(finished, (0..3000).collect::<Vec<_>>());
    let (client, server) = (&wire.ends[CLIENT], &wire.ends[SERVER]);
    assert!(server.peer_has_finished());
    assert_eq!((server.delivered(), server.received()), (all, all));
    assert!((0..3000).all(|stream| server.delivered_of(stream) == bytes(stream)));
    // Streams that are forgotten still count in the offsets of a snapshot.
    assert_eq!((client.snapshot().snd_una, client.snapshot().snd_nxt), (all, all));
    assert!(client.counters().retransmitted_segments > 10);
}
