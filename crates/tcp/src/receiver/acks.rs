//! The decision when to acknowledge [RFC 5681 §4.2; Linux tcp_input.c __tcp_ack_snd_check, tcp_output.c
//! tcp_send_delayed_ack].
//!
//! ```text
//! at once      the ack_every-th segment in order, a segment out of order or one that fills a hole, a FIN
//!                                                                                                  [RFC 5681 §4.2];
//!              Linux counts bytes: more than a segment of the usual length  (tcp_measure_rcv_mss, __tcp_ack_snd_check)
//!              while quick ACKs are left: at the start, after an idle time, after a duplicate segment, while the
//!              receive window grows                                         (tcp_enter_quickack_mode, tcp_grow_window)
//! delayed      after ack_delay. Adaptive: after `ato`, which starts at the minimum, follows the time between segments
//!              (half of it and half the old value) and doubles when the timer expires
//!                                               (tcp_event_data_recv, tcp_send_delayed_ack, tcp_delack_timer_handler)
//! compressed   further ACKs that only report holes, after the third: one after sack_delay, or 5 % of the round trip;
//!              at once when the timer of an earlier delayed ACK expires (sending that ACK doesn't stop it), and before
//!              a segment starts a third range or touches one that is older than the last two, as an ACK has few blocks
//!                                               (__tcp_ack_snd_check, tcp_compressed_ack_kick, tcp_sack_new_ofo_skb)
//! ```
//! Quick ACKs, the adaptive delay and compression are Linux's [Linux tcp_input.c, tcp_output.c, tcp_timer.c]; without
//! their parameters RFC 5681 remains. Linux turns quick ACKs off on connections with data in both directions [Linux
//! include/net/inet_connection_sock.h inet_csk_in_pingpong_mode]; this is not modeled.

use crate::config::Config;
use crate::rtt::PathRtt;
use crate::segment::TIMESTAMPS_OPTION;
use crate::timer_wheel::expiry;
use dumbbell_units::{Dur, Time};

/// Compressed ACKs after which one is sent at once [Linux tcp_ipv4.c tcp_sk_init: sysctl_tcp_comp_sack_nr].
const COMP_SACK_NR: u32 = 44;
/// Slack of the timer of compressed ACKs, which is used up unless another event is earlier [Linux tcp_ipv4.c
/// tcp_sk_init: sysctl_tcp_comp_sack_slack_ns].
const COMP_SACK_SLACK: Dur = Dur::micros(100);
/// ACKs of the same hole that are sent at once [Linux include/net/tcp.h TCP_FASTRETRANS_THRESH].
const FASTRETRANS_THRESH: u32 = 3;
/// The largest first guess of the usual segment length [Linux include/uapi/linux/tcp.h TCP_MSS_DEFAULT].
const MSS_DEFAULT: u64 = 536;
/// The smallest segment length that may become the usual one [Linux include/net/tcp.h TCP_MIN_MSS].
const MIN_MSS: u64 = 88;

/// The place of a segment in the receive sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The next in order, without holes before or after it.
    InOrder,
    /// It filled a hole, the last one or not, or was the next in order while holes exist.
    Filling {
        /// True if holes are left.
        holes: bool,
    },
    /// A hole lies before it.
    OutOfOrder,
    /// All or a part of it had arrived before.
    Duplicate,
}

/// The properties of a segment that determine its ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrivedSegment {
    pub(super) len: u64,
    /// True if it carries PSH.
    pub(super) psh: bool,
    /// True if the peer's FIN and all data before it have arrived.
    pub(super) is_last: bool,
    /// True if the receive window grows with it: its ACK is a quick one.
    pub(super) window_grows: bool,
    /// True if a smaller window would be offered than the last time: a second segment is then acknowledged when the
    /// application has read it.
    pub(super) window_shrinks: bool,
}

/// The state of acknowledging. Names as in struct inet_connection_sock and struct tcp_sock
/// [Linux include/net/inet_connection_sock.h icsk_ack, include/linux/tcp.h].
#[derive(Clone, Debug, Default)]
pub(crate) struct Acks {
    /// ACKs that must be sent now.
    pub(crate) pending: u32,
    /// When a delayed ACK must be sent.
    delayed_until: Option<Time>,
    /// When a compressed ACK must be sent.
    compressed_until: Option<Time>,
    /// Expiry of the timer of the last delayed ACK, even if that ACK was sent (icsk_delack_timer).
    delack_timer: Option<Time>,
    /// Segments received in order since the last ACK.
    segments: u32,
    /// Quick ACKs left (icsk_ack.quick).
    quick: u32,
    /// Predicted delay of the next ACK (icsk_ack.ato).
    ato: Dur,
    /// When the last segment arrived (icsk_ack.lrcvtime).
    lrcvtime: Option<Time>,
    /// The usual length of segments (icsk_ack.rcv_mss); of stacks that don't acknowledge by PSH the largest.
    rcv_mss: u64,
    /// Bytes in order that need no ACK at once: ack_every - 1 segments of the usual length.
    most_unacknowledged: u64,
    /// Length of the last segment, if it was shorter and may become the usual one (icsk_ack.last_seg_size).
    last_seg_size: u64,
    /// ACKs held back since the last one was sent (compressed_ack).
    compressed_ack: u32,
    /// ACKs of the same hole (dup_ack_counter), and rcv_nxt at these ACKs (compressed_ack_rcv_nxt).
    dup_ack_counter: u32,
    compressed_ack_rcv_nxt: u64,
    /// rcv_nxt in the last ACK (rcv_wup).
    rcv_wup: u64,
}

impl Acks {
    pub(super) fn new(config: &Config) -> Acks {
        // [Linux tcp_input.c tcp_initialize_rcv_mss]
        let mut acks = Acks { rcv_wup: 1, ..Acks::default() }; // the SYN is acknowledged from the start
        if config.ack.pushed {
            acks.set_rcv_mss(config.mss().clamp(MIN_MSS, MSS_DEFAULT), config);
        }
        acks
    }

    fn set_rcv_mss(&mut self, len: u64, config: &Config) {
        self.rcv_mss = len;
        self.most_unacknowledged = u64::from(config.ack.every - 1) * len;
    }

    /// Returns when the next ACK is due.
    #[inline]
    pub(crate) fn timer(&self) -> Option<Time> {
        match (self.delayed_until, self.compressed_until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (None, Some(b)) => Some(self.delack_timer.map_or(b, |a| a.min(b))),
            (a, None) => a,
        }
    }

    /// Handles a segment; `rcv_nxt` includes it. Returns true if its ACK waits for the application to read, so that the
    /// memory of the segment is free again [Linux tcp.c __tcp_cleanup_rbuf].
    #[inline(always)] // the arrival is constant in the usual case
    pub(super) fn on_data(
        &mut self,
        arrival: Arrival,
        segment: ArrivedSegment,
        rcv_nxt: u64,
        now: Time,
        path: &PathRtt,
        config: &Config,
    ) -> bool {
        let ack = &config.ack;
        let pushed =
            ack.pushed && arrival != Arrival::Duplicate && self.measure_rcv_mss(segment.len, segment.psh, config);
        match arrival {
            Arrival::OutOfOrder => {}
            Arrival::Duplicate => self.enter_quickack_mode(ack.quick, config),
            _ if ack.quick > 0 || ack.adapts() => self.adapt_delay(now, path, config),
            _ => {}
        }
        self.quick |= u32::from(segment.window_grows);
        self.segments += 1;
        let enough = if ack.pushed {
            rcv_nxt - self.rcv_wup > self.most_unacknowledged
        } else {
            self.rcv_mss = self.rcv_mss.max(segment.len);
            self.segments >= ack.every
        };
        let at_once = segment.is_last || pushed || self.quick > 0;
        match arrival {
            Arrival::InOrder if at_once || enough => self.pending += 1,
            Arrival::InOrder => self.delay(now, path, config),
            Arrival::OutOfOrder | Arrival::Filling { holes: true } if ack.sack_delay > Dur::ZERO => {
                self.compress(rcv_nxt, segment.window_shrinks, now, path, config);
            }
            _ => self.pending += 1,
        }
        arrival == Arrival::InOrder && enough && segment.window_shrinks && !at_once
    }

    /// Learns the usual length of segments, which two shorter ones of equal length change. Returns true if the segment
    /// is the end of a write, or shorter without being a second one of its length: it is acknowledged when it has been
    /// read [Linux tcp_input.c tcp_measure_rcv_mss].
    #[inline]
    fn measure_rcv_mss(&mut self, len: u64, psh: bool, config: &Config) -> bool {
        if len == self.rcv_mss {
            self.last_seg_size = 0;
            return psh;
        }
        self.measure_other_length(len, psh, config)
    }

    #[inline(never)]
    fn measure_other_length(&mut self, len: u64, psh: bool, config: &Config) -> bool {
        let last = std::mem::take(&mut self.last_seg_size);
        if len > self.rcv_mss {
            self.set_rcv_mss(len, config);
            return psh;
        }
        let options = if config.connection.timestamps { u64::from(TIMESTAMPS_OPTION) } else { 0 };
        if len + options >= MSS_DEFAULT || (len + options >= MIN_MSS && !psh) {
            self.last_seg_size = len;
            if len == last {
                self.set_rcv_mss(len, config);
                return false;
            }
        }
        true
    }

    /// Adapts the delay to the time between segments; the first segment and an idle time start quick ACKs. All times
    /// are in whole ticks [Linux tcp_input.c tcp_event_data_recv].
    fn adapt_delay(&mut self, now: Time, path: &PathRtt, config: &Config) {
        let whole = |ns: u64| ns - ns.checked_rem(config.rto.timer_tick.0).unwrap_or(0);
        let now = Time(whole(now.0));
        let ato_min = config.ack.delay_min;
        let half = Dur(whole(self.ato.0 / 2));
        match self.lrcvtime.replace(now).map(|last| now.since(last)) {
            None => {
                self.ato = ato_min;
                self.enter_quickack_mode(config.ack.quick, config);
            }
            Some(gap) if gap <= ato_min / 2 => self.ato = half + ato_min / 2,
            Some(gap) if gap < self.ato => self.ato = (half + gap).min(path.rto),
            Some(gap) if gap > path.rto => self.enter_quickack_mode(config.ack.quick, config),
            Some(_) => {}
        }
    }

    /// True if segments in order are not acknowledged yet.
    pub(crate) fn has_unacknowledged(&self) -> bool {
        self.segments > 0
    }

    /// True if everything below `rcv_nxt` was acknowledged, and no ACK is due now or later.
    pub(super) fn are_silent(&self, rcv_nxt: u64) -> bool {
        self.rcv_wup == rcv_nxt
            && (self.segments, self.pending, self.compressed_ack) == (0, 0, 0)
            && (self.delayed_until, self.compressed_until) == (None, None)
    }

    /// Starts quick ACKs: at most `max`, and at most as many as half a window has segments [Linux tcp_input.c
    /// tcp_enter_quickack_mode, tcp_incr_quickack].
    pub(crate) fn enter_quickack_mode(&mut self, max: u32, config: &Config) {
        if max > 0 {
            let half = (config.buffer.window / (2 * self.rcv_mss.max(MIN_MSS))).max(2);
            self.quick = self.quick.max(u32::try_from(half).unwrap_or(u32::MAX).min(max));
            self.ato = self.ato.min(config.ack.delay_min);
        }
    }

    /// Delays the ACK [Linux tcp_output.c tcp_send_delayed_ack].
    fn delay(&mut self, now: Time, path: &PathRtt, config: &Config) {
        let ack = &config.ack;
        if !ack.adapts() {
            self.delayed_until.get_or_insert(now + ack.delay);
            return;
        }
        let max_ato = path.srtt.map_or(ack.delay, |srtt| srtt.max(ack.delay_min));
        let ato = self.ato.min(max_ato).min(ack.delay);
        let tick = config.rto.timer_tick;
        match self.delayed_until {
            Some(at) if at <= now + ato / 4 => self.pending += 1, // the timer is about to expire
            Some(at) => self.delayed_until = Some(at.min(expiry(now, ato, tick))),
            None => self.delayed_until = Some(expiry(now, ato, tick)),
        }
        self.delack_timer = self.delayed_until;
    }

    /// Holds back an ACK that only reports holes [Linux tcp_input.c __tcp_ack_snd_check].
    fn compress(&mut self, rcv_nxt: u64, window_shrinks: bool, now: Time, path: &PathRtt, config: &Config) {
        if self.compressed_ack_rcv_nxt != rcv_nxt {
            (self.compressed_ack_rcv_nxt, self.dup_ack_counter) = (rcv_nxt, 0);
        }
        let enough = rcv_nxt - self.rcv_wup > self.rcv_mss && !window_shrinks;
        if enough || self.quick > 0 || self.compressed_ack >= COMP_SACK_NR {
            self.pending += 1;
        } else if self.dup_ack_counter < FASTRETRANS_THRESH {
            self.dup_ack_counter += 1;
            self.pending += 1;
        } else {
            self.compressed_ack += 1;
            self.delack_timer = self.delack_timer.filter(|at| *at > now);
            let max = config.ack.sack_delay;
            let span = path.srtt.map_or(max, |srtt| (srtt / 20).min(max));
            self.compressed_until.get_or_insert(now + span + COMP_SACK_SLACK);
        }
    }

    /// True if ACKs that report holes are held back.
    pub(super) fn is_compressing(&self) -> bool {
        self.compressed_ack > 0
    }

    /// Notes that one ACK is sent for all that were held back.
    pub(super) fn on_compressed_sent(&mut self) {
        (self.compressed_ack, self.compressed_until) = (0, None);
    }

    /// Handles the expiry of a timer [Linux tcp_timer.c tcp_delack_timer_handler, tcp_compressed_ack_kick].
    pub(crate) fn on_timer(&mut self, now: Time, path: &PathRtt, config: &Config) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.delayed_until) {
            self.delayed_until = None;
            if config.ack.adapts() {
                self.ato = (self.ato * 2).min(path.rto);
            }
            self.pending += 1;
        } else if due(self.compressed_until) || (self.compressed_ack > 0 && due(self.delack_timer)) {
            self.pending += 1;
        }
        if due(self.delack_timer) {
            self.delack_timer = None;
        }
        if due(self.compressed_until) {
            self.compressed_until = None;
        }
    }

    /// Notes that an ACK is sent, with or without data [Linux tcp_output.c tcp_event_ack_sent].
    pub(crate) fn on_ack_sent(&mut self, rcv_nxt: u64) {
        self.rcv_wup = rcv_nxt;
        if self.quick > 0 && self.segments > 0 {
            self.quick -= 1;
        }
        self.segments = 0;
        self.delayed_until = None;
        self.on_compressed_sent();
        self.pending = self.pending.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_shorter_segments_of_equal_length_are_usual_from_then_on() {
        let config = Config::read("linux", &[], dumbbell_cc::find("cubic").unwrap()).unwrap();
        let mut acks = Acks::new(&config);
        assert_eq!((acks.rcv_mss, acks.most_unacknowledged), (536, 536));
        // Length, PSH, whether it is acknowledged when it has been read, and the usual length after it [Linux
        // tcp_input.c tcp_measure_rcv_mss].
        let steps = [
            (1448, false, false, 1448),
            (800, false, true, 1448),
            (800, true, false, 800), // the second one of its length
            (1448, true, true, 1448),
            (800, false, true, 1448),
            (1448, false, false, 1448),
            (800, false, true, 1448), // not the second: a full one lay between
            (100, false, true, 1448),
            (100, true, true, 1448), // with PSH below 536 bytes: the end of a write
            (100, false, true, 1448),
            (100, false, false, 100),
            (70, false, true, 100), // with the option of timestamps below 88 bytes
            (70, false, true, 100),
        ];
        for (len, psh, read, usual) in steps {
            assert_eq!((acks.measure_rcv_mss(len, psh, &config), acks.rcv_mss), (read, usual), "{len} {psh}");
        }
        assert_eq!(acks.most_unacknowledged, 100);
    }

    #[test]
    fn a_second_segment_in_order_is_acknowledged_at_the_latest_when_it_is_read() {
        let config = Config::read("linux", &[], dumbbell_cc::find("cubic").unwrap()).unwrap();
        let path = PathRtt { srtt: Some(Dur::millis(10)), rto: Dur::secs(1) };
        for window_shrinks in [false, true] {
            // Not the first segment: no quick ACKs.
            let mut acks = Acks { lrcvtime: Some(Time(0)), ..Acks::new(&config) };
            let segment = ArrivedSegment { len: 1448, psh: false, is_last: false, window_grows: false, window_shrinks };
            let mut receive = |n: u64| {
                let read_first = acks.on_data(Arrival::InOrder, segment, 1 + 1448 * n, Time(n), &path, &config);
                (acks.pending, read_first)
            };
            assert_eq!(receive(1), (0, false));
            assert_eq!(receive(2), (1, window_shrinks));
        }
    }
}
