//! The connection log: one record for each connection that has ended, while the capture is read. Fields have the names
//! of Zeek's `conn.log` where they mean the same [docs.zeek.org, Conn::Info].
//!
//! A connection counts as ended five seconds after both FINs or a RST (Zeek's `tcp_close_delay`), when another one
//! takes its ports, when it is evicted, or at the end of the capture. Each is written once.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::flow::Connection;
use crate::table::{MISSING, Table, column};
use crate::udp::Conversation;

/// From the end of a connection to its record, ns of the capture's time.
const DELAY: i64 = 5_000_000_000;

/// A row of the log.
pub(super) struct Entry {
    flow: i64,
    ends: [(IpAddr, u16); 2],
    proto: &'static str,
    first: i64,
    last: i64,
    state: &'static str,
    bytes: [u64; 2],
    packets: [u64; 2],
    retransmitted: [u64; 2],
    missed: u64,
    handshake: Option<i64>,
}

/// The rows that wait to be passed on, and the connections that have closed recently.
#[derive(Default)]
pub(super) struct Log {
    rows: Vec<Entry>,
    closing: VecDeque<(i64, u32, u64)>,
}

impl Log {
    /// A connection has closed.
    pub(super) fn closed(&mut self, now: i64, slot: u32, number: u64) {
        self.closing.push_back((now, slot, number));
    }

    /// The slot and number of a connection that closed long enough before `now`.
    pub(super) fn due(&mut self, now: i64) -> Option<(u32, u64)> {
        let &(time, slot, number) = self.closing.front()?;
        if now.saturating_sub(time) < DELAY {
            return None;
        }
        self.closing.pop_front();
        Some((slot, number))
    }

    pub(super) fn push(&mut self, c: &Connection, ends: [(IpAddr, u16); 2]) {
        // The originator first: the side that sent the SYN.
        let o = usize::from(c.opener.unwrap_or(0));
        let order = [o, 1 - o];
        let seen = || c.sides.iter().filter(|s| s.packets > 0);
        let Some(first) = seen().map(|s| s.first).min() else { return };
        self.rows.push(Entry {
            flow: i64::try_from(c.number).unwrap_or(MISSING),
            ends: order.map(|d| ends[d]),
            proto: "tcp",
            first,
            last: seen().map(|s| s.last).max().unwrap_or(first),
            state: state(c, o),
            bytes: order.map(|d| c.sides[d].new_bytes),
            packets: order.map(|d| c.sides[d].packets),
            retransmitted: order.map(|d| c.sides[d].retransmitted_packets),
            missed: c.sides.iter().map(|s| s.missed_bytes).sum(),
            handshake: c.syn.zip(c.handshake_end).map(|(a, b)| b - a),
        });
    }

    /// The rows so far, as a table, if there are at least `least`.
    pub(super) fn take(&mut self, least: usize) -> Option<Table> {
        (self.rows.len() >= least.max(1)).then(|| table(&std::mem::take(&mut self.rows)))
    }
}

/// Zeek's `conn_state`; `o` is the originator.
fn state(c: &Connection, o: usize) -> &'static str {
    let established = c.syn_ack.is_some();
    match (c.opener, c.reset) {
        (None, _) => "OTH",
        (Some(_), Some(by)) if usize::from(by) == o => {
            if established {
                "RSTO"
            } else {
                "RSTOS0"
            }
        }
        (Some(_), Some(_)) => match (established, c.syn.is_some()) {
            (true, true) => "RSTR",
            (true, false) => "RSTRH",
            _ => "REJ",
        },
        (Some(_), None) => match (established, c.syn.is_some(), c.fin[o], c.fin[1 - o]) {
            (false, _, false, _) => "S0",
            (false, _, true, _) => "SH",
            (true, false, _, true) => "SHR",
            (true, _, true, true) => "SF",
            (true, _, true, false) => "S2",
            (true, _, false, true) => "S3",
            (true, ..) => "S1",
        },
    }
}

/// The UDP conversations, which have no end of their own.
pub(super) fn datagrams(conversations: &[Conversation]) -> Table {
    let entry = |c: &Conversation| {
        let seen = || c.sides.iter().filter(|s| s.packets > 0);
        let first = seen().map(|s| s.first).min().unwrap_or(0);
        Entry {
            flow: MISSING,
            ends: c.key.endpoints(c.low_first),
            proto: "udp",
            first,
            last: seen().map(|s| s.last).max().unwrap_or(first),
            state: if c.sides[1].packets > 0 { "SF" } else { "S0" },
            bytes: [0, 1].map(|d| c.sides[d].payload_bytes),
            packets: [0, 1].map(|d| c.sides[d].packets),
            retransmitted: [0; 2],
            missed: 0,
            handshake: None,
        }
    };
    table(&conversations.iter().map(entry).collect::<Vec<_>>())
}

fn table(rows: &[Entry]) -> Table {
    Table::default()
        .with("ts", column(rows, |r| r.first as f64 / 1e9))
        .with("flow", column(rows, |r| r.flow))
        .with("id.orig_h", column(rows, |r| r.ends[0].0.to_string()))
        .with("id.orig_p", column(rows, |r| u32::from(r.ends[0].1)))
        .with("id.resp_h", column(rows, |r| r.ends[1].0.to_string()))
        .with("id.resp_p", column(rows, |r| u32::from(r.ends[1].1)))
        .with("proto", column(rows, |r| r.proto.to_owned()))
        .with("duration", column(rows, |r| r.last.wrapping_sub(r.first) as f64 / 1e9))
        .with("orig_bytes", column(rows, |r| r.bytes[0]))
        .with("resp_bytes", column(rows, |r| r.bytes[1]))
        .with("conn_state", column(rows, |r| r.state.to_owned()))
        .with("missed_bytes", column(rows, |r| r.missed))
        .with("orig_pkts", column(rows, |r| r.packets[0]))
        .with("resp_pkts", column(rows, |r| r.packets[1]))
        .with("orig_retransmitted", column(rows, |r| r.retransmitted[0]))
        .with("resp_retransmitted", column(rows, |r| r.retransmitted[1]))
        .with("handshake_rtt_ms", column(rows, |r| r.handshake.map_or(f64::NAN, |t| t as f64 / 1e6)))
}
