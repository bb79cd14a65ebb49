//! Westwood+ with the integer arithmetic of Linux: `tick` above zero [Linux net/ipv4/tcp_westwood.c
//! tcp_westwood_ack].
//!
//! ```text
//! each ACK     before the endpoint acts on it: update_window, bk += bytes, rtt_min               [tcp_westwood_ack]
//!   bytes      those it acknowledges on the fast path; a duplicate ACK counts as one segment, and the next cumulative
//!              ACKs count as many bytes less                                  [westwood_fast_bw, westwood_acked_count]
//!   window     longer than max(rtt, 50 ms): bw_ns_est and bw_est are filtered, bytes per tick [westwood_update_window]
//! recovery     half the window; at its end cwnd = ssthresh = bw_est * rtt_min                  [tcp_westwood_event]
//!              two segments without an estimate: paths with a short RTT lose before the first 50 ms have passed
//! timeout      ssthresh = bw_est * rtt_min; the next ACK sets rtt_min to the latest RTT        [tcp_westwood_event]
//! ```
//! An idle time counts as a part of its window: tcp_westwood_event has no case for CA_EVENT_CWND_RESTART.

use super::Settings;
use crate::common::{DeliveryRate, LossDriven, Window, window_is};
use crate::{AckArrival, AckEvent, Congestion, CongestionEvent, Cx, Setup};
use dumbbell_units::{Dur, Time};

/// No interval is as long.
const NEVER: Dur = Dur(u64::MAX);

/// Westwood+ as in Linux; names of `struct westwood` [Linux tcp_westwood.c].
#[derive(Clone, Debug)]
pub(super) struct LinuxWestwood {
    window: Window,
    set: Settings,
    tick: Dur,
    /// bk and rtt_win_sx.
    rate: DeliveryRate,
    /// True before the first ACK, which doesn't count the bytes that it acknowledges.
    first_ack: bool,
    /// Bytes counted for duplicate ACKs and not yet subtracted from a cumulative ACK.
    accounted: u64,
    /// The latest RTT, whole ticks.
    rtt: Option<Dur>,
    rtt_min: Option<Dur>,
    /// True if the next ACK sets rtt_min to the latest RTT.
    reset_rtt_min: bool,
    /// bw_ns_est and bw_est, bytes/s.
    bw: Option<(f64, f64)>,
}

impl LinuxWestwood {
    pub(super) fn new(set: Settings, tick: Dur, setup: &Setup) -> LinuxWestwood {
        LinuxWestwood {
            window: Window::new(setup),
            set,
            tick,
            rate: DeliveryRate::default(),
            first_ack: true,
            accounted: 0,
            rtt: None,
            rtt_min: None,
            reset_rtt_min: false,
            bw: None,
        }
    }

    /// Returns the bytes that an ACK counts for [Linux tcp_westwood.c westwood_fast_bw, westwood_acked_count].
    fn acked_count(&mut self, ev: &AckArrival, mss: u64) -> u64 {
        let cumul_ack = if std::mem::take(&mut self.first_ack) { 0 } else { ev.acked };
        if ev.fast_path {
            return cumul_ack;
        }
        if cumul_ack == 0 {
            self.accounted += mss;
            return mss;
        }
        if cumul_ack <= mss {
            return cumul_ack;
        }
        if self.accounted >= cumul_ack {
            self.accounted -= cumul_ack;
            return mss;
        }
        cumul_ack - std::mem::take(&mut self.accounted)
    }

    /// Rounds a rate down to whole bytes per tick.
    fn whole(&self, rate: f64) -> f64 {
        let tick = self.tick.as_secs();
        (rate * tick + 1e-6).floor() / tick
    }

    /// Rounds a time down to a tick.
    fn floor(&self, now: Time) -> Time {
        Time(now.0 / self.tick.0 * self.tick.0)
    }

    /// Returns bw_est * rtt_min in bytes; 0, which becomes two segments, before the first estimate [Linux
    /// tcp_westwood.c tcp_westwood_bw_rttmin].
    fn bw_rttmin(&self) -> f64 {
        self.bw.zip(self.rtt_min).map_or(0.0, |((_, bw_est), rtt_min)| bw_est * rtt_min.as_secs())
    }
}

impl LossDriven for LinuxWestwood {
    window_is!(window);

    /// The first interval begins with the connection [Linux tcp_westwood.c tcp_westwood_init].
    fn on_established(&mut self, _rtt: Option<Dur>, cx: &Cx) {
        self.rate.on_ack(0, NEVER, self.floor(cx.now));
    }

    fn wants_arrivals(&self) -> bool {
        true
    }

    /// [Linux tcp_westwood.c tcp_westwood_ack].
    fn on_arrival(&mut self, ev: &AckArrival, cx: &Cx) {
        let bytes = self.acked_count(ev, cx.mss as u64);
        self.rtt = ev.rtt.map(|rtt| self.tick * rtt.0.div_ceil(self.tick.0)).or(self.rtt);
        let now = self.floor(cx.now);
        // TCP_WESTWOOD_RTT_MIN = HZ / 20 is cut to whole ticks, and the interval must exceed it.
        let rtt_min = Dur(self.set.min_interval.0 / self.tick.0 * self.tick.0);
        let interval = self.rtt.map_or(NEVER, |rtt| rtt.max(rtt_min) + self.tick);
        if let Some(sample) = self.rate.on_ack(bytes, interval, now) {
            self.bw = Some(self.set.filter(self.bw, self.whole(sample), |rate| self.whole(rate)));
        }
        if let Some(rtt) = self.rtt {
            let rtt_min = self.rtt_min.filter(|_| !self.reset_rtt_min);
            self.rtt_min = Some(rtt_min.map_or(rtt, |rtt_min| rtt_min.min(rtt)));
            self.reset_rtt_min = false;
        }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.window.additive_increase(1.0, ev.acked, cx);
    }

    /// [Linux tcp_westwood.c tcp_westwood_event, CA_EVENT_LOSS].
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        self.reset_rtt_min |= ev.kind == Congestion::Timeout && self.set.reset_base_rtt;
        self.set.ssthresh(Some(self.bw_rttmin()), ev)
    }

    /// [Linux tcp_westwood.c tcp_westwood_event, CA_EVENT_COMPLETE_CWR].
    fn on_recovery_exit(&mut self, cx: &Cx) {
        let bw_rttmin = self.bw_rttmin();
        self.set.complete_recovery(&mut self.window, Some(bw_rttmin), cx);
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.push(self.bw.map_or(f64::NAN, |(_, bw_est)| bw_est));
        row.push(self.rtt_min.map_or(f64::NAN, Dur::as_secs));
    }
}
