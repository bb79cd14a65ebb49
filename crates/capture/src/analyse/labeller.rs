//! Labels only, frame by frame.

use super::front::{Event, Front};
use crate::dissect::Dissected;
use crate::tcp::label::Rules;
use crate::tcp::track::Tracker;
use crate::tcp::wireshark::{Stream, Verdict};
use crate::Frame;

/// Labels each frame by Wireshark's rules; at most a million connections at a time.
pub struct Labeller {
    front: Front,
    streams: Vec<Stream>,
    rules: Rules,
}

impl Labeller {
    /// By one of Wireshark's rule sets (our own needs more than one pass's knowledge of a frame: its labels are 4.4's).
    pub fn new(rules: Rules) -> Self {
        let tcp = Tracker::new(1_000_000, rules != Rules::Wireshark40);
        Self { front: Front { tcp }, streams: Vec::new(), rules }
    }

    /// The number of the frame's stream and what was found, if it is a TCP segment or
    /// quotes one.
    pub fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>) -> Option<(u64, Verdict)> {
        let Event::Tcp(placed, segment) = self.front.frame(frame, found)?;
        let slot = placed.slot as usize;
        if slot == self.streams.len() {
            self.streams.push(Stream::default());
        } else if placed.fresh {
            self.streams[slot] = Stream::default();
        }
        let stream = &mut self.streams[slot];
        let verdict = match self.rules {
            Rules::Wireshark40 => stream.segment::<false>(&placed, &segment),
            _ => stream.segment::<true>(&placed, &segment),
        };
        Some((placed.stream, verdict))
    }
}
