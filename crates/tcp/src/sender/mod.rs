//! The sending half: ACKs, transmission, timer [RFC 9293 §3.8; Linux tcp_input.c tcp_ack, tcp_output.c tcp_write_xmit].
//! [`crate::recovery`] finds and repairs losses.
//!
//! Offsets count from the initial sequence number: 0 is the SYN, 1 the first data byte. `snd.nxt` is below `snd.max`
//! only while Tahoe, Reno or NewReno retransmits after a timeout or collapse.

mod ack;
mod burst;
mod rtt_samples;
mod send;
mod send_buffer;
mod summary;
mod window_validation;

pub(crate) use send::Outgoing;
pub use send::{BulkStep, NewSegment};

use crate::cc_driver::CcDriver;
use crate::config::{Config, RtoConfig, RtoEstimator};
use crate::delivery_rate::DeliveryRate;
use crate::ecn::{EcnMode, EcnSender};
use crate::min_rtt::MinRtt;
use crate::pacer::Pacer;
use crate::recovery::{Recovery, RecoveryCx};
use crate::rtt::RttEstimator;
use crate::scoreboard::{DeliveredSegment, Scoreboard};
use crate::send_sequence::{Counters, SendSequence};
use crate::send_timer::{SendTimer, TimerKind};
use burst::Burst;
use dumbbell_cc::{CaState, CongestionControl, Phase};
use dumbbell_units::{Dur, Time};
use send_buffer::SendBuffer;
use std::sync::Arc;
use window_validation::CwndUsage;

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) config: Arc<Config>,
    pub(crate) cc: CcDriver,
    pub(crate) snd: SendSequence,
    /// The window in the last ACK.
    snd_wnd: u64,
    /// End of the data that the application has written [Linux include/linux/tcp.h write_seq].
    pub(crate) write_seq: u64,
    /// True after the application has closed: a FIN follows the data.
    pub(crate) closing: bool,
    scoreboard: Scoreboard,
    pub(crate) rtt: RttEstimator,
    /// Vegas' estimator, with a fine-grained clock, if the stack has fine-grained timeouts.
    fine_rtt: Option<Box<RttEstimator>>,
    min_rtt: MinRtt,
    /// Without timestamps one segment at a time is timed: its end, and when it was sent.
    timed: Option<(u64, Time)>,
    pub(crate) timer: SendTimer,
    pub(crate) recovery: Recovery,
    last_sent_at: Time,
    pacer: Pacer,
    burst: Burst,
    buffer: SendBuffer,
    delivery_rate: DeliveryRate,
    usage: CwndUsage,
    ecn: EcnSender,
    pub(crate) counters: Counters,
    /// The segments that the last ACK newly reports.
    pub(crate) delivered: Vec<DeliveredSegment>,
}

impl Sender {
    pub(crate) fn new(config: Arc<Config>, algorithm: Box<dyn CongestionControl>) -> Sender {
        let fine = || {
            let estimator = RtoEstimator::Rfc6298;
            RttEstimator::new(RtoConfig { granularity: Dur(1), min: Dur::ZERO, estimator, ..config.rto })
        };
        let cc = CcDriver::new(algorithm, &config);
        Sender {
            snd: SendSequence { una: 1, nxt: 1, max: 1, wnd_end: 1, sml: 1 },
            snd_wnd: 0,
            write_seq: 1,
            closing: false,
            scoreboard: Scoreboard::new(config.connection.mss, config.unit(), config.uses_rack(), cc.wants_rates),
            cc,
            rtt: RttEstimator::new(config.rto),
            fine_rtt: config.recovery.fine_timeouts.then(|| Box::new(fine())),
            min_rtt: MinRtt::new(config.rto.min_rtt_window),
            timed: None,
            timer: SendTimer::new(config.rto.timer_tick),
            recovery: Recovery::new(&config),
            last_sent_at: Time::ZERO,
            pacer: Pacer::default(),
            burst: Burst::default(),
            buffer: SendBuffer::new(config.buffer.send_buffer),
            delivery_rate: DeliveryRate::default(),
            usage: CwndUsage::default(),
            ecn: EcnSender::default(),
            counters: Counters::default(),
            delivered: Vec::new(),
            config,
        }
    }

    /// Starts the connection; `wnd_end` is the end of the first window that the receiver offers.
    pub(crate) fn open(&mut self, wnd_end: u64, ecn: EcnMode) {
        self.snd.wnd_end = wnd_end;
        self.ecn.mode = ecn;
    }

    fn mss(&self) -> u64 {
        self.config.mss()
    }

    /// Bytes outstanding: pipe with SACK, else all from snd_una to snd_nxt.
    pub(crate) fn flight(&self) -> u64 {
        if self.config.uses_sack() { self.scoreboard.pipe() } else { self.snd.outstanding() }
    }

    /// Bytes sent and not acknowledged cumulatively, as they count in the window [Linux include/linux/tcp.h struct
    /// tcp_sock packets_out].
    fn outstanding(&self) -> u64 {
        self.scoreboard.counted(self.snd.max - self.snd.una, self.scoreboard.segment_count() as u64)
    }

    /// The window during recovery or else that of congestion control, without inflation, bytes.
    pub(crate) fn window(&self) -> f64 {
        self.recovery.window(self.cc.control.cwnd)
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.recovery.state {
            CaState::Recovery => Phase::Recovery,
            CaState::Loss => Phase::Loss,
            CaState::Open | CaState::Disorder | CaState::Cwr => self.cc.phase(),
        }
    }

    pub(crate) fn everything_acknowledged(&self) -> bool {
        self.snd.una == self.write_seq + u64::from(self.closing)
    }

    /// Returns recovery, and the parts of the sender that it may use.
    #[inline(always)]
    fn recovery_cx(&mut self, now: Time) -> (&mut Recovery, RecoveryCx<'_>) {
        let cx = RecoveryCx {
            now,
            config: &self.config,
            snd: &mut self.snd,
            scoreboard: &mut self.scoreboard,
            timer: &mut self.timer,
            rtt: &self.rtt,
            fine_rtt: self.fine_rtt.as_deref(),
            min_rtt: self.min_rtt.get(),
            cc: &mut self.cc,
            delivery_rate: &mut self.delivery_rate,
            ecn: &mut self.ecn,
            counters: &mut self.counters,
            timed: &mut self.timed,
        };
        (&mut self.recovery, cx)
    }

    /// Reports the end of the handshake to congestion control; `rtt`: its duration, if no segment of it was repeated.
    pub(crate) fn notify_established(&mut self, rtt: Option<Dur>, now: Time) {
        self.usage.snd_cwnd_stamp = now; // [Linux tcp_input.c tcp_init_buffer_space]
        self.cc.notify(now, |cc, cx| cc.on_established(rtt, cx));
    }

    /// Reports all transmissions that were newly marked as lost to congestion control.
    #[inline(always)] // for each ACK
    fn notify_losses(&mut self, now: Time) {
        self.cc.notify_losses(&mut self.scoreboard, &mut self.delivery_rate, now);
    }

    /// Marks rate samples while the application limits sending: no new data, no retransmissions, and cwnd not full
    /// [draft-ietf-ccwg-bbr §4.1.2.4; Linux tcp_rate.c tcp_rate_check_app_limited].
    #[inline]
    pub(crate) fn check_app_limited(&mut self) {
        if self.snd.nxt >= self.write_seq {
            self.check_app_limited_after_data();
        }
    }

    /// The same after all data was sent.
    #[inline(never)]
    pub(super) fn check_app_limited_after_data(&mut self) {
        if (self.flight() as f64) < self.window() && !self.has_retransmission() {
            self.delivery_rate.set_app_limited(self.flight());
        }
    }

    fn has_retransmission(&self) -> bool {
        self.recovery.has_retransmission(&self.config, &self.snd, &self.scoreboard)
    }

    /// Handles the expiry of the timer.
    pub(crate) fn on_timer(&mut self, now: Time) {
        self.reconsider_burst();
        if self.snd.una == self.snd.max {
            self.timer.expires = None;
            return;
        }
        let kind = self.timer.kind;
        if kind == TimerKind::Rto {
            self.usage.snd_cwnd_stamp = now; // [Linux tcp_input.c tcp_enter_loss]
            self.counters.timeouts += 1;
        }
        let (recovery, mut cx) = self.recovery_cx(now);
        recovery.on_timer(kind, &mut cx);
        if kind == TimerKind::Rto {
            self.timed = None; // Karn's algorithm [RFC 6298 §3]
            self.rtt.back_off(); // [RFC 6298 (5.5)]
            self.timer.start(TimerKind::Rto, self.rtt.rto(), now);
        }
    }

    /// Adds a round trip for the smallest RTT.
    #[inline]
    pub(crate) fn sample_min_rtt(&mut self, rtt: Dur, now: Time) {
        self.min_rtt.sample(rtt, now);
    }

    /// Adds a round trip for the timer.
    pub(crate) fn sample_rtt(&mut self, sent: Time, now: Time) {
        self.rtt.sample(sent, now, self.snd.una, self.snd.nxt);
        self.recovery.tlp.sampled = true;
    }

    /// Releases the memory of an ended connection's outstanding segments.
    pub(crate) fn release_memory(&mut self) {
        self.scoreboard.release_memory();
        self.buffer = SendBuffer::new(self.config.buffer.send_buffer);
    }
}
