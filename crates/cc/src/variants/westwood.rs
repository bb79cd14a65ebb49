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
//! Linux filters twice (`stages`), looks for base_rtt anew after a timeout (`reset_base_rtt`), and halves the window for
//! the time of a recovery, so that the estimate counts as it is at the end of that (`when`), be it more or less than before.
//! With a clock of ticks duplicate ACKs count as a segment each, and a cumulative ACK for what is left, as in Linux; without
//! one what SACK tells counts, and where there is none, what arrived in a recovery counts when it is acknowledged.

use crate::Variant;
use crate::common::{DeliveryRate, LossDriven, Window};
use crate::{AckArrival, AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Time};

pub(crate) const ROW: Variant = Variant {
    name: "westwood",
    title: "Westwood+: Reno whose decrease follows the measured bandwidth",
    year: 2004,
    source: "Grieco and Mascolo, Westwood+, ACM CCR 34(2), 2004; Mascolo et al., TCP Westwood, MobiCom 2001",
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
            doc: "filters of that gain, one behind the other [Grieco and Mascolo 2004]",
        },
        Spec {
            name: "min_interval",
            kind: Kind::Duration,
            default: "50 ms",
            doc: "shortest interval of a sample; 50 ms is Linux's",
        },
        Spec {
            name: "reset_base_rtt",
            kind: Kind::Bool,
            default: "false",
            doc: "whether a timeout makes it forget base_rtt",
        },
        Spec {
            name: "when",
            kind: Kind::Choice(&["loss", "recovered"]),
            default: "loss",
            doc: "when the estimate becomes the window: where the loss is found [Grieco and Mascolo 2004], or at the end \
                  of fast recovery, in which half the window counts",
        },
        Spec {
            name: "tick",
            kind: Kind::Duration,
            default: "0 ms",
            doc: "clock by which it measures: RTTs are whole ticks, rounded up, intervals one tick longer than they have to \
                  be, rates whole bytes a tick, and the first interval starts with the connection, as in Linux; 0: exactly",
        },
    ],
    stack_defaults: &[
        ("linux", "stages", "2"),
        ("linux", "reset_base_rtt", "true"),
        ("linux", "when", "recovered"),
        ("linux", "tick", "4 ms"),
    ],
    columns: &["bw", "base_rtt"],
    build: |params, setup| Ok(Box::new(Westwood::new(params, setup))),
    ..Variant::EMPTY
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct Westwood {
    window: Window,
    gain: f64,
    stages: u64,
    min_interval: Dur,
    reset_base_rtt: bool,
    at_loss: bool,
    /// Zero: the clock is exact.
    tick: Dur,
    rate: DeliveryRate,
    /// The latest RTT and the smallest.
    rtt: Option<(Dur, Dur)>,
    ticking: Ticking,
    /// The estimate after each filter, bytes/s; with one stage both are the same.
    bw: Option<(f64, f64)>,
}

/// What Linux's way of measuring keeps: it hears of an ACK before anything follows from it, so before it ends a
/// recovery.
#[derive(Clone, Copy, Debug, Default)]
struct Ticking {
    /// The first ACK doesn't count by what it acknowledges.
    begun: bool,
    /// Bytes that duplicate ACKs stood for, a segment each, and that no cumulative one has been cut by.
    accounted: u64,
    /// The latest RTT.
    rtt: Option<Dur>,
    /// The next ACK takes the latest RTT for the smallest.
    renews: bool,
}

impl Ticking {
    /// What an ACK counts for, bytes.
    fn counts(&mut self, ev: &AckArrival, mss: u64) -> u64 {
        let acked = if std::mem::replace(&mut self.begun, true) { ev.acked } else { 0 };
        if ev.fast_path {
            return acked;
        }
        if acked == 0 {
            self.accounted += mss;
            return mss;
        }
        if acked <= mss {
            return acked;
        }
        if self.accounted >= acked {
            self.accounted -= acked;
            return mss;
        }
        acked - std::mem::take(&mut self.accounted)
    }
}

impl Westwood {
    fn new(params: &Params, setup: &Setup) -> Westwood {
        Westwood {
            window: Window::new(setup),
            gain: params.float("gain"),
            stages: params.int("stages"),
            min_interval: params.duration("min_interval"),
            reset_base_rtt: params.bool("reset_base_rtt"),
            at_loss: params.choice("when") == "loss",
            tick: params.duration("tick"),
            rate: DeliveryRate::default(),
            rtt: None,
            ticking: Ticking::default(),
            bw: None,
        }
    }

    fn filter(&self, sample: f64) -> (f64, f64) {
        let Some((first, second)) = self.bw else { return (sample, sample) };
        let first = self.whole(first + self.gain * (sample - first));
        (first, if self.stages == 1 { first } else { self.whole(second + self.gain * (first - second)) })
    }

    /// A rate in whole bytes a tick.
    fn whole(&self, rate: f64) -> f64 {
        let tick = self.tick.as_secs();
        if tick > 0.0 { (rate * tick + 1e-6).floor() / tick } else { rate }
    }

    /// The last tick.
    fn floor(&self, now: Time) -> Time {
        Time(now.0 / self.tick.0 * self.tick.0)
    }

    /// By a clock with ticks.
    fn measure_in_ticks(&mut self, ev: &AckArrival, cx: &Cx) {
        let counts = self.ticking.counts(ev, cx.mss as u64);
        let rtt = ev.rtt.map(|rtt| self.tick * rtt.0.div_ceil(self.tick.0));
        self.ticking.rtt = rtt.or(self.ticking.rtt);
        let now = self.floor(cx.now);
        // 50 ms are cut to whole ticks.
        let least = Dur(self.min_interval.0 / self.tick.0 * self.tick.0);
        let interval = self.ticking.rtt.map_or(Dur(u64::MAX), |rtt| rtt.max(least) + self.tick);
        if let Some(sample) = self.rate.on_ack(counts, interval, now) {
            self.bw = Some(self.filter(self.whole(sample)));
        }
        if let Some(rtt) = self.ticking.rtt {
            let base = self.rtt.map(|(_, base)| base).filter(|_| !self.ticking.renews);
            self.rtt = Some((rtt, base.map_or(rtt, |base| base.min(rtt))));
            self.ticking.renews = false;
        }
    }

    /// The window that the measured bandwidth fills without a queue, bytes [GM].
    fn estimate(&self) -> Option<f64> {
        Some(self.bw?.1 * self.rtt?.1.as_secs())
    }
}

impl LossDriven for Westwood {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_established(&mut self, _rtt: Option<Dur>, cx: &Cx) {
        if self.tick > Dur::ZERO {
            self.rate.on_ack(0, Dur(u64::MAX), self.floor(cx.now));
        }
    }

    fn wants_arrivals(&self) -> bool {
        self.tick > Dur::ZERO
    }

    fn on_arrival(&mut self, ev: &AckArrival, cx: &Cx) {
        self.measure_in_ticks(ev, cx);
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.tick > Dur::ZERO {
            return;
        }
        if let Some(rtt) = ev.rtt {
            self.rtt = Some((rtt, self.rtt.map_or(rtt, |(_, base)| base.min(rtt))));
        }
        let interval = self.rtt.map_or(self.min_interval, |(rtt, _)| rtt.max(self.min_interval));
        if let Some(sample) = self.rate.on_ack(ev.delivered, interval, cx.now) {
            self.bw = Some(self.filter(sample));
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive_increase(1.0, ev.acked, cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        let waits = ev.kind == Congestion::Loss && !self.at_loss;
        let left = self.estimate().filter(|_| !waits).unwrap_or(0.5 * ev.window);
        if ev.kind == Congestion::Timeout && self.reset_base_rtt {
            self.ticking.renews = true;
            self.rtt = self.rtt.filter(|_| self.tick > Dur::ZERO);
        }
        left
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        if !self.at_loss
            && let Some(window) = self.estimate()
        {
            self.window.reduce_to(window, cx);
            if cx.counts_segments() {
                self.window.cwnd = self.window.ssthresh;
            }
        }
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.rate.restart(); // a pause is no measurement
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.bw.map_or(f64::NAN, |(_, bw)| bw));
        row.push(self.rtt.map_or(f64::NAN, |(_, base)| base.as_secs()));
    }
}
