//! A congestion control algorithm with an endpoint that always has data to send. The test reports ACKs, losses and
//! timeouts by method calls and reads cwnd, ssthresh and the private columns.

use dumbbell_cc::{
    AckArrival, AckEvent, CaState, Congestion, CongestionControl, CongestionEvent, Cx, Increase, LostEvent, Phase,
    RateSample, RecoveryExit, SentEvent, Setup, TxStart, Variant, find,
};
use dumbbell_units::{Dur, Time};

/// Payload of a segment.
const MSS: f64 = 1000.0;

/// An algorithm under test. Windows are in segments of 1000 bytes. The window is always full unless a method changes
/// that.
#[derive(Debug)]
pub struct CcFixture {
    row: &'static Variant,
    algorithm: Box<dyn CongestionControl>,
    cx: Cx,
    rtt: Dur,
    one_way: Option<f64>,
    una: u64,
    nxt: u64,
    timeouts: u32,
    outstanding: Option<u64>,
    path: Path,
}

/// The contents of delivery-rate samples, set by methods of the fixture.
#[derive(Debug, Default)]
struct Path {
    /// Bytes/s; None: no samples.
    rate: Option<f64>,
    /// Bytes delivered since the sampled segment was sent; None: see `prior_delivered`.
    behind: Option<u64>,
    delivered: u64,
    prior_delivered: u64,
    app_limited: bool,
    /// Bytes outstanding after each ACK.
    left: Option<u64>,
    /// Bytes in flight when the sampled segment was sent.
    sent_in_flight: u64,
    /// Bytes lost since the sampled segment was sent.
    lost_since: u64,
    /// Bytes lost that no ACK has reported yet.
    newly_lost: u64,
    /// True while recovering from an RTO.
    in_loss: bool,
}

impl CcFixture {
    /// Returns the algorithm of that name with these parameters, an initial window and a slow start threshold in
    /// segments (if they are equal it starts in congestion avoidance). The RTT is 100 ms.
    ///
    /// # Panics
    /// If the name is unknown or a parameter is refused.
    #[must_use]
    pub fn new(name: &str, params: &[(&str, &str)], window: f64, ssthresh: f64) -> CcFixture {
        CcFixture::starting(name, params, Setup::new(MSS, window * MSS, ssthresh * MSS))
    }

    /// Like [`CcFixture::new`], on a stack that counts windows in whole segments [Linux tcp_cong.c tcp_cong_avoid_ai].
    ///
    /// # Panics
    /// See [`CcFixture::new`].
    #[must_use]
    pub fn whole(name: &str, params: &[(&str, &str)], window: f64, ssthresh: f64) -> CcFixture {
        CcFixture::whole_starting(name, params, Setup::new(MSS, window * MSS, ssthresh * MSS))
    }

    /// Like [`CcFixture::whole`], on a stack with this setup.
    ///
    /// # Panics
    /// See [`CcFixture::starting`].
    #[must_use]
    pub fn whole_starting(name: &str, params: &[(&str, &str)], start: Setup) -> CcFixture {
        let mut fixture = CcFixture::starting(name, params, start);
        (fixture.cx.increase, fixture.cx.whole_segments) = (Increase::PerWindow, true);
        fixture
    }

    /// Like [`CcFixture::new`], on a stack with this setup.
    ///
    /// # Panics
    /// If the name is unknown, a parameter is refused, or segments do not have 1000 bytes.
    #[must_use]
    pub fn starting(name: &str, params: &[(&str, &str)], start: Setup) -> CcFixture {
        assert!(start.mss == MSS, "segments of {} bytes", start.mss);
        let cx = Cx {
            now: Time(1_000_000_000),
            mss: MSS,
            initial_window: start.initial_window,
            increase: Increase::PerAck,
            whole_segments: false,
        };
        CcFixture {
            row: find(name).unwrap(),
            algorithm: dumbbell_cc::build(name, &crate::given(params), &start).unwrap(),
            cx,
            rtt: Dur::millis(100),
            one_way: None,
            una: 1,
            nxt: 1,
            timeouts: 0,
            outstanding: None,
            path: Path::default(),
        }
    }

    /// Sets the RTT sample of the next ACKs.
    pub fn rtt(&mut self, ms: u64) -> &mut CcFixture {
        self.rtt = Dur::millis(ms);
        self
    }

    /// Sets the one-way delay sample of the next ACKs; the offset between the clocks can make it negative.
    pub fn one_way(&mut self, ms: i32) -> &mut CcFixture {
        self.one_way = Some(f64::from(ms) / 1000.0);
        self
    }

    /// Limits the segments in flight, whatever the window.
    pub fn outstanding(&mut self, segments: u64) -> &mut CcFixture {
        self.outstanding = Some(segments);
        self
    }

    /// Sets the rate sample of the next ACKs: this number of segments delivered in one round-trip time.
    pub fn delivering(&mut self, segments: u64) -> &mut CcFixture {
        let bytes = segments * MSS as u64;
        (self.path.rate, self.path.behind) = (Some(bytes as f64 / self.rtt.as_secs()), Some(bytes));
        self
    }

    /// Sets the delivery rate of the next ACKs in segments per second.
    pub fn rate(&mut self, per_second: f64) -> &mut CcFixture {
        self.path.rate = Some(per_second * MSS);
        self
    }

    /// Sets whether rate samples are application-limited.
    pub fn app_limited(&mut self, limited: bool) -> &mut CcFixture {
        self.path.app_limited = limited;
        self
    }

    /// The segments of the next ACKs were sent after the last ACK, so the first of them ends a round trip.
    pub fn next_trip(&mut self) -> &mut CcFixture {
        self.path.prior_delivered = self.path.delivered;
        self
    }

    /// Sets the segments in flight after each ACK.
    pub fn left(&mut self, segments: u64) -> &mut CcFixture {
        self.path.left = Some(segments * MSS as u64);
        self
    }

    /// Sets for the segments of the next ACKs the segments in flight when they were sent, and those lost since.
    pub fn sampled(&mut self, in_flight: u64, lost: u64) -> &mut CcFixture {
        (self.path.sent_in_flight, self.path.lost_since) = (in_flight * MSS as u64, lost * MSS as u64);
        self
    }

    /// A segment is detected as lost that was sent with `in_flight` segments in flight; `lost_since` segments,
    /// including it, have been lost since. Each lost segment forms its own hole.
    pub fn lose_one(&mut self, in_flight: u64, lost_since: u64) -> &mut CcFixture {
        let bytes = MSS as u64;
        let ev = LostEvent {
            start: self.una + 2 * self.path.newly_lost,
            bytes,
            sent_in_flight: in_flight * bytes,
            lost_since: lost_since * bytes,
            prior_delivered: self.path.prior_delivered,
            app_limited: self.path.app_limited,
        };
        self.path.newly_lost += bytes;
        self.algorithm.on_lost(&ev, &self.cx);
        self
    }

    /// The handshake was completed in `ms`.
    pub fn established(&mut self, ms: u64) -> &mut CcFixture {
        self.algorithm.on_established(Some(Dur::millis(ms)), &self.cx);
        self
    }

    /// A segment is sent with `outstanding` segments in flight; `app_limited`: the application limited the sender
    /// before.
    pub fn leave(&mut self, outstanding: u64, app_limited: bool) -> &mut CcFixture {
        let bytes = MSS as u64;
        self.nxt = self.nxt.max(self.una + outstanding * bytes) + bytes;
        let ev =
            SentEvent { bytes, flight: outstanding * bytes, snd_nxt: self.nxt, retransmission: false, app_limited };
        self.algorithm.on_sent(&ev, &self.cx);
        self
    }

    /// Advances the time.
    pub fn advance(&mut self, ms: u64) -> &mut CcFixture {
        self.cx.now += Dur::millis(ms);
        self
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.cx.now
    }

    /// Sends the window, and at least this number of segments.
    fn send(&mut self, segments: u64) {
        let bytes = MSS as u64;
        let window = ((self.algorithm.control().cwnd / MSS) as u64).min(self.outstanding.unwrap_or(u64::MAX));
        let end = self.una + window.max(segments) * bytes;
        if self.path.left.is_some() {
            self.nxt = self.nxt.max(end); // the test sets the bytes in flight
        }
        while self.nxt < end {
            let flight = self.nxt - self.una;
            self.nxt += bytes;
            let ev = SentEvent { bytes, flight, snd_nxt: self.nxt, retransmission: false, app_limited: false };
            self.algorithm.on_sent(&ev, &self.cx);
        }
    }

    fn acknowledge(&mut self, segments: u64, marked: u64, cwnd_limited: bool, in_recovery: bool) -> &mut CcFixture {
        self.send(segments);
        let acked = segments * MSS as u64;
        let flight = self.nxt - self.una;
        self.una += acked;
        self.timeouts = 0;
        let path = &mut self.path;
        path.delivered += acked;
        let left = path.left.unwrap_or(self.nxt - self.una);
        let rate = path.rate.map(|rate| RateSample {
            delivered: (rate * self.rtt.as_secs()).round() as u64,
            interval: self.rtt,
            prior_delivered: path.behind.map_or(path.prior_delivered, |b| path.delivered.saturating_sub(b)),
            total_delivered: path.delivered,
            sent_in_flight: if path.left.is_some() { path.sent_in_flight } else { flight },
            lost: path.lost_since,
            app_limited: path.app_limited,
        });
        let lost = std::mem::take(&mut path.newly_lost);
        let ev = AckEvent {
            rtt: Some(self.rtt),
            one_way: self.one_way,
            flight: left + acked,
            cwnd_limited,
            in_recovery,
            in_loss: self.path.in_loss,
            inflight: left,
            lost,
            marked: marked * MSS as u64,
            rate,
            ..AckEvent::in_order(acked, self.una..self.nxt, self.cx.now)
        };
        if self.algorithm.wants_arrivals() {
            let state = if in_recovery { CaState::Recovery } else { CaState::Open };
            let arrival = AckArrival { acked: ev.acked, fast_path: !in_recovery, rtt: ev.rtt, state };
            self.algorithm.on_arrival(&arrival, &self.cx);
        }
        self.algorithm.on_ack(&ev, &self.cx);
        self
    }

    /// A segment is sent with nothing in flight, `ms` after the last one.
    pub fn start(&mut self, ms: u64) -> &mut CcFixture {
        let last_sent_at = Time(self.cx.now.0 - ms * 1_000_000);
        self.algorithm.on_tx_start(&TxStart { last_sent_at, snd_nxt: self.una }, &self.cx);
        self
    }

    /// One ACK of this number of new segments arrives.
    pub fn ack(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, 0, true, false)
    }

    /// Like [`CcFixture::ack`]; all segments arrived with a congestion mark.
    pub fn ack_marked(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, segments, true, false)
    }

    /// Like [`CcFixture::ack`], while the flow is not limited by cwnd.
    pub fn ack_unused(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, 0, false, false)
    }

    /// Like [`CcFixture::ack`], in fast recovery.
    pub fn ack_in_recovery(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, 0, true, true)
    }

    /// One ACK while recovering from an RTO; `lost` further segments are lost.
    pub fn ack_in_loss(&mut self, segments: u64, lost: u64) -> &mut CcFixture {
        (self.path.in_loss, self.path.newly_lost) = (true, lost * MSS as u64);
        self.acknowledge(segments, 0, true, false);
        self.path.in_loss = false;
        self
    }

    /// Advances the time by an RTT; each segment of the window is acknowledged by its own ACK.
    pub fn round(&mut self) -> &mut CcFixture {
        self.cx.now += self.rtt;
        let segments = (self.algorithm.control().cwnd / MSS) as u64;
        (0..segments).fold(self, |fixture, _| fixture.ack(1))
    }

    fn congestion(&mut self, kind: Congestion, sent_at: Time, transmissions: u32) -> &mut CcFixture {
        let ev = CongestionEvent {
            kind,
            window: self.algorithm.control().cwnd,
            lost_sent_at: sent_at,
            lost_transmissions: transmissions,
            backoffs: self.timeouts,
        };
        self.algorithm.on_congestion(&ev, &self.cx);
        self
    }

    /// Fast recovery begins. The lost segment counts as sent now, because a time one RTT ago could be before an earlier
    /// loss. The reduction starts from cwnd.
    pub fn lose(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Loss, self.cx.now, 1)
    }

    /// Like [`CcFixture::lose`]; the segment had been lost before.
    pub fn lose_again(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Loss, self.cx.now, 2)
    }

    /// Like [`CcFixture::lose`]; the segment was sent at `sent_at`.
    pub fn lose_sent_at(&mut self, sent_at: Time) -> &mut CcFixture {
        self.congestion(Congestion::Loss, sent_at, 1)
    }

    /// The response to a loss by an endpoint without fast recovery.
    pub fn collapse(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Collapse, self.cx.now, 1)
    }

    /// The receiver echoes a congestion mark.
    pub fn echo_mark(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Ecn, self.cx.now, 1)
    }

    /// The retransmission timer expires; repeatedly if no ACK arrived since the last time.
    pub fn time_out(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Timeout, self.cx.now, 1 + self.timeouts);
        self.timeouts += 1;
        self.nxt = self.una;
        self
    }

    /// The endpoint detects a spurious retransmission and undoes the reduction.
    pub fn undo(&mut self) -> &mut CcFixture {
        self.algorithm.on_undo(&self.cx);
        self
    }

    /// Fast recovery ends without a bound on the window.
    pub fn recover(&mut self) -> &mut CcFixture {
        self.algorithm.on_recovery_exit(&RecoveryExit { bound: f64::INFINITY }, &self.cx);
        self
    }

    /// The connection is idle for `ms` and restarts.
    pub fn idle(&mut self, ms: u64) -> &mut CcFixture {
        self.advance(ms);
        self.algorithm.on_restart(Dur::millis(ms), &self.cx);
        self
    }

    /// Returns the pacing rate in segments per second.
    ///
    /// # Panics
    /// If the algorithm does not pace.
    #[must_use]
    pub fn pacing(&self) -> f64 {
        self.algorithm.control().pacing.expect("a pacing rate").0 as f64 / 8.0 / MSS
    }

    /// Returns the send quantum in bytes.
    #[must_use]
    pub fn quantum(&self) -> Option<u64> {
        self.algorithm.control().quantum
    }

    /// Returns cwnd in segments.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.algorithm.control().cwnd / MSS
    }

    /// Returns ssthresh in segments.
    #[must_use]
    pub fn ssthresh(&self) -> f64 {
        self.algorithm.control().ssthresh / MSS
    }

    /// Returns the phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.algorithm.phase()
    }

    /// Returns the value of a private column.
    ///
    /// # Panics
    /// If the algorithm has no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> f64 {
        let at = self.row.columns.iter().position(|c| *c == name).expect("a column of this algorithm");
        let mut row = Vec::new();
        self.algorithm.observe(&mut row);
        row[at]
    }
}
