//! cwnd and ssthresh with the moves that every loss-based law makes.

use crate::{Control, Cx, Increase, Phase, Start};

/// A window in bytes, with fractions: an increase of a fraction of a segment isn't lost.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The congestion window.
    pub cwnd: f64,
    /// The slow start threshold.
    pub ssthresh: f64,
}

impl Window {
    /// The window at the start of a connection.
    #[must_use]
    pub fn new(start: &Start) -> Window {
        Window { cwnd: start.initial_window, ssthresh: start.ssthresh }
    }

    /// Whether slow start governs.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The window in segments.
    #[must_use]
    pub fn segments(&self, cx: &Cx) -> f64 {
        self.cwnd / cx.mss
    }

    /// Slow start: at most one segment for each ACK of new data [RFC 5681 §3.1 (2)].
    pub fn slow_start(&mut self, acked: u64, cx: &Cx) {
        self.cwnd += (acked as f64).min(cx.mss);
    }

    /// Congestion avoidance: so many segments for each full window of ACKs [RFC 5681 §3.1 (3)].
    pub fn additive(&mut self, segments: f64, acked: u64, cx: &Cx) {
        let counted = match cx.increase {
            Increase::PerAck => cx.mss,
            Increase::Bytes => acked as f64,
        };
        self.cwnd += segments * cx.mss * counted / self.cwnd;
    }

    /// To `window` for both, never below two segments [RFC 5681 §3.1 (4)]. In whole segments only ssthresh is cut (and
    /// kept from falling below two): the order in which ns-2 and its forebears compute the two.
    pub fn reduce_to(&mut self, window: f64, cx: &Cx) {
        let least = 2.0 * cx.mss;
        if cx.whole_segments {
            self.ssthresh = ((window / cx.mss).floor() * cx.mss).max(least);
            self.cwnd = window.max(cx.mss);
        } else {
            self.ssthresh = window.max(least);
            self.cwnd = self.ssthresh;
        }
    }

    /// The loss window of one segment [RFC 5681 §3.1].
    pub fn collapse(&mut self, cx: &Cx) {
        self.cwnd = cx.mss;
    }

    /// No burst when recovery ends [RFC 6582 §3.2 step 3 (1)].
    pub fn bound(&mut self, bound: f64) {
        self.cwnd = self.cwnd.min(bound);
    }

    /// After idling: no more than the initial window [RFC 5681 §4.1].
    pub fn restart(&mut self, cx: &Cx) {
        self.cwnd = self.cwnd.min(cx.initial_window);
    }

    /// The answer of a law that has nothing but this window.
    #[must_use]
    pub fn control(&self) -> Control {
        Control { cwnd: self.cwnd, ssthresh: self.ssthresh, pacing: None, quantum: None }
    }

    /// Slow start or avoidance.
    #[must_use]
    pub fn phase(&self) -> Phase {
        if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance }
    }
}
