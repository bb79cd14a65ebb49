use super::*;
use dumbbell_units::param::Raw;
use proptest::prelude::*;

fn connection(version: &str, handshake: &str) -> Tls {
    let given = [("handshake".to_owned(), Raw::Text(handshake.to_owned()))];
    Tls::new(Config::read(version, &given).unwrap())
}

/// The transport of both ends: bytes that each has written, delivered flight by flight.
#[derive(Default)]
struct Wire {
    client: u64,
    server: u64,
}

impl Wire {
    /// Delivers all that an end writes; returns the bytes of that flight.
    fn flight(&mut self, tls: &mut Tls, from: End) -> u64 {
        let bytes = tls.take(from);
        let sum = match from {
            End::Client => &mut self.client,
            End::Server => &mut self.server,
        };
        *sum += bytes;
        tls.read(from.peer(), *sum);
        bytes
    }
}

#[test]
fn a_request_of_tls_1_3_follows_the_servers_flight() {
    let (mut tls, mut wire) = (connection("1.3", "full"), Wire::default());
    tls.write(End::Client, 300);
    assert_eq!(wire.flight(&mut tls, End::Client), 5 + 2062);
    // ServerHello 5 + 122; change_cipher_spec 6; 5 + 820 + 1 + 16.
    assert_eq!(wire.flight(&mut tls, End::Server), 127 + 6 + 842);
    assert_eq!(tls.delivered(End::Server), 0);
    // change_cipher_spec 6; Finished 5 + 36 + 17; data 5 + 300 + 17.
    assert_eq!(wire.flight(&mut tls, End::Client), 6 + 58 + 322);
    assert_eq!(tls.delivered(End::Server), 300);
    tls.write(End::Server, 40_000);
    tls.close(End::Server);
    // Records of 16384, 16384 and 7232 bytes; close_notify 5 + 2 + 17.
    assert_eq!(wire.flight(&mut tls, End::Server), 40_000 + 3 * 22 + 24);
    assert_eq!(tls.delivered(End::Client), 40_000);
    assert!(tls.has_closed(End::Server) && !tls.has_closed(End::Client));
}

#[test]
fn early_data_follows_the_client_hello_up_to_its_limit() {
    let (mut tls, mut wire) = (connection("1.3", "early-data"), Wire::default());
    tls.write(End::Client, 20_000);
    // ClientHello, change_cipher_spec, 14336 bytes in one record.
    assert_eq!(wire.flight(&mut tls, End::Client), 2067 + 6 + 14_336 + 22);
    assert_eq!(tls.delivered(End::Server), 14_336);
    // The server may answer at once.
    tls.write(End::Server, 100);
    assert_eq!(wire.flight(&mut tls, End::Server), 127 + 6 + (140 + 22) + 122);
    assert_eq!(tls.delivered(End::Client), 100);
    // EndOfEarlyData 4 + 22, Finished 58, the rest of the data.
    assert_eq!(wire.flight(&mut tls, End::Client), 26 + 58 + 5_664 + 22);
    assert_eq!(tls.delivered(End::Server), 20_000);
}

#[test]
fn a_request_of_tls_1_2_needs_two_round_trips_and_a_resumed_one_needs_one() {
    let (mut tls, mut wire) = (connection("1.2", "full"), Wire::default());
    tls.write(End::Client, 300);
    assert_eq!(wire.flight(&mut tls, End::Client), 2067);
    assert_eq!(wire.flight(&mut tls, End::Server), 5 + 100 + 800);
    // ClientKeyExchange 5 + 37; change_cipher_spec 6; Finished 5 + 8 + 16 + 16.
    assert_eq!(wire.flight(&mut tls, End::Client), 42 + 6 + 45);
    assert_eq!(wire.flight(&mut tls, End::Server), 6 + 45);
    assert_eq!(wire.flight(&mut tls, End::Client), 300 + 29);
    assert_eq!(tls.delivered(End::Server), 300);

    let (mut tls, mut wire) = (connection("1.2", "resumed"), Wire::default());
    tls.write(End::Client, 300);
    assert_eq!(wire.flight(&mut tls, End::Client), 2067);
    assert_eq!(wire.flight(&mut tls, End::Server), 105 + 6 + 45);
    assert_eq!(wire.flight(&mut tls, End::Client), 6 + 45 + 329);
    assert_eq!(tls.delivered(End::Server), 300);
}

#[test]
fn a_record_is_delivered_only_whole() {
    let (mut tls, mut wire) = (connection("1.3", "full"), Wire::default());
    for from in [End::Client, End::Server, End::Client] {
        wire.flight(&mut tls, from);
    }
    tls.write(End::Server, 20_000);
    let before = wire.server;
    assert_eq!(tls.take(End::Server), 20_044);
    for (arrived, delivered) in [(16_405, 0), (16_406, 16_384), (20_043, 16_384), (20_044, 20_000)] {
        tls.read(End::Client, before + arrived);
        assert_eq!(tls.delivered(End::Client), delivered, "{arrived}");
    }
}

#[test]
fn wrong_values_are_refused_with_the_allowed_ones() {
    let read = |version: &str, name: &str, value: &str| {
        Config::read(version, &[(name.to_owned(), Raw::Text(value.to_owned()))]).unwrap_err().to_string()
    };
    assert_eq!(read("1.3", "record", "20 kB"), "record: 20000 bytes given: 1 to 16384 bytes are allowed");
    assert!(read("1.2", "handshake", "early-data").contains("full, resumed"));
    assert!(read("1.1", "record", "1 kB").contains("1.2"));
}

proptest! {
    /// Whatever is written in whatever pieces arrives once, whole, in any division of the stream.
    #[test]
    fn every_byte_is_delivered_once(
        version in prop_oneof![Just(("1.2", "full")), Just(("1.2", "resumed")), Just(("1.3", "full")), Just(("1.3", "early-data"))],
        writes in prop::collection::vec((any::<bool>(), 1u64..50_000), 1..20),
        steps in prop::collection::vec((any::<bool>(), 1u64..30_000), 0..60),
    ) {
        let mut tls = connection(version.0, version.1);
        let (mut sent, mut arrived, mut total) = ([0u64; 2], [0u64; 2], [0u64; 2]);
        let ends = [End::Client, End::Server];
        let mut writes = writes.into_iter();
        let mut steps = steps.into_iter();
        loop {
            if let Some((by_server, bytes)) = writes.next() {
                tls.write(ends[usize::from(by_server)], bytes);
                total[usize::from(by_server)] += bytes;
            }
            let step = steps.next();
            let before = (sent, arrived);
            for (i, end) in ends.into_iter().enumerate() {
                sent[i] += tls.take(end);
                let bytes = match step {
                    Some((of_server, bytes)) if usize::from(of_server) == i => bytes,
                    Some(_) => 0,
                    None => u64::MAX,
                };
                arrived[i] = sent[i].min(arrived[i].saturating_add(bytes));
                tls.read(end.peer(), arrived[i]);
                prop_assert!(tls.delivered(end.peer()) <= total[i]);
            }
            if step.is_none() && writes.len() == 0 && before == (sent, arrived) {
                break;
            }
        }
        prop_assert_eq!([tls.delivered(End::Server), tls.delivered(End::Client)], total);
        prop_assert!(tls.is_open(End::Client) && tls.is_open(End::Server));
    }
}
