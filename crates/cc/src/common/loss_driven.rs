//! The part that is common to all variants that grow with ACKs and shrink with losses: the rules of RFC 5681. Such a
//! variant implements only its own rules. The names after "Linux:" are callbacks [Linux include/net/tcp.h
//! tcp_congestion_ops].
//!
//! ```text
//! CongestionControl    LossDriven, in this order; default in parentheses
//! on_established       on_established                                                        (nothing)
//! on_arrival           on_arrival                                                            (nothing)
//! on_ack               on_ack_sample        every ACK: RTT and rate samples                  (nothing)
//!                      on_ack_slow_start    outside recovery, cwnd-limited, cwnd < ssthresh  (RFC 5681)
//!                      on_ack_avoidance     likewise, cwnd >= ssthresh                       required
//! on_congestion        on_congestion_ecn    a mark: true replaces everything that follows    (false)
//!                      on_congestion_begin  an episode that can be undone begins             (nothing)
//!                      on_congestion_ssthresh  the new window                                required
//!                      on_congestion_done   the window has been reduced                      (nothing)
//! on_undo, on_recovery_exit, on_restart     the window has been undone, bounded, reduced     (nothing)
//! on_tx_start          on_tx_start                                                           (nothing)
//! ```

use super::Window;
use crate::{
    AckArrival, AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, Phase,
    RecoveryExit, TxStart,
};
use dumbbell_units::Dur;

/// An algorithm whose window is a [`Window`]. The blanket implementation of [`CongestionControl`] adds the rules of RFC
/// 5681. The name of a hook is that of the trait's event, followed by a step.
pub trait LossDriven: Send + std::fmt::Debug {
    /// Returns the window.
    fn window(&self) -> &Window;

    /// Returns the window, to be changed.
    fn window_mut(&mut self) -> &mut Window;

    /// The handshake is complete; see [`CongestionControl::on_established`].
    fn on_established(&mut self, _rtt: Option<Dur>, _cx: &Cx) {}

    /// True if [`LossDriven::on_arrival`] is needed.
    fn wants_arrivals(&self) -> bool {
        false
    }

    /// See [`CongestionControl::on_arrival`].
    fn on_arrival(&mut self, _ev: &AckArrival, _cx: &Cx) {}

    /// True if [`AckEvent::rate`] is needed.
    fn wants_rates(&self) -> bool {
        false
    }

    /// True if [`AckEvent::one_way`] is needed.
    fn wants_one_way(&self) -> bool {
        false
    }

    /// Every ACK that delivers data, also in recovery: takes RTT and rate samples. Linux: `pkts_acked`.
    fn on_ack_sample(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    /// An ACK of new data in slow start, outside recovery, while cwnd-limited. Returns the bytes that are left for
    /// congestion avoidance. Linux: `cong_avoid`.
    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.window_mut().slow_start(ev.acked, cx)
    }

    /// An ACK of new data in congestion avoidance, outside recovery, while cwnd-limited. Linux: `cong_avoid`.
    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx);

    /// A mark was echoed. Returns true if the variant has its own response to marks; otherwise the response is that to
    /// a loss [RFC 3168 §6.1.2].
    fn on_congestion_ecn(&mut self, _ev: &CongestionEvent) -> bool {
        false
    }

    /// An episode of congestion begins that may be undone: saves state that the reductions change, besides the window.
    fn on_congestion_begin(&mut self) {}

    /// Returns the window after the reduction, in bytes. Not called for a repeated timeout of the same segment, which
    /// leaves ssthresh unchanged [RFC 5681 §3.1]. Linux: `ssthresh`.
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64;

    /// The window has just been reduced, or set to one segment. Linux: `set_state`.
    fn on_congestion_done(&mut self, _ev: &CongestionEvent, _cx: &Cx) {}

    /// The window was restored to its value before the spurious episode; it was `reduced_cwnd` bytes. Linux:
    /// `undo_cwnd`.
    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {}

    /// Recovery has ended, and the window is bounded.
    fn on_recovery_exit(&mut self, _cx: &Cx) {}

    /// A segment is sent with nothing in flight; see [`CongestionControl::on_tx_start`].
    fn on_tx_start(&mut self, _ev: &TxStart, _cx: &Cx) {}

    /// Sending starts again after an idle period, and the window is reduced.
    fn on_restart(&mut self, _cx: &Cx) {}

    /// Returns the window, and the pacing rate if the variant has one.
    fn control(&self) -> Control {
        self.window().control()
    }

    /// See [`CongestionControl::observe`].
    fn observe(&self, _row: &mut Vec<f64>) {}
}

/// The accessors of a [`LossDriven`] whose window is this field.
macro_rules! window_is {
    ($($field:ident).+) => {
        fn window(&self) -> &$crate::common::Window {
            &self.$($field).+
        }

        fn window_mut(&mut self) -> &mut $crate::common::Window {
            &mut self.$($field).+
        }
    };
}

pub(crate) use window_is;

impl<L: LossDriven> CongestionControl for L {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        LossDriven::on_established(self, rtt, cx);
    }

    fn on_arrival(&mut self, ev: &AckArrival, cx: &Cx) {
        LossDriven::on_arrival(self, ev, cx);
    }

    fn wants_arrivals(&self) -> bool {
        LossDriven::wants_arrivals(self)
    }

    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        self.on_ack_sample(ev, cx);
        let window = self.window_mut();
        window.detect_slow_start_exit(ev, cx);
        if ev.in_recovery {
            return;
        }
        if !ev.in_loss {
            window.end_episode();
        }
        if ev.acked == 0 || !ev.cwnd_limited {
            return;
        }
        if self.window().in_slow_start() {
            let rest = self.on_ack_slow_start(ev, cx);
            if rest > 0 {
                self.on_ack_avoidance(&AckEvent { acked: rest, ..*ev }, cx);
            }
        } else {
            self.on_ack_avoidance(ev, cx);
        }
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if ev.kind == Congestion::Ecn && self.on_congestion_ecn(ev) {
            return;
        }
        if self.window_mut().begin_episode(ev.kind) {
            self.on_congestion_begin();
        }
        if ev.kind != Congestion::Timeout || ev.backoffs == 0 {
            let reduced = self.on_congestion_ssthresh(ev, cx);
            let window = self.window_mut();
            let max = window.cwnd.max(2.0 * cx.mss);
            window.reduce_to(reduced, cx);
            window.cwnd = window.cwnd.min(max); // an estimate of the bandwidth-delay product may exceed cwnd
        }
        if matches!(ev.kind, Congestion::Collapse | Congestion::Timeout) {
            self.window_mut().set_loss_window(cx);
        }
        self.on_congestion_done(ev, cx);
    }

    fn on_recovery_exit(&mut self, ev: &RecoveryExit, cx: &Cx) {
        let window = self.window_mut();
        window.limit(ev.bound);
        window.end_episode();
        LossDriven::on_recovery_exit(self, cx);
        // A stack that counts segments permits a burst up to ssthresh [Linux tcp_input.c tcp_end_cwnd_reduction].
        if !cx.counts_segments() {
            self.window_mut().limit(ev.bound);
        }
    }

    fn on_undo(&mut self, cx: &Cx) {
        let reduced_cwnd = self.window().cwnd;
        if self.window_mut().undo() {
            LossDriven::on_undo(self, reduced_cwnd, cx);
        }
    }

    fn on_cwnd_validation(&mut self, ev: &CwndValidation, _cx: &Cx) {
        self.window_mut().validate(ev);
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window_mut().restart(cx);
        LossDriven::on_restart(self, cx);
    }

    fn on_tx_start(&mut self, ev: &TxStart, cx: &Cx) {
        LossDriven::on_tx_start(self, ev, cx);
    }

    fn wants_sent(&self) -> bool {
        false
    }

    fn wants_rates(&self) -> bool {
        LossDriven::wants_rates(self)
    }

    fn wants_one_way(&self) -> bool {
        LossDriven::wants_one_way(self)
    }

    fn control(&self) -> Control {
        LossDriven::control(self)
    }

    fn phase(&self) -> Phase {
        self.window().phase()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        LossDriven::observe(self, row);
    }
}
