//! cwnd and ssthresh with the moves that every loss-based law makes.

use super::slow_start::SlowStarter;
use crate::{AckEvent, Congestion, Control, CwndValidation, Cx, Increase, Phase, Setup};

/// A window in bytes, with fractions: an increase of a fraction of a segment isn't lost.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The congestion window.
    pub cwnd: f64,
    /// The slow start threshold.
    pub ssthresh: f64,
    /// Bytes acknowledged since the window last grew by a whole segment, where it grows so.
    cwnd_cnt: f64,
    starter: SlowStarter,
    /// cwnd and ssthresh before the first reduction of the last episode; None once they were taken back.
    before: Option<(f64, f64)>,
    /// Whether that episode is not over.
    episode: bool,
}

impl Window {
    /// The window at the start of a connection.
    #[must_use]
    pub fn new(setup: &Setup) -> Window {
        Window {
            cwnd: setup.initial_window,
            ssthresh: setup.ssthresh,
            cwnd_cnt: 0.0,
            starter: SlowStarter::new(setup),
            before: None,
            episode: false,
        }
    }

    /// The same for a law that has no slow start threshold.
    #[must_use]
    pub fn without_ssthresh(setup: &Setup) -> Window {
        Window::new(&Setup { ssthresh: f64::INFINITY, ..*setup })
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

    /// Before any use of an ACK: looks whether slow start is over without a loss, ssthresh is cwnd then.
    #[inline]
    pub fn detect_slow_start_exit(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.in_slow_start() && self.starter.on_ack(ev, self.cwnd, self.ssthresh, cx) {
            self.ssthresh = self.cwnd;
        }
    }

    /// Slow start: at most one segment for each ACK of new data [RFC 5681 §3.1 (2)], or what the stack and HyStart++ say.
    /// Gives the bytes that count for avoidance, as the window has come to ssthresh.
    pub fn slow_start(&mut self, acked: u64, cx: &Cx) -> u64 {
        let (limit, part) = self.starter.growth(self.ssthresh);
        let grown = (acked as f64).min(limit * cx.mss) * part;
        let room = self.ssthresh - self.cwnd;
        if limit > 1.0 && grown > room {
            // An ACK of many segments must not take it far beyond.
            self.cwnd = self.ssthresh;
            return (grown - room) as u64;
        }
        self.cwnd += grown;
        0
    }

    /// Congestion avoidance: so many segments for each full window of ACKs [RFC 5681 §3.1 (3)].
    pub fn additive_increase(&mut self, segments: f64, acked: u64, cx: &Cx) {
        match cx.increase {
            Increase::PerAck => self.additive_increase_per_ack(segments, cx),
            Increase::PerByte => self.cwnd += segments * cx.mss * acked as f64 / self.cwnd,
            Increase::PerWindow => self.cong_avoid_ai(self.segments(cx) / segments, acked, cx),
        }
    }

    /// One segment more for each `each` segments acknowledged (or ACKs): in proportion, or whole ones. What was counted towards a
    /// larger number, which has fallen since, makes one at most.
    pub fn cong_avoid_ai(&mut self, each: f64, acked: u64, cx: &Cx) {
        match cx.increase {
            Increase::PerAck => return self.cwnd += cx.mss / each,
            Increase::PerByte => return self.cwnd += acked as f64 / each,
            Increase::PerWindow => {}
        }
        let each = each * cx.mss;
        if self.cwnd_cnt >= each {
            self.cwnd_cnt = 0.0;
            self.cwnd += cx.mss;
        }
        self.cwnd_cnt += acked as f64;
        let more = (self.cwnd_cnt / each).floor();
        self.cwnd_cnt -= more * each;
        self.cwnd += more * cx.mss;
    }

    /// Bytes that have been counted towards the next whole segment.
    pub(crate) fn cwnd_cnt(&mut self) -> &mut f64 {
        &mut self.cwnd_cnt
    }

    /// What is left of `window` after so large a part of it is taken away: whole segments are taken where windows are
    /// counted in them.
    #[must_use]
    pub fn decreased(window: f64, part: f64, cx: &Cx) -> f64 {
        let taken = part * window;
        window - if cx.counts_segments() { (taken / cx.mss).floor() * cx.mss } else { taken }
    }

    /// As [`Window::additive_increase`], whatever counts in avoidance: an ACK for several segments adds what one for a single
    /// segment does, and one segment at most where they are whole.
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

    /// To `window` for both, never below two segments [RFC 5681 §3.1 (4)]. In whole segments only ssthresh is cut (and
    /// kept from falling below two): the order in which ns-2 and its forebears compute the two.
    pub fn reduce_to(&mut self, window: f64, cx: &Cx) {
        let least = 2.0 * cx.mss;
        self.cwnd_cnt = 0.0;
        if cx.whole_segments {
            self.ssthresh = ((window / cx.mss).floor() * cx.mss).max(least);
            self.cwnd = window.max(cx.mss);
        } else {
            self.ssthresh = window.max(least);
            self.cwnd = self.ssthresh;
        }
    }

    /// The loss window of one segment [RFC 5681 §3.1].
    pub fn set_loss_window(&mut self, cx: &Cx) {
        self.cwnd = cx.mss;
        self.cwnd_cnt = 0.0;
        self.starter.collapse();
    }

    /// Before any answer to congestion: remembers the window if this begins an episode, and says whether it does. What a
    /// mark asks for was asked for: there is nothing to take back.
    pub fn begin_episode(&mut self, kind: Congestion) -> bool {
        if kind == Congestion::Ecn {
            self.before = None;
            return false;
        }
        let begins = !self.episode;
        if begins {
            self.before = Some((self.cwnd, self.ssthresh));
            self.episode = true;
        }
        begins
    }

    /// The episode of congestion is over: the next reduction begins another.
    #[inline]
    pub fn end_episode(&mut self) {
        self.episode = false;
    }

    /// Takes the reductions of the last episode back; says whether there were any.
    // DIVERGES [RFC 4015 §3.4]: cwnd is what it was, as in Linux, and not what is outstanding plus an initial window: the
    // window is what the law believes, how much of it leaves in one burst is the stack's matter.
    pub fn undo(&mut self) -> bool {
        self.episode = false;
        let Some((cwnd, ssthresh)) = self.before.take() else { return false };
        self.cwnd = self.cwnd.max(cwnd);
        self.ssthresh = self.ssthresh.max(ssthresh);
        true
    }

    /// No burst when recovery ends [RFC 6582 §3.2 step 3 (1)].
    pub fn limit(&mut self, bound: f64) {
        self.cwnd = self.cwnd.min(bound);
    }

    /// Not used for long: less of it stays, and slow start may take it back.
    pub fn validate(&mut self, ev: &CwndValidation) {
        self.cwnd = self.cwnd.min(ev.cwnd);
        self.ssthresh = self.ssthresh.max(ev.ssthresh);
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
