//! The sending half: window, acknowledgments, timers. What happens on a loss is in [`crate::recovery`].
//!
//! Offsets count from the initial sequence number: 0 is the SYN, 1 the first data byte. `nxt` runs behind `max` only
//! while a window shell (Tahoe, Reno, NewReno) sends again after a timeout or collapse.

use crate::config::Config;
use crate::endpoint::micros;
use crate::pacer::Pacer;
use crate::rate::Sampler;
use crate::recovery::{Mode, Recovery};
use crate::rtt::{RtoConfig, Rtt};
use crate::sent::{Delivered, SentQueue, Told};
use dumbbell_cc::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Control, Cx, Phase, SentEvent, Shell,
};
use dumbbell_units::{Dur, Time};

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
    pacer: Pacer,
    sampler: Sampler,
    min_rtt: Option<Dur>,
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
            pacer: Pacer::default(),
            sampler: Sampler::default(),
            min_rtt: None,
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
        self.tell_losses(now);
        let cx = self.cx(now);
        self.tell_law(|law| law.on_congestion(&ev, &cx));
    }

    /// Tells the law of each transmission that has newly been taken for lost.
    fn tell_losses(&mut self, now: Time) {
        if self.sent.newly_lost.is_empty() {
            return;
        }
        let cx = self.cx(now);
        let mut lost = std::mem::take(&mut self.sent.newly_lost);
        for l in lost.drain(..) {
            let ev = self.sampler.on_lost(&l.stamp, l.payload);
            self.tell_law(|law| law.on_lost(&ev, &cx));
        }
        self.sent.newly_lost = lost; // the allocation is kept
    }

    /// Marks rate samples where the application holds sending back: nothing new to send, nothing lost that has to go
    /// again, and room in the window [draft-ietf-ccwg-bbr §4.1.2.4].
    pub(crate) fn check_app_limited(&mut self) {
        if self.nxt >= self.written && (self.flight() as f64) < self.control.cwnd && !self.has_lost() {
            self.sampler.app_limited(self.flight());
        }
    }

    /// Whether something is to be sent again.
    fn has_lost(&self) -> bool {
        self.nxt < self.max
            || self.recovery.resend_front
            || (self.config.shell == Shell::Sack && self.sent.next_lost().is_some())
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
        self.check_app_limited();
        let flight = self.flight();
        let lost_before = self.sampler.lost();
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
        let delivered_before = self.sampler.delivered();
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
            self.tell_losses(now);
            let rate = self.sampler.sample(self.min_rtt, now);
            let ev = AckEvent {
                acked,
                delivered: self.sampler.delivered() - delivered_before,
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
                lost: self.sampler.lost() - lost_before,
                marked: 0,
                rate,
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

    /// Round-trip samples of this ACK for the timer, delivery samples for the law. Gives, for the law, when the newest
    /// segment was sent that this ACK is the first to tell of and that was sent once.
    fn take_samples(&mut self, acked: u64, echo: Option<Time>, now: Time) -> Option<Time> {
        let mut newest = None;
        self.sampler.begin();
        for d in &self.delivered {
            if d.told != Told::AcknowledgedAfterSack {
                self.sampler.on_delivered(d.stamp, d.last_at, d.end, d.payload, now);
                if d.transmissions == 1 {
                    newest = newest.max(Some(d.last_at));
                }
            }
        }
        if let Some(sent) = newest {
            self.note_rtt(now.since(sent));
            if self.config.fine_timeouts {
                self.fine.sample(sent, now);
            }
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

    /// A round trip for the smallest of the connection.
    pub(crate) fn note_rtt(&mut self, rtt: Dur) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
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
        self.sent.lose_all();
        self.tell_congestion(Congestion::Timeout, now);
        self.expiries += 1;
        // To Tahoe further duplicates of the hole that the timer has taken on say nothing.
        let dupacks = if self.config.shell == Shell::Tahoe { self.config.dupack_threshold } else { 0 };
        self.recovery =
            Recovery { mode: Mode::Loss, recover: Some(self.max), dupacks, ..Recovery::default() };
        if self.config.shell != Shell::Sack {
            self.nxt = self.una;
        }
        self.timed = None; // Karn's algorithm [RFC 6298 §3]
        self.rtt.back_off();
        self.restart_timer(now);
    }

    /// When [`Sender::next`] is worth asking again, where pacing holds a segment back.
    pub(crate) fn paced_until(&self, now: Time) -> Option<Time> {
        let waits = self.control.pacing.is_some() && self.pacer.holds(now);
        let end = self.written + u64::from(self.closing);
        (waits && (self.nxt < end || self.has_lost())).then(|| self.pacer.next())
    }

    /// Nothing outstanding and nothing to send, as in an endpoint that only receives.
    fn is_idle(&self) -> bool {
        let end = self.written + u64::from(self.closing);
        self.una == self.max && self.nxt >= end && !self.recovery.resend_front
    }

    /// Writes the next segment that window, receiver and pacing let out, and marks it as sent.
    pub(crate) fn next(&mut self, now: Time, out: &mut Outgoing) -> bool {
        if self.control.pacing.is_some() && self.pacer.holds(now) {
            return false;
        }
        if self.is_idle() {
            self.cwnd_limited = false;
            return false;
        }
        let (flight, nothing_outstanding) = (self.flight(), self.una == self.max);
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
        self.note_sent(out, flight, nothing_outstanding, now);
        if self.rto_at.is_none() {
            self.restart_timer(now);
        }
        true
    }

    /// Rate sampler, law and pacer hear of a segment that leaves.
    fn note_sent(&mut self, out: &Outgoing, flight: u64, nothing_outstanding: bool, now: Time) {
        let stamp = self.sampler.on_sent(nothing_outstanding, self.flight(), now);
        self.sent.stamp(out.start, stamp);
        if out.payload > 0 {
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
        if let Some(rate) = self.control.pacing {
            let quantum = self.control.quantum.unwrap_or(self.mss());
            self.pacer.on_sent(out.payload, rate, quantum, now);
        }
    }

    /// Sends again what was sent before.
    pub(crate) fn resend(&mut self, start: u64, now: Time, out: &mut Outgoing) -> bool {
        if self.config.shell != Shell::Sack {
            self.sent.lose_at(start); // a shell without a scoreboard sends again what it takes for lost
            self.tell_losses(now);
        }
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
