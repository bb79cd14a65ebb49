//! A window law with an endpoint that always has data to send.

use dumbbell_cc::{
    AckArrival, AckEvent, CaState, Congestion, CongestionControl, CongestionEvent, Cx, Increase, LostEvent,
    Phase, RateSample, RecoveryExit, SentEvent, Setup, TxStart, Variant, find,
};
use dumbbell_units::{Dur, Time};

/// Payload of a segment.
const MSS: f64 = 1000.0;

/// A law under test. Windows are in segments of 1000 bytes; the window is always full, unless a verb says otherwise.
#[derive(Debug)]
pub struct CcFixture {
    row: &'static Variant,
    law: Box<dyn CongestionControl>,
    cx: Cx,
    rtt: Dur,
    one_way: Option<f64>,
    una: u64,
    nxt: u64,
    timeouts: u32,
    outstanding: Option<u64>,
    path: Path,
}

/// What delivery-rate samples tell; see the verbs.
#[derive(Debug, Default)]
struct Path {
    /// Bytes/s; None: no samples.
    rate: Option<f64>,
    /// The sampled segment left when so many bytes less than now were delivered; None: see `prior_delivered`.
    behind: Option<u64>,
    delivered: u64,
    prior_delivered: u64,
    app_limited: bool,
    /// Bytes outstanding after each ACK.
    left: Option<u64>,
    /// Bytes outstanding when the sampled segment was sent, and lost since.
    sent_in_flight: u64,
    lost_since: u64,
    /// Bytes lost that no ACK has told of.
    newly_lost: u64,
    /// What a timeout took for lost is still being repaired.
    in_loss: bool,
}

impl CcFixture {
    /// The law of that name with these parameters, which starts with so many segments and that slow start threshold
    /// (equal: it starts in congestion avoidance). The RTT is 100 ms.
    ///
    /// # Panics
    /// If there is no such law or a parameter is refused.
    #[must_use]
    pub fn new(name: &str, params: &[(&str, &str)], window: f64, ssthresh: f64) -> CcFixture {
        CcFixture::starting(name, params, Setup::new(MSS, window * MSS, ssthresh * MSS))
    }

    /// Likewise, on a stack that counts windows in whole segments, as Linux does.
    ///
    /// # Panics
    /// As [`CcFixture::new`].
    #[must_use]
    pub fn whole(name: &str, params: &[(&str, &str)], window: f64, ssthresh: f64) -> CcFixture {
        let mut law = CcFixture::new(name, params, window, ssthresh);
        (law.cx.increase, law.cx.whole_segments) = (Increase::PerWindow, true);
        law
    }

    /// Likewise, on a stack that starts it in this way.
    ///
    /// # Panics
    /// If there is no such law, a parameter is refused, or segments aren't of 1000 bytes.
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
            law: dumbbell_cc::build(name, &crate::given(params), &start).unwrap(),
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

    /// From here on each ACK brings this round-trip time.
    pub fn rtt(&mut self, ms: u64) -> &mut CcFixture {
        self.rtt = Dur::millis(ms);
        self
    }

    /// From here on each ACK brings this one-way delay too, which the clocks' offset may make negative.
    pub fn one_way(&mut self, ms: i32) -> &mut CcFixture {
        self.one_way = Some(f64::from(ms) / 1000.0);
        self
    }

    /// From here on at most so many segments are outstanding, whatever the window.
    pub fn outstanding(&mut self, segments: u64) -> &mut CcFixture {
        self.outstanding = Some(segments);
        self
    }

    /// From here on each ACK brings a rate sample: so many segments, delivered over a round trip.
    pub fn delivering(&mut self, segments: u64) -> &mut CcFixture {
        let bytes = segments * MSS as u64;
        (self.path.rate, self.path.behind) = (Some(bytes as f64 / self.rtt.as_secs()), Some(bytes));
        self
    }

    /// From here on each ACK brings a delivery rate of so many segments a second.
    pub fn rate(&mut self, per_second: f64) -> &mut CcFixture {
        self.path.rate = Some(per_second * MSS);
        self
    }

    /// From here on rates are held back by the application, or not.
    pub fn app_limited(&mut self, limited: bool) -> &mut CcFixture {
        self.path.app_limited = limited;
        self
    }

    /// The segments of the next ACKs left after the last one: the first of them ends a round trip.
    pub fn next_trip(&mut self) -> &mut CcFixture {
        self.path.prior_delivered = self.path.delivered;
        self
    }

    /// From here on so many segments are outstanding after each ACK.
    pub fn left(&mut self, segments: u64) -> &mut CcFixture {
        self.path.left = Some(segments * MSS as u64);
        self
    }

    /// From here on the segments of the ACKs left when so many were in flight, and so many were lost since.
    pub fn sampled(&mut self, in_flight: u64, lost: u64) -> &mut CcFixture {
        (self.path.sent_in_flight, self.path.lost_since) = (in_flight * MSS as u64, lost * MSS as u64);
        self
    }

    /// A segment is taken for lost that left when so many were in flight; so many, it included, have been lost since.
    /// Each lies apart from the last.
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
        self.law.on_lost(&ev, &self.cx);
        self
    }

    /// The handshake took so long.
    pub fn established(&mut self, ms: u64) -> &mut CcFixture {
        self.law.on_established(Some(Dur::millis(ms)), &self.cx);
        self
    }

    /// A segment leaves with so many before it outstanding, after the application held sending back or not.
    pub fn leave(&mut self, outstanding: u64, app_limited: bool) -> &mut CcFixture {
        let bytes = MSS as u64;
        self.nxt = self.nxt.max(self.una + outstanding * bytes) + bytes;
        let ev = SentEvent {
            bytes,
            flight: outstanding * bytes,
            snd_nxt: self.nxt,
            retransmission: false,
            app_limited,
        };
        self.law.on_sent(&ev, &self.cx);
        self
    }

    /// Time passes.
    pub fn advance(&mut self, ms: u64) -> &mut CcFixture {
        self.cx.now += Dur::millis(ms);
        self
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.cx.now
    }

    /// The window is sent, and in any case these segments.
    fn send(&mut self, segments: u64) {
        let bytes = MSS as u64;
        let window = ((self.law.control().cwnd / MSS) as u64).min(self.outstanding.unwrap_or(u64::MAX));
        let end = self.una + window.max(segments) * bytes;
        if self.path.left.is_some() {
            self.nxt = self.nxt.max(end); // what is outstanding the test says
        }
        while self.nxt < end {
            let flight = self.nxt - self.una;
            self.nxt += bytes;
            let ev =
                SentEvent { bytes, flight, snd_nxt: self.nxt, retransmission: false, app_limited: false };
            self.law.on_sent(&ev, &self.cx);
        }
    }

    fn acknowledge(
        &mut self,
        segments: u64,
        marked: u64,
        cwnd_limited: bool,
        in_recovery: bool,
    ) -> &mut CcFixture {
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
            acked,
            delivered: acked,
            rtt: Some(self.rtt),
            one_way: self.one_way,
            flight: path.left.map_or(flight, |left| left + acked),
            snd_una: self.una,
            snd_nxt: self.nxt,
            cwnd_limited,
            in_recovery,
            in_loss: self.path.in_loss,
            disordered: false,
            inflight: left,
            departs: self.cx.now,
            lost,
            marked: marked * MSS as u64,
            rate,
        };
        if self.law.wants_arrivals() {
            let state = if in_recovery { CaState::Recovery } else { CaState::Open };
            let arrival = AckArrival { acked: ev.acked, fast_path: !in_recovery, rtt: ev.rtt, state };
            self.law.on_arrival(&arrival, &self.cx);
        }
        self.law.on_ack(&ev, &self.cx);
        self
    }

    /// A segment leaves with nothing in flight, so many ms after the last one.
    pub fn start(&mut self, ms: u64) -> &mut CcFixture {
        let last_sent_at = Time(self.cx.now.0 - ms * 1_000_000);
        self.law.on_tx_start(&TxStart { last_sent_at, snd_nxt: self.una }, &self.cx);
        self
    }

    /// One ACK of so many new segments.
    pub fn ack(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, 0, true, false)
    }

    /// Likewise; all of them arrived with a congestion mark.
    pub fn ack_marked(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, segments, true, false)
    }

    /// Likewise, while the application does not use the window.
    pub fn ack_unused(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, 0, false, false)
    }

    /// Likewise, in fast recovery.
    pub fn ack_in_recovery(&mut self, segments: u64) -> &mut CcFixture {
        self.acknowledge(segments, 0, true, true)
    }

    /// One ACK while what a timeout took for lost is repaired; so many further segments are lost.
    pub fn ack_in_loss(&mut self, segments: u64, lost: u64) -> &mut CcFixture {
        (self.path.in_loss, self.path.newly_lost) = (true, lost * MSS as u64);
        self.acknowledge(segments, 0, true, false);
        self.path.in_loss = false;
        self
    }

    /// An RTT passes and each segment of the window is acknowledged by itself.
    pub fn round(&mut self) -> &mut CcFixture {
        self.cx.now += self.rtt;
        let segments = (self.law.control().cwnd / MSS) as u64;
        (0..segments).fold(self, |law, _| law.ack(1))
    }

    fn congestion(&mut self, kind: Congestion, sent_at: Time, transmissions: u32) -> &mut CcFixture {
        let ev = CongestionEvent {
            kind,
            window: self.law.control().cwnd,
            lost_sent_at: sent_at,
            lost_transmissions: transmissions,
            backoffs: self.timeouts,
        };
        self.law.on_congestion(&ev, &self.cx);
        self
    }

    /// Fast recovery begins: a segment sent just now (an RTT ago would be before an earlier loss) was lost. The
    /// reduction starts from cwnd.
    pub fn lose(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Loss, self.cx.now, 1)
    }

    /// Likewise, and the segment had been lost before.
    pub fn lose_again(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Loss, self.cx.now, 2)
    }

    /// Likewise, and it was sent at that time.
    pub fn lose_sent_at(&mut self, sent_at: Time) -> &mut CcFixture {
        self.congestion(Congestion::Loss, sent_at, 1)
    }

    /// The answer to a loss of an endpoint without fast recovery.
    pub fn collapse(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Collapse, self.cx.now, 1)
    }

    /// The receiver echoes a congestion mark.
    pub fn echo_mark(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Ecn, self.cx.now, 1)
    }

    /// The retransmission timer expires, again if no ACK came since it last did.
    pub fn time_out(&mut self) -> &mut CcFixture {
        self.congestion(Congestion::Timeout, self.cx.now, 1 + self.timeouts);
        self.timeouts += 1;
        self.nxt = self.una;
        self
    }

    /// The endpoint finds that nothing was lost.
    pub fn undo(&mut self) -> &mut CcFixture {
        self.law.on_undo(&self.cx);
        self
    }

    /// Fast recovery ends, with no bound on the window.
    pub fn recover(&mut self) -> &mut CcFixture {
        self.law.on_recovery_exit(&RecoveryExit { bound: f64::INFINITY }, &self.cx);
        self
    }

    /// The connection rests for so long and starts again.
    pub fn idle(&mut self, ms: u64) -> &mut CcFixture {
        self.advance(ms);
        self.law.on_restart(Dur::millis(ms), &self.cx);
        self
    }

    /// The pacing rate, segments a second.
    ///
    /// # Panics
    /// If the law gives none.
    #[must_use]
    pub fn pacing(&self) -> f64 {
        self.law.control().pacing.expect("a pacing rate").0 as f64 / 8.0 / MSS
    }

    /// The quantum of a burst, bytes.
    #[must_use]
    pub fn quantum(&self) -> Option<u64> {
        self.law.control().quantum
    }

    /// cwnd, segments.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        self.law.control().cwnd / MSS
    }

    /// ssthresh, segments.
    #[must_use]
    pub fn ssthresh(&self) -> f64 {
        self.law.control().ssthresh / MSS
    }

    /// The law's phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.law.phase()
    }

    /// A private column.
    ///
    /// # Panics
    /// If the law has no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> f64 {
        let at = self.row.columns.iter().position(|c| *c == name).expect("a column of this law");
        let mut row = Vec::new();
        self.law.observe(&mut row);
        row[at]
    }
}
