//! Counts for each direction of each connection of a pair of captures, and their tables. The columns are documented in
//! `docs/how-to/pair-captures.md`.

use crate::flow::sketch::Sketch;
use crate::series::Series;
use crate::table::{Table, column};
use crate::tcp::track::Key;

/// Counts of one direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Direction {
    /// Packets captured at the first and at the second point of their path.
    pub(super) packets: [u64; 2],
    pub(super) matched: u64,
    pub(super) lost: u64,
    pub(super) lost_bytes: u64,
    /// Packets sent so late that the second capture may have ended before they arrived.
    pub(super) under_way: u64,
    /// The longest time from the first point to the second, by their clocks.
    pub(super) longest: i64,
    /// Packets captured only at the second point.
    pub(super) extra: u64,
    pub(super) reordered: u64,
    pub(super) reordering: u64,
    pub(super) delay: Sketch,
    /// The least delay, ns. Delays are relative and may be negative.
    pub(super) least: Option<f64>,
    /// Position, in the order of the first point, of the last matched packet.
    pub(super) newest: u64,
    pub(super) sum: f64,
    pub(super) series: Series,
}

impl Direction {
    fn mean(&self) -> f64 {
        self.sum / self.delay.count() as f64
    }

    /// The queueing delay: the delay above the minimum.
    fn above_least(&self, delay: Option<f64>) -> Option<f64> {
        delay.zip(self.least).map(|(d, least)| (d - least).max(0.0))
    }
}

pub(super) struct Flow {
    pub(super) number: u64,
    pub(super) key: Key,
    /// True if the lower endpoint of the key is on A's side.
    pub(super) low_at_a: bool,
    pub(super) tcp: bool,
    /// From A to B, from B to A.
    pub(super) directions: [Direction; 2],
}

pub(super) fn flows(flows: &[Flow]) -> Table {
    let rows: Vec<(&Flow, usize)> = flows.iter().flat_map(|f| [(f, 0), (f, 1)]).collect();
    let rows = &rows[..];
    // Direction 0 is from A to B.
    let ends = |r: &(&Flow, usize)| r.0.key.endpoints(r.0.low_at_a);
    let count = |value: fn(&Direction) -> u64| column(rows, |r| value(&r.0.directions[r.1]));
    let ms = |value: fn(&Direction) -> Option<f64>| {
        column(rows, |r| value(&r.0.directions[r.1]).map_or(f64::NAN, |ns| ns / 1e6))
    };
    Table::default()
        .with("flow", column(rows, |r| r.0.number))
        .with("direction", column(rows, |r| r.1 as u8))
        .with("protocol", column(rows, |r| if r.0.tcp { "tcp" } else { "udp" }.to_owned()))
        .with("src", column(rows, |r| ends(r)[r.1].0.to_string()))
        .with("src_port", column(rows, |r| u32::from(ends(r)[r.1].1)))
        .with("dst", column(rows, |r| ends(r)[1 - r.1].0.to_string()))
        .with("dst_port", column(rows, |r| u32::from(ends(r)[1 - r.1].1)))
        .with("packets_first", count(|w| w.packets[0]))
        .with("packets_second", count(|w| w.packets[1]))
        .with("matched", count(|w| w.matched))
        .with("lost", count(|w| w.lost))
        .with("lost_bytes", count(|w| w.lost_bytes))
        .with("under_way", count(|w| w.under_way))
        .with("extra", count(|w| w.extra))
        .with("reordered", count(|w| w.reordered))
        .with("reordering_packets", count(|w| w.reordering))
        .with("delay_min_ms", ms(|w| w.least))
        .with("delay_mean_ms", ms(|w| (w.delay.count() > 0).then(|| w.mean())))
        .with("delay_p50_ms", ms(|w| w.delay.quantile(0.5)))
        .with("delay_p95_ms", ms(|w| w.delay.quantile(0.95)))
        .with("delay_p99_ms", ms(|w| w.delay.quantile(0.99)))
        .with("delay_max_ms", ms(|w| w.delay.greatest().map(|g| g as f64)))
        .with("queueing_mean_ms", ms(|w| w.above_least((w.delay.count() > 0).then(|| w.mean()))))
        .with("queueing_p95_ms", ms(|w| w.above_least(w.delay.quantile(0.95))))
        .with("queueing_max_ms", ms(|w| w.above_least(w.delay.greatest().map(|g| g as f64))))
}

pub(super) fn series(flows: &[Flow], length: u64) -> Table {
    let mut rows = Vec::new();
    for f in flows {
        for (d, direction) in f.directions.iter().enumerate() {
            rows.extend(direction.series.rows().iter().map(|r| (f.number, d as u8, r)));
        }
    }
    let rows = &rows[..];
    let ms = |known: bool, ns: f64| if known { ns / 1e6 } else { f64::NAN };
    Table::default()
        .with("flow", column(rows, |r| r.0))
        .with("direction", column(rows, |r| r.1))
        .with("t_ns", column(rows, |r| r.2.at * length))
        .with("packets", column(rows, |r| r.2.packets))
        .with("bytes", column(rows, |r| r.2.bytes))
        .with("lost", column(rows, |r| r.2.retransmitted))
        .with("delay_min_ms", column(rows, |r| ms(r.2.rtts > 0, r.2.rtt_min as f64)))
        .with("delay_mean_ms", column(rows, |r| ms(r.2.rtts > 0, r.2.rtt_sum as f64 / f64::from(r.2.rtts))))
        .with("delay_max_ms", column(rows, |r| ms(r.2.rtts > 0, r.2.rtt_max as f64)))
}
