//! When to acknowledge.
//!
//! ```text
//! at once    the ack_every-th segment in order, anything out of order or that fills a hole, a FIN   [RFC 5681 §4.2]
//!            while quick ACKs are left: at the start, after a long pause, after something came twice, while the
//!            receive window grows
//! later      after ack_delay. Adaptive: after `ato`, which starts at the minimum, follows the time between segments
//!            (half of it and half the old value) and doubles when the timer runs out
//! merged     further ACKs that only report holes, after the third: one in sack_delay, or 5 % of the round trip; at once
//!            when the timer of an earlier delayed ACK runs out, which sending that hasn't stopped, and
//!            before a segment starts a third range or touches one that is older than the last two: an ACK has few blocks
//! ```
//! Quick ACKs, the adaptive delay and the merging are Linux's; where its parameters are off, RFC 5681 remains. Linux's
//! count of exchanges of data both ways ("pingpong"), which turns quick ACKs off, is left out.

use crate::config::Config;
use crate::ticks::expiry;
use dumbbell_units::{Dur, Time};

/// Merged ACKs after which one is sent all the same (tcp_comp_sack_nr).
const MOST_MERGED: u32 = 44;
/// By how much a merged ACK may be late, which it is where nothing else happens before (tcp_comp_sack_slack_ns).
const SLACK: Dur = Dur::micros(100);
/// ACKs of the same hole that are sent at once.
const DUPLICATES: u32 = 3;

/// What a segment was to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The next in order, no holes before or after.
    InOrder,
    /// It filled a hole, the last one or not, or came in order while there are some.
    Filling {
        /// Whether there are holes left.
        holes: bool,
    },
    /// It leaves a hole before it.
    OutOfOrder,
    /// All or a part of it had arrived.
    Again,
}

/// A segment as the decision sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) len: u64,
    /// It carries PSH.
    pub(super) pushed: bool,
    /// It completes what the peer sends: its FIN is in order.
    pub(super) last: bool,
    /// The receive window grows with it: its ACK is a quick one.
    pub(super) opens: bool,
    /// Less of a window would be offered than the last time: two segments don't ask for an ACK then.
    pub(super) narrower: bool,
}

/// What the endpoint knows of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) srtt: Option<Dur>,
    pub(crate) rto: Dur,
}

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acks {
    /// An ACK must go now; how many.
    pub(crate) now: u32,
    /// The timer of a delayed ACK, and of merged ones.
    delayed_until: Option<Time>,
    merged_until: Option<Time>,
    /// When the timer of the last delayed ACK runs out, whether or not that has left.
    armed: Option<Time>,
    /// Segments received in order since the last ACK was sent.
    segments: u32,
    quick: u32,
    ato: Dur,
    last_data: Option<Time>,
    /// The longest segment so far.
    longest: u64,
    merged: u32,
    /// ACKs that told of holes since the next offset expected last moved, and where that was.
    duplicates: u32,
    expected: u64,
    /// The offset that the last ACK expected.
    acknowledged: u64,
}

impl Acks {
    pub(crate) fn timer(&self) -> Option<Time> {
        match (self.delayed_until, self.merged_until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (None, Some(b)) => Some(self.armed.map_or(b, |a| a.min(b))),
            (a, None) => a,
        }
    }

    /// A segment has arrived; `nxt` is what is expected now.
    pub(super) fn on_data(
        &mut self,
        arrival: Arrival,
        Arrived { len, pushed, last, opens, narrower }: Arrived,
        nxt: u64,
        now: Time,
        path: &Path,
        config: &Config,
    ) {
        match arrival {
            Arrival::OutOfOrder => {}
            Arrival::Again => self.be_quick(config.quick_acks, config),
            _ if config.quick_acks > 0 || config.ack_delay_min < config.ack_delay => {
                self.adapt(now, path, config);
            }
            _ => {}
        }
        self.quick |= u32::from(opens);
        let pushed = config.ack_pushed && (pushed || len < self.longest);
        self.longest = self.longest.max(len);
        self.segments += 1;
        let full = self.segments >= config.ack_every && !narrower;
        match arrival {
            Arrival::InOrder if last || pushed || full || self.quick > 0 => self.now += 1,
            Arrival::InOrder => self.delay(now, path, config),
            Arrival::OutOfOrder | Arrival::Filling { holes: true } if config.sack_delay > Dur::ZERO => {
                self.merge(nxt, narrower, now, path, config);
            }
            _ => self.now += 1,
        }
    }

    /// The time between segments moves the delay; a pause, or the start, asks for quick ACKs. All in whole ticks.
    fn adapt(&mut self, now: Time, path: &Path, config: &Config) {
        let whole = |ns: u64| ns - ns.checked_rem(config.timer_tick.0).unwrap_or(0);
        let now = Time(whole(now.0));
        let least = config.ack_delay_min;
        let half = Dur(whole(self.ato.0 / 2));
        match self.last_data.replace(now).map(|last| now.since(last)) {
            None => {
                self.ato = least;
                self.be_quick(config.quick_acks, config);
            }
            Some(gap) if gap <= least / 2 => self.ato = half + least / 2,
            Some(gap) if gap < self.ato => self.ato = (half + gap).min(path.rto),
            Some(gap) if gap > path.rto => self.be_quick(config.quick_acks, config),
            Some(_) => {}
        }
    }

    /// Whether something in order hasn't been acknowledged.
    pub(crate) fn owes(&self) -> bool {
        self.segments > 0
    }

    /// So many ACKs at once, but no more than half a window of segments has use for.
    pub(crate) fn be_quick(&mut self, most: u32, config: &Config) {
        if most > 0 {
            let half = (config.window / (2 * self.longest.max(536))).max(2);
            self.quick = self.quick.max(u32::try_from(half).unwrap_or(u32::MAX).min(most));
            self.ato = self.ato.min(config.ack_delay_min);
        }
    }

    fn delay(&mut self, now: Time, path: &Path, config: &Config) {
        if config.ack_delay_min >= config.ack_delay {
            self.delayed_until.get_or_insert(now + config.ack_delay);
            return;
        }
        let longest = path.srtt.map_or(config.ack_delay, |srtt| srtt.max(config.ack_delay_min));
        let ato = self.ato.min(longest).min(config.ack_delay);
        match self.delayed_until {
            Some(at) if at <= now + ato / 4 => self.now += 1, // it is about to go anyway
            Some(at) => self.delayed_until = Some(at.min(expiry(now, ato, config.timer_tick))),
            None => self.delayed_until = Some(expiry(now, ato, config.timer_tick)),
        }
        self.armed = self.delayed_until;
    }

    fn merge(&mut self, nxt: u64, narrower: bool, now: Time, path: &Path, config: &Config) {
        if self.expected != nxt {
            (self.expected, self.duplicates) = (nxt, 0);
        }
        let full = nxt - self.acknowledged.max(1) > self.longest && !narrower; // the SYN has been, from the start
        if full || self.quick > 0 || self.merged >= MOST_MERGED {
            self.now += 1;
        } else if self.duplicates < DUPLICATES {
            self.duplicates += 1;
            self.now += 1;
        } else {
            self.merged += 1;
            self.armed = self.armed.filter(|at| *at > now);
            let span = path.srtt.map_or(config.sack_delay, |srtt| (srtt / 20).min(config.sack_delay));
            self.merged_until.get_or_insert(now + span + SLACK);
        }
    }

    /// Whether ACKs are held back that report something out of order.
    pub(super) fn is_merging(&self) -> bool {
        self.merged > 0
    }

    /// They leave as one, before the next segment is taken in.
    pub(super) fn merged_left(&mut self) {
        (self.merged, self.merged_until) = (0, None);
    }

    /// A timer has come.
    pub(crate) fn on_timer(&mut self, now: Time, path: &Path, config: &Config) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.delayed_until) {
            self.delayed_until = None;
            if config.ack_delay_min < config.ack_delay {
                self.ato = (self.ato * 2).min(path.rto);
            }
            self.now += 1;
        } else if due(self.merged_until) || (self.merged > 0 && due(self.armed)) {
            self.now += 1;
        }
        if due(self.armed) {
            self.armed = None;
        }
        if due(self.merged_until) {
            self.merged_until = None;
        }
    }

    /// An ACK leaves, alone or with data, that expects `nxt`.
    pub(crate) fn sent(&mut self, nxt: u64) {
        self.acknowledged = nxt;
        if self.quick > 0 && self.segments > 0 {
            self.quick -= 1;
        }
        self.segments = 0;
        self.delayed_until = None;
        self.merged_left();
        self.now = self.now.saturating_sub(1);
    }
}
