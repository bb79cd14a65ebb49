//! Bulk data is handled in few steps, with the same segments as by the general rules.

use dumbbell_cc::CongestionControl;
use dumbbell_tcp::{BulkStep, Config, Endpoint, Segment};
use dumbbell_units::Time;
use dumbbell_wire::{Ecn, Seq};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;

/// Two connected endpoints; the first one sends without an end.
fn pair(config: Config, algorithm: impl Fn() -> Box<dyn CongestionControl>) -> (Endpoint, Endpoint) {
    let mut ends = (Endpoint::new(config, algorithm(), Seq(7)), Endpoint::new(config, algorithm(), Seq(9)));
    Endpoint::establish_pair(&mut ends.0, &mut ends.1);
    ends.0.write(u64::MAX);
    ends
}

/// The segments that an endpoint sends now, and how many of them are of bulk data.
fn send(endpoint: &mut Endpoint, now: Time) -> (Vec<Segment>, usize) {
    let (mut segments, mut bulk) = (Vec::new(), 0);
    while endpoint.is_bulk_sender() {
        let BulkStep::Send(next) = endpoint.next_bulk(now) else { break };
        let mut segment = Segment::default();
        endpoint.write_bulk(&next, now, &mut segment);
        segments.push(segment);
        bulk += 1;
    }
    let mut segment = Segment::default();
    while endpoint.poll(now, &mut segment).is_some() {
        segments.push(segment);
    }
    (segments, bulk)
}

#[test]
fn nearly_all_segments_without_losses_are_bulk_data_and_the_same_as_by_the_general_rules() {
    for stack in ["ns2", "rfc", "linux"] {
        let config = Config::read(stack, &[], dumbbell_cc::find("newreno").unwrap()).unwrap();
        let algorithm = || dumbbell_cc::build("newreno", &[], &config.cc_setup()).unwrap();
        let mut fast = pair(config, algorithm);
        let mut general = pair(Config { shortcuts: false, ..config }, algorithm);
        let (mut all, mut bulk, mut in_flight) = (0, 0, VecDeque::new());
        for n in 0..1000 {
            let now = Time(n * MS / 4);
            let (sent, of_bulk) = send(&mut fast.0, now);
            assert_eq!((sent.clone(), 0), send(&mut general.0, now), "{stack}, segment {n}");
            (all, bulk) = (all + sent.len(), bulk + of_bulk);
            in_flight.extend(sent);
            let Some(segment) = in_flight.pop_front() else { break };
            let mut acks = Vec::new();
            for (sender, receiver) in [(&mut fast.0, &mut fast.1), (&mut general.0, &mut general.1)] {
                receiver.on_data_segment(&segment, Ecn::NOT_ECT, now);
                let (ack, _) = send(receiver, now);
                ack.iter().for_each(|ack| sender.on_ack_segment(ack, Ecn::NOT_ECT, now));
                acks.push(ack);
            }
            assert_eq!(acks[0], acks[1], "{stack}, segment {n}");
            assert_eq!(fast.0.snapshot(), general.0.snapshot(), "{stack}, segment {n}");
        }
        assert!(all > 1000 && 100 * bulk > 95 * all, "{stack}: {bulk} of {all} segments");
    }
}
