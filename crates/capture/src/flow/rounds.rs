//! Rounds of a direction's data (one round-trip time each), and the phases that they form.
//!
//! A round ends when all data captured before its start is acknowledged and, with timestamps, data echoes an ACK of
//! this round: that is one round-trip time at any capture point on the path. Without timestamps a round lasts at least
//! the shortest known round-trip time. The phases are those of RFC 5681 §3: slow start, congestion avoidance, recovery.
//!
//! ```text
//!                 growth by a quarter or more per round
//!   begin ──> slow start ──> congestion avoidance <──> recovery
//!                 ^                  |  timeout <──────────+
//!                 +──────────────────+────+
//!   each of them can change to: application-limited, window-limited, idle
//! ```

use super::side::{LIMITS, Limit, Side};
use crate::pack::{fields, variants};
use dumbbell_units::named;
use dumbbell_wire::seq::le;

/// Most rounds kept of a direction.
pub(crate) const MOST_ROUNDS: usize = 4_096;
/// Most phases listed of a direction.
pub(crate) const MOST_PHASES: usize = 1_000;

/// Round-trip time that is assumed if it is unknown, ns.
const UNKNOWN: i64 = 250_000_000;

/// One round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// When it began, ns.
    pub start: i64,
    /// When it ended, ns.
    pub end: i64,
    /// Most bytes in flight.
    pub flight: u32,
    /// New bytes seen.
    pub bytes: u32,
    /// Bytes acknowledged.
    pub acked: u32,
    /// Least RTT sample at the capture point, ns; 0: none.
    pub rtt_min: u32,
    /// Sum of the RTT samples, µs.
    pub rtt_sum: u64,
    /// Number of RTT samples.
    pub rtts: u32,
    /// Retransmitted segments.
    pub retransmissions: u32,
    /// ACKs with ECE.
    pub echoes: u32,
    /// True if fast recovery began.
    pub fast: bool,
    /// True if the retransmission timer expired.
    pub timeout: bool,
    /// True if a recovery episode continued.
    pub repairing: bool,
    /// The limit that held for most of the round.
    pub limit: Limit,
}

named! {
    /// The state of the sender.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PhaseKind {
        /// Slow start: the window grows by a factor in each round.
        SlowStart = "slow start",
        /// Congestion avoidance: slow or no growth.
        Avoidance = "congestion avoidance",
        /// Fast recovery, after duplicate ACKs or SACK.
        Recovery = "recovery",
        /// Waiting for the retransmission timer, and recovery after it.
        Timeout = "timeout",
        /// Limited by the application.
        Application = "application-limited",
        /// Limited by the receive window.
        Window = "receiver-limited",
        /// No data outstanding.
        Idle = "idle",
    }
}

/// Consecutive rounds with one state of the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// The state.
    pub kind: PhaseKind,
    /// When it began, ns.
    pub start: i64,
    /// When it ended, ns.
    pub end: i64,
    /// Number of rounds.
    pub rounds: u32,
    /// Bytes in flight of its first round.
    pub first_flight: u32,
    /// Bytes in flight of its last round.
    pub last_flight: u32,
    /// Most bytes in flight.
    pub max_flight: u32,
    /// Retransmitted segments.
    pub retransmissions: u32,
}

impl Phase {
    /// The evidence for the state.
    pub fn evidence(&self) -> String {
        let Self { rounds, first_flight, last_flight, retransmissions, .. } = *self;
        let plural = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let over = plural(rounds, "round");
        let change = format!("bytes in flight {first_flight} to {last_flight} over {over}");
        match self.kind {
            PhaseKind::SlowStart if rounds > 1 => {
                let factor =
                    (f64::from(last_flight) / f64::from(first_flight.max(1))).powf(1.0 / f64::from(rounds - 1));
                format!("{change}: factor {factor:.2} a round")
            }
            PhaseKind::SlowStart => change,
            PhaseKind::Avoidance => {
                let step = (i64::from(last_flight) - i64::from(first_flight)) / i64::from(rounds.max(2) - 1);
                format!("{change}: {step:+} bytes a round")
            }
            PhaseKind::Recovery => {
                format!("{} after duplicate ACKs or SACK; {change}", plural(retransmissions, "retransmission"))
            }
            PhaseKind::Timeout => {
                format!("{} after a timeout; {change}", plural(retransmissions, "retransmission"))
            }
            PhaseKind::Application => format!("the last segment before each pause was not full; {change}"),
            PhaseKind::Window => format!("less than one segment left in the receive window; {change}"),
            PhaseKind::Idle => {
                format!("no data in flight for {:.3} s", (self.end - self.start) as f64 / 1e9)
            }
        }
    }
}

/// Collects rounds and phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    now: Round,
    started: bool,
    seq_mark: u32,
    /// TSval of this round's first acknowledgment.
    ts_mark: Option<u32>,
    ts_echoed: bool,
    limited: [i64; LIMITS],
    pub(crate) rounds: Vec<Round>,
    pub(crate) phases: Vec<Phase>,
    /// Estimate of ssthresh: a sender that grows below it is in slow start.
    threshold: u32,
    last_window: u32,
    /// Consecutive rounds with little growth.
    flat: u8,
    /// Start of the current idle time, ns.
    last_end: i64,
}

/// Changes of a direction's data by a segment of either direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) time: i64,
    /// End of the highest data.
    pub(crate) high: u32,
    pub(crate) una: Option<u32>,
    pub(crate) flight: u32,
    pub(crate) new_bytes: u32,
    pub(crate) acked: u32,
    pub(crate) rtt: Option<i64>,
    /// TSval of an ACK.
    pub(crate) ack_tsval: Option<u32>,
    pub(crate) data_tsecr: Option<u32>,
    pub(crate) retransmission: bool,
    pub(crate) fast: bool,
    pub(crate) timeout: bool,
    pub(crate) repairing: bool,
    pub(crate) echo: bool,
    /// The shortest round-trip time of the path, ns.
    pub(crate) least: i64,
    pub(crate) keep: bool,
}

impl Rounds {
    /// Processes the changes by a segment.
    #[inline]
    pub(crate) fn step(&mut self, s: &Step, side: &mut Side) {
        if !self.started {
            if s.new_bytes == 0 && !s.retransmission {
                return;
            }
            self.begin(s, side);
        }
        let r = &mut self.now;
        r.flight = r.flight.max(s.flight);
        r.bytes += s.new_bytes;
        r.acked = r.acked.wrapping_add(s.acked);
        if let Some(rtt) = s.rtt {
            let rtt = rtt.min(i64::from(u32::MAX)) as u32;
            r.rtt_min = if r.rtts == 0 { rtt } else { r.rtt_min.min(rtt) };
            r.rtt_sum += u64::from(rtt / 1000);
            r.rtts += 1;
        }
        r.retransmissions += u32::from(s.retransmission);
        r.echoes += u32::from(s.echo);
        r.fast |= s.fast;
        r.timeout |= s.timeout;
        r.repairing |= s.repairing;
        if self.ts_mark.is_none() {
            self.ts_mark = s.ack_tsval;
        }
        if let (Some(mark), Some(echo)) = (self.ts_mark, s.data_tsecr) {
            self.ts_echoed |= (echo.wrapping_sub(mark) as i32) >= 0;
        }
        let acked = s.una.is_some_and(|una| le(self.seq_mark, una));
        if !acked {
            return;
        }
        let over = if self.ts_mark.is_some() {
            self.ts_echoed
                || s.una == Some(s.high) && s.time - self.now.start > 4 * if s.least > 0 { s.least } else { UNKNOWN }
        } else {
            s.time - self.now.start >= s.least - s.least / 10
        };
        if over {
            self.end(s, side);
        }
    }

    fn begin(&mut self, s: &Step, side: &mut Side) {
        self.started = true;
        side.close_limit(s.time);
        self.limited = side.limited;
        self.seq_mark = s.high;
        self.ts_mark = None;
        self.ts_echoed = false;
        self.now = Round { start: s.time, ..Round::default() };
    }

    fn end(&mut self, s: &Step, side: &mut Side) {
        side.close_limit(s.time);
        let mut most = (0, Limit::Idle);
        for limit in [Limit::Idle, Limit::Application, Limit::Window, Limit::Recovery, Limit::Network] {
            let time = side.limited[limit as usize] - self.limited[limit as usize];
            if time > most.0 {
                most = (time, limit);
            }
        }
        self.now.limit = most.1;
        self.now.end = s.time;
        let round = self.now;
        self.judge(&round);
        if s.keep && self.rounds.len() < MOST_ROUNDS {
            self.rounds.push(round);
        }
        if s.una == Some(s.high) {
            // No data is outstanding: the next round begins with the next data.
            self.started = false;
        } else {
            self.begin(s, side);
        }
    }

    /// The state of the sender in a round.
    fn judge(&mut self, r: &Round) {
        let window = r.flight.max(r.bytes);
        let last = self.phases.last().copied();
        if let Some(p) = last
            && r.start - p.end > 2 * (r.end - r.start).max(1_000_000)
            && p.kind != PhaseKind::Idle
        {
            let gap = Round { start: p.end, end: r.start, ..Round::default() };
            let kind = if r.timeout { PhaseKind::Timeout } else { PhaseKind::Idle };
            self.push(kind, &gap, 0);
        }
        let grows = u64::from(window) * 4 >= u64::from(self.last_window) * 5;
        let kind = if r.timeout {
            self.threshold = (self.last_window.max(window) / 2).max(1);
            self.flat = 0;
            PhaseKind::Timeout
        } else if r.fast || r.repairing {
            if last.is_some_and(|p| p.kind == PhaseKind::Timeout) && !r.fast {
                PhaseKind::Timeout
            } else {
                self.threshold = 1;
                PhaseKind::Recovery
            }
        } else {
            match r.limit {
                Limit::Window => PhaseKind::Window,
                Limit::Application | Limit::Idle if !grows => PhaseKind::Application,
                _ => {
                    let may = self.threshold == 0 || window < self.threshold;
                    self.flat = if grows { 0 } else { self.flat.saturating_add(1) };
                    // One round without growth does not end slow start: it may be due to delayed ACKs or a burst.
                    if may && self.flat < 2 {
                        PhaseKind::SlowStart
                    } else {
                        self.threshold = self.threshold.max(1);
                        PhaseKind::Avoidance
                    }
                }
            }
        };
        self.push(kind, r, window);
        self.last_window = window;
        self.last_end = r.end;
    }

    fn push(&mut self, kind: PhaseKind, r: &Round, window: u32) {
        let full = self.phases.len() >= MOST_PHASES;
        match self.phases.last_mut() {
            Some(p) if p.kind == kind || full => {
                p.end = r.end;
                p.rounds += 1;
                p.last_flight = window;
                p.max_flight = p.max_flight.max(window);
                p.retransmissions += r.retransmissions;
            }
            _ => self.phases.push(Phase {
                kind,
                start: r.start,
                end: r.end,
                rounds: 1,
                first_flight: window,
                last_flight: window,
                max_flight: window,
                retransmissions: r.retransmissions,
            }),
        }
    }

    /// Ends the last round at the end of the connection.
    pub(crate) fn finish(&mut self, now: i64, side: &mut Side, keep: bool) {
        if self.started {
            let s = Step { time: now, keep, high: 1, ..Step::default() };
            self.end(&s, side);
            self.started = false;
        }
    }
}

variants!(PhaseKind { SlowStart, Avoidance, Recovery, Timeout, Application, Window, Idle });
fields!(Phase { kind, start, end, rounds, first_flight, last_flight, max_flight, retransmissions });
fields!(Round {
    start,
    end,
    flight,
    bytes,
    acked,
    rtt_min,
    rtt_sum,
    rtts,
    limit;
    retransmissions,
    echoes,
    fast,
    timeout,
    repairing,
});
fields!(Rounds {
    now,
    started,
    seq_mark,
    ts_mark,
    ts_echoed,
    limited,
    threshold,
    last_window,
    flat,
    last_end;
    rounds,
    phases,
});
