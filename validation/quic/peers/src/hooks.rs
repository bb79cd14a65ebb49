//! A variant behind the hooks that other implementations have: bytes sent, bytes acknowledged by an ACK with the send
//! time of its newest packet, bytes lost. There are no delivery-rate samples and no pacing rate, so only variants that
//! need neither run.
//!
//! The recovery period is that of RFC 9002 §7.3.2, by send times: it ends when a packet sent after its start is
//! acknowledged.

use dumbbell_cc::{AckEvent, Congestion, CongestionControl, CongestionEvent, Cx, Increase, RecoveryExit, SentEvent};
use dumbbell_quic::Config;
use dumbbell_units::Time;

/// See the top of this file.
#[derive(Debug)]
pub struct Hooks {
    algorithm: Box<dyn CongestionControl>,
    mss: f64,
    initial_window: f64,
    minimum_window: f64,
    /// Bytes sent so far, and those in flight.
    sent: u64,
    in_flight: u64,
    recovery_start: Option<Time>,
    in_recovery: bool,
    cwnd: f64,
}

impl Hooks {
    /// Returns a variant at the start of a connection.
    ///
    /// # Errors
    /// An unknown variant, or one that needs more than the hooks give.
    pub fn new(variant: &str, config: &Config) -> Result<Hooks, String> {
        let algorithm = dumbbell_cc::build(variant, &[], &config.cc_setup()).map_err(|e| e.to_string())?;
        let control = algorithm.control();
        if control.pacing.is_some() || algorithm.wants_arrivals() {
            return Err(format!("{variant} sets a pacing rate or needs more than the hooks of other implementations"));
        }
        Ok(Hooks {
            algorithm,
            mss: config.mss() as f64,
            initial_window: config.growth.initial_window as f64,
            minimum_window: config.growth.minimum_window as f64,
            sent: 0,
            in_flight: 0,
            recovery_start: None,
            in_recovery: false,
            cwnd: control.cwnd,
        })
    }

    fn cx(&self, now: Time) -> Cx {
        let (mss, initial_window) = (self.mss, self.initial_window);
        Cx { now, mss, initial_window, increase: Increase::PerByte, whole_segments: false }
    }

    fn notify(&mut self, now: Time, event: impl FnOnce(&mut dyn CongestionControl, &Cx)) {
        let cx = self.cx(now);
        event(self.algorithm.as_mut(), &cx);
        self.cwnd = self.algorithm.control().cwnd;
    }

    /// The congestion window, bytes.
    #[must_use]
    pub fn window(&self) -> f64 {
        self.cwnd.max(self.minimum_window)
    }

    /// A packet is sent.
    pub fn on_sent(&mut self, bytes: u64, now: Time) {
        let flight = self.in_flight;
        self.in_flight += bytes;
        self.sent += bytes;
        let snd_nxt = self.sent;
        let ev = SentEvent { bytes, flight, snd_nxt, retransmission: false, app_limited: false };
        self.notify(now, |cc, cx| cc.on_sent(&ev, cx));
    }

    /// An ACK has acknowledged packets with `bytes`, the newest of which was sent at `newest`. `in_flight`: bytes in
    /// flight after it, as the implementation counts them.
    pub fn on_acked(&mut self, bytes: u64, newest: Time, in_flight: u64, cwnd_limited: bool, now: Time) {
        let flight = in_flight + bytes;
        self.in_flight = in_flight;
        if self.in_recovery && self.recovery_start.is_some_and(|start| newest > start) {
            self.in_recovery = false;
            self.notify(now, |cc, cx| cc.on_recovery_exit(&RecoveryExit { bound: f64::INFINITY }, cx));
        }
        let ev = AckEvent {
            acked: bytes,
            delivered: bytes,
            rtt: Some(now.since(newest)),
            one_way: None,
            flight,
            snd_una: self.sent.saturating_sub(self.in_flight),
            snd_nxt: self.sent,
            cwnd_limited,
            in_recovery: self.in_recovery,
            in_loss: false,
            disordered: false,
            inflight: self.in_flight,
            departs: now,
            lost: 0,
            marked: 0,
            rate: None,
        };
        self.notify(now, |cc, cx| cc.on_ack(&ev, cx));
    }

    /// Packets with `bytes` are lost; the newest of them was sent at `newest`.
    pub fn on_lost(&mut self, bytes: u64, newest: Time, persistent: bool, now: Time) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
        if !persistent && self.recovery_start.is_some_and(|start| newest <= start) {
            return;
        }
        self.recovery_start = Some(now);
        self.in_recovery = !persistent;
        let kind = if persistent { Congestion::Timeout } else { Congestion::Loss };
        let window = self.window();
        let ev = CongestionEvent { kind, window, lost_sent_at: newest, lost_transmissions: 1, backoffs: 0 };
        self.notify(now, |cc, cx| cc.on_congestion(&ev, cx));
    }

    /// Packets with `bytes` are no longer in flight, because their keys were discarded.
    pub fn on_discarded(&mut self, bytes: u64) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }
}
