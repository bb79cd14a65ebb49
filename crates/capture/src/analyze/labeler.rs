//! Labels without statistics, by the rules of [`wireshark`](crate::tcp::wireshark) or [`history`](crate::tcp::history):
//! for comparisons with tshark, frame by frame.

use super::connections::Event;
use super::dispatch::Dispatcher;
use crate::Frame;
use crate::dissect::Dissected;
use crate::flow::Connection;
use crate::tcp::label::Rules;
use crate::tcp::track::Tracker;
use crate::tcp::wireshark::Verdict;
use crate::udp::Conversations;

/// Labels each frame. It tracks at most one million connections at a time.
pub struct Labeler {
    dispatcher: Dispatcher,
    connections: Vec<Connection>,
    rules: Rules,
}

impl Labeler {
    /// Labels by one of the rule sets.
    pub fn new(rules: Rules) -> Self {
        let tcp = Tracker::new(1_000_000, rules != Rules::Wireshark40);
        Self { dispatcher: Dispatcher::new(tcp, Conversations::new(0)), connections: Vec::new(), rules }
    }

    /// Returns the stream number and the labels of the frame, if it is a TCP segment or quotes one.
    pub fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>) -> Option<(u64, Verdict)> {
        let Event::Tcp { placed, segment, .. } = self.dispatcher.frame(frame, found) else { return None };
        let slot = placed.slot as usize;
        if slot == self.connections.len() {
            self.connections.push(Connection::default());
        } else if placed.fresh {
            self.connections[slot] = Connection::default();
        }
        let seen = self.connections[slot].segment(&placed, &segment, self.rules);
        Some((placed.stream, seen.verdict))
    }
}
