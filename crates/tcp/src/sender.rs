//! The sending half: window, acknowledgments, timers. What happens on a loss is in [`crate::recovery`].
//!
//! Offsets count from the initial sequence number: 0 is the SYN, 1 the first data byte. `nxt` runs behind `max` only
//! while a window shell (Tahoe, Reno, NewReno) sends again after a timeout or collapse.

use crate::config::Config;
use crate::endpoint::micros;
use crate::recovery::{Mode, Recovery};
use crate::rtt::{RtoConfig, Rtt};
use crate::sent::{Delivered, SentQueue, Told};
use dumbbell_cc::{AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, Shell};
use dumbbell_units::{Bytes, Dur, Time};

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments with payload, retransmissions included.
    pub sent_segments: u64,
    /// Payload bytes, retransmissions included.
    pub sent_bytes: u64,
    /// Segments with payload sent again.
    pub retransmitted_segments: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Recoveries begun without a timeout.
    pub fast_retransmits: u64,
}

/// An acknowledgment as the sending half needs it.
pub(crate) struct Ack<'a> {
    pub(crate) ack: u64,
    /// Offset up to which the receiver allows sending.
    pub(crate) edge: u64,
    /// Whether it can be a duplicate ACK: no payload, no SYN or FIN [RFC 5681 §2 (b), (c)].
    pub(crate) pure: bool,
    pub(crate) sack: &'a [(u64, u64)],
    /// When the segment that its timestamp echoes was sent.
    pub(crate) echo: Option<Time>,
    /// When it left, by the receiver's clock: its timestamp, in microseconds.
    pub(crate) left: Option<u32>,
    pub(crate) ece: bool,
}

/// A segment that may leave now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outgoing {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    pub(crate) retransmission: bool,
    pub(crate) cwr: bool,
}

#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) config: Config,
    law: Box<dyn CongestionControl>,
    /// The law's answer since it last heard of something: it is needed more often than it changes.
    pub(crate) control: Control,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) max: u64,
    /// End of what the application has written.
    pub(crate) written: u64,
    /// The application has closed: a FIN follows the data.
    pub(crate) closing: bool,
    pub(crate) edge: u64,
    pub(crate) sent: SentQueue,
    pub(crate) rtt: Rtt,
    /// Vegas' fine-grained clock.
    fine: Rtt,
    /// The one segment being timed where there are no timestamps: its end and when it was sent.
    timed: Option<(u64, Time)>,
    pub(crate) rto_at: Option<Time>,
    /// Timeouts since the last ACK of new data.
    expiries: u32,
    pub(crate) recovery: Recovery,
    last_sent_at: Time,
    pace_until: Time,
    cwnd_limited: bool,
    ecn_on: bool,
    ecn_recover: u64,
    owes_cwr: bool,
    pub(crate) counters: Counters,
    pub(crate) delivered: Vec<Delivered>,
}

impl Sender {
    pub(crate) fn new(config: Config, law: Box<dyn CongestionControl>) -> Sender {
        let fine = RtoConfig { granularity: Dur(1), min: Dur::ZERO, whole_ticks: false, ..config.rto };
        Sender {
            control: law.control(),
            law,
            una: 1,
            nxt: 1,
            max: 1,
            written: 1,
            closing: false,
            edge: 1,
            sent: SentQueue::default(),
            rtt: Rtt::new(config.rto),
            fine: Rtt::new(fine),
            timed: None,
            rto_at: None,
            expiries: 0,
            recovery: Recovery::default(),
            last_sent_at: Time::ZERO,
            pace_until: Time::ZERO,
            cwnd_limited: false,
            ecn_on: false,
            ecn_recover: 0,
            owes_cwr: false,
            counters: Counters::default(),
            delivered: Vec::new(),
            config,
        }
    }

    /// The connection is established; `edge` is the first offer of the receiver.
    pub(crate) fn open(&mut self, edge: u64, ecn_on: bool) {
        self.edge = edge;
        self.ecn_on = ecn_on;
    }

    pub(crate) fn mss(&self) -> u64 {
        u64::from(self.config.mss)
    }

    /// Bytes outstanding: for SACK the pipe, else what was sent from snd_una on.
    pub(crate) fn flight(&self) -> u64 {
        if self.config.shell == Shell::Sack { self.sent.pipe() } else { self.nxt - self.una }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.recovery.mode {
            Mode::Recovery => Phase::Recovery,
            Mode::Loss => Phase::Loss,
            Mode::Open => self.law.phase(),
        }
    }

    pub(crate) fn everything_acknowledged(&self) -> bool {
        self.una == self.written + u64::from(self.closing)
    }

    /// Tells the law of an event.
    pub(crate) fn tell_law(&mut self, tell: impl FnOnce(&mut dyn CongestionControl)) {
        tell(self.law.as_mut());
        self.control = self.law.control();
    }

    pub(crate) fn observe_law(&self, row: &mut Vec<f64>) {
        self.law.observe(row);
    }

    pub(crate) fn cx(&self, now: Time) -> Cx {
        Cx {
            now,
            mss: f64::from(self.config.mss),
            initial_window: self.config.initial_window as f64,
            increase: self.config.increase,
            whole_segments: self.config.whole_numbers,
        }
    }

    /// Tells the law of congestion; `window` is what a reduction starts from.
    pub(crate) fn tell_congestion(&mut self, kind: Congestion, now: Time) {
        let outstanding = self.nxt - self.una;
        let cwnd = self.control.cwnd;
        let window = if self.config.reduce_from_cwnd {
            cwnd.min((self.edge - self.una) as f64)
        } else {
            // Within recovery much of what is outstanding has left the network, as duplicate ACKs tell: a timeout then
            // must not start from more than the window that recovery set.
            cwnd.min(outstanding.saturating_sub(self.recovery.limited) as f64)
        };
        let (lost_sent_at, lost_transmissions) =
            self.sent.front().map_or((now, 0), |s| (s.last_at, s.transmissions));
        let ev = CongestionEvent { kind, window, lost_sent_at, lost_transmissions, backoffs: self.expiries };
        let cx = self.cx(now);
        self.tell_law(|law| law.on_congestion(&ev, &cx));
    }

    pub(crate) fn restart_timer(&mut self, now: Time) {
        self.rto_at = Some(now + self.rtt.rto());
    }

    /// Takes in an acknowledgment.
    pub(crate) fn on_ack(&mut self, a: &Ack, now: Time) {
        self.delivered.clear();
        if a.ack > self.max || a.ack < self.una {
            return;
        }
        let same_window = a.edge == self.edge;
        self.edge = self.edge.max(a.edge);
        if a.ack == self.max && self.una == self.max && !a.ece {
            return; // nothing outstanding: the ACKs that come with data in the other direction
        }
        let flight = self.flight();
        let was_in_recovery = self.recovery.mode == Mode::Recovery;
        let mut news = false;
        for &(start, end) in a.sack {
            news |= start >= self.una && end <= self.max && self.sent.sack(start, end, &mut self.delivered);
        }
        if news {
            self.sent.find_lost(self.config.dupack_threshold, self.mss());
        }
        let acked = a.ack - self.una;
        if acked > 0 {
            self.sent.acknowledge(a.ack, &mut self.delivered);
            self.una = a.ack;
            self.nxt = self.nxt.max(self.una);
            self.expiries = 0;
        }
        let newest_sent = self.take_samples(acked, a.echo, now);
        if a.ece && self.ecn_on && self.una > self.ecn_recover && !was_in_recovery {
            self.ecn_recover = self.max;
            self.owes_cwr = true;
            self.tell_congestion(Congestion::Ecn, now);
        }
        if acked > 0 {
            self.rto_at = (self.una < self.max).then(|| self.timer_after_ack(now));
            self.on_new_ack(acked, now);
        } else if self.una < self.max && (news || (a.pure && same_window && self.config.shell != Shell::Sack))
        {
            self.on_duplicate_ack(now);
        }
        if acked > 0 || news {
            let ev = AckEvent {
                acked,
                delivered: self.new_segments().map(|d| u64::from(d.payload)).sum(),
                rtt: newest_sent.map(|sent| now.since(sent)),
                one_way: newest_sent.zip(a.left).map(|(sent, left)| {
                    f64::from(left.wrapping_sub(micros(sent)).cast_signed()) * 1e-6 // an offset of up to 35 minutes
                }),
                flight,
                snd_una: self.una,
                snd_nxt: self.nxt,
                cwnd_limited: self.cwnd_limited || self.config.grow_unused,
                in_recovery: self.recovery.mode == Mode::Recovery
                    || (was_in_recovery && !self.config.grow_on_exit),
                in_loss: self.recovery.mode == Mode::Loss,
                inflight: self.flight(),
                lost: 0,
                marked: 0,
                rate: None,
            };
            let cx = self.cx(now);
            self.tell_law(|law| law.on_ack(&ev, &cx));
        }
    }

    /// Restarted by each ACK of new data [RFC 6298 (5.3)], except that an impatient NewReno lets it run on after
    /// the first partial ACK [RFC 6582 §4].
    fn timer_after_ack(&self, now: Time) -> Time {
        let partial = self.config.shell == Shell::NewReno
            && self.recovery.mode == Mode::Recovery
            && self.recovery.recover.is_some_and(|r| self.una < r);
        match self.rto_at {
            Some(at) if partial && self.config.impatient && self.recovery.partial_seen => at,
            _ => now + self.rtt.rto(),
        }
    }

    /// The segments that this ACK is the first to tell of.
    fn new_segments(&self) -> impl Iterator<Item = &Delivered> {
        self.delivered.iter().filter(|d| d.told != Told::AcknowledgedAfterSack)
    }

    /// Round-trip samples of this ACK for the timer. Gives, for the law, when the newest segment was sent that this ACK
    /// tells of and that was sent once.
    fn take_samples(&mut self, acked: u64, echo: Option<Time>, now: Time) -> Option<Time> {
        let newest = self.new_segments().filter(|d| d.transmissions == 1).map(|d| d.last_at).max();
        if let Some(sent) = newest
            && self.config.fine_timeouts
        {
            self.fine.sample(sent, now);
        }
        if acked > 0 {
            if let Some(sent) = echo {
                self.rtt.sample(sent, now); // [RFC 7323 §4.1]
            } else if let Some((end, sent)) = self.timed.filter(|(end, _)| self.una >= *end) {
                debug_assert!(end <= self.una);
                self.timed = None;
                self.rtt.sample(sent, now);
            }
        }
        newest
    }

    /// Whether the oldest segment has been out for longer than the fine-grained timeout [Brakmo & Peterson 1995 §III.A].
    pub(crate) fn fine_timeout_passed(&self, now: Time) -> bool {
        self.config.fine_timeouts && self.sent.front().is_some_and(|s| now.since(s.last_at) > self.fine.rto())
    }

    /// The retransmission timer has expired [RFC 6298 (5.4)-(5.6)].
    pub(crate) fn on_timeout(&mut self, now: Time) {
        if self.una == self.max {
            self.rto_at = None;
            return;
        }
        self.counters.timeouts += 1;
        self.tell_congestion(Congestion::Timeout, now);
        self.expiries += 1;
        // To Tahoe further duplicates of the hole that the timer has taken on say nothing.
        let dupacks = if self.config.shell == Shell::Tahoe { self.config.dupack_threshold } else { 0 };
        self.recovery =
            Recovery { mode: Mode::Loss, recover: Some(self.max), dupacks, ..Recovery::default() };
        if self.config.shell == Shell::Sack {
            self.sent.lose_all();
        } else {
            self.nxt = self.una;
        }
        self.timed = None; // Karn's algorithm [RFC 6298 §3]
        self.rtt.back_off();
        self.restart_timer(now);
    }

    /// When [`Sender::next`] is worth asking again, where pacing holds a segment back.
    pub(crate) fn paced_until(&self, now: Time) -> Option<Time> {
        let has_more = self.nxt < self.written || self.nxt < self.max || self.recovery.resend_front;
        (self.pace_until > now && has_more).then_some(self.pace_until)
    }

    /// Nothing outstanding and nothing to send, as in an endpoint that only receives.
    fn is_idle(&self) -> bool {
        let end = self.written + u64::from(self.closing);
        self.una == self.max && self.nxt >= end && !self.recovery.resend_front
    }

    /// Writes the next segment that window, receiver and pacing let out, and marks it as sent.
    pub(crate) fn next(&mut self, now: Time, out: &mut Outgoing) -> bool {
        if self.pace_until > now {
            return false;
        }
        if self.is_idle() {
            self.cwnd_limited = false;
            return false;
        }
        let sends = if std::mem::take(&mut self.recovery.resend_front) {
            match self.sent.front().map(|s| s.start) {
                Some(start) => self.resend(start, now, out),
                None => false,
            }
        } else if self.config.shell == Shell::Sack {
            self.next_by_pipe(now, out)
        } else {
            self.next_by_window(now, out)
        };
        if !sends {
            return false;
        }
        self.last_sent_at = now;
        if let Some(rate) = self.control.pacing {
            let gap = rate.time_for(Bytes(u64::from(out.payload)));
            self.pace_until = self.pace_until.max(now) + gap;
        }
        if self.rto_at.is_none() {
            self.restart_timer(now);
        }
        true
    }

    /// Sends again what was sent before.
    pub(crate) fn resend(&mut self, start: u64, now: Time, out: &mut Outgoing) -> bool {
        let Some(s) = self.sent.resend(start, now) else { return false };
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
        *out = Outgoing { start: s.start, payload, fin: s.fin, retransmission: true, cwr: false };
        true
    }

    /// Sends a new segment if there is one and it fits into `room` bytes of congestion window.
    pub(crate) fn send_new(&mut self, room: u64, now: Time, out: &mut Outgoing) -> bool {
        let available = self.written - self.nxt.min(self.written);
        let fin_due = self.closing && self.nxt <= self.written;
        if available == 0 && !fin_due {
            self.cwnd_limited = false;
            return false;
        }
        let mut len = available.min(self.mss());
        let offered = self.edge - self.nxt;
        if len > offered {
            self.cwnd_limited = false;
            if self.una < self.max || offered == 0 {
                return false; // full segments only [RFC 9293 §3.8.6.2.1]
            }
            len = offered;
        }
        if len > room {
            self.cwnd_limited = true;
            return false;
        }
        if self.config.idle_restart
            && self.una == self.max
            && self.max > 1
            && now.since(self.last_sent_at) > self.rtt.rto()
        {
            let cx = self.cx(now);
            let idle = now.since(self.last_sent_at);
            self.tell_law(|law| law.on_restart(idle, &cx));
        }
        let fin = self.closing && self.nxt + len == self.written;
        let start = self.nxt;
        self.nxt = start + len + u64::from(fin);
        self.max = self.nxt;
        self.sent.push(start, self.nxt, fin, now);
        if self.timed.is_none() && !self.config.timestamps {
            self.timed = Some((self.nxt, now));
        }
        if len > 0 {
            self.counters.sent_segments += 1;
            self.counters.sent_bytes += len;
        }
        let cwr = std::mem::take(&mut self.owes_cwr);
        *out = Outgoing { start, payload: len as u32, fin, retransmission: false, cwr };
        true
    }
}
