//! Every byte of a connection arrives exactly once and in order, whatever the wire does. The wire itself checks each
//! delivery against its own model (see [`dumbbell_testkit::wire`]).

use dumbbell_testkit::wire::{Fate, Faults, Wire};
use dumbbell_units::Dur;
use dumbbell_units::random::Stream;
use dumbbell_wire::TcpFlags;
use proptest::prelude::*;

pub(crate) fn faulty(seed: u64, loss: f64, late: f64, twice: f64) -> Faults<'static> {
    let mut random = Stream::new(seed, "faults");
    Box::new(move |_, _, _| {
        let (what, how_much) = (random.uniform(), Dur::millis(1).scale(300.0 * random.uniform()));
        match what {
            x if x < loss => Fate::Lost,
            x if x < loss + late => Fate::Late(how_much),
            x if x < loss + late + twice => Fate::Twice(how_much),
            _ => Fate::Arrives,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_byte_arrives_once_and_in_order(
        variant in prop::sample::select(dumbbell_cc::registry().iter().map(|v| v.name).collect::<Vec<_>>()),
        preset in prop::sample::select(vec!["rfc", "ns2", "linux"]),
        limited in any::<bool>(),
        ack_every in 1u32..4,
        window in prop::sample::select(vec!["1 packet", "3 packets", "20 packets", "500 packets"]),
        segments in 1u64..120,
        seed in any::<u64>(),
        loss in 0.0..0.3f64,
        late in 0.0..0.2f64,
        twice in 0.0..0.2f64,
    ) {
        let (ack_every, limited) = (ack_every.to_string(), limited.to_string());
        let changes = [
            ("ack_every", ack_every.as_str()), ("limited_transmit", limited.as_str()), ("window", window),
            ("rto_max", "5 s"),
        ];
        let wire = Wire::new(variant, preset, &changes, faulty(seed, loss, late, twice)).send(segments).until_done();
        let counters = wire.sender.counters();
        let mss = wire.sender.config().mss();
        prop_assert_eq!(counters.sent_bytes - counters.retransmitted_bytes, segments * mss);
    }
}

#[test]
fn a_retransmission_may_be_unnecessary_when_pacing_allows_it() {
    // With 30 % loss these seeds lead to a retransmission that pacing holds until all outstanding data has arrived,
    // while more data is to be sent.
    for seed in [2, 10, 14, 26] {
        let _ = Wire::new("bbr3", "linux", &[], faulty(seed, 0.3, 0.0, 0.0)).send(600).until_done();
    }
}

#[test]
fn a_window_smaller_than_the_unit_of_its_field_stays_open() {
    // At most 256 MiB: the field counts 8 KiB, and the two segments at the start are less.
    let wire = Wire::new("sack", "linux", &[("window_start", "2 packets")], Box::new(|_, _, _| Fate::Arrives));
    let _ = wire.send(60).until_done();
}

#[test]
fn a_clean_wire_sends_nothing_twice() {
    for v in dumbbell_cc::registry() {
        for preset in ["rfc", "ns2", "linux"] {
            let wire = Wire::new(v.name, preset, &[], Box::new(|_, _, _| Fate::Arrives)).send(500).until_done();
            assert_eq!((wire.resent(), wire.sent.len()), (vec![], 500), "{} {preset}", v.name);
            assert_eq!(wire.receiver.duplicate_bytes(), 0);
        }
    }
}

#[test]
fn a_lost_handshake_or_fin_only_delays() {
    for lost in 0..3 {
        let faults: Faults<'static> = {
            let mut controls = 0;
            Box::new(move |_, _, segment| {
                let control = segment.flags.contains(TcpFlags::SYN) || segment.flags.contains(TcpFlags::FIN);
                controls += usize::from(control);
                if control && controls == lost + 1 { Fate::Lost } else { Fate::Arrives }
            })
        };
        let wire = Wire::new("newreno", "rfc", &[], faults).send(5).until_done();
        assert!(wire.now.as_secs() > 1.0, "the {lost}th control segment was not lost");
    }
}
