//! Properties of the connections on which warnings are based, and totals, collected when a connection ends.

use super::records::ConnectionRecord;
use crate::flow::side::Side;

/// Segments of a connection from which on a missing direction is reported.
const ENOUGH: u64 = 10;
/// Share of the round trip: a capture point nearer to an end of the path counts as being at that end.
const NEAR: f64 = 0.1;

/// Number of connections with a property, and the lowest number among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Affected {
    pub(super) count: u64,
    pub(super) first: Option<u64>,
}

impl Affected {
    fn add(&mut self, number: u64) {
        self.count += 1;
        self.first = Some(self.first.map_or(number, |first| first.min(number)));
    }
}

/// Totals over all TCP connections, listed or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections.
    pub connections: u64,
    /// Segments with payload.
    pub data_packets: u64,
    /// Retransmitted segments.
    pub retransmitted_packets: u64,
    /// Timeouts.
    pub timeouts: u64,
}

/// Properties of the connections so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(super) totals: Totals,
    pub(super) one_direction: Affected,
    pub(super) no_handshake: Affected,
    pub(super) super_packets: u64,
    /// The longest super-packet and its connection.
    pub(super) longest: Option<(u32, u64)>,
    pub(super) missed_bytes: u64,
    /// The most missed bytes of a connection, and the connection.
    pub(super) most_missed: (u64, u64),
    pub(super) copies: u64,
    pub(super) cut_headers: u64,
    /// Transfers captured at the sender, at the receiver, and between them.
    pub(super) sender: u64,
    pub(super) receiver: u64,
    pub(super) between: u64,
}

impl Findings {
    pub(super) fn add(&mut self, t: &ConnectionRecord) {
        let sum = |f: fn(&Side) -> u64| t.sides.iter().map(|s| f(s)).sum::<u64>();
        let totals = &mut self.totals;
        totals.connections += 1;
        totals.data_packets += sum(|s| s.data_packets);
        totals.retransmitted_packets += sum(|s| s.retransmitted_packets);
        totals.timeouts += sum(|s| s.timeouts);
        let [a, b] = &t.sides;
        if a.packets.max(b.packets) >= ENOUGH && a.packets.min(b.packets) == 0 {
            self.one_direction.add(t.number);
        }
        if t.opener.is_none() && sum(|s| s.data_packets) > 0 {
            self.no_handshake.add(t.number);
        }
        self.super_packets += sum(|s| s.super_packets);
        for s in t.sides.iter().filter(|s| s.super_packets > 0) {
            let better = |(longest, number)| (s.payload_max, number) > (longest, t.number);
            if self.longest.is_none_or(better) {
                self.longest = Some((s.payload_max, t.number));
            }
        }
        let missed = sum(|s| s.missed_bytes);
        self.missed_bytes += missed;
        self.most_missed = self.most_missed.max((missed, t.number));
        self.copies += sum(|s| s.copies);
        self.cut_headers += sum(|s| s.cut_headers);
        for (s, v) in t.sides.iter().zip(t.vantage) {
            match v.filter(|_| s.new_bytes > 10_000) {
                Some(v) if v <= NEAR => self.sender += 1,
                Some(v) if v >= 1.0 - NEAR => self.receiver += 1,
                Some(_) => self.between += 1,
                None => {}
            }
        }
    }
}
