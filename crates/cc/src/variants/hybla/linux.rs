//! Hybla with the integer arithmetic of Linux: `rules = "linux"` [Linux net/ipv4/tcp_hybla.c].
//!
//! ```text
//! rho          srtt / RTT0 in eighths, rounded down, at least 1; srtt: its minimum           [hybla_recalc_param]
//! start        cwnd = rho                                                                            [hybla_init]
//! slow start   cwnd += 2^rho - 1 per ACK, in 128ths, up to ssthresh                            [hybla_cong_avoid]
//! avoidance    cwnd += rho^2 / cwnd per ACK, in 128ths; if that is 0, one segment per window of ACKs
//!                                                                                              [hybla_cong_avoid]
//! not Open     as Reno                                                            [hybla_state, hybla_cong_avoid]
//! ```
//! An ACK counts once, however many segments it covers. Before the handshake has given an RTT the window is one
//! segment.

use super::{RHO_MAX, rtt0};
use crate::common::{LossDriven, Srtt, Window, window_is};
use crate::{AckEvent, CongestionEvent, Cx, Setup};
use dumbbell_units::Dur;
use dumbbell_units::param::Params;

/// The unit of increments, per segment [Linux tcp_hybla.c hybla_cong_avoid].
const UNIT: u64 = 128;
/// The largest window that it grows to, segments [Linux tcp_hybla.c hybla_init: snd_cwnd_clamp].
const CLAMP: f64 = 65_535.0;

/// Hybla as in Linux; names of `struct hybla` [Linux tcp_hybla.c].
#[derive(Clone, Debug)]
pub(super) struct LinuxHybla {
    window: Window,
    /// RTT0, s.
    rtt0: f64,
    srtt: Srtt,
    /// The minimum of srtt, s.
    minrtt: Option<f64>,
    /// Fractions of a segment that have not been added yet, in 128ths. A loss doesn't reset it, nor the next.
    snd_cwnd_cents: u64,
    /// ACKs since the window last grew (tp->snd_cwnd_cnt).
    snd_cwnd_cnt: u64,
}

impl LinuxHybla {
    pub(super) fn new(params: &Params, setup: &Setup) -> LinuxHybla {
        let mut window = Window::new(setup);
        window.cwnd = setup.mss;
        LinuxHybla {
            window,
            rtt0: rtt0(params),
            srtt: Srtt::default(),
            minrtt: None,
            snd_cwnd_cents: 0,
            snd_cwnd_cnt: 0,
        }
    }

    /// [Linux tcp_hybla.c hybla_recalc_param].
    fn rho(&self) -> f64 {
        let rho = self.minrtt.map_or(1.0, |minrtt| minrtt / self.rtt0);
        ((8.0 * rho).floor() / 8.0).max(1.0)
    }

    /// Grows by `increment` 128ths of a segment [Linux tcp_hybla.c hybla_cong_avoid].
    fn grow(&mut self, increment: u64, cx: &Cx) {
        self.snd_cwnd_cents += increment;
        let mut segments = self.snd_cwnd_cents / UNIT;
        self.snd_cwnd_cents %= UNIT;
        if increment == 0 && self.snd_cwnd_cnt as f64 >= self.window.segments(cx) {
            segments = 1;
        }
        if segments > 0 {
            self.snd_cwnd_cnt = 0;
        }
        let most = self.window.cwnd.max(CLAMP * cx.mss);
        self.window.cwnd = (self.window.cwnd + segments as f64 * cx.mss).min(most);
    }

    /// True if the state is Open (hybla_en) [Linux tcp_hybla.c hybla_state].
    fn is_enabled(ev: &AckEvent) -> bool {
        !ev.in_loss && !ev.disordered
    }
}

impl LossDriven for LinuxHybla {
    window_is!(window);

    /// [Linux tcp_hybla.c hybla_init].
    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        let Some(rtt) = rtt else { return };
        self.srtt.sample(rtt);
        self.minrtt = Some(rtt.as_secs());
        self.window.cwnd = self.rho().floor() * cx.mss;
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        let srtt = self.srtt.secs();
        if self.minrtt.is_none() && self.window.in_slow_start() {
            self.minrtt = Some(srtt);
            self.window.cwnd = self.window.cwnd.max(self.rho().floor() * cx.mss);
        }
        self.minrtt = Some(self.minrtt.map_or(srtt, |minrtt| minrtt.min(srtt)));
    }

    /// [Linux tcp_hybla.c hybla_cong_avoid, hybla_fraction].
    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        if !LinuxHybla::is_enabled(ev) {
            return self.window.slow_start(ev.acked, cx);
        }
        // 2^rho: the power of the fractional part is rounded down by itself.
        let (rho, rho_fraction) = (self.rho().floor(), self.rho().fract());
        let power = libm::exp2(rho.min(RHO_MAX)) * (UNIT as f64 * libm::exp2(rho_fraction)).floor();
        self.grow(power as u64 - UNIT, cx);
        self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        0
    }

    /// [Linux tcp_hybla.c hybla_cong_avoid].
    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        if !LinuxHybla::is_enabled(ev) {
            return self.window.additive_increase(1.0, ev.acked, cx);
        }
        let rho = self.rho();
        let increment = (UNIT as f64 * rho * rho / self.window.segments(cx).floor().max(1.0)) as u64;
        self.snd_cwnd_cnt += 1;
        self.grow(increment, cx);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        0.5 * ev.window
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.rho(), self.minrtt.unwrap_or(f64::NAN)]);
    }
}
