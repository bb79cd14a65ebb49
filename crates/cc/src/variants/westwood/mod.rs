//! Westwood+: Reno which, after a loss, sets the window to the product of estimated bandwidth and minimum RTT [Grieco
//! and Mascolo, Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control, ACM CCR
//! 34(2), 2004, "GM"].
//!
//! ```text
//! each RTT     b = bytes delivered / time,  BWE += gain * (b - BWE)                                     [GM]
//! growth       slow start and avoidance as Reno                                                         [GM]
//! loss         ssthresh = BWE * RTTmin, at least 2;  cwnd = ssthresh if that is less                    [GM]
//! timeout      ssthresh likewise, cwnd = 1                                                              [GM]
//! RTTmin       the minimum RTT of the connection
//! ```
//! The interval of a sample is the latest RTT, at least `min_interval`. The first sample initializes the filter: a
//! filter that starts from zero would need dozens of round trips. Before the first sample a loss halves the window.
//! Delivered bytes include those of SACK blocks; without SACK the data that arrived during a recovery counts when it is
//! acknowledged. A `tick` above zero, the default on the stack `linux`, selects `linux.rs`.

mod linux;

use crate::common::{DeliveryRate, LossDriven, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, settings, specs};
use linux::LinuxWestwood;

pub(crate) const ROW: Variant = Variant {
    name: "westwood",
    title: "Westwood+: Reno whose decrease follows the measured bandwidth",
    year: 2004,
    source: "Grieco and Mascolo, Westwood+, ACM CCR 34(2), 2004; Mascolo et al., TCP Westwood, MobiCom 2001",
    on_loss: "cwnd = ssthresh = measured bandwidth x smallest RTT; timeout: cwnd = 1 segment",
    on_delay: "none",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// weight of a new sample in the bandwidth estimate [Grieco and Mascolo 2004]
        gain = "0.125", Kind::Float { min: 0.001, max: 1.0 };
        /// number of filters with that gain in series [Grieco and Mascolo 2004]; two in [Linux tcp_westwood.c
        /// westwood_filter]
        stages = "1", Kind::Int { min: 1, max: 2 };
        /// shortest interval of a sample [Linux tcp_westwood.c TCP_WESTWOOD_RTT_MIN]
        min_interval = "50 ms", Kind::Duration;
        /// a timeout resets base_rtt
        reset_base_rtt = "false", Kind::Bool;
        /// when the estimate becomes the window: at the loss [Grieco and Mascolo 2004], or at the end of fast recovery,
        /// during which the window is half as large
        when = "loss", Kind::Choice(&["loss", "recovered"]);
        /// the clock of the integer rules [Linux tcp_westwood.c westwood_update_window]: RTTs in whole ticks, rounded
        /// up; intervals one tick longer than needed; rates in whole bytes per tick; the first interval begins with the
        /// connection. 0 ms: exact
        tick = "0 ms", Kind::Duration;
    },
    stack_defaults: &[
        ("linux", "stages", "2"),
        ("linux", "reset_base_rtt", "true"),
        ("linux", "when", "recovered"),
        ("linux", "tick", "4 ms"),
    ],
    columns: &["bw", "base_rtt"],
    build: |params, setup| {
        let set = Settings::read(params);
        match params.duration("tick") {
            Dur::ZERO => Ok(Box::new(Westwood::new(set, setup))),
            tick => Ok(Box::new(LinuxWestwood::new(set, tick, setup))),
        }
    },
    ..Variant::EMPTY
};

settings! {
    /// The parameters of both versions.
    #[derive(Clone, Copy, Debug)]
    struct Settings;
    fn read(params: &Params);
    gain: f64 = params.float("gain");
    stages: u64 = params.int("stages");
    min_interval: Dur = params.duration("min_interval");
    reset_base_rtt: bool = params.bool("reset_base_rtt");
    at_loss: bool = params.choice("when") == "loss";
}

impl Settings {
    /// Updates the bandwidth estimate, bytes/s: the value after the first filter and after the last. `round` rounds
    /// each value.
    fn filter(&self, bwe: Option<(f64, f64)>, sample: f64, round: impl Fn(f64) -> f64) -> (f64, f64) {
        let Some((first, second)) = bwe else { return (sample, sample) };
        let first = round(first + self.gain * (sample - first)); // [GM]
        (first, if self.stages == 1 { first } else { round(second + self.gain * (first - second)) })
    }

    /// Returns the window after congestion, bytes: BWE * RTTmin if both are known.
    fn ssthresh(&self, bwe_rtt_min: Option<f64>, ev: &CongestionEvent) -> f64 {
        let is_deferred = ev.kind == Congestion::Loss && !self.at_loss;
        bwe_rtt_min.filter(|_| !is_deferred).unwrap_or(0.5 * ev.window)
    }

    /// Sets the window to BWE * RTTmin at the end of a recovery, if it was not set at the loss.
    fn complete_recovery(&self, window: &mut Window, bwe_rtt_min: Option<f64>, cx: &Cx) {
        if let Some(bwe_rtt_min) = bwe_rtt_min.filter(|_| !self.at_loss) {
            window.reduce_to(bwe_rtt_min, cx);
            if cx.counts_segments() {
                window.cwnd = window.ssthresh;
            }
        }
    }
}

/// Westwood+ as published.
#[derive(Clone, Debug)]
struct Westwood {
    window: Window,
    set: Settings,
    rate: DeliveryRate,
    /// The latest RTT and RTTmin.
    rtt: Option<(Dur, Dur)>,
    /// BWE after the first filter and after the last, bytes/s.
    bwe: Option<(f64, f64)>,
}

impl Westwood {
    fn new(set: Settings, setup: &Setup) -> Westwood {
        Westwood { window: Window::new(setup), set, rate: DeliveryRate::default(), rtt: None, bwe: None }
    }

    /// Returns BWE * RTTmin in bytes [GM].
    fn bwe_rtt_min(&self) -> Option<f64> {
        Some(self.bwe?.1 * self.rtt?.1.as_secs())
    }
}

impl LossDriven for Westwood {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt {
            self.rtt = Some((rtt, self.rtt.map_or(rtt, |(_, rtt_min)| rtt_min.min(rtt))));
        }
        let min_interval = self.set.min_interval;
        let interval = self.rtt.map_or(min_interval, |(rtt, _)| rtt.max(min_interval));
        if let Some(sample) = self.rate.on_ack(ev.delivered, interval, cx.now) {
            self.bwe = Some(self.set.filter(self.bwe, sample, |rate| rate));
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive_increase(1.0, ev.acked, cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        let ssthresh = self.set.ssthresh(self.bwe_rtt_min(), ev);
        if ev.kind == Congestion::Timeout && self.set.reset_base_rtt {
            self.rtt = None;
        }
        ssthresh
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        let bwe_rtt_min = self.bwe_rtt_min();
        self.set.complete_recovery(&mut self.window, bwe_rtt_min, cx);
    }

    fn on_restart(&mut self, _cx: &Cx) {
        self.rate.restart(); // an idle period is no sample
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.bwe.map_or(f64::NAN, |(_, bwe)| bwe));
        row.push(self.rtt.map_or(f64::NAN, |(_, rtt_min)| rtt_min.as_secs()));
    }
}
