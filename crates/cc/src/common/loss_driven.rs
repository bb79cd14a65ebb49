//! What all laws share that grow with ACKs and shrink with losses: such a law states only what is its own.

use super::Window;
use crate::{
    AckEvent, Arrival, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit,
    StartEvent, Unused,
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
    fn established(&mut self, _rtt: Option<Dur>, _cx: &Cx) {}

    /// Whether it listens to [`LossDriven::arrived`].
    fn hears_arrivals(&self) -> bool {
        false
    }

    /// See [`CongestionControl::on_arrival`].
    fn arrived(&mut self, _ev: &Arrival, _cx: &Cx) {}

    /// Every ACK with news, in recovery too: for round-trip times and rates.
    fn measure(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    /// An ACK of new data in slow start, outside recovery, with the window in use. Gives the bytes that count for
    /// avoidance.
    fn slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.window_mut().slow_start(ev.acked, cx)
    }

    /// The same in congestion avoidance.
    fn avoid(&mut self, ev: &AckEvent, cx: &Cx);

    /// A mark was echoed; true if the law answers by itself, which is then not as to a loss.
    fn echoed(&mut self, _ev: &CongestionEvent) -> bool {
        false
    }

    /// Congestion that may turn out to be none begins: the time to remember what reductions change beside the window.
    fn episode_begins(&mut self) {}

    /// Congestion: what is left of the window, in bytes. Not asked for a further timeout of the same segment, which
    /// leaves ssthresh as it is [RFC 5681 §3.1].
    fn reduce(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64;

    /// The window has just been reduced or set to one segment.
    fn reduced(&mut self, _ev: &CongestionEvent, _cx: &Cx) {}

    /// The window is what it was before the episode, which was none.
    fn undone(&mut self, _cx: &Cx) {}

    /// Recovery has ended; the window is bounded.
    fn recovered(&mut self, _cx: &Cx) {}

    /// A segment leaves with nothing in flight.
    fn started(&mut self, _ev: &StartEvent, _cx: &Cx) {}

    /// Sending starts again after idling; the window is bounded.
    fn restarted(&mut self, _cx: &Cx) {}

    /// The answer: the window, and what the law says beside it.
    fn answer(&self) -> Control {
        self.window().control()
    }

    /// The private columns.
    fn columns(&self, _row: &mut Vec<f64>) {}
}

impl<L: LossDriven> CongestionControl for L {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &Cx) {
        self.established(rtt, cx);
    }

    fn on_arrival(&mut self, ev: &Arrival, cx: &Cx) {
        self.arrived(ev, cx);
    }

    fn hears_arrivals(&self) -> bool {
        LossDriven::hears_arrivals(self)
    }

    fn on_ack(&mut self, ev: &AckEvent, cx: &Cx) {
        self.measure(ev, cx);
        let window = self.window_mut();
        window.look(ev, cx);
        if ev.in_recovery {
            return;
        }
        if !ev.in_loss {
            window.settle();
        }
        if ev.acked == 0 || !ev.cwnd_limited {
            return;
        }
        if self.window().in_slow_start() {
            let rest = self.slow_start(ev, cx);
            if rest > 0 {
                self.avoid(&AckEvent { acked: rest, ..*ev }, cx);
            }
        } else {
            self.avoid(ev, cx);
        }
    }

    fn on_congestion(&mut self, ev: &CongestionEvent, cx: &Cx) {
        if ev.kind == Congestion::Ecn && self.echoed(ev) {
            return;
        }
        if self.window_mut().remember(ev.kind) {
            self.episode_begins();
        }
        if ev.kind != Congestion::Timeout || ev.backoffs == 0 {
            let left = self.reduce(ev, cx);
            let window = self.window_mut();
            let before = window.cwnd.max(2.0 * cx.mss);
            window.reduce_to(left, cx);
            window.cwnd = window.cwnd.min(before); // an estimate may be above the window
        }
        if matches!(ev.kind, Congestion::Collapse | Congestion::Timeout) {
            self.window_mut().collapse(cx);
        }
        self.reduced(ev, cx);
    }

    fn on_recovery_exit(&mut self, ev: &RecoveryExit, cx: &Cx) {
        let window = self.window_mut();
        window.bound(ev.bound);
        window.settle();
        self.recovered(cx);
        if !cx.counts_segments() {
            self.window_mut().bound(ev.bound); // Linux lets the burst go
        }
    }

    fn on_undo(&mut self, cx: &Cx) {
        if self.window_mut().undo() {
            self.undone(cx);
        }
    }

    fn on_unused(&mut self, ev: &Unused, _cx: &Cx) {
        self.window_mut().unused(ev);
    }

    fn on_restart(&mut self, _idle: Dur, cx: &Cx) {
        self.window_mut().restart(cx);
        self.restarted(cx);
    }

    fn on_start(&mut self, ev: &StartEvent, cx: &Cx) {
        self.started(ev, cx);
    }

    fn hears_sends(&self) -> bool {
        false
    }

    fn control(&self) -> Control {
        self.answer()
    }

    fn phase(&self) -> Phase {
        self.window().phase()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        self.columns(row);
    }
}
