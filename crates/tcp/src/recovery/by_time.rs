//! Recovery where losses are found by time: the states, and how RACK, probes, PRR, F-RTO and undo meet in them.
//!
//! ```text
//! Open      -- a loss is found -->            Recovery   the law reduces, PRR brings the window down to it
//! Open      -- a mark -->                     Reducing   the same without retransmissions
//! any       -- timeout -->                    Loss       one segment, slow start; F-RTO first finds out whether it was one
//! Recovery, Loss -- recover acknowledged -->  Open       (Reducing: acknowledged and one more)
//! Recovery, Loss -- shown to be spurious -->  Open       reductions are taken back
//! Loss      -- a retransmission is lost -->   Recovery   a further reduction
//! ```

use super::prr::Prr;
use super::{Mode, Recovery};
use crate::sender::{Ack, News, Outgoing, Sender};
use dumbbell_cc::{Congestion, RecoveryExit};
use dumbbell_units::Time;

impl Sender {
    /// What an ACK means for recovery; `news` is what it told, and has been taken in.
    pub(crate) fn by_time_ack(&mut self, news: &News, a: &Ack, now: Time) {
        self.recovery.new_first = false;
        if let Some(block) = a.dsack {
            self.rack.on_dsack(self.una, self.nxt);
            self.note_dsack(block);
        }
        self.answer_to_probe(news, a.dsack, now);
        self.rack.waits = false;
        self.leave_by_time(news, a, now);
        match self.recovery.mode {
            Mode::Recovery => self.in_recovery(news, a, now),
            Mode::Loss => self.in_loss(news, a, now),
            Mode::Open | Mode::Reducing => self.when_open(news, now),
        }
        if self.una == self.max {
            self.timer_at = None;
        } else if !self.rack.waits && (news.acked > 0 || self.sampled_before_front(news)) {
            self.set_timer(true, now);
        }
    }

    /// Ends what the ACK completes.
    fn leave_by_time(&mut self, news: &News, a: &Ack, now: Time) {
        let Some(recover) = self.recovery.recover else { return };
        match self.recovery.mode {
            Mode::Recovery if self.una >= recover => {
                if self.is_spurious(news, a) {
                    self.undo(false, now);
                } else {
                    self.rack.on_recovery_exit();
                    self.reduction_over(now);
                }
            }
            Mode::Reducing if self.una > recover => self.reduction_over(now),
            _ => {}
        }
    }

    /// The window is what the law made of it [RFC 9937 §6.4].
    fn reduction_over(&mut self, now: Time) {
        let bound = self.recovery.prr.take().map_or(f64::INFINITY, |prr| prr.target() as f64);
        self.recovery.mode = Mode::Open;
        let cx = self.cx(now);
        self.tell_law(|law| law.on_recovery_exit(&RecoveryExit { bound }, &cx));
    }

    fn is_spurious(&self, news: &News, a: &Ack) -> bool {
        (news.acked > 0 && self.eifel_detects(a.echo)) || self.dsacks_detect()
    }

    fn in_recovery(&mut self, news: &News, a: &Ack, now: Time) {
        if news.acked > 0 && self.eifel_detects(a.echo) {
            // The hole was filled by what had been late.
            self.rack.out_of_order(self.una - news.acked);
            if self.sent.resent_segments() > 0 {
                self.recovery.new_first = true; // nothing more goes again until these are accounted for
                return;
            }
            self.undo(true, now);
        } else if self.dsacks_detect() {
            self.undo(false, now);
        }
        self.find_overdue(now);
        if self.recovery.mode == Mode::Open && self.sent.has_lost() {
            self.enter_by_time(news.delivered, now);
        }
    }

    fn in_loss(&mut self, news: &News, a: &Ack, now: Time) {
        self.after_timeout(news, a, now);
        let again = self.find_overdue(now);
        if (self.recovery.mode == Mode::Open || again) && self.sent.has_lost() {
            self.enter_by_time(news.delivered, now);
        }
    }

    fn when_open(&mut self, news: &News, now: Time) {
        if self.recovery.mode == Mode::Open && self.dsacks_detect() {
            self.undo(false, now);
        }
        self.find_overdue(now);
        // What was sent and lost within the last recovery, and isn't acknowledged, asks for another one.
        if self.sent.has_lost() {
            self.enter_by_time(news.delivered, now);
        } else if self.is_marked(news) && self.recovery.mode == Mode::Open {
            self.recovery.undo = None; // what a mark asks for is never taken back
            let from = self.reduction_starts_from(news.delivered);
            self.answer_mark(now);
            if self.config.answers_marks {
                return; // a cut of a few segments, which the law makes when it hears of the ACK
            }
            self.recovery.mode = Mode::Reducing;
            self.recovery.recover = Some(self.max);
            self.start_reduction(from);
        }
    }

    /// A loss: the law reduces the window, unless it is being reduced.
    pub(super) fn enter_by_time(&mut self, delivered: u64, now: Time) {
        self.counters.fast_retransmits += 1;
        self.tlp.end = None;
        if self.recovery.mode == Mode::Reducing {
            self.tell_losses(now);
        } else {
            self.may_be_undone();
            let from = self.reduction_starts_from(delivered);
            self.tell_congestion(Congestion::Loss, now);
            self.start_reduction(from);
        }
        self.recovery.mode = Mode::Recovery;
        self.recovery.recover = Some(self.max);
        self.recovery.inflation = 0;
        self.recovery.frto = false;
        // PRR lets out a segment at least with the first ACK, a law with a recovery of its own what it will.
        self.recovery.resend_front = self.recovery.prr.is_none() && !self.config.own_recovery;
    }

    /// What is to be delivered while PRR brings the window down (RecoverFS), told before it is reduced; `delivered` is what
    /// the ACK delivers that asks for it.
    // DIVERGES [RFC 9937 §6.1]: where reductions are from cwnd it is cwnd, as in Linux.
    fn reduction_starts_from(&self, delivered: u64) -> u64 {
        if self.config.reduce_from_cwnd {
            return self.control.cwnd as u64;
        }
        self.max - self.una - self.sent.sacked_bytes() + delivered
    }

    /// PRR begins, where it is on and the law doesn't say itself what may be outstanding.
    fn start_reduction(&mut self, from: u64) {
        if self.config.own_recovery || !self.config.rack.is_some_and(|m| m.prr) {
            return;
        }
        let mss = self.mss();
        let target = ((self.control.cwnd as u64) / mss * mss).max(mss);
        self.recovery.prr = Some(Prr::new(target, from, mss, self.sent.pipe()));
    }

    /// The retransmission timer has expired.
    pub(crate) fn by_time_timeout(&mut self, now: Time) {
        let mode = self.recovery.mode;
        // A reduction that is being made has answered the losses of its window.
        let answered = match mode {
            Mode::Open => false,
            Mode::Loss => self.expiries > 0,
            Mode::Recovery | Mode::Reducing => self.recovery.recover.is_some_and(|r| r > self.una),
        };
        let first = mode == Mode::Open || mode == Mode::Reducing;
        let frto = self.config.rack.is_some_and(|m| m.frto) && (first || self.expiries > 0);
        self.lose_for_timeout(now);
        if !answered {
            self.may_be_undone();
        }
        let backoffs = if answered { self.expiries.max(1) } else { 0 };
        self.tell_congestion_after(backoffs, Congestion::Timeout, now);
        self.expiries += 1;
        self.tlp.end = None;
        let inflation = if self.config.own_recovery { 0 } else { self.sent.pipe() as i64 };
        self.recovery = Recovery {
            mode: Mode::Loss,
            recover: Some(self.max),
            inflation, // what is still under way doesn't hold back the retransmission
            resend_front: true,
            undo: self.recovery.undo,
            frto,
            ..Recovery::default()
        };
    }

    /// An ACK after a timeout. F-RTO, enhanced by SACK: it tells by what arrives whether the timeout was spurious, before
    /// anything but the first segment is sent again [RFC 5682 §3.1].
    fn after_timeout(&mut self, news: &News, a: &Ack, now: Time) {
        let recovered = self.recovery.recover.is_none_or(|r| self.una >= r);
        if news.acked > 0 && self.is_spurious(news, a) {
            self.undo(true, now);
            return;
        }
        if self.recovery.frto {
            if news.original {
                self.undo(true, now); // step 3 b: it arrived without having been sent again
                return;
            }
            if self.recovery.recover.is_some_and(|r| self.max > r) {
                if news.sacked || news.duplicate {
                    self.recovery.frto = false; // step 3 a: there are holes
                }
            } else if news.acked > 0 && !recovered {
                self.recovery.recover = Some(self.max); // step 2 b: new data, if there is any
                self.recovery.new_first = true;
                return;
            }
        }
        if recovered {
            self.recovery.mode = Mode::Open;
            self.recovery.inflation = 0;
            self.recovery.frto = false;
            self.rack.on_recovery_exit();
        }
    }

    /// The next segment: a probe, what was lost (lowest first), something new.
    pub(crate) fn next_by_time(&mut self, now: Time, out: &mut Outgoing) -> bool {
        if self.tlp.due {
            if self.send_probe(now, out) {
                return true;
            }
            self.tlp.due = false;
            self.restart_timer_from_front(now);
        }
        // Pacing may have held it back until there was nothing to be sent again any more.
        let repairs = matches!(self.recovery.mode, Mode::Recovery | Mode::Loss);
        if std::mem::take(&mut self.recovery.resend_front) && repairs {
            let start = self.sent.next_waiting().map_or(self.una, |s| s.start);
            self.sent.take_burst(start, 1);
            return self.resend_lost(start, now, out);
        }
        let window = (self.window() as i64 + self.recovery.inflation).max(0) as u64;
        let room = window.max(self.mss()).saturating_sub(self.sent.pipe());
        if self.recovery.new_first {
            if self.send_new(room, now, out) {
                return true;
            }
            if !self.recovery.frto || self.recovery.recover.is_some_and(|r| self.max > r) {
                return false;
            }
            (self.recovery.new_first, self.recovery.frto) = (false, false); // nothing new to tell it by
        }
        if let Some((start, payload)) = self.sent.next_waiting().map(|s| (s.start, s.payload())) {
            if u64::from(payload) > room {
                self.held_by_window(true);
                return false;
            }
            self.resend_burst(start, room);
            return self.resend_lost(start, now, out);
        }
        let holds =
            self.recovery.mode == Mode::Open && self.sent.sacked_bytes() > 0 && !self.config.limited_transmit;
        if !holds && self.waits_for_burst(room, now) {
            return false;
        }
        self.send_new(if holds { 0 } else { room }, now, out)
    }

    fn resend_lost(&mut self, start: u64, now: Time, out: &mut Outgoing) -> bool {
        self.note_resent(now);
        self.resend(start, now, out)
    }
}
