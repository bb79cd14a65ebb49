//! The sending half: window, acknowledgments, timers. What happens on a loss is in [`crate::recovery`].
//!
//! Offsets count from the initial sequence number: 0 is the SYN, 1 the first data byte. `nxt` runs behind `max` only
//! while a window shell (Tahoe, Reno, NewReno) sends again after a timeout or collapse.

mod ack;
mod buffer;
mod burst;
mod send;
mod timers;
mod validation;

pub(crate) use ack::{Ack, News};
pub(crate) use send::Outgoing;
pub(crate) use timers::Timer;

use crate::config::Config;
use crate::ecn;
use crate::min_rtt::MinRtt;
use crate::pacer::Pacer;
use crate::rate::Sampler;
use crate::recovery::{Mode, Rack, Recovery, Tlp};
use crate::rtt::{Estimator, RtoConfig, Rtt};
use crate::sent::{DeliveredSegment, SentQueue};
use buffer::Buffer;
use burst::Burst;
use dumbbell_cc::{Congestion, CongestionControl, CongestionEvent, Control, Cx, LossRecovery, Phase};
use dumbbell_units::{Dur, Time};
use validation::Usage;

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

#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) config: Config,
    law: Box<dyn CongestionControl>,
    wants_sent: bool,
    wants_arrivals: bool,
    /// The window that the last ACK offered.
    offer: u64,
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
    min_rtt: MinRtt,
    /// The one segment being timed where there are no timestamps: its end and when it was sent.
    timed: Option<(u64, Time)>,
    pub(crate) timer: Timer,
    pub(crate) timer_at: Option<Time>,
    /// Timeouts since the last ACK of new data.
    pub(crate) expiries: u32,
    pub(crate) recovery: Recovery,
    pub(crate) rack: Rack,
    pub(crate) tlp: Tlp,
    last_sent_at: Time,
    pacer: Pacer,
    burst: Burst,
    buffer: Buffer,
    sampler: Sampler,
    usage: Usage,
    ecn: ecn::Mode,
    marks: ecn::Marks,
    ecn_recover: u64,
    owes_cwr: bool,
    pub(crate) counters: Counters,
    pub(crate) delivered: Vec<DeliveredSegment>,
}

impl Sender {
    pub(crate) fn new(config: Config, law: Box<dyn CongestionControl>) -> Sender {
        let fine =
            RtoConfig { granularity: Dur(1), min: Dur::ZERO, estimator: Estimator::Rfc6298, ..config.rto };
        Sender {
            control: law.control(),
            wants_sent: law.wants_sent(),
            wants_arrivals: law.wants_arrivals(),
            offer: 0,
            law,
            una: 1,
            nxt: 1,
            max: 1,
            written: 1,
            closing: false,
            edge: 1,
            sent: SentQueue::new(config.mss, config.rack.is_some()),
            rtt: Rtt::new(config.rto),
            fine: Rtt::new(fine),
            min_rtt: MinRtt::new(config.min_rtt_window),
            timed: None,
            timer: Timer::Rto,
            timer_at: None,
            expiries: 0,
            recovery: Recovery::default(),
            rack: Rack::new(&config),
            tlp: Tlp::default(),
            last_sent_at: Time::ZERO,
            pacer: Pacer::default(),
            burst: Burst::default(),
            buffer: Buffer::default(),
            sampler: Sampler::default(),
            usage: Usage::default(),
            ecn: ecn::Mode::Off,
            marks: ecn::Marks::default(),
            ecn_recover: 0,
            owes_cwr: false,
            counters: Counters::default(),
            delivered: Vec::new(),
            config,
        }
    }

    /// The connection is established; `edge` is the first offer of the receiver.
    pub(crate) fn open(&mut self, edge: u64, ecn: ecn::Mode) {
        self.edge = edge;
        self.ecn = ecn;
    }

    pub(crate) fn mss(&self) -> u64 {
        u64::from(self.config.mss)
    }

    /// Bytes outstanding: for SACK the pipe, else what was sent from snd_una on.
    pub(crate) fn flight(&self) -> u64 {
        if self.config.shell == LossRecovery::Sack { self.sent.pipe() } else { self.nxt - self.una }
    }

    /// The window as recovery sees it, without inflation, bytes.
    pub(crate) fn window(&self) -> f64 {
        self.recovery.prr.as_ref().map_or(self.control.cwnd, |prr| prr.cwnd() as f64)
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.recovery.mode {
            Mode::Recovery => Phase::Recovery,
            Mode::Loss => Phase::Loss,
            Mode::Open | Mode::Reducing => self.law.phase(),
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

    pub(crate) fn observe_cc(&self, row: &mut Vec<f64>) {
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

    /// Tells the law of congestion.
    pub(crate) fn tell_congestion(&mut self, kind: Congestion, now: Time) {
        self.tell_congestion_after(self.expiries, kind, now);
    }

    /// The same with a number of timeouts before it; `window` is what a reduction starts from.
    pub(crate) fn tell_congestion_after(&mut self, backoffs: u32, kind: Congestion, now: Time) {
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
        let ev = CongestionEvent { kind, window, lost_sent_at, lost_transmissions, backoffs };
        // Whatever the reduction is for [RFC 3168 §6.1.2], except where it is a bit of the counter [RFC 9768 §3.1.5].
        self.owes_cwr = !matches!(self.ecn, ecn::Mode::Off | ecn::Mode::Accurate);
        self.tell_losses(now);
        let cx = self.cx(now);
        self.tell_law(|law| law.on_congestion(&ev, &cx));
    }

    /// Tells the law of each transmission that has newly been taken for lost.
    pub(crate) fn tell_losses(&mut self, now: Time) {
        if self.sent.newly_lost.is_empty() {
            return;
        }
        let cx = self.cx(now);
        let mut lost = std::mem::take(&mut self.sent.newly_lost);
        for l in lost.drain(..) {
            let ev = self.sampler.on_lost(&l.stamp, l.start, l.payload);
            self.tell_law(|law| law.on_lost(&ev, &cx));
        }
        self.sent.newly_lost = lost; // the allocation is kept
    }

    /// Marks rate samples where the application holds sending back: nothing new to send, nothing lost that has to go
    /// again, and room in the window [draft-ietf-ccwg-bbr §4.1.2.4].
    pub(crate) fn check_app_limited(&mut self) {
        if self.nxt >= self.written && (self.flight() as f64) < self.window() && !self.has_lost() {
            self.sampler.app_limited(self.flight());
        }
    }

    /// Whether something is to be sent again.
    fn has_lost(&self) -> bool {
        if self.recovery.resend_front {
            return true;
        }
        match (self.config.shell, self.config.rack) {
            (LossRecovery::Sack, None) => self.sent.has_next_lost(),
            (LossRecovery::Sack, Some(_)) => self.sent.has_waiting(),
            _ => self.nxt < self.max,
        }
    }

    /// A round trip for the smallest of the connection.
    pub(crate) fn note_rtt(&mut self, rtt: Dur, now: Time) {
        self.min_rtt.sample(rtt, now);
    }

    pub(crate) fn min_rtt(&self) -> Option<Dur> {
        self.min_rtt.get()
    }

    /// A round trip for the timer.
    pub(crate) fn sample_rtt(&mut self, sent: Time, now: Time) {
        self.rtt.sample(sent, now, self.una, self.nxt);
        self.tlp.sampled = true;
    }

    /// Whether `echo`, the time that an ACK's timestamp stands for, is before `t` by the clock of the timestamps.
    pub(crate) fn echoes_before(&self, echo: Time, t: Time) -> bool {
        let tick = self.config.timestamp_clock.0;
        echo.0 / tick < t.0 / tick
    }
}
