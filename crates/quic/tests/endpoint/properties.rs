//! Properties under any loss, reordering and duplication, and for every variant.

use crate::wire::{CLIENT, Fate, SERVER, SentDatagram, Wire};
use dumbbell_quic::Form;
use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use proptest::prelude::*;

/// Fates drawn at random: lost, late and duplicated shares in percent.
fn random_fates(seed: u64, lost: u32, late: u32, twice: u32) -> impl FnMut(&SentDatagram) -> Fate {
    let mut random = Stream::new(seed, "fates");
    move |_| {
        let draw = 100.0 * random.uniform();
        let after = Dur::millis(random.next_u64() % 60);
        match draw {
            x if x < f64::from(lost) => Fate::Dropped,
            x if x < f64::from(lost + late) => Fate::Late(after),
            x if x < f64::from(lost + late + twice) => Fate::Twice(after),
            _ => Fate::Arrives,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_byte_arrives_once_and_the_server_keeps_its_limit(
        seed: u64, lost in 0u32..30, late in 0u32..30, twice in 0u32..30,
        streams in 1u32..4, bytes in 1u64..60_000, start in 0usize..2, flight in 0usize..2,
    ) {
        let params = [
            ("handshake", ["1-rtt", "0-rtt"][start]),
            ("server_flight", ["820 bytes", "9 kB"][flight]),
            ("resumed_flight", ["140 bytes", "9 kB"][flight]),
            ("window", "20 kB"),
            ("idle_timeout", "500 s"),
            ("skip_numbers", "true"),
        ];
        let mut wire = Wire::new("newreno", 10, &params).fates(random_fates(seed, lost, late, twice));
        for stream in 0..streams {
            wire.client().write(stream, bytes);
            wire.client().finish(stream);
            wire.server().write(stream, bytes / 2);
            wire.server().finish(stream);
        }
        wire.run_while("transfer", |w| !w.ends.iter().all(|e| e.everything_acknowledged()));
        let all = bytes * u64::from(streams);
        prop_assert_eq!((wire.ends[SERVER].received(), wire.ends[SERVER].delivered()), (all, all));
        let back = bytes / 2 * u64::from(streams);
        prop_assert_eq!((wire.ends[CLIENT].received(), wire.ends[CLIENT].delivered()), (back, back));
        prop_assert!(limit_holds(&wire), "more than three times the bytes received");
    }
}

/// True if the server's bytes never exceed three times those sent to it, before a Handshake packet of the client is
/// sent.
fn limit_holds(wire: &Wire) -> bool {
    let (mut received, mut sent) = (0u64, 0u64);
    for s in &wire.sent {
        if s.from == CLIENT {
            if s.datagram.packets().any(|(p, _)| p.form == Form::Handshake) {
                return true;
            }
            received += 2 * u64::from(s.datagram.bytes); // it may arrive twice
        } else {
            sent += u64::from(s.datagram.bytes);
            if sent > 3 * received {
                return false;
            }
        }
    }
    true
}

#[test]
fn every_variant_completes_a_transfer_with_losses() {
    for variant in dumbbell_cc::registry() {
        let mut wire = Wire::new(variant.name, 20, &[]).fates(random_fates(7, 1, 0, 0));
        wire.client().write(0, 500_000);
        wire.client().finish(0);
        wire.run_while(variant.name, |w| !w.ends[CLIENT].everything_acknowledged());
        // A last probe may still be in flight.
        wire.run_until(wire.now.0 / 1_000_000 + 5000);
        let client = &wire.ends[CLIENT];
        assert_eq!((wire.ends[SERVER].received(), client.inflight()), (500_000, 0), "{}", variant.name);
        assert!(client.lost_packets() > 0, "{}", variant.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_datagrams() {
    let run = || {
        let mut wire = Wire::new("bbr", 20, &[("skip_numbers", "true")]).fates(random_fates(3, 2, 2, 2));
        wire.client().write(0, 300_000);
        wire.run_until(3000);
        wire.sent.iter().map(|s| (s.at, s.from, s.datagram.clone())).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
