//! cwnd and ssthresh, with the operations that all loss-based variants share [RFC 5681 §3.1].
//!
//! ```text
//! slow start    cwnd += min(acked, L * SMSS)              [RFC 5681 §3.1 (2)], [Linux tcp_cong.c tcp_slow_start]
//! avoidance     cwnd += n segments per window of ACKs     [RFC 5681 §3.1 (3)], [Linux tcp_cong.c tcp_cong_avoid_ai]
//! reduction     ssthresh = max(window, 2 SMSS), cwnd = ssthresh  [RFC 5681 §3.1 (4)]
//! timeout       cwnd = 1 SMSS                             [RFC 5681 §3.1]
//! undo          cwnd and ssthresh before the episode      [RFC 4015 §3.2], [Linux tcp_input.c tcp_undo_cwnd_reduction]
//! ```

use super::slow_start::SlowStartRule;
use crate::{AckEvent, Congestion, Control, CwndValidation, Cx, Increase, Phase, Setup};

/// cwnd and ssthresh in bytes, with fractions: an increase of a fraction of a segment isn't lost.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The congestion window.
    pub cwnd: f64,
    /// The slow start threshold.
    pub ssthresh: f64,
    /// Bytes acknowledged since cwnd last grew by a whole segment [Linux tcp_cong.c tcp_cong_avoid_ai, snd_cwnd_cnt].
    cwnd_cnt: f64,
    slow_start: SlowStartRule,
    /// cwnd and ssthresh before the first reduction of the last episode; None after an undo [Linux tcp_input.c
    /// tcp_enter_loss, prior_cwnd, prior_ssthresh].
    prior: Option<(f64, f64)>,
    /// True while that episode lasts.
    in_episode: bool,
}

impl Window {
    /// Returns the window at the start of a connection.
    #[must_use]
    pub fn new(setup: &Setup) -> Window {
        Window {
            cwnd: setup.initial_window,
            ssthresh: setup.ssthresh,
            cwnd_cnt: 0.0,
            slow_start: SlowStartRule::new(setup),
            prior: None,
            in_episode: false,
        }
    }

    /// Returns the window at the start of a connection, for a variant that has no slow start threshold.
    #[must_use]
    pub fn without_ssthresh(setup: &Setup) -> Window {
        Window::new(&Setup { ssthresh: f64::INFINITY, ..*setup })
    }

    /// True if cwnd is below ssthresh.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Returns cwnd in segments.
    #[must_use]
    pub fn segments(&self, cx: &Cx) -> f64 {
        self.cwnd / cx.mss
    }

    /// Runs HyStart or HyStart++, if the stack has it. When slow start ends without a loss, ssthresh becomes cwnd. Call
    /// it for each ACK, before the window grows.
    #[inline]
    pub fn detect_slow_start_exit(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.in_slow_start() && self.slow_start.on_ack(ev, self.cwnd, self.ssthresh, cx) {
            self.ssthresh = self.cwnd;
        }
    }

    /// Grows in slow start: at most one segment per ACK of new data [RFC 5681 §3.1 (2)], or the limit of the stack or
    /// of HyStart++. Returns the bytes that are left for congestion avoidance when cwnd reaches ssthresh [Linux
    /// tcp_cong.c tcp_slow_start].
    pub fn slow_start(&mut self, acked: u64, cx: &Cx) -> u64 {
        let (limit, fraction) = self.slow_start.growth(self.ssthresh);
        let increase = (acked as f64).min(limit * cx.mss) * fraction;
        let distance = self.ssthresh - self.cwnd;
        if limit > 1.0 && increase > distance {
            // One ACK of many segments must not take cwnd far beyond ssthresh.
            self.cwnd = self.ssthresh;
            return (increase - distance) as u64;
        }
        self.cwnd += increase;
        0
    }

    /// Grows in congestion avoidance by `segments` for each full window of ACKs [RFC 5681 §3.1 (3)].
    pub fn additive_increase(&mut self, segments: f64, acked: u64, cx: &Cx) {
        match cx.increase {
            Increase::PerAck => self.additive_increase_per_ack(segments, cx),
            Increase::PerByte => self.cwnd += segments * cx.mss * acked as f64 / self.cwnd,
            Increase::PerWindow => self.cong_avoid_ai(self.segments(cx) / segments, acked, cx),
        }
    }

    /// Grows by one segment for each `w` segments acknowledged (or ACKs): in proportion, or by whole segments [Linux
    /// tcp_cong.c tcp_cong_avoid_ai]. Credits collected with a larger `w` give at most one segment.
    pub fn cong_avoid_ai(&mut self, w: f64, acked: u64, cx: &Cx) {
        match cx.increase {
            Increase::PerAck => return self.cwnd += cx.mss / w,
            Increase::PerByte => return self.cwnd += acked as f64 / w,
            Increase::PerWindow => {}
        }
        let w = w * cx.mss;
        if self.cwnd_cnt >= w {
            self.cwnd_cnt = 0.0;
            self.cwnd += cx.mss;
        }
        self.cwnd_cnt += acked as f64;
        let delta = (self.cwnd_cnt / w).floor();
        self.cwnd_cnt -= delta * w;
        self.cwnd += delta * cx.mss;
    }

    /// Returns the bytes acknowledged since cwnd last grew by a whole segment, to be changed.
    pub(crate) fn cwnd_cnt(&mut self) -> &mut f64 {
        &mut self.cwnd_cnt
    }

    /// Returns `window` less the fraction `part` of it. A stack that counts segments subtracts whole segments.
    #[must_use]
    pub fn decreased(window: f64, part: f64, cx: &Cx) -> f64 {
        let decrease = part * window;
        window - if cx.counts_segments() { (decrease / cx.mss).floor() * cx.mss } else { decrease }
    }

    /// Grows as [`Window::additive_increase`] does, but per ACK on every stack: an ACK for several segments adds as
    /// much as one for a single segment, and at most one segment where segments are counted.
    pub fn additive_increase_per_ack(&mut self, segments: f64, cx: &Cx) {
        if !cx.counts_segments() {
            self.cwnd += segments * cx.mss * cx.mss / self.cwnd;
            return;
        }
        self.cwnd_cnt += segments * cx.mss;
        if self.cwnd_cnt >= self.cwnd {
            self.cwnd_cnt -= self.cwnd;
            self.cwnd += cx.mss;
        }
    }

    /// Sets ssthresh and cwnd to `window`, at least two segments [RFC 5681 §3.1 (4)]. With `whole_segments` ssthresh is
    /// rounded down; cwnd becomes ssthresh where it counts segments [Linux tcp_input.c tcp_end_cwnd_reduction], and
    /// else the window itself, at least one segment [ns-2 tcp.cc TcpAgent::slowdown].
    pub fn reduce_to(&mut self, window: f64, cx: &Cx) {
        let min = 2.0 * cx.mss;
        self.cwnd_cnt = 0.0;
        if cx.whole_segments {
            self.ssthresh = ((window / cx.mss).floor() * cx.mss).max(min);
            self.cwnd = if cx.counts_segments() { self.ssthresh } else { window.max(cx.mss) };
        } else {
            self.ssthresh = window.max(min);
            self.cwnd = self.ssthresh;
        }
    }

    /// Sets cwnd to the loss window of one segment [RFC 5681 §3.1].
    pub fn set_loss_window(&mut self, cx: &Cx) {
        self.cwnd = cx.mss;
        self.cwnd_cnt = 0.0;
        self.slow_start.on_loss_window();
    }

    /// Call it before each response to congestion. It saves cwnd and ssthresh for an undo if an episode begins, and
    /// returns true then. A congestion mark is never spurious, so after one nothing can be undone.
    pub fn begin_episode(&mut self, kind: Congestion) -> bool {
        if kind == Congestion::Ecn {
            self.prior = None;
            return false;
        }
        let begins = !self.in_episode;
        if begins {
            self.prior = Some((self.cwnd, self.ssthresh));
            self.in_episode = true;
        }
        begins
    }

    /// Ends the episode of congestion: the next reduction begins another.
    #[inline]
    pub fn end_episode(&mut self) {
        self.in_episode = false;
    }

    /// Undoes the reductions of the last episode. Returns false if nothing can be undone.
    // DIVERGES [RFC 4015 §3.4]: cwnd returns to its value before the episode [Linux tcp_input.c
    // tcp_undo_cwnd_reduction], not to FlightSize plus the initial window. The stack limits the burst that follows.
    pub fn undo(&mut self) -> bool {
        self.in_episode = false;
        let Some((cwnd, ssthresh)) = self.prior.take() else { return false };
        self.cwnd = self.cwnd.max(cwnd);
        self.ssthresh = self.ssthresh.max(ssthresh);
        true
    }

    /// Limits cwnd to `bound`, so that the end of recovery causes no burst [RFC 6582 §3.2 step 3 (1)].
    pub fn limit(&mut self, bound: f64) {
        self.cwnd = self.cwnd.min(bound);
    }

    /// Reduces a window that was not used, and raises ssthresh, so that slow start may restore cwnd [RFC 2861].
    pub fn validate(&mut self, ev: &CwndValidation) {
        self.cwnd = self.cwnd.min(ev.cwnd);
        self.ssthresh = self.ssthresh.max(ev.ssthresh);
    }

    /// Limits cwnd to the initial window after an idle period [RFC 5681 §4.1].
    pub fn restart(&mut self, cx: &Cx) {
        self.cwnd = self.cwnd.min(cx.initial_window);
    }

    /// Returns this window as the [`Control`] of a variant without pacing.
    #[must_use]
    pub fn control(&self) -> Control {
        Control { cwnd: self.cwnd, ssthresh: self.ssthresh, pacing: None, quantum: None }
    }

    /// Returns slow start or congestion avoidance.
    #[must_use]
    pub fn phase(&self) -> Phase {
        if self.in_slow_start() { Phase::SlowStart } else { Phase::Avoidance }
    }
}
