//! Segments leave: what may, in which order the shells have it, what is noted of it.

use super::Sender;
use crate::sent::Sent;
use dumbbell_cc::{LossRecovery, SentEvent, TxStart};
use dumbbell_units::{Rate, Time};

/// A segment that may leave now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outgoing {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    pub(crate) psh: bool,
    pub(crate) retransmission: bool,
    pub(crate) cwr: bool,
}

impl Sender {
    /// When [`Sender::next`] is worth asking again, where pacing holds a segment back.
    pub(crate) fn paced_until(&self, now: Time) -> Option<Time> {
        if !self.is_held(now) {
            return None;
        }
        let end = self.written + u64::from(self.closing);
        (self.nxt < end || self.tlp.due || self.has_lost()).then(|| self.pacer.next())
    }

    /// Whether pacing holds the next segment back.
    fn is_held(&self, now: Time) -> bool {
        !self.is_in_burst() && self.pacer.holds(now) && self.pacing_rate().is_some()
    }

    /// Nothing outstanding and nothing to send, as in an endpoint that only receives.
    fn is_idle(&self) -> bool {
        let end = self.written + u64::from(self.closing);
        self.una == self.max && self.nxt >= end && !self.recovery.resend_front
    }

    /// Writes the next segment that window, receiver and pacing let out, and marks it as sent.
    pub(crate) fn next(&mut self, now: Time, out: &mut Outgoing) -> bool {
        if self.is_held(now) {
            self.check_space();
            return false;
        }
        self.burst.follows = false;
        if self.is_idle() {
            self.held_by_window(false);
            return false;
        }
        let (flight, nothing_outstanding) = (self.flight(), self.una == self.max);
        let sends = if self.config.rack.is_some() {
            self.next_by_time(now, out)
        } else if std::mem::take(&mut self.recovery.resend_front) && self.una < self.max {
            self.resend_front(now, out)
        } else if self.config.shell == LossRecovery::Sack {
            self.next_by_pipe(now, out)
        } else {
            self.next_by_window(now, out)
        };
        if !sends {
            self.end_burst();
            self.check_space();
            if self.config.limited_for_a_window {
                self.take_stock(now);
            }
            return false;
        }
        self.note_sent(out, flight, nothing_outstanding, now);
        if self.config.rack.is_some() {
            self.timer_after_sending(out, now);
        } else if self.timer_at.is_none() {
            self.restart_timer(now);
        }
        true
    }

    /// Rate sampler, law and pacer hear of a segment that leaves.
    fn note_sent(&mut self, out: &Outgoing, flight: u64, nothing_outstanding: bool, now: Time) {
        let stamp = self.sampler.on_sent(nothing_outstanding, self.flight(), now);
        if out.retransmission {
            self.sent.stamp(out.start, stamp);
        } else {
            self.sent.stamp_newest(stamp);
        }
        self.usage.sent = true;
        if let Some(prr) = &mut self.recovery.prr {
            prr.on_sent(u64::from(out.payload));
        }
        if flight == 0 && out.payload > 0 {
            let snd_nxt = if out.retransmission { self.nxt } else { out.start };
            let ev = TxStart { last_sent_at: self.last_sent_at, snd_nxt };
            let cx = self.cx(now);
            self.tell_law(|law| law.on_tx_start(&ev, &cx));
        }
        self.last_sent_at = now;
        if self.wants_sent && out.payload > 0 {
            let ev = SentEvent {
                bytes: u64::from(out.payload),
                flight,
                snd_nxt: self.nxt,
                retransmission: out.retransmission,
                app_limited: self.sampler.is_app_limited(),
            };
            let cx = self.cx(now);
            self.tell_law(|law| law.on_sent(&ev, &cx));
        }
        let reaches = self.counters.sent_segments + self.burst_left();
        let credit = self.config.pacing_credit;
        match self.pacing_rate().filter(|_| reaches > self.config.unpaced_segments) {
            None => self.pacer.on_unpaced(now),
            Some(rate) if self.config.tso => {
                self.pacer.on_burst(out.payload, rate, self.burst.follows, credit, now);
            }
            Some(rate) => self.pacer.on_sent(out.payload, rate, self.quantum(rate), credit, now),
        }
    }

    /// The rate at which segments are spaced: the law's, or the stack's for a law that has none.
    fn pacing_rate(&self) -> Option<Rate> {
        match self.control.pacing {
            None if self.config.pacing => self.window_rate(),
            rate => rate,
        }
    }

    /// A rate that uses the window up within a round trip; in the first half of slow start the next one too.
    pub(super) fn window_rate(&self) -> Option<Rate> {
        let srtt = self.rtt.srtt()?.as_secs();
        let window = self.window().max((self.max - self.una) as f64);
        let percent = if self.control.cwnd < self.control.ssthresh / 2.0 {
            self.config.pacing_slow_start
        } else {
            self.config.pacing_avoidance
        };
        Some(Rate((window * 8.0 / srtt * f64::from(percent) / 100.0).max(1.0) as u64))
    }

    /// Whether the new segment from `start` on ends a piece that the application wrote at a time.
    fn ends_write(&self, start: u64) -> bool {
        let piece = self.config.push_every;
        piece > 0 && (self.nxt - 1) / piece > (start - 1) / piece
    }

    /// The oldest segment goes again, whatever the window says.
    pub(crate) fn resend_front(&mut self, now: Time, out: &mut Outgoing) -> bool {
        match self.sent.front().map(|s| s.start) {
            Some(start) => self.resend(start, now, out),
            None => false,
        }
    }

    /// Sends again what was sent before.
    pub(crate) fn resend(&mut self, start: u64, now: Time, out: &mut Outgoing) -> bool {
        if self.config.shell != LossRecovery::Sack {
            self.sent.lose_at(start); // a shell without a scoreboard sends again what it takes for lost
            self.tell_losses(now);
        }
        let sent = self.sent.resend(start, now);
        self.count_resent(sent, out)
    }

    /// Sends again as a probe: nothing is taken for lost, and pipe doesn't count it.
    pub(crate) fn resend_as_probe(&mut self, start: u64, now: Time, out: &mut Outgoing) -> bool {
        let sent = self.sent.repeat(start, now);
        self.count_resent(sent, out)
    }

    fn count_resent(&mut self, sent: Option<Sent>, out: &mut Outgoing) -> bool {
        let Some(s) = sent else { return false };
        let payload = s.payload();
        if payload > 0 {
            self.counters.sent_segments += 1;
            self.counters.sent_bytes += u64::from(payload);
            self.counters.retransmitted_segments += 1;
            self.counters.retransmitted_bytes += u64::from(payload);
        }
        if self.timed.is_some_and(|(end, _)| end > s.start) {
            self.timed = None; // Karn's algorithm [RFC 6298 §3]
        }
        *out = Outgoing { start: s.start, payload, fin: s.fin, psh: s.psh, retransmission: true, cwr: false };
        true
    }

    /// Sends a new segment if there is one and it fits into `room` bytes of congestion window.
    pub(crate) fn send_new(&mut self, room: u64, now: Time, out: &mut Outgoing) -> bool {
        let available = self.written - self.nxt.min(self.written);
        let fin_due = self.closing && self.nxt <= self.written;
        if available == 0 && !fin_due {
            self.held_by_window(false);
            return false;
        }
        let mut len = available.min(self.mss());
        let offered = self.edge - self.nxt;
        if len > offered {
            self.held_by_window(false);
            if self.una < self.max || offered == 0 {
                return false; // full segments only [RFC 9293 §3.8.6.2.1]
            }
            len = offered;
        }
        if len > room {
            self.held_by_window(true);
            return false;
        }
        if self.config.nagle && len < self.mss() && !fin_due && self.una < self.max {
            self.held_by_window(false);
            return false; // [RFC 9293 §3.7.4]
        }
        if self.config.idle_restart
            && self.una == self.max
            && self.max > 1
            && now.since(self.last_sent_at) > self.rtt.rto()
        {
            self.restart_after_idling(now.since(self.last_sent_at), now);
        }
        let fin = self.closing && self.nxt + len == self.written;
        let start = self.nxt;
        self.nxt = start + len + u64::from(fin);
        self.max = self.nxt;
        self.sent.push(start, self.nxt, fin, self.burst.follows, now);
        if self.timed.is_none() && !self.config.timestamps {
            self.timed = Some((self.nxt, now));
        }
        if len > 0 {
            self.counters.sent_segments += 1;
            self.counters.sent_bytes += len;
        }
        let cwr = std::mem::take(&mut self.owes_cwr);
        let pushed = self.nxt >= self.written || self.ends_marked() || self.ends_write(start);
        if pushed {
            self.sent.push_newest();
        }
        let psh = pushed || self.ends_burst();
        *out = Outgoing { start, payload: len as u32, fin, psh, retransmission: false, cwr };
        true
    }
}
