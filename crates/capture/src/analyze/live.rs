//! Rates, losses and round-trip times of each flow in each second of a capture that is being written.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::flow::SegmentAnalysis;
use crate::table::{Table, column};
use crate::tcp::history::Data;
use crate::tcp::segment::Segment;

const SECOND: i64 = 1_000_000_000;
/// Flows listed for a second: those with the most bytes.
const LISTED: usize = 10;

/// One direction of a connection in the current second.
#[derive(Clone, Copy)]
struct Tick {
    flow: u64,
    ends: [(IpAddr, u16); 2],
    packets: u64,
    bytes: u64,
    retransmitted: u64,
    rtt_sum: u64,
    rtts: u32,
}

/// The current second.
#[derive(Default)]
pub(super) struct Live {
    second: Option<i64>,
    ticks: BTreeMap<(u64, usize), Tick>,
    done: Option<Table>,
}

impl Live {
    /// A frame at this time; a new second completes the one before.
    pub(super) fn time(&mut self, time: i64) {
        let now = time.div_euclid(SECOND);
        if self.second.is_some_and(|second| now > second) && !self.ticks.is_empty() {
            let mut ticks: Vec<Tick> = std::mem::take(&mut self.ticks).into_values().collect();
            ticks.sort_by_key(|t| (std::cmp::Reverse(t.bytes), t.flow, t.ends[0]));
            ticks.truncate(LISTED);
            self.done = Some(table(&ticks));
        }
        if self.second.is_none_or(|second| now > second) {
            self.second = Some(now);
        }
    }

    /// A segment of direction `d`.
    pub(super) fn segment(
        &mut self,
        flow: u64,
        d: usize,
        ends: [(IpAddr, u16); 2],
        s: &Segment,
        seen: &SegmentAnalysis,
    ) {
        let new = |d: usize| Tick {
            flow,
            ends: [ends[d], ends[1 - d]],
            packets: 0,
            bytes: 0,
            retransmitted: 0,
            rtt_sum: 0,
            rtts: 0,
        };
        let tick = self.ticks.entry((flow, d)).or_insert_with(|| new(d));
        tick.packets += 1;
        tick.bytes += u64::from(s.frame_len);
        tick.retransmitted += u64::from(matches!(seen.data, Some(Data::Retransmission { .. })));
        if let Some(rtt) = seen.rtt {
            let other = self.ticks.entry((flow, 1 - d)).or_insert_with(|| new(1 - d));
            other.rtt_sum += rtt.max(0) as u64;
            other.rtts += 1;
        }
    }

    /// The last complete second, once.
    pub(super) fn take(&mut self) -> Option<Table> {
        self.done.take()
    }
}

fn table(rows: &[Tick]) -> Table {
    Table::default()
        .with("flow", column(rows, |r| r.flow))
        .with("src", column(rows, |r| r.ends[0].0.to_string()))
        .with("src_port", column(rows, |r| u32::from(r.ends[0].1)))
        .with("dst", column(rows, |r| r.ends[1].0.to_string()))
        .with("dst_port", column(rows, |r| u32::from(r.ends[1].1)))
        .with("packets", column(rows, |r| r.packets))
        .with("throughput_bps", column(rows, |r| r.bytes * 8))
        .with("retransmitted", column(rows, |r| r.retransmitted))
        .with("rtt_mean_ms", column(rows, |r| r.rtt_sum as f64 / f64::from(r.rtts) / 1e6))
}
