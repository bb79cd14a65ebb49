//! From the model to the outputs: pacing rate, send quantum and target of the window.
//!
//! Source: Linux 6.12 [Linux tcp_bbr.c bbr_main]; each function names its counterpart.

use super::cwnd::Target;
use super::{Bbr1, Mode, micros};
use crate::AckEvent;
use dumbbell_units::Time;

/// Below this pacing rate a quantum may be a single segment: 1.2 Mbit/s in bytes/s [Linux tcp_bbr.c bbr_min_tso_rate].
const MIN_TSO_RATE: f64 = 150_000.0;
/// The largest quantum, bytes: 64 kB with headers [Linux tcp_bbr.c bbr_tso_segs_goal, GSO_LEGACY_MAX_SIZE - 1 -
/// MAX_TCP_HEADER].
const MAX_QUANTUM: f64 = 65_535.0 - 320.0;
/// The quantum is this part of a second of the pacing rate, about 1 ms [Linux sock.c sk_pacing_shift = 10].
const PACING_SHIFT: f64 = 1024.0;

impl Bbr1 {
    /// The pacing rate before a bandwidth sample: high_gain times the window in an RTT.
    /// [Linux tcp_bbr.c bbr_init_pacing_rate_from_rtt]
    pub(super) fn init_pacing_rate_from_rtt(&mut self, rtt: f64) {
        let rate = self.window.cwnd * self.mss / rtt.max(1e-6);
        self.pacing_rate = self.set.pacing_scale * self.set.high_gain * rate;
    }

    /// Sets the pacing rate; before full_bw_reached it only rises [Linux tcp_bbr.c bbr_set_pacing_rate].
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.set.pacing_scale * gain * self.bw();
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Segments that are sent in one burst [Linux tcp_bbr.c bbr_tso_segs_goal, bbr_min_tso_segs].
    pub(super) fn tso_segs_goal(&self) -> f64 {
        let min_tso_segs = if self.pacing_rate < MIN_TSO_RATE { 1.0 } else { 2.0 };
        let bytes = MAX_QUANTUM.min(self.pacing_rate / PACING_SHIFT);
        (bytes / self.mss).floor().max(min_tso_segs).min(127.0)
    }

    /// gain * bw * min_rtt in whole segments; the initial window while min_rtt is unknown [Linux tcp_bbr.c bbr_bdp].
    pub(super) fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window, |rtt| (gain * bw * rtt / self.mss).ceil())
    }

    /// Adds the segments that sender and receiver hold in bursts; even, so that ACKs are not delayed.
    /// [Linux tcp_bbr.c bbr_quantization_budget]
    fn quantization_budget(&self, segments: f64) -> f64 {
        let even = 2.0 * ((segments + 3.0 * self.tso_segs_goal()) / 2.0).ceil();
        even + if self.mode == Mode::ProbeBw(0) { 2.0 } else { 0.0 }
    }

    /// [Linux tcp_bbr.c bbr_inflight]
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp(bw, gain))
    }

    /// Segments in the network at the earliest departure time of the next segment: until then some of those in
    /// flight are delivered [Linux tcp_bbr.c bbr_packets_in_net_at_edt].
    pub(super) fn packets_in_net_at_edt(&self, inflight: u64, ev: &AckEvent, now: Time) -> f64 {
        let departing = if self.pacing_gain > 1.0 { self.tso_segs_goal() } else { 0.0 };
        let delivered = (self.bw() * micros(ev.departs.since(now)) * 1e-6 / self.mss).floor();
        (inflight as f64 / self.mss + departing - delivered).max(0.0)
    }

    /// [Linux tcp_bbr.c bbr_set_cwnd]
    pub(super) fn set_cwnd(&mut self, ev: &AckEvent) {
        if ev.delivered > 0 {
            let extra_acked = if self.full_bw_reached {
                self.set.extra_acked_gain * self.ack_aggregation.cwnd(self.bw() / self.mss)
            } else {
                0.0
            };
            let bdp = self.bdp(self.bw(), self.cwnd_gain);
            let target = Target {
                target_cwnd: self.quantization_budget(bdp + extra_acked.floor()),
                full_bw_reached: self.full_bw_reached,
                initial: (self.delivered as f64) < self.initial_window * self.mss,
                cwnd_min_target: self.set.min_cwnd,
            };
            self.window.set_cwnd(ev, self.mss, &target);
        }
        if self.mode == Mode::ProbeRtt {
            self.window.cwnd = self.window.cwnd.min(self.set.min_cwnd);
        }
    }
}
