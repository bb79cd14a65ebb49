//! ACKs: their number, their delay, the ACK frequency extension, datagram sizes without loss.

use crate::wire::{CLIENT, SERVER, Wire};

/// ACK packets of the receiver per data packet of the sender in a transfer of 3 MB without loss; lost packets.
fn acks_per_data(params: &[(&str, &str)]) -> (f64, u64) {
    let mut wire = Wire::new("newreno", 20, params);
    wire.client().write(0, 3_000_000);
    wire.client().finish(0);
    wire.run_while("transfer", |w| !w.ends[CLIENT].everything_acknowledged());
    let data = wire.data_of(CLIENT).len() as f64;
    let acks = wire.sent.iter().filter(|s| s.from == SERVER).count() as f64;
    assert_eq!(wire.ends[SERVER].received(), 3_000_000);
    (acks / data, wire.ends[CLIENT].lost_packets())
}

#[test]
fn one_ack_for_two_packets_and_nothing_is_declared_lost() {
    let (share, lost) = acks_per_data(&[]);
    assert!((share - 0.5).abs() <= 0.02, "{share}");
    assert_eq!(lost, 0);
}

#[test]
fn the_sender_can_ask_for_one_ack_in_ten() {
    let (share, lost) = acks_per_data(&[("ack_frequency", "10")]);
    assert!(share <= 0.11, "{share}");
    assert_eq!(lost, 0);
}

#[test]
fn datagrams_grow_to_1452_bytes_by_four_probes() {
    let mut wire = Wire::new("newreno", 20, &[]);
    wire.client().write(0, 300_000);
    wire.run_until(2000);
    let mut sizes: Vec<u32> = wire.sent.iter().map(|s| s.datagram.bytes).filter(|b| *b >= 1200).collect();
    sizes.dedup();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [1200, 1326, 1389, 1420, 1452]);
    assert_eq!(wire.ends[CLIENT].datagram_bytes(), 1452);
}

#[test]
fn a_datagram_never_exceeds_its_limit() {
    let mut wire = Wire::new("cubic", 20, &[("ecn", "true"), ("streams", "1")]);
    (0..5).for_each(|stream| wire.client().write(stream, 100_000));
    wire.run_until(1000);
    assert!(wire.sent.iter().all(|s| s.datagram.bytes <= 1452));
    assert_eq!(wire.ends[SERVER].delivered(), 500_000);
}
