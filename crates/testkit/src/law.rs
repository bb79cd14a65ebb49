//! A window law with an endpoint that always has data to send.

use dumbbell_cc::{
    AckEvent, Congestion, CongestionControl, CongestionEvent, Cx, Increase, Phase, RecoveryExit, Start,
    Variant, find,
};
use dumbbell_units::{Dur, Time};

/// Payload of a segment.
const MSS: f64 = 1000.0;

/// A law under test. Windows are in segments of 1000 bytes; the window is always full, unless a verb says otherwise.
#[derive(Debug)]
pub struct Law {
    row: &'static Variant,
    law: Box<dyn CongestionControl>,
    cx: Cx,
    rtt: Dur,
    one_way: Option<f64>,
    una: u64,
    nxt: u64,
    timeouts: u32,
    outstanding: Option<u64>,
}

impl Law {
    /// The law of that name with these parameters, which starts with so many segments and that slow start threshold
    /// (equal: it starts in congestion avoidance). The RTT is 100 ms.
    ///
    /// # Panics
    /// If there is no such law or a parameter is refused.
    #[must_use]
    pub fn new(name: &str, params: &[(&str, &str)], window: f64, ssthresh: f64) -> Law {
        Law::starting(name, params, Start::new(MSS, window * MSS, ssthresh * MSS))
    }

    /// Likewise, on a stack that starts it in this way.
    ///
    /// # Panics
    /// If there is no such law, a parameter is refused, or segments aren't of 1000 bytes.
    #[must_use]
    pub fn starting(name: &str, params: &[(&str, &str)], start: Start) -> Law {
        assert!(start.mss == MSS, "segments of {} bytes", start.mss);
        let cx = Cx {
            now: Time(1_000_000_000),
            mss: MSS,
            initial_window: start.initial_window,
            increase: Increase::PerAck,
            whole_segments: false,
        };
        Law {
            row: find(name).unwrap(),
            law: dumbbell_cc::build(name, &crate::given(params), &start).unwrap(),
            cx,
            rtt: Dur::millis(100),
            one_way: None,
            una: 1,
            nxt: 1,
            timeouts: 0,
            outstanding: None,
        }
    }

    /// From here on each ACK brings this round-trip time.
    pub fn rtt(&mut self, ms: u64) -> &mut Law {
        self.rtt = Dur::millis(ms);
        self
    }

    /// From here on each ACK brings this one-way delay too, which the clocks' offset may make negative.
    pub fn one_way(&mut self, ms: i32) -> &mut Law {
        self.one_way = Some(f64::from(ms) / 1000.0);
        self
    }

    /// From here on at most so many segments are outstanding, whatever the window.
    pub fn outstanding(&mut self, segments: u64) -> &mut Law {
        self.outstanding = Some(segments);
        self
    }

    /// Time passes.
    pub fn advance(&mut self, ms: u64) -> &mut Law {
        self.cx.now += Dur::millis(ms);
        self
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.cx.now
    }

    fn acknowledge(&mut self, segments: u64, cwnd_limited: bool, in_recovery: bool) -> &mut Law {
        let acked = segments * MSS as u64;
        // The window is sent, and in any case what the ACK covers.
        let window = ((self.law.control().cwnd / MSS) as u64).min(self.outstanding.unwrap_or(u64::MAX));
        self.nxt = self.nxt.max(self.una + (window * MSS as u64).max(acked));
        let flight = self.nxt - self.una;
        self.una += acked;
        self.timeouts = 0;
        let ev = AckEvent {
            acked,
            delivered: acked,
            rtt: Some(self.rtt),
            one_way: self.one_way,
            flight,
            snd_una: self.una,
            snd_nxt: self.nxt,
            cwnd_limited,
            in_recovery,
            in_loss: false,
            inflight: self.nxt - self.una,
            lost: 0,
            marked: 0,
            rate: None,
        };
        self.law.on_ack(&ev, &self.cx);
        self
    }

    /// One ACK of so many new segments.
    pub fn ack(&mut self, segments: u64) -> &mut Law {
        self.acknowledge(segments, true, false)
    }

    /// Likewise, while the application does not use the window.
    pub fn ack_unused(&mut self, segments: u64) -> &mut Law {
        self.acknowledge(segments, false, false)
    }

    /// Likewise, in fast recovery.
    pub fn ack_in_recovery(&mut self, segments: u64) -> &mut Law {
        self.acknowledge(segments, true, true)
    }

    /// An RTT passes and each segment of the window is acknowledged by itself.
    pub fn round(&mut self) -> &mut Law {
        self.cx.now += self.rtt;
        let segments = (self.law.control().cwnd / MSS) as u64;
        (0..segments).fold(self, |law, _| law.ack(1))
    }

    fn congestion(&mut self, kind: Congestion, sent_at: Time, transmissions: u32) -> &mut Law {
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
    pub fn lose(&mut self) -> &mut Law {
        self.congestion(Congestion::Loss, self.cx.now, 1)
    }

    /// Likewise, and the segment had been lost before.
    pub fn lose_again(&mut self) -> &mut Law {
        self.congestion(Congestion::Loss, self.cx.now, 2)
    }

    /// Likewise, and it was sent at that time.
    pub fn lose_sent_at(&mut self, sent_at: Time) -> &mut Law {
        self.congestion(Congestion::Loss, sent_at, 1)
    }

    /// The answer to a loss of an endpoint without fast recovery.
    pub fn collapse(&mut self) -> &mut Law {
        self.congestion(Congestion::Collapse, self.cx.now, 1)
    }

    /// The receiver echoes a congestion mark.
    pub fn echo_mark(&mut self) -> &mut Law {
        self.congestion(Congestion::Ecn, self.cx.now, 1)
    }

    /// The retransmission timer expires, again if no ACK came since it last did.
    pub fn time_out(&mut self) -> &mut Law {
        self.congestion(Congestion::Timeout, self.cx.now, 1 + self.timeouts);
        self.timeouts += 1;
        self.nxt = self.una;
        self
    }

    /// The endpoint finds that nothing was lost.
    pub fn undo(&mut self) -> &mut Law {
        self.law.on_undo(&self.cx);
        self
    }

    /// Fast recovery ends, with no bound on the window.
    pub fn recover(&mut self) -> &mut Law {
        self.law.on_recovery_exit(&RecoveryExit { bound: f64::INFINITY }, &self.cx);
        self
    }

    /// The connection rests for so long and starts again.
    pub fn idle(&mut self, ms: u64) -> &mut Law {
        self.advance(ms);
        self.law.on_restart(Dur::millis(ms), &self.cx);
        self
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
