//! A receive window that grows (dynamic right-sizing) [Linux tcp_input.c tcp_grow_window, tcp_rcv_space_adjust;
//! tcp_output.c __tcp_select_window, tcp_select_window].
//!
//! ```text
//! offered    at first a segment below window_start; each segment with new data adds two, up to the limit, and makes
//!            the next ACK a quick one                                                               (tcp_grow_window)
//! limit      a quarter above window_start, because segments need less memory than assumed; at the end of each
//!            round trip in which the application read more than in any before
//!                2 * read + 16 segments, plus twice that in proportion to the increase          (tcp_rcv_space_adjust)
//!            but never above the payload that `receive_buffer` could hold; less the payload that the memory in use
//!            could hold                                                                                    (tcp_space)
//! window     the limit is never above `window`, whatever memory is in use                              (window_clamp)
//! field      in steps of the window scale, rounded up                                            (__tcp_select_window)
//! ```
//! The round trip is that of the timestamps; a shorter sample counts at once, a longer one by an eighth
//! (tcp_rcv_rtt_measure_ts, tcp_rcv_rtt_update). The application reads at once, so that only data out of order occupies
//! memory, and, for the ACK that reports it, the data that filled a hole. The right edge never moves back [RFC 9293
//! §3.8.6].

use crate::config::Config;
use dumbbell_units::{Dur, Time};

/// Memory of a buffer in addition to its payload, bytes.
const OVERHEAD: u64 = 832;
/// Payload bytes that share a buffer at most when a hole is filled: full segments of MAX_SKB_FRAGS pages.
const SHARED: u64 = 17 * 1448;
/// Of 256 bytes of memory, those for payload: before the first segment [Linux include/net/tcp.h
/// TCP_DEFAULT_SCALING_RATIO]
const DEFAULT_RATIO: u64 = 128;
/// and with 1448 bytes in the 2280 of a full segment [Linux tcp_input.c tcp_measure_rcv_mss: scaling_ratio].
const SCALING_RATIO: u64 = 162;
/// Shorter segments don't let the window grow [Linux tcp_input.c tcp_event_data_recv].
const MIN_GROWING_SEGMENT: u64 = 128;

/// Returns the memory of `bytes` in `buffers`.
pub(super) const fn memory(bytes: u64, buffers: u64) -> u64 {
    bytes + buffers * OVERHEAD
}

/// The window; sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveWindow {
    mss: u64,
    /// The window that grows with each segment (rcv_ssthresh).
    rcv_ssthresh: u64,
    /// Its limit by memory (tcp_full_space), and the largest one.
    window_clamp: u64,
    max_window: u64,
    /// The largest window ever offered.
    window: u64,
    /// The right edge that was offered.
    edge: u64,
    /// The window that was offered last.
    last_offer: u64,
    /// Unit of the field in the header, a power of two, less one.
    step_mask: u64,
    /// Memory of the data that is out of order.
    queued: u64,
    /// Memory of the data that filled a hole and isn't read before the ACK that reports it.
    unread: u64,
    /// The current round trip: its start, and the offset read at its start (rcvq_space.time, rcvq_space.seq).
    round_started: Time,
    round_read: u64,
    /// The most bytes read in a round trip (rcvq_space.space).
    space: u64,
    /// rcv_rtt_est, seconds, and the same in ns.
    rtt: Option<(f64, Dur)>,
    last_echo: Option<u32>,
}

impl ReceiveWindow {
    /// Returns a window that grows, if autotuning is on.
    pub(super) fn new(config: &Config) -> Option<ReceiveWindow> {
        let start = config.buffer.autotuning?;
        let mss = config.mss();
        let window = config.buffer.window;
        let at_start = start * SCALING_RATIO / DEFAULT_RATIO;
        let of_buffer = config.buffer.receive_buffer.map(|memory| memory / 256 * SCALING_RATIO);
        let window_clamp = of_buffer.map_or(at_start, |most| at_start.min(most));
        Some(ReceiveWindow {
            mss,
            rcv_ssthresh: start.saturating_sub(mss).max(2 * mss).min(start).min(window),
            window_clamp,
            max_window: of_buffer.unwrap_or(window).max(window_clamp),
            window,
            edge: 0,
            last_offer: 0,
            step_mask: (1 << config.buffer.window_scale()) - 1,
            queued: 0,
            unread: 0,
            round_started: Time::ZERO,
            round_read: 1,
            space: config.growth.initial_window.min(start),
            rtt: None,
            last_echo: None,
        })
    }

    /// The connection is established: its first round trip begins [Linux tcp_input.c tcp_init_buffer_space].
    pub(crate) fn on_established(&mut self, now: Time) {
        self.round_started = now;
    }

    /// Measures the round trip with a full segment that echoes `echo`, a timestamp of ours; `age` returns its age
    /// [Linux tcp_input.c tcp_rcv_rtt_measure_ts].
    #[inline]
    pub(crate) fn on_echo(&mut self, echo: u32, age: impl FnOnce() -> Dur) {
        if self.last_echo != Some(echo) {
            self.last_echo = Some(echo);
            self.sample_rtt(age());
        }
    }

    fn sample_rtt(&mut self, age: Dur) {
        if age > Dur::ZERO {
            let sample = age.as_secs();
            let rtt = self.rtt.map_or(sample, |(rtt, _)| sample.min(rtt + (sample - rtt) / 8.0));
            self.rtt = Some((rtt, Dur::from_secs_f64(rtt)));
        }
    }

    /// Lets the window grow with a segment of `len` bytes that contains new data, while `held` bytes of memory are in
    /// use. Returns true if it grows [Linux tcp_input.c tcp_grow_window].
    pub(super) fn grow(&mut self, len: u64, held: u64) -> bool {
        let limit = self.free(held);
        if self.rcv_ssthresh >= limit || len < MIN_GROWING_SEGMENT {
            return false;
        }
        self.rcv_ssthresh = (self.rcv_ssthresh + 2 * self.mss.max(len)).min(limit);
        true
    }

    /// The part of the limit that memory in use leaves free [Linux include/net/tcp.h tcp_space], at most `window`.
    fn free(&self, held: u64) -> u64 {
        self.window_clamp.saturating_sub((held * SCALING_RATIO).div_ceil(256)).min(self.window)
    }

    /// Sets the memory of the data that is out of order.
    pub(super) fn set_queued(&mut self, memory: u64) {
        self.queued = memory;
    }

    /// Adjusts the limit at the end of a round trip; the application has read up to `rcv_nxt` [Linux tcp_input.c
    /// tcp_rcv_space_adjust].
    pub(super) fn adjust_limit(&mut self, rcv_nxt: u64, srtt: Option<Dur>, now: Time) {
        let Some(rtt) = self.rtt.map(|(_, rtt)| rtt).or(srtt) else { return };
        if now.since(self.round_started) < rtt {
            return;
        }
        let read = rcv_nxt - self.round_read;
        if read > self.space {
            let window = 2 * read + 16 * self.mss;
            let grow = (u128::from(window) * u128::from(read - self.space) / u128::from(self.space)) as u64;
            self.window_clamp = self.window_clamp.max((window + 2 * grow).min(self.max_window));
            self.space = read;
        }
        (self.round_started, self.round_read) = (now, rcv_nxt);
    }

    /// Sets the memory of data that is not read before an ACK that is sent at once.
    pub(super) fn set_unread(&mut self, memory: u64) {
        self.unread = memory;
    }

    /// Notes that a hole is filled, so that `bytes` are in order. With half of the window or more, reading them would
    /// cause another ACK at once; then the first ACK already counts them as read.
    pub(super) fn on_hole_filled(&mut self, bytes: u64) {
        let large = 2 * bytes >= self.rcv_ssthresh;
        self.unread = if large { 0 } else { memory(bytes, 1 + bytes / SHARED) };
    }

    /// Rounds up to whole steps.
    fn in_steps(&self, bytes: u64) -> u64 {
        (bytes + self.step_mask) & !self.step_mask
    }

    /// The window that is possible with memory in use, in steps.
    fn possible(&self, held: u64) -> u64 {
        self.in_steps(self.rcv_ssthresh.min(self.free(held)))
    }

    /// True if a smaller window would be offered than the last time.
    pub(super) fn is_smaller_than_offered(&self, held: u64) -> bool {
        self.possible(held) < self.last_offer
    }

    /// Returns the window that [`ReceiveWindow::offer`] would return each time until data arrives, if it is known.
    pub(crate) fn resting_offer(&self, rcv_nxt: u64) -> Option<u64> {
        let next = self.possible(self.queued).max(self.in_steps(self.last_offer));
        let rests = self.unread == 0 && self.edge == rcv_nxt + self.last_offer && next == self.last_offer;
        rests.then_some(self.last_offer)
    }

    /// Returns the window to offer beyond `rcv_nxt` [Linux tcp_output.c tcp_select_window].
    pub(crate) fn offer(&mut self, rcv_nxt: u64) -> u64 {
        let held = self.queued + std::mem::take(&mut self.unread);
        let already_offered = self.in_steps(self.edge.saturating_sub(rcv_nxt));
        self.last_offer = self.possible(held).max(already_offered);
        self.edge = rcv_nxt + self.last_offer;
        self.last_offer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::param::Raw;

    fn config(given: &[(&str, &str)]) -> Config {
        let text = |(key, value): &(&str, &str)| ((*key).to_owned(), Raw::Text((*value).to_owned()));
        let given: Vec<_> = given.iter().map(text).collect();
        Config::read("linux-tuned", &given, dumbbell_cc::find("reno").unwrap()).unwrap()
    }

    fn window() -> ReceiveWindow {
        ReceiveWindow::new(&config(&[("window_start", "65535 bytes")])).unwrap()
    }

    #[test]
    fn a_receive_buffer_limits_the_window_by_its_memory() {
        // An unchanged Linux: 64 KiB of 128 are window at the start; 6 MiB x 162 / 256 = 3,981,312 at most; 6 MiB need
        // 23 bits, so the field is shifted by 7.
        let reno = dumbbell_cc::find("reno").unwrap();
        let stock = Config::read("linux", &[], reno).unwrap();
        assert_eq!(stock.buffer.window_scale(), 7);
        let mut g = ReceiveWindow::new(&stock).unwrap();
        assert_eq!((g.rcv_ssthresh, g.window_clamp), (64_088, 82_944));
        g.on_echo(7, || Dur::millis(100));
        g.adjust_limit(1, None, Time(100_000_000));
        g.adjust_limit(10_000_001, None, Time(200_000_000));
        assert_eq!(g.window_clamp, 3_981_312);
        // Without autotuning it has no meaning: a given one is refused, and the preset's is not used.
        let given = [("receive_buffer".to_owned(), Raw::Text("6 MiB".to_owned()))];
        let refused = Config::read("rfc", &given, reno).unwrap_err();
        assert!(refused.to_string().starts_with("receive_buffer: given without autotuning"), "{refused}");
        let fixed = Config::read("linux", &[("autotuning".to_owned(), Raw::Bool(false))], reno).unwrap();
        assert_eq!((fixed.buffer.receive_buffer, fixed.buffer.window_scale()), (None, 13));
    }

    #[test]
    fn a_given_window_is_offered_whole() {
        // 20,000 bytes beside a buffer of 32 MiB, also while data is out of order or waits to be read. The field has no
        // steps.
        let given = [("window", "20000 bytes")];
        let mut g = ReceiveWindow::new(&config(&given)).unwrap();
        assert_eq!(g.offer(1), 20_000);
        assert!(!g.grow(1000, memory(1000, 1)));
        assert_eq!(g.offer(1001), 20_000);
        g.set_queued(memory(9000, 9));
        assert_eq!(g.offer(1001), 20_000);
        // 96 KiB of memory could hold 62,208 bytes of payload. Eight segments in buffers of their own leave less than
        // 60,000.
        let given = [("window", "60000 bytes"), ("window_start", "64 KiB"), ("receive_buffer", "96 KiB")];
        let mut g = ReceiveWindow::new(&config(&given)).unwrap();
        g.rcv_ssthresh = 60_000;
        let free = 96 * 1024 / 256 * SCALING_RATIO - (memory(8 * 1448, 8) * SCALING_RATIO).div_ceil(256);
        assert!(free < 60_000);
        g.set_queued(memory(8 * 1448, 8));
        assert_eq!(g.possible(g.queued), free);
    }

    #[test]
    fn each_segment_adds_two_up_to_the_limit() {
        // The field's steps are 8,192 bytes, so that 256 MiB fit: 65,535 less a segment are eight steps.
        let mut g = window();
        assert_eq!((g.rcv_ssthresh, g.offer(1)), (64_087, 65_536));
        let alone = memory(1448, 1);
        assert!(g.grow(1448, alone));
        assert_eq!((g.rcv_ssthresh, g.offer(1449)), (64_087 + 2 * 1448, 9 * 8192));
        // 65,535 * 162 / 128 = 82,942. The segment itself occupies 2280 bytes until it is read, which could hold 1443
        // bytes of payload: 81,499 are free. That is 14,516 more: five times 2896, and the rest.
        let grew = (0..10).filter(|_| g.grow(1448, alone)).count();
        assert_eq!((grew, g.rcv_ssthresh, g.offer(1449)), (6, 81_499, 81_920));
        assert!(!g.grow(100, 0));
        // At the first segment out of order all of it is free.
        assert!(g.grow(1448, 0));
        assert_eq!((g.rcv_ssthresh, g.offer(1449)), (82_942, 90_112));
    }

    #[test]
    fn queued_data_reduces_the_window() {
        // 41,470 bytes in two buffers: 41,470 + 2 * 832 = 43,134 bytes of memory, which could hold 27,296: of 82,942
        // bytes 55,646 are free, 7 steps.
        let mut g = window();
        g.rcv_ssthresh = 82_942;
        assert_eq!(g.offer(1), 90_112);
        assert!(!g.is_smaller_than_offered(0));
        g.set_queued(memory(41_470, 2));
        assert!(g.is_smaller_than_offered(memory(41_470, 2)));
        // The right edge stays: one step more than would be offered.
        assert_eq!(g.offer(1), 90_112);
        assert_eq!(g.offer(30_001), 65_536);
    }

    #[test]
    fn the_right_edge_stays_where_it_was() {
        let mut g = window();
        assert_eq!(g.offer(1), 65_536);
        g.rcv_ssthresh = 10_000;
        assert_eq!(g.offer(8193), 57_344);
        // The application has not yet read the data that fills a hole, so that less is free; at the next ACK it has.
        let mut g = window();
        (g.rcv_ssthresh, g.window_clamp) = (65_536, 65_536);
        g.on_hole_filled(3000);
        assert_eq!((g.offer(4001), g.offer(4001)), (65_536, 65_536));
        g.on_hole_filled(20_000);
        assert_eq!((g.offer(104_001), g.offer(104_001)), (57_344, 65_536));
    }

    #[test]
    fn the_first_round_trip_begins_with_the_connection() {
        // 100 ms after the handshake the first segment of the second round trip arrives, the eleventh: 15,928 bytes are
        // more than the initial window of 14,480. 2 * 15,928 + 16 * 1448 = 55,024, plus twice a tenth of it: 66,028,
        // less than the limit.
        let mut g = window();
        let at = |ms: u64| Time(ms * 1_000_000);
        g.on_established(at(1000));
        g.on_echo(7, || Dur::millis(100));
        g.adjust_limit(1449, None, at(1001));
        assert_eq!((g.space, g.round_read), (14_480, 1)); // the round trip has not ended
        g.adjust_limit(15_929, None, at(1100));
        assert_eq!((g.space, g.round_read, g.window_clamp), (15_928, 15_929, 82_942));
    }

    #[test]
    fn the_limit_follows_what_is_read_in_a_round_trip() {
        let mut g = window();
        let at = |ms: u64| Time(ms * 1_000_000);
        g.on_echo(7, || Dur::millis(100));
        g.adjust_limit(1, None, at(100)); // starts the measurement
        // 28,960 bytes in a round trip, twice the initial window of 14,480: 2 * 28,960 + 16 * 1448 = 81,088, plus twice
        // the same, as the increase is 100 %: 81,088 * 3 = 243,264.
        g.adjust_limit(28_961, None, at(150));
        assert_eq!(g.window_clamp, 82_942); // the round trip has not ended
        g.adjust_limit(28_961, None, at(200));
        assert_eq!(g.window_clamp, 243_264);
        // The same amount again: the limit stays.
        g.adjust_limit(57_921, None, at(300));
        assert_eq!(g.window_clamp, 243_264);
    }
}
