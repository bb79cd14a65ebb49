//! A video player: it requests segments one after the other, and plays them.
//!
//! A segment is requested when the one before has arrived and less than `buffer` is buffered. After the buffer has
//! reached `buffer`, requests pause until less than `refill` is left. A rule that limits the buffer itself (BOLA)
//! replaces both. A segment can be played when it is complete, as with a player that appends whole segments to a
//! SourceBuffer. A progressive download is one response whose media can be played as it arrives; only the server limits
//! how far it is ahead.

use crate::abr::{Abr, Choice, Download, View};
use crate::client::{Client, Limit, Request, Response};
use crate::plan::{HttpPlan, VideoPlan};
use crate::playback::{Playback, State};
use dumbbell_units::{Dur, Time};

/// The response that the player waits for.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    id: u32,
    /// None for the page.
    level: Option<usize>,
    content: u64,
    begun: Time,
    first_byte: Time,
}

/// Playback of a video: start, stalls, quality. Times are from the start of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoMetrics {
    /// First byte of the first response, s.
    pub first_byte_s: Option<f64>,
    /// Last byte of the video, s; None if it did not arrive.
    pub load_time_s: Option<f64>,
    /// Start of playback, s.
    pub startup_delay_s: Option<f64>,
    /// Number of stalls.
    pub stalls: u64,
    /// Their time, s.
    pub stall_s: f64,
    /// Media played, s.
    pub played_s: f64,
    /// Stall time / (stall time + media played); None if nothing was played.
    pub stall_ratio: Option<f64>,
    /// Mean bit rate of the media that has arrived, bit/s.
    pub mean_bitrate_bps: Option<f64>,
    /// Segments with another bit rate than the one before.
    pub switches: u64,
    /// Linear quality of experience, Mbit/s.
    pub qoe: Option<f64>,
    /// Segments requested, and segments that have arrived.
    pub segments: (u64, u64),
}

/// A row of the player's series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Media buffered ahead of the playback position.
    pub buffer: Dur,
    /// Media downloaded, and played.
    pub downloaded: Dur,
    /// Media played.
    pub played: Dur,
    /// Bit rate of the segment requested last, bit/s; None before the first.
    pub bitrate: Option<u64>,
    /// The state.
    pub state: State,
}

/// See the top of this file.
#[derive(Debug)]
pub struct Player {
    plan: VideoPlan,
    abr: Box<dyn Abr>,
    start: Time,
    begun: bool,
    playback: Playback,
    fetch: Option<Fetch>,
    page_pending: bool,
    /// Levels of the segments requested so far, and the number of those that have arrived.
    levels: Vec<usize>,
    arrived: usize,
    downloaded: Dur,
    /// True while segments are requested, false in a pause.
    filling: bool,
    wait: Option<Time>,
    next_id: u32,
    first_byte: Option<Time>,
    loaded: Option<Time>,
}

impl Player {
    /// The player of a flow that starts at `start`.
    #[must_use]
    pub fn new(plan: VideoPlan, abr: Box<dyn Abr>, start: Time) -> Player {
        Player {
            playback: Playback::new(Dur(plan.length_ns), Dur(plan.start_ns), Dur(plan.resume_ns)),
            page_pending: plan.page_bytes > 0,
            plan,
            abr,
            start,
            begun: false,
            fetch: None,
            levels: Vec::new(),
            arrived: 0,
            downloaded: Dur::ZERO,
            filling: true,
            wait: None,
            next_id: 0,
            first_byte: None,
            loaded: None,
        }
    }

    /// Number of segments; a progressive download has one.
    fn segments(&self) -> u64 {
        if self.plan.progressive.is_some() { 1 } else { self.plan.length_ns.div_ceil(self.plan.segment_ns) }
    }

    /// Length of the segment with this number.
    fn segment(&self, number: u64) -> Dur {
        if self.plan.progressive.is_some() {
            return Dur(self.plan.length_ns);
        }
        Dur(self.plan.segment_ns.min(self.plan.length_ns - number * self.plan.segment_ns))
    }

    fn content(&self, number: u64, level: usize) -> u64 {
        let bits = u128::from(self.plan.ladder_bps[level]) * u128::from(self.segment(number).0);
        bits.div_ceil(8_000_000_000) as u64
    }

    /// The level of the next segment, or None if it isn't requested now.
    fn choose(&mut self, now: Time) -> Option<usize> {
        self.playback.advance(now);
        let number = self.levels.len() as u64;
        let buffer = self.playback.buffer();
        if !self.abr.limits_buffer() && !self.is_filling(buffer, now) {
            return None;
        }
        let view = View {
            now,
            buffer,
            ladder: &self.plan.ladder_bps,
            segment: self.segment(number),
            number,
            last: self.levels.last().copied(),
            state: self.playback.state(),
        };
        match self.abr.choose(&view) {
            Choice::Level(level) => Some(level.min(self.plan.ladder_bps.len() - 1)),
            Choice::Wait(time) => {
                self.wait = Some(now + time.max(Dur(1)));
                None
            }
        }
    }

    fn is_filling(&mut self, buffer: Dur, now: Time) -> bool {
        let (buffer_limit, refill) = (Dur(self.plan.buffer_ns), Dur(self.plan.refill_ns));
        if buffer >= buffer_limit {
            self.filling = false;
        } else if buffer < refill {
            self.filling = true;
        }
        if !self.filling {
            // Less than `refill` is left one nanosecond after the buffer has fallen to it.
            self.wait = Some(now + buffer.saturating_sub(refill) + Dur(1));
        }
        self.filling
    }

    /// Ends the measurement at `now` and returns what the viewer saw.
    pub fn metrics(&mut self, now: Time) -> VideoMetrics {
        self.playback.finish(now);
        let since_start = |at: Time| at.since(self.start).as_secs();
        let (stalls, stalled) = self.playback.stalls();
        let (stall_s, played_s) = (stalled.as_secs(), self.playback.played().as_secs());
        let startup_delay_s = self.playback.began().map(since_start);
        let arrived = &self.levels[..self.arrived];
        let mbps = |level: usize| self.plan.ladder_bps[level] as f64 * 1e-6;
        let steps = arrived.windows(2).filter(|w| w[0] != w[1]);
        let step_sum: f64 = steps.clone().map(|w| (mbps(w[1]) - mbps(w[0])).abs()).sum();
        let lengths = |i: usize| self.segment(i as u64).as_secs();
        let weighted: f64 = arrived.iter().enumerate().map(|(i, level)| mbps(*level) * lengths(i)).sum();
        let length: f64 = (0..arrived.len()).map(lengths).sum();
        let quality: f64 = arrived.iter().map(|level| mbps(*level)).sum();
        let weights = self.plan.qoe;
        let cost = weights.switches * step_sum
            + weights.stalls * stall_s
            + weights.startup * startup_delay_s.unwrap_or_default();
        VideoMetrics {
            first_byte_s: self.first_byte.map(since_start),
            load_time_s: self.loaded.map(since_start),
            startup_delay_s,
            stalls,
            stall_s,
            played_s,
            stall_ratio: startup_delay_s.map(|_| stall_s / (stall_s + played_s).max(1e-9)),
            mean_bitrate_bps: (length > 0.0).then(|| weighted / length * 1e6),
            switches: steps.count() as u64,
            qoe: (!arrived.is_empty()).then(|| (quality - cost) / arrived.len() as f64),
            segments: (self.levels.len() as u64, self.arrived as u64),
        }
    }

    /// The row of the series at `now`.
    pub fn row(&mut self, now: Time) -> Row {
        self.playback.advance(now);
        Row {
            buffer: self.playback.buffer(),
            downloaded: self.downloaded,
            played: self.playback.played(),
            bitrate: self.levels.last().map(|level| self.plan.ladder_bps[*level]),
            state: self.playback.state(),
        }
    }

    fn request_page(&mut self, now: Time) -> Request {
        self.page_pending = false;
        let content = self.plan.page_bytes;
        let id = self.next_request(None, content, now);
        let response = Response { bytes: content + self.plan.http.header_bytes, limit: None };
        Request { id, object: "page".into(), content, bitrate: None, response }
    }

    fn next_request(&mut self, level: Option<usize>, content: u64, now: Time) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        self.fetch = Some(Fetch { id, level, content, begun: now, first_byte: now });
        id
    }

    /// The server's limit on a progressive download.
    fn limit(&self, bitrate: u64) -> Option<Limit> {
        let throttle = self.plan.progressive?.throttle?;
        let bytes_per_s = bitrate as f64 / 8.0;
        Some(Limit {
            burst: (throttle.burst_ns as f64 * 1e-9 * bytes_per_s) as u64 + self.plan.http.header_bytes,
            bytes_per_s: bytes_per_s * throttle.factor,
            block: throttle.block_bytes,
        })
    }
}

impl Client for Player {
    fn http(&self) -> &HttpPlan {
        &self.plan.http
    }

    fn next_timer(&self) -> Option<Time> {
        let start = (!self.begun).then_some(self.start);
        // The end of the buffer is an event of the series.
        start.into_iter().chain(self.wait).chain(self.playback.runs_out()).min()
    }

    fn on_timer(&mut self, now: Time) {
        self.begun = true;
        self.playback.advance(now);
        if self.wait.is_some_and(|at| at <= now) {
            self.wait = None;
        }
    }

    fn take_request(&mut self, now: Time) -> Option<Request> {
        if !self.begun || self.fetch.is_some() || self.wait.is_some() {
            return None;
        }
        if self.page_pending {
            return Some(self.request_page(now));
        }
        let number = self.levels.len() as u64;
        if number == self.segments() {
            return None;
        }
        let level = self.choose(now)?;
        let content = self.content(number, level);
        let bitrate = self.plan.ladder_bps[level];
        self.levels.push(level);
        let id = self.next_request(Some(level), content, now);
        let response = Response { bytes: content + self.plan.http.header_bytes, limit: self.limit(bitrate) };
        let object = if self.plan.progressive.is_some() { "video".into() } else { format!("segment {number}") };
        Some(Request { id, object, content, bitrate: Some(bitrate), response })
    }

    fn on_first_byte(&mut self, id: u32, now: Time) {
        self.first_byte.get_or_insert(now);
        if let Some(fetch) = self.fetch.as_mut().filter(|f| f.id == id) {
            fetch.first_byte = now;
        }
    }

    fn on_content(&mut self, id: u32, content: u64, now: Time) {
        let Some(fetch) = self.fetch.filter(|f| f.id == id) else { return };
        if let (Some(level), Some(_)) = (fetch.level, self.plan.progressive) {
            let media = u128::from(content) * 8_000_000_000 / u128::from(self.plan.ladder_bps[level]);
            self.downloaded = Dur(media as u64).min(Dur(self.plan.length_ns));
            self.playback.downloaded(self.downloaded, now);
        }
    }

    fn on_complete(&mut self, id: u32, now: Time) {
        let Some(fetch) = self.fetch.take_if(|f| f.id == id) else { return };
        let Some(level) = fetch.level else { return };
        let number = self.arrived as u64;
        self.arrived += 1;
        let before = if self.plan.progressive.is_some() { Dur::ZERO } else { self.downloaded };
        self.downloaded = before + self.segment(number);
        self.playback.downloaded(self.downloaded, now);
        self.abr.on_download(&Download {
            at: now,
            number,
            level,
            bytes: fetch.content,
            took: now.since(fetch.begun),
            first_byte: fetch.first_byte.since(fetch.begun),
        });
        if self.arrived as u64 == self.segments() {
            self.loaded = Some(now);
        }
    }

    fn is_over(&self) -> bool {
        self.loaded.is_some()
    }
}

#[cfg(test)]
mod tests;
