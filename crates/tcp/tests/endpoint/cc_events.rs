//! The events of congestion control: segments sent, lost, delivered, and delivery rates.

use dumbbell_cc::{AckEvent, LostEvent, RateSample, SentEvent};
use dumbbell_testkit::cc_recorder::{CcCall, CcRecorder};
use dumbbell_testkit::wire::{Fate, Faults, Wire, losing};
use dumbbell_units::{Dur, Rate};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn wire<'a>(
    listener: &CcRecorder,
    recovery: &'a str,
    mut changes: Vec<(&'a str, &'a str)>,
    faults: Faults<'a>,
) -> Wire<'a> {
    changes.push(("recovery", recovery));
    let cc = listener.clone();
    Wire::with_cc("fixed", move |_| Box::new(cc.clone()), "rfc", &changes, faults)
}

fn sent(listener: &CcRecorder) -> Vec<SentEvent> {
    listener.calls().iter().filter_map(|h| if let CcCall::Sent(e) = h { Some(*e) } else { None }).collect()
}

fn lost(listener: &CcRecorder) -> Vec<LostEvent> {
    listener.calls().iter().filter_map(|h| if let CcCall::Lost(e) = h { Some(*e) } else { None }).collect()
}

fn acks(listener: &CcRecorder) -> Vec<AckEvent> {
    listener.calls().iter().filter_map(|h| if let CcCall::Ack(e) = h { Some(*e) } else { None }).collect()
}

fn rates(listener: &CcRecorder) -> Vec<RateSample> {
    acks(listener).iter().filter_map(|a| a.rate).collect()
}

const MSS: u64 = 1448;

#[test]
fn a_full_window_gives_the_window_over_a_round_trip() {
    // Ten segments at once, then one with each ACK: 10 * 1448 bytes each 100 ms, after the first round trip.
    let cc = CcRecorder::new(10.0 * MSS as f64);
    let _ = wire(&cc, "sack", vec![("ack_every", "1")], Box::new(|_, _, _| Fate::Arrives)).send(100).until_done();
    let rates = rates(&cc);
    assert_eq!(rates.len(), 100);
    // The i-th ACK of the first round trip has delivered i segments since nothing was outstanding.
    for (i, rate) in (1..).zip(&rates[..10]) {
        assert_eq!((rate.delivered, rate.interval), (i * MSS, Dur::millis(100)));
    }
    // Later each segment is sent with the ACK of the tenth before it: from then to its own ACK ten are delivered, all
    // at the end of the 100 ms.
    for rate in &rates[10..] {
        assert!(rate.delivered <= 10 * MSS && rate.interval == Dur::millis(100), "{rate:?}");
    }
    assert_eq!(rates.last().map(|r| r.total_delivered), Some(100 * MSS));
}

#[test]
fn paced_segments_are_spaced_in_bursts() {
    // 1448 bytes each 10 ms = 1,158,400 bit/s; bursts of two.
    let cc = CcRecorder::new(100.0 * MSS as f64).paced(Rate(1_158_400), 2 * MSS);
    let wire = wire(&cc, "sack", vec![("ack_every", "1")], Box::new(|_, _, _| Fate::Arrives)).send(21).until_done();
    let times: Vec<u64> = wire.sent.iter().map(|s| s.at.0 / 1_000_000).collect();
    // The handshake takes 100 ms. Nothing else is sent: the number of segments is odd.
    let expected: Vec<u64> = (0..21).map(|i| 100 + 20 * (i / 2)).collect();
    assert_eq!(times, expected);
    // The samples approach the pacing rate when the ACKs of paced segments arrive.
    let last = rates(&cc).last().copied().unwrap();
    assert!(last.rate() * 8.0 <= 1_158_400.0 * 1.11, "{last:?}");
}

#[test]
fn a_retransmission_that_pacing_delays_is_sent_without_further_acks() {
    // Window of 4, all data outstanding, the first lost: the three SACKs arrive while the pacer holds segments.
    let cc = CcRecorder::new(4.0 * MSS as f64).paced(Rate(115_840), MSS); // a segment each 100 ms
    let wire = wire(&cc, "sack", vec![("ack_every", "1")], losing(&[0])).send(4).until_done();
    assert_eq!((wire.resent(), wire.sender.counters().timeouts), (vec![0], 0));
}

#[test]
fn samples_are_marked_while_the_application_limits_sending() {
    let cc = CcRecorder::new(10.0 * MSS as f64);
    let mut wire = wire(&cc, "sack", vec![("ack_every", "1")], Box::new(|_, _, _| Fate::Arrives));
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(2 * MSS); // less than the window
    wire.run_until(0.25);
    wire.sender.write(100 * MSS);
    wire.run_until(0.75);
    let marks: Vec<bool> = rates(&cc).iter().map(|r| r.app_limited).collect();
    // The application had no data after the first two. The next were sent after an idle time; the mark covers them
    // until more than the data then in flight is delivered: the whole first window of ten. From the second window on
    // the path limits.
    assert_eq!(&marks[..2], [true, true]);
    assert!(marks[2..12].iter().all(|m| *m));
    assert!(marks[12..40].iter().all(|m| !*m), "{marks:?}");
}

#[test]
fn each_lost_transmission_is_reported_once() {
    // A window of 10 segments, of which the 3rd and the 6th are lost; each loss recovery retransmits both.
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let cc = CcRecorder::new(10.0 * MSS as f64);
        let wire = wire(&cc, recovery, vec![("ack_every", "1")], losing(&[2, 5])).send(60).until_done();
        let lost = lost(&cc);
        let counters = wire.sender.counters();
        assert_eq!(counters.timeouts, 0, "{recovery}");
        let resent = counters.retransmitted_segments as usize;
        assert_eq!(lost.len(), resent, "{recovery}");
        assert_eq!(lost[0].bytes, MSS);
        // The third of a window of ten that is sent at once: three were in flight with it.
        assert_eq!((lost[0].sent_in_flight, lost[0].prior_delivered), (3 * MSS, 0), "{recovery}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(200) })]

    #[test]
    fn counters_agree_with_events(
        recovery in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack"]),
        window in 1u64..40,
        segments in 1u64..150,
        loss in 0.0..0.3f64,
        late in 0.0..0.2f64,
        seed in any::<u64>(),
    ) {
        let cc = CcRecorder::new((window * MSS) as f64);
        let faults = crate::delivery::faulty(seed, loss, late, 0.05);
        let wire = wire(&cc, recovery, vec![("rto_max", "5 s")], faults).send(segments).until_done();
        let counters = wire.sender.counters();
        let (sent, lost, acks) = (sent(&cc), lost(&cc), acks(&cc));
        prop_assert_eq!(sent.len() as u64, counters.sent_segments);
        prop_assert_eq!(sent.iter().map(|s| s.bytes).sum::<u64>(), counters.sent_bytes);
        prop_assert_eq!(acks.iter().map(|a| a.delivered).sum::<u64>(), segments * MSS);
        prop_assert_eq!(acks.iter().map(|a| a.acked).sum::<u64>(), segments * MSS + 1); // the FIN
        // No transmission is lost twice, and only lost segments are retransmitted (NextSeg's rules (3) and (4)
        // may repeat more).
        prop_assert!(lost.len() as u64 <= counters.sent_segments + 1);
        let reported: u64 = acks.iter().map(|a| a.lost).sum();
        prop_assert!(reported <= lost.iter().map(|l| l.bytes).sum::<u64>());
        let mut rtt_known = false;
        for ack in acks {
            rtt_known |= ack.rtt.is_some();
            let Some(rate) = ack.rate else { continue };
            prop_assert!(rate.prior_delivered + rate.delivered == rate.total_delivered);
            prop_assert!(!rtt_known || rate.interval >= Dur::millis(100), "{rate:?}"); // the wire's least
        }
    }
}
