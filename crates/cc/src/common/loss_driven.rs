//! What all laws share that grow with ACKs and shrink with losses: such a law states only what is its own.

use super::Window;
use crate::{
    AckArrival, AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, Phase,
    RecoveryExit, TxStart,
};
use dumbbell_units::Dur;

/// A law whose window is a [`Window`]. It is told of ACKs and losses in the order of the methods here; the blanket
/// implementation of [`CongestionControl`] does the rest as RFC 5681 has it.
pub trait LossDriven: Send + std::fmt::Debug {
    /// The window.
    fn window(&self) -> &Window;

    /// The window, to be changed.
    fn window_mut(&mut self) -> &mut Window;

    /// The handshake is over; see [`CongestionControl::on_established`].
    fn on_established(&mut self, _rtt: Option<Dur>, _cx: &Cx) {}

    /// Whether it listens to [`LossDriven::on_arrival`].
    fn wants_arrivals(&self) -> bool {
        false
    }

    /// See [`CongestionControl::on_arrival`].
    fn on_arrival(&mut self, _ev: &AckArrival, _cx: &Cx) {}

    /// Every ACK with news, in recovery too: for round-trip times and rates.
    fn on_ack_sample(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    /// An ACK of new data in slow start, outside recovery, with the window in use. Gives the bytes that count for
    /// avoidance.
    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.window_mut().slow_start(ev.acked, cx)
    }

    /// The same in congestion avoidance.
    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx);

    /// A mark was echoed; true if the law answers by itself, which is then not as to a loss.
    fn on_congestion_ecn(&mut self, _ev: &CongestionEvent) -> bool {
        false
    }

    /// Congestion that may turn out to be none begins: the time to remember what reductions change beside the window.
    fn on_congestion_begin(&mut self) {}

    /// Congestion: what is left of the window, in bytes. Not asked for a further timeout of the same segment, which
    /// leaves ssthresh as it is [RFC 5681 §3.1].
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64;

    /// The window has just been reduced or set to one segment.
    fn on_congestion_done(&mut self, _ev: &CongestionEvent, _cx: &Cx) {}

    /// The window is what it was before the episode, which was none.
    fn on_undo(&mut self, _cx: &Cx) {}

    /// Recovery has ended; the window is bounded.
    fn on_recovery_exit(&mut self, _cx: &Cx) {}

    /// A segment leaves with nothing in flight.
    fn on_tx_start(&mut self, _ev: &TxStart, _cx: &Cx) {}

    /// Sending starts again after idling; the window is bounded.
    fn on_restart(&mut self, _cx: &Cx) {}

    /// The answer: the window, and what the law says beside it.
    fn control(&self) -> Control {
        self.window().control()
    }

    /// The private columns.
    fn observe(&self, _row: &mut Vec<f64>) {}
}

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
            let left = self.on_congestion_ssthresh(ev, cx);
            let window = self.window_mut();
            let before = window.cwnd.max(2.0 * cx.mss);
            window.reduce_to(left, cx);
            window.cwnd = window.cwnd.min(before); // an estimate may be above the window
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
        if !cx.counts_segments() {
            self.window_mut().limit(ev.bound); // Linux lets the burst go
        }
    }

    fn on_undo(&mut self, cx: &Cx) {
        if self.window_mut().undo() {
            LossDriven::on_undo(self, cx);
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
