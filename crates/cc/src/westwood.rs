//! Westwood+: Reno, but after a loss the window is what the measured bandwidth fills without a queue [Grieco and Mascolo,
//! Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control, ACM CCR 34(2), 2004,
//! "GM"].
//!
//! ```text
//! each RTT     b = bytes delivered / time,  bw += gain * (b - bw)                                      [GM]
//! growth       slow start and avoidance as Reno                                                         [GM]
//! loss         ssthresh = bw * base_rtt, at least 2;  cwnd = ssthresh if that is less                  [GM]
//! timeout      ssthresh likewise, cwnd = 1                                                              [GM]
//! base_rtt     the smallest RTT of the connection
//! ```
//! The interval is the latest RTT, but `min_interval` at least. The first sample is taken as it is: a filter that starts
//! from zero would need dozens of round trips, and until there is a sample a loss halves the window.
//! Linux filters twice (`stages = 2`) and looks for base_rtt anew after a timeout.
//! Left out: counting duplicate ACKs as delivered segments, which SACK makes unnecessary; without it, what arrived
//! during a recovery counts when it is acknowledged.

use crate::common::{DeliveryRate, LossDriven, Window};
use crate::registry::{EcnUse, Variant};
use crate::{AckEvent, CongestionEvent, Cx, Start};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "westwood",
    title: "Westwood+: Reno whose decrease follows the measured bandwidth",
    year: 2004,
    source: "Grieco and Mascolo, Westwood+, ACM CCR 34(2), 2004; Mascolo et al., TCP Westwood, MobiCom 2001",
    shell: None,
    fine_timeouts: false,
    own_recovery: false,
    ecn: EcnUse::Stack,
    on_loss: "cwnd = ssthresh = measured bandwidth x smallest RTT; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "gain",
            kind: Kind::Float { min: 0.001, max: 1.0 },
            default: "0.125",
            doc: "weight of a new sample in the bandwidth estimate [Grieco and Mascolo 2004]",
        },
        Spec {
            name: "stages",
            kind: Kind::Int { min: 1, max: 2 },
            default: "1",
            doc: "filters of that gain, one behind the other: 1 as published; Linux: 2",
        },
        Spec {
            name: "min_interval",
            kind: Kind::Duration,
            default: "50 ms",
            doc: "shortest interval of a sample; 50 ms is Linux's",
        },
    ],
    stacks: &[],
    columns: &["bw", "base_rtt"],
    build: |params, start| Ok(Box::new(Westwood::new(params, start))),
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct Westwood {
    window: Window,
    gain: f64,
    stages: u64,
    min_interval: Dur,
    rate: DeliveryRate,
    /// The latest RTT and the smallest.
    rtt: Option<(Dur, Dur)>,
    /// The estimate after each filter, bytes/s; with one stage both are the same.
    bw: Option<(f64, f64)>,
}

impl Westwood {
    fn new(params: &Params, start: &Start) -> Westwood {
        Westwood {
            window: Window::new(start),
            gain: params.float("gain"),
            stages: params.int("stages"),
            min_interval: params.duration("min_interval"),
            rate: DeliveryRate::default(),
            rtt: None,
            bw: None,
        }
    }

    fn filter(&self, sample: f64) -> (f64, f64) {
        let Some((first, second)) = self.bw else { return (sample, sample) };
        let first = first + self.gain * (sample - first);
        (first, if self.stages == 1 { first } else { second + self.gain * (first - second) })
    }
}

impl LossDriven for Westwood {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn measure(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt {
            self.rtt = Some((rtt, self.rtt.map_or(rtt, |(_, base)| base.min(rtt))));
        }
        let interval = self.rtt.map_or(self.min_interval, |(rtt, _)| rtt.max(self.min_interval));
        if let Some(sample) = self.rate.on_ack(ev.delivered, interval, cx.now) {
            self.bw = Some(self.filter(sample));
        }
    }

    fn avoid(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive(1.0, ev.acked, cx);
    }

    fn reduce(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        match (self.bw, self.rtt) {
            (Some((_, bw)), Some((_, base_rtt))) => bw * base_rtt.as_secs(), // [GM]
            _ => 0.5 * ev.window,
        }
    }

    fn restarted(&mut self, _cx: &Cx) {
        self.rate.restart(); // a pause is no measurement
    }

    fn columns(&self, row: &mut Vec<f64>) {
        row.push(self.bw.map_or(f64::NAN, |(_, bw)| bw));
        row.push(self.rtt.map_or(f64::NAN, |(_, base)| base.as_secs()));
    }
}
