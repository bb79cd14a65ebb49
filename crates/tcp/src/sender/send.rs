//! Segments are sent: permission by window, receiver and pacing; transmission and its records [Linux tcp_output.c
//! tcp_write_xmit, __tcp_retransmit_skb, tcp_event_new_data_sent].

use super::Sender;
use crate::recovery::{NextSegment, Otherwise};
use crate::scoreboard::SentSegment;
use dumbbell_cc::{CaState, SentEvent, TxStart};
use dumbbell_units::{Rate, Time};

/// A segment that is sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outgoing {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    pub(crate) psh: bool,
    pub(crate) retransmission: bool,
    pub(crate) cwr: bool,
    /// True if surely no segment follows now.
    pub(crate) is_last: bool,
}

/// A full new segment of a bulk sender.
#[derive(Clone, Copy, Debug)]
pub struct NewSegment {
    pub(crate) start: u64,
    pub(crate) psh: bool,
    is_last: bool,
}

impl NewSegment {
    /// Offset of its payload from the first payload byte of the connection.
    #[must_use]
    #[inline]
    pub fn payload_offset(&self) -> u64 {
        self.start - 1
    }

    /// True if surely no segment follows now.
    #[must_use]
    #[inline]
    pub fn is_last(&self) -> bool {
        self.is_last
    }
}

/// The next step of a bulk sender.
#[derive(Clone, Copy, Debug)]
pub enum BulkStep {
    /// It sends this segment.
    Send(NewSegment),
    /// It sends nothing now.
    Nothing,
    /// [`crate::Endpoint::due`] decides.
    Any,
}

/// The usual cases of the next segment.
enum Usual {
    /// The window allows no new segment, or a longer burst is awaited.
    Blocked,
    /// A full new segment.
    New {
        /// Bytes that the window allows.
        limit: u64,
        /// Bytes that were written and that the receiver allows.
        available: u64,
    },
    /// Recovery decides.
    Unknown,
}

impl Sender {
    /// Returns when [`Sender::next`] may return a segment that pacing holds now.
    #[inline]
    pub(crate) fn paced_until(&self, now: Time) -> Option<Time> {
        if !self.is_held_by_pacing(now) {
            return None;
        }
        let end = self.write_seq + u64::from(self.closing);
        let wanted = self.snd.nxt < end || self.recovery.tlp.due || self.has_retransmission();
        wanted.then(|| self.pacer.next())
    }

    #[inline]
    fn is_held_by_pacing(&self, now: Time) -> bool {
        self.pacer.holds(now) && !self.is_in_burst() && self.pacing_rate().is_some()
    }

    /// True if nothing is outstanding and nothing is to be sent, as in an endpoint that only receives.
    #[inline]
    fn is_idle(&self) -> bool {
        let end = self.write_seq + u64::from(self.closing);
        self.snd.una == self.snd.max && self.snd.nxt >= end && !self.recovery.retransmits_head()
    }

    /// True if [`Sender::next`] would return no segment because nothing is to be sent; does what that would do.
    #[inline]
    pub(crate) fn is_quiet(&mut self, now: Time) -> bool {
        let quiet = !self.is_held_by_pacing(now) && self.is_idle();
        if quiet {
            self.burst.follows = false;
            self.note_cwnd_limited(false);
        }
        quiet
    }

    /// Writes the next segment that window, receiver and pacing allow into `out`, and records it as sent. Returns false
    /// if they allow none.
    pub(crate) fn next(&mut self, now: Time, out: &mut Outgoing) -> bool {
        if self.is_held_by_pacing(now) {
            self.check_space(now);
            self.let_application_write(false);
            return false;
        }
        self.burst.follows = false;
        if self.is_idle() {
            self.note_cwnd_limited(false);
            return false;
        }
        while !self.attempt(now, out) {
            self.check_space(now);
            if !self.let_application_write(true) {
                return false;
            }
            self.reconsider_burst();
        }
        true
    }

    /// False if [`Sender::is_bulk`] surely is: the two most frequent reasons.
    #[inline]
    pub(crate) fn may_be_bulk(&self) -> bool {
        self.recovery.state == CaState::Open && !self.cc.wants_rates
    }

    /// True if new segments are all that can be sent, and ACKs of new data all that can be expected, and neither stack
    /// nor algorithm needs more than usual at each of them; see [`Sender::next_bulk`].
    pub(crate) fn is_bulk(&self) -> bool {
        let (cc, config) = (&self.cc, &self.config);
        let wants_more = cc.wants_sent || cc.wants_arrivals || cc.wants_rates;
        let does_more = config.recovery.fine_timeouts || config.pacing.enabled;
        !wants_more
            && !does_more
            && self.recovery.is_steady()
            && self.recovery.sends_new_data()
            && self.recovery.has_no_window()
            && self.scoreboard.is_intact()
            && self.snd.nxt == self.snd.max
            && !self.ecn.owes_cwr
    }

    /// True if nothing is outstanding or to be sent, and the last attempt to send has found this.
    pub(crate) fn is_at_rest(&self) -> bool {
        let is_limited = self.usage.is_cwnd_limited && !self.config.growth.limited_for_a_window;
        let in_burst = self.burst.follows || self.burst.waits();
        self.is_idle() && !in_burst && !is_limited
    }

    /// Does the same as [`Sender::next`] in a phase of bulk data, for a full segment that doesn't end the data.
    #[inline(always)] // it has one caller
    pub(crate) fn next_bulk(&mut self, now: Time) -> BulkStep {
        if self.snd.una == self.snd.max || self.cc.control.pacing.is_some() {
            return BulkStep::Any;
        }
        self.burst.follows = false;
        loop {
            match self.next_by_window() {
                Usual::Unknown => return BulkStep::Any,
                Usual::New { .. } if self.snd.nxt + self.mss() >= self.write_seq => return BulkStep::Any,
                Usual::New { limit, available } if !(self.config.uses_rack() && self.waits_for_burst(limit, now)) => {
                    return BulkStep::Send(self.send_bulk(limit, available, now));
                }
                Usual::New { .. } | Usual::Blocked => {}
            }
            self.end_attempt(now);
            self.check_space(now);
            if !self.let_application_write(true) {
                return BulkStep::Nothing;
            }
            self.reconsider_burst();
        }
    }

    /// Sends a full segment of bulk data; `limit`: bytes that the window allows; `available`: bytes that are there and
    /// that the receiver allows.
    #[inline(always)]
    fn send_bulk(&mut self, limit: u64, available: u64, now: Time) -> NewSegment {
        let mut out = Outgoing::default();
        self.send_segment(self.mss(), now, &mut out);
        self.usage.sent = true;
        self.last_sent_at = now;
        self.pacer.on_unpaced(now);
        self.after_sending(&out, now);
        let may_be_last = limit < 2 * self.mss() && !self.config.growth.limited_for_a_window;
        NewSegment {
            start: out.start,
            psh: out.psh,
            is_last: may_be_last && self.fills_window(available - self.mss(), now),
        }
    }

    /// Sends a segment, as [`Sender::next`], of what the application has written.
    #[inline]
    fn attempt(&mut self, now: Time, out: &mut Outgoing) -> bool {
        let (flight, nothing_outstanding) = (self.flight(), self.snd.una == self.snd.max);
        let sent = match self.usual_next(nothing_outstanding) {
            Usual::Blocked => false,
            Usual::New { limit, .. } => {
                let waits = self.config.uses_rack() && self.waits_for_burst(limit, now);
                if !waits {
                    self.send_segment(self.mss(), now, out);
                    out.is_last = limit < 2 * self.mss() && !self.config.growth.limited_for_a_window;
                }
                !waits
            }
            Usual::Unknown => self.send_as_recovery_decides(now, out),
        };
        if !sent {
            self.end_attempt(now);
            return false;
        }
        self.record_transmission(out, flight, nothing_outstanding, now);
        self.after_sending(out, now);
        out.is_last = out.is_last && self.fills_window(self.available(), now);
        true
    }

    /// Nothing could be sent.
    #[inline]
    fn end_attempt(&mut self, now: Time) {
        self.end_burst();
        if self.config.growth.limited_for_a_window {
            self.validate_cwnd(now);
        }
    }

    /// Sets the timer after a segment was sent; after a burst, the send buffer is checked.
    #[inline(always)]
    fn after_sending(&mut self, out: &Outgoing, now: Time) {
        let timer_is_set = if self.config.uses_rack() {
            self.recovery.probe_timer_is_set(out.retransmission, &self.timer, &self.scoreboard, &self.config, now)
        } else {
            self.timer.expires.is_some()
        };
        if !timer_is_set {
            self.set_timer_after(out.retransmission.then_some(out.start), now);
        }
        if self.config.pacing.tso && !self.is_in_burst() && !out.retransmission {
            self.use_freed_space(now);
        }
    }

    #[inline(never)]
    fn set_timer_after(&mut self, repeated: Option<u64>, now: Time) {
        let (recovery, mut cx) = self.recovery_cx(now);
        recovery.on_sent(repeated, &mut cx);
    }

    /// After a segment that left less than a segment of the window: does as [`Sender::next`] does when it finds this,
    /// and returns true. Returns false if more has to be checked. Not for stacks that validate cwnd after each attempt.
    #[inline(always)] // it has two callers
    fn fills_window(&mut self, available: u64, now: Time) -> bool {
        if available < self.mss() || self.is_in_burst() || self.cc.wants_sent || self.pacer.holds(now) {
            return false;
        }
        self.burst.follows = false;
        self.on_window_full();
        self.end_burst();
        self.check_space(now);
        self.let_application_write(false);
        true
    }

    #[inline]
    fn on_window_full(&mut self) {
        self.burst.forget();
        self.note_cwnd_limited(true);
    }

    /// Decides the usual cases in few steps: recovery surely allows nothing but a new segment, and a full segment is
    /// there that the receiver allows. The window allows it or not, or a longer burst is awaited.
    #[inline(always)] // it has one caller
    fn usual_next(&mut self, nothing_outstanding: bool) -> Usual {
        let usual = self.recovery.sends_new_data() && self.scoreboard.is_intact() && self.snd.nxt == self.snd.max;
        if !usual || nothing_outstanding {
            return Usual::Unknown;
        }
        self.next_by_window()
    }

    /// Bytes that were written and that the receiver allows.
    #[inline]
    fn available(&self) -> u64 {
        self.write_seq.min(self.snd.wnd_end).saturating_sub(self.snd.nxt)
    }

    /// The same where recovery allows nothing but a new segment.
    #[inline(always)]
    fn next_by_window(&mut self) -> Usual {
        let in_burst = self.is_in_burst();
        if self.config.pacing.tso && !in_burst && self.burst.waits() {
            return Usual::Blocked;
        }
        let mss = self.mss();
        let window = (self.window() as i64 as u64).max(mss); // cheaper than to u64, and never negative
        let outstanding = self.scoreboard.pipe();
        let available = self.available();
        if available < mss {
            return Usual::Unknown;
        }
        if outstanding + mss <= window {
            return Usual::New { limit: window - outstanding, available };
        }
        if in_burst {
            return Usual::Unknown;
        }
        self.on_window_full();
        Usual::Blocked
    }

    #[inline(never)]
    fn send_as_recovery_decides(&mut self, now: Time, out: &mut Outgoing) -> bool {
        let (recovery, mut cx) = self.recovery_cx(now);
        let mut next = recovery.next(&mut cx);
        loop {
            match next {
                NextSegment::Nothing => return false,
                NextSegment::Blocked { by_cwnd } => {
                    self.note_cwnd_limited(by_cwnd);
                    return false;
                }
                NextSegment::Retransmit(start) => return self.retransmit(start, now, out),
                NextSegment::RetransmitBurst { start, limit } => {
                    self.retransmit_burst(start, limit);
                    return self.retransmit(start, now, out);
                }
                NextSegment::Rescue(start) => {
                    let high_rxt = self.scoreboard.high_rxt;
                    let sent = self.retransmit(start, now, out);
                    self.scoreboard.high_rxt = high_rxt;
                    return sent;
                }
                NextSegment::Probe(start) => {
                    let segment = self.scoreboard.repeat(start, now);
                    return self.count_retransmission(segment, out);
                }
                NextSegment::New { limit, may_wait, otherwise } => {
                    if may_wait && self.waits_for_burst(limit, now) {
                        return false;
                    }
                    let sent = self.send_new(limit, now, out);
                    if sent || otherwise == Otherwise::Nothing {
                        return sent;
                    }
                    let (recovery, mut cx) = self.recovery_cx(now);
                    next = recovery.next_without_new(otherwise, &mut cx);
                }
            }
        }
    }

    /// Records a segment that is sent: delivery rate, congestion control, pacer.
    fn record_transmission(&mut self, out: &Outgoing, flight: u64, nothing_outstanding: bool, now: Time) {
        if self.cc.wants_rates {
            let tx = self.delivery_rate.on_sent(nothing_outstanding, self.flight(), now);
            if out.retransmission {
                self.scoreboard.set_tx_state(out.start, tx);
            } else {
                self.scoreboard.set_tx_state_of_newest(tx);
            }
        }
        self.usage.sent = true;
        self.recovery.on_bytes_sent(self.scoreboard.counted(u64::from(out.payload), 1));
        let last_sent_at = std::mem::replace(&mut self.last_sent_at, now);
        if (flight == 0 || self.cc.wants_sent) && out.payload > 0 {
            self.notify_sent(out, flight, last_sent_at, now);
        }
        match self.pacing_rate() {
            None => self.pacer.on_unpaced(now),
            Some(rate) => self.pace(rate, out.payload, now),
        }
    }

    /// Reports a segment with payload to congestion control, if it is the first one outstanding or each one is
    /// reported.
    #[inline(never)]
    fn notify_sent(&mut self, out: &Outgoing, flight: u64, last_sent_at: Time, now: Time) {
        if flight == 0 {
            let snd_nxt = if out.retransmission { self.snd.nxt } else { out.start };
            let ev = TxStart { last_sent_at, snd_nxt };
            self.cc.notify(now, |cc, cx| cc.on_tx_start(&ev, cx));
        }
        if self.cc.wants_sent {
            let ev = SentEvent {
                bytes: self.scoreboard.counted(u64::from(out.payload), 1),
                flight,
                snd_nxt: self.snd.nxt,
                retransmission: out.retransmission,
                app_limited: self.delivery_rate.is_app_limited(),
            };
            self.cc.notify(now, |cc, cx| cc.on_sent(&ev, cx));
        }
    }

    /// Counts a segment that is sent at a pacing rate.
    #[inline(never)]
    fn pace(&mut self, rate: Rate, payload: u32, now: Time) {
        let credit = self.config.pacing.credit;
        let end_of_burst = self.counters.sent_segments + self.segments_left_in_burst();
        if end_of_burst <= self.config.pacing.unpaced_segments {
            self.pacer.on_unpaced(now);
        } else if self.config.pacing.tso {
            self.pacer.on_sent_in_burst(payload, rate, self.burst.follows, credit, now);
        } else {
            self.pacer.on_sent(payload, rate, self.quantum(rate), credit, now);
        }
    }

    /// The pacing rate: that of congestion control, or the stack's for an algorithm that sets none.
    fn pacing_rate(&self) -> Option<Rate> {
        match self.cc.control.pacing {
            None if self.config.pacing.enabled => self.window_rate(),
            rate => rate,
        }
    }

    /// The rate that sends the window in a round trip, times the percentage of the phase [Linux tcp_input.c
    /// tcp_update_pacing_rate].
    pub(super) fn window_rate(&self) -> Option<Rate> {
        let number = |n: u64| n.cast_signed() as f64; // cheaper than from u64, and never above its range
        let srtt = number(self.rtt.srtt()?.0) * 1e-9;
        let window = self.window().max(number(self.outstanding()));
        let percent = if self.cc.control.cwnd < self.cc.control.ssthresh / 2.0 {
            self.config.pacing.slow_start
        } else {
            self.config.pacing.avoidance
        };
        Some(Rate((window * 8.0 / srtt * f64::from(percent) / 100.0).max(1.0) as u64))
    }

    /// True if the new segment from `start` on ends a write of the application.
    fn ends_write(&self, start: u64) -> bool {
        let write = self.config.buffer.push_every;
        write > 0 && (self.snd.nxt - 1) / write > (start - 1) / write
    }

    /// Retransmits the segment at `start`.
    fn retransmit(&mut self, start: u64, now: Time, out: &mut Outgoing) -> bool {
        if self.config.goes_back() {
            self.scoreboard.mark_lost_at(start); // recovery without a scoreboard retransmits lost segments only
            self.notify_losses(now);
        }
        let segment = self.scoreboard.retransmit(start, now);
        self.count_retransmission(segment, out)
    }

    fn count_retransmission(&mut self, segment: Option<SentSegment>, out: &mut Outgoing) -> bool {
        let Some(s) = segment else { return false };
        let payload = s.payload();
        if payload > 0 {
            self.counters.sent_segments += 1;
            self.counters.sent_bytes += u64::from(payload);
            self.counters.retransmitted_segments += 1;
            self.counters.retransmitted_bytes += u64::from(payload);
        }
        if !self.config.rto.timed_past_retransmissions && self.timed.is_some_and(|(end, _)| end > s.start) {
            self.timed = None; // Karn's algorithm [RFC 6298 §3]
        }
        *out = Outgoing {
            start: s.start,
            payload,
            fin: s.fin,
            psh: s.psh,
            retransmission: true,
            cwr: false,
            is_last: false,
        };
        true
    }

    /// Sends a new segment, if data is available and `limit` bytes of congestion window suffice.
    fn send_new(&mut self, limit: u64, now: Time, out: &mut Outgoing) -> bool {
        let (una, nxt, max) = (self.snd.una, self.snd.nxt, self.snd.max);
        let available = self.write_seq - nxt.min(self.write_seq);
        let fin_due = self.closing && nxt <= self.write_seq;
        if available == 0 && !fin_due {
            self.note_cwnd_limited(false);
            return false;
        }
        let mut len = available.min(self.mss());
        let offered = self.snd.wnd_end - nxt;
        if len > offered {
            self.note_cwnd_limited(false);
            if una < max || offered == 0 {
                return false; // full segments only [RFC 9293 §3.8.6.2.1]
            }
            len = offered;
        }
        if self.scoreboard.counted(len, 1) > limit {
            self.note_cwnd_limited(true);
            return false;
        }
        // DIVERGES [RFC 9293 §3.7.4]: only an outstanding segment that isn't full counts, so that the end of a message
        // need not wait for the full segments before it [Minshall et al. 1999; Linux tcp_output.c tcp_nagle_check,
        // tcp_minshall_check].
        if self.config.buffer.nagle && len < self.mss() && !fin_due && una < self.snd.sml {
            self.note_cwnd_limited(false);
            return false;
        }
        if self.config.growth.idle_restart && una == max && max > 1 {
            self.check_idle(now);
        }
        self.send_segment(len, now, out);
        let (recovery, cx) = self.recovery_cx(now);
        recovery.on_new_segment(&cx);
        true
    }

    /// Sends a new segment of `len` bytes.
    #[inline(always)]
    fn send_segment(&mut self, len: u64, now: Time, out: &mut Outgoing) {
        let start = self.snd.nxt;
        let fin = self.closing && start + len == self.write_seq;
        let end = start + len + u64::from(fin);
        (self.snd.nxt, self.snd.max) = (end, end);
        if len < self.mss() {
            self.snd.sml = end;
        }
        self.scoreboard.push(start, end, fin, self.burst.follows, now);
        if self.timed.is_none() && !self.config.connection.timestamps {
            self.timed = Some((end, now));
        }
        if len > 0 {
            self.counters.sent_segments += 1;
            self.counters.sent_bytes += len;
        }
        let cwr = std::mem::take(&mut self.ecn.owes_cwr);
        let pushed = end >= self.write_seq || self.ends_marked() || self.ends_write(start);
        if pushed {
            self.scoreboard.set_psh_on_newest();
        }
        let psh = pushed || self.ends_burst();
        *out = Outgoing { start, payload: len as u32, fin, psh, retransmission: false, cwr, is_last: false };
    }
}
