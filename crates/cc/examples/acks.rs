//! Measures the cost of an ACK in a variant: `acks NAME ACKS` acknowledges segments and prints the last window.
//!
//! The path has 100 Mbit/s and 40 ms, an ACK covers two segments, the queueing delay rises and falls by 10 ms each
//! second, and one of 5,000 ACKs reports a loss. The data in flight follows the window, up to 1,000 segments.

use dumbbell_cc::{
    AckEvent, Congestion, CongestionEvent, Cx, Increase, LostEvent, RateSample, RecoveryExit, SentEvent, Setup, build,
};
use dumbbell_units::{Dur, Time};
use std::error::Error;

const MSS: u64 = 1448;
const USAGE: &str = "usage: acks NAME ACKS";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or(USAGE)?;
    let acks: u64 = arguments.next().ok_or(USAGE)?.parse()?;
    let mss = MSS as f64;
    let start = Setup { paced: true, selective_acks: true, ..Setup::new(mss, 10.0 * mss, f64::INFINITY) };
    let mut cc = build(&name, &[], &start)?;
    let mut cx =
        Cx { now: Time(0), mss, initial_window: 10.0 * mss, increase: Increase::PerByte, whole_segments: false };
    cc.on_established(Some(Dur::millis(40)), &cx);
    let (mut una, mut nxt) = (1, 1);
    for n in 0..acks {
        cx.now = Time(n * 240_000); // two segments at 100 Mbit/s
        let window = (cc.control().cwnd as u64 / MSS).clamp(2, 1000) * MSS;
        while nxt < una + window {
            if cc.wants_sent() {
                let flight = nxt - una;
                nxt += MSS;
                let ev = SentEvent { bytes: MSS, flight, snd_nxt: nxt, retransmission: false, app_limited: false };
                cc.on_sent(&ev, &cx);
            } else {
                nxt += MSS;
            }
        }
        let flight = nxt - una;
        let queue = 10_000_000 * (n % 4167).min(4167 - n % 4167) / 2083;
        let lost = if n % 5000 == 4999 { MSS } else { 0 };
        if lost > 0 {
            let prior_delivered = una - 1;
            cc.on_lost(
                &LostEvent {
                    start: una,
                    bytes: MSS,
                    sent_in_flight: flight,
                    lost_since: MSS,
                    prior_delivered,
                    app_limited: false,
                },
                &cx,
            );
            cc.on_congestion(
                &CongestionEvent {
                    kind: Congestion::Loss,
                    window: flight as f64,
                    lost_sent_at: Time(cx.now.0 - 40_000_000),
                    lost_transmissions: 1,
                    backoffs: 0,
                },
                &cx,
            );
            cc.on_recovery_exit(&RecoveryExit { bound: f64::INFINITY }, &cx);
        }
        una += 2 * MSS;
        nxt = nxt.max(una);
        let rtt = Dur(40_000_000 + queue);
        let delivered = flight.min(una - 1);
        let ev = AckEvent {
            rtt: Some(rtt),
            one_way: Some(rtt.as_secs() / 2.0),
            lost,
            rate: Some(RateSample {
                delivered,
                interval: rtt,
                prior_delivered: una - 1 - delivered,
                total_delivered: una - 1,
                sent_in_flight: flight,
                lost,
                app_limited: false,
            }),
            ..AckEvent::in_order(2 * MSS, una..nxt, cx.now)
        };
        cc.on_ack(&ev, &cx);
    }
    println!("{}", cc.control().cwnd);
    Ok(())
}
