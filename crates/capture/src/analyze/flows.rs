//! The tables of an analysis: connections, UDP conversations, QUIC, series, phases, classes, rounds. Their columns are
//! documented in `docs/reference/capture-tables.md`, and a test compares both lists.

use super::connections::Connections;
use super::records::{ConnectionRecord, Course};
use crate::dscp;
use crate::flow::classify::Guess;
use crate::flow::rounds::{Phase, Round};
use crate::flow::side::{Limit, Side};
use crate::flow::sketch::Sketch;
use crate::series::Interval;
use crate::table::{Table, column, maybe};
use crate::tcp::label::Label;
use dumbbell_units::Dur;

/// One direction of a connection.
struct Row<'a> {
    record: &'a ConnectionRecord,
    d: usize,
    side: &'a Side,
    other: &'a Side,
    origin: i64,
}

impl Row<'_> {
    /// True for a connection that is known only from the segments that ICMP errors quote.
    fn is_quoted(&self) -> bool {
        self.side.packets + self.other.packets == 0
    }

    fn span(&self) -> (i64, i64) {
        let sides = [self.side, self.other];
        let seen = || sides.iter().filter(|s| s.packets > 0);
        let first = seen().map(|s| s.first).min().unwrap_or(self.origin);
        (first, seen().map(|s| s.last).max().unwrap_or(first))
    }

    fn seconds(&self) -> f64 {
        let (first, last) = self.span();
        (last - first) as f64 / 1e9
    }

    fn share(&self, limit: Limit) -> f64 {
        let all: i64 = self.side.limited.iter().sum();
        if all > 0 { self.side.limited[limit as usize] as f64 / all as f64 } else { f64::NAN }
    }
}

pub(super) fn ms(ns: Option<impl Into<f64>>) -> f64 {
    ns.map_or(f64::NAN, |t| t.into() / 1e6)
}

pub(super) fn ms_i(ns: Option<i64>) -> f64 {
    ns.map_or(f64::NAN, |t| t as f64 / 1e6)
}

fn ms_u(ns: Option<u64>) -> f64 {
    ns.map_or(f64::NAN, |t| t as f64 / 1e6)
}

/// `flows`: one row for each direction of each TCP connection.
pub(super) fn flows(records: &[ConnectionRecord], origin: i64) -> Table {
    let mut rows = Vec::with_capacity(2 * records.len());
    for t in records {
        for d in 0..2 {
            rows.push(Row { record: t, d, side: &t.sides[d], other: &t.sides[1 - d], origin });
        }
    }
    let rows = &rows[..];
    let count = |value: fn(&Side) -> u64| column(rows, |r| value(r.side));
    let mut table = Table::default()
        .with("flow", column(rows, |r| r.record.number))
        .with("direction", column(rows, |r| r.d as u8))
        .with("first_frame", column(rows, |r| r.record.first_frame))
        .with("src", column(rows, |r| r.record.ends[r.d].0.to_string()))
        .with("src_port", column(rows, |r| u32::from(r.record.ends[r.d].1)))
        .with("dst", column(rows, |r| r.record.ends[1 - r.d].0.to_string()))
        .with("dst_port", column(rows, |r| u32::from(r.record.ends[1 - r.d].1)))
        .with("opener", column(rows, |r| r.record.opener.map_or(-1, |o| i32::from(usize::from(o) == r.d))))
        .with("ending", column(rows, |r| if r.is_quoted() { "quoted" } else { r.record.ending.name() }.to_owned()))
        .with("start_ns", column(rows, |r| maybe((!r.is_quoted()).then(|| r.span().0 - r.origin))))
        .with("end_ns", column(rows, |r| maybe((!r.is_quoted()).then(|| r.span().1 - r.origin))))
        .with("packets", count(|s| s.packets))
        .with("bytes", count(|s| s.bytes))
        .with("payload_bytes", count(|s| s.payload_bytes))
        .with("new_bytes", count(|s| s.new_bytes))
        .with("data_packets", count(|s| s.data_packets))
        .with("pure_acks", count(|s| s.pure_acks))
        .with("payload_max", column(rows, |r| r.side.payload_max))
        .with(
            "throughput_bps",
            column(rows, |r| r.side.bytes as f64 * 8.0 / r.seconds()).into_iter().map(finite).collect::<Vec<_>>(),
        )
        .with("goodput_bps", column(rows, |r| finite(r.side.new_bytes as f64 * 8.0 / r.seconds())))
        .with("syns", count(|s| s.syns.into()))
        .with("fins", count(|s| s.fins.into()))
        .with("resets", count(|s| s.resets.into()))
        .with("pushes", count(|s| s.pushes))
        .with("mss", column(rows, |r| r.side.mss.map_or(-1, i32::from)))
        .with("wscale", column(rows, |r| r.side.wscale.map_or(-1, i32::from)))
        .with("sack_permitted", column(rows, |r| u8::from(r.side.sack_permitted)))
        .with("timestamps", count(|s| s.timestamps))
        .with("handshake_rtt_ms", column(rows, |r| ms_i(r.record.handshake)))
        .with("syn_rtt_ms", column(rows, |r| ms_i(r.record.syn_rtt)))
        .with("synack_rtt_ms", column(rows, |r| ms_i(r.record.ack_rtt)))
        .with("initial_rtt_ms", column(rows, |r| ms_i((r.record.initial_rtt != 0).then_some(r.record.initial_rtt))))
        .with("path_rtt_min_ms", column(rows, |r| ms_i(r.record.round_trip)))
        .with("vantage", column(rows, |r| r.record.vantage[r.d].unwrap_or(f64::NAN)));
    table = rtts(
        table,
        rows,
        ["rtt_samples", "rtt_min_ms", "rtt_mean_ms", "rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms", "rtt_max_ms"],
        |s| &s.rtt_ack,
    );
    table = rtts(
        table,
        rows,
        [
            "ts_rtt_samples",
            "ts_rtt_min_ms",
            "ts_rtt_mean_ms",
            "ts_rtt_p50_ms",
            "ts_rtt_p95_ms",
            "ts_rtt_p99_ms",
            "ts_rtt_max_ms",
        ],
        |s| &s.rtt_timestamp,
    );
    table = table
        .with("retransmitted_packets", count(|s| s.retransmitted_packets))
        .with("retransmitted_bytes", count(|s| s.retransmitted_bytes))
        .with("retransmitted_fast", count(|s| s.fast))
        .with("retransmitted_timeout", count(|s| s.timeout))
        .with("retransmitted_tail", count(|s| s.tail))
        .with("retransmitted_spurious", count(|s| s.spurious))
        .with("recoveries", count(|s| s.recoveries))
        .with("timeouts", count(|s| s.timeouts))
        .with("rto_min_ms", column(rows, |r| ms_u(r.side.rto.least())))
        .with("rto_p50_ms", column(rows, |r| ms(r.side.rto.quantile(0.5))))
        .with("rto_max_ms", column(rows, |r| ms_u(r.side.rto.greatest())))
        .with("reordered", count(|s| s.reordered))
        .with("reordering_packets", count(|s| s.reordering_packets))
        .with("reordering_bytes", count(|s| s.reordering_bytes.into()))
        .with("reordering_ms", column(rows, |r| r.side.reordering_time as f64 / 1e6))
        .with("copies", count(|s| s.copies))
        .with("gaps", count(|s| s.gaps))
        .with("missed_bytes", count(|s| s.missed_bytes))
        .with("sacks", count(|s| s.sacks))
        .with("sack_blocks", count(|s| s.sack_blocks))
        .with("dsacks", count(|s| s.dsacks))
        .with("ect1", count(|s| s.ecn[1]))
        .with("ect0", count(|s| s.ecn[2]))
        .with("ce", count(|s| s.ecn[3]))
        .with("dscp", column(rows, |r| dscp::text(&r.side.dscp)))
        .with("ece", count(|s| s.ece))
        .with("cwr", count(|s| s.cwr))
        .with("ecn_negotiated", column(rows, |r| u8::from(r.side.syn_ecn && r.other.syn_ecn)))
        .with("window_min", column(rows, |r| maybe(r.side.window_min)))
        .with("window_max", count(|s| s.window_max))
        .with("flight_max", count(|s| s.flight_max.into()))
        .with("flight_mean", column(rows, |r| finite(r.side.flight_sum as f64 / r.side.flight_count as f64)))
        .with("limited_window", column(rows, |r| r.share(Limit::Window)))
        .with("limited_application", column(rows, |r| r.share(Limit::Application)))
        .with("limited_recovery", column(rows, |r| r.share(Limit::Recovery)))
        .with("limited_network", column(rows, |r| r.share(Limit::Network)))
        .with("idle", column(rows, |r| r.share(Limit::Idle)))
        .with("super_packets", count(|s| s.super_packets))
        .with("cut_headers", count(|s| s.cut_headers));
    for label in Label::ALL {
        table = table.with(label.name(), column(rows, |r| r.side.labels[label as usize]));
    }
    table
}

pub(super) fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { f64::NAN }
}

fn rtts(table: Table, rows: &[Row<'_>], names: [&'static str; 7], sketch: fn(&Side) -> &Sketch) -> Table {
    let quantile = |q: f64| column(rows, |r| ms(sketch(r.side).quantile(q)));
    table
        .with(names[0], column(rows, |r| sketch(r.side).count()))
        .with(names[1], column(rows, |r| ms_u(sketch(r.side).least())))
        .with(names[2], column(rows, |r| ms(sketch(r.side).mean())))
        .with(names[3], quantile(0.5))
        .with(names[4], quantile(0.95))
        .with(names[5], quantile(0.99))
        .with(names[6], column(rows, |r| ms_u(sketch(r.side).greatest())))
}

/// `series`: one row for each interval of each direction that has a segment.
pub(super) fn series(courses: &[Course], interval: Dur) -> Table {
    let length = interval.0;
    let mut rows: Vec<(u64, u8, &Interval)> = Vec::new();
    for t in courses {
        for (d, series) in t.series.iter().enumerate() {
            rows.extend(series.iter().map(|i| (t.number, d as u8, i)));
        }
    }
    let rows = &rows[..];
    let n = |value: fn(&Interval) -> u32| column(rows, |r| value(r.2));
    let bytes = |value: fn(&Interval) -> u64| column(rows, |r| value(r.2));
    let known = |yes: bool, value: f64| if yes { value } else { f64::NAN };
    let mut table = Table::default()
        .with("flow", column(rows, |r| r.0))
        .with("direction", column(rows, |r| r.1))
        .with("t_ns", column(rows, |r| r.2.at * length))
        .with("packets", n(|i| i.packets))
        .with("data_packets", n(|i| i.data_packets))
        .with("bytes", bytes(|i| i.bytes))
        .with("payload_bytes", bytes(|i| i.payload_bytes))
        .with("new_bytes", bytes(|i| i.new_bytes))
        .with("acked_bytes", bytes(|i| i.acked_bytes))
        .with("retransmitted", n(|i| i.retransmitted))
        .with("timeouts", n(|i| i.timeouts))
        .with("errors", n(|i| i.errors))
        .with("flight_min", column(rows, |r| maybe((r.2.flights > 0).then_some(r.2.flight_min))))
        .with("flight_max", column(rows, |r| maybe((r.2.flights > 0).then_some(r.2.flight_max))))
        .with("flight_last", column(rows, |r| maybe((r.2.flights > 0).then_some(r.2.flight_last))))
        .with("rtt_min_ms", column(rows, |r| known(r.2.rtts > 0, r.2.rtt_min as f64 / 1e6)))
        .with("rtt_mean_ms", column(rows, |r| finite(r.2.rtt_sum as f64 / f64::from(r.2.rtts) / 1e6)))
        .with("rtt_max_ms", column(rows, |r| known(r.2.rtts > 0, r.2.rtt_max as f64 / 1e6)))
        .with("window", column(rows, |r| maybe(r.2.window)))
        .with("seq_high", bytes(|i| i.seq_high))
        .with("ack_high", bytes(|i| i.ack_high))
        .with("sack_high", bytes(|i| i.sack_high));
    for label in Label::ALL {
        table = table.with(label.name(), column(rows, |r| r.2.labels[label as usize]));
    }
    table
}

/// `phases`: the phases of each data sender, in order of time.
pub(super) fn phases(courses: &[Course], origin: i64) -> Table {
    let mut rows: Vec<(u64, u8, &Phase)> = Vec::new();
    for t in courses {
        for (d, phases) in t.phases.iter().enumerate() {
            rows.extend(phases.iter().map(|p| (t.number, d as u8, p)));
        }
    }
    let rows = &rows[..];
    Table::default()
        .with("flow", column(rows, |r| r.0))
        .with("direction", column(rows, |r| r.1))
        .with("phase", column(rows, |r| r.2.kind.name().to_owned()))
        .with("start_ns", column(rows, |r| r.2.start - origin))
        .with("end_ns", column(rows, |r| r.2.end - origin))
        .with("rounds", column(rows, |r| r.2.rounds))
        .with("flight_first", column(rows, |r| r.2.first_flight))
        .with("flight_last", column(rows, |r| r.2.last_flight))
        .with("flight_max", column(rows, |r| r.2.max_flight))
        .with("retransmissions", column(rows, |r| r.2.retransmissions))
        .with("evidence", column(rows, |r| r.2.evidence()))
}

/// `classify`: the probable congestion control of each long transfer.
pub(super) fn classes(courses: &[Course]) -> Table {
    let mut rows: Vec<(u64, u8, &Guess)> = Vec::new();
    for t in courses {
        for (d, guess) in t.guesses.iter().enumerate() {
            rows.extend(guess.iter().map(|g| (t.number, d as u8, g)));
        }
    }
    let rows = &rows[..];
    Table::default()
        .with("flow", column(rows, |r| r.0))
        .with("direction", column(rows, |r| r.1))
        .with("family", column(rows, |r| r.2.family.to_owned()))
        .with("confidence", column(rows, |r| r.2.confidence))
        .with("decrease", column(rows, |r| r.2.decrease))
        .with("growth", column(rows, |r| r.2.growth))
        .with("slope", column(rows, |r| r.2.slope))
        .with("reductions", column(rows, |r| r.2.reductions))
        .with("evidence", column(rows, |r| r.2.evidence.clone()))
}

/// `rounds`: one row for each round of a long transfer.
pub(super) fn rounds(courses: &[Course], origin: i64) -> Table {
    let mut rows: Vec<(u64, u8, &Round)> = Vec::new();
    for t in courses {
        for (d, rounds) in t.rounds.iter().enumerate() {
            rows.extend(rounds.iter().map(|r| (t.number, d as u8, r)));
        }
    }
    let rows = &rows[..];
    let known = |r: &Round, value: f64| if r.rtts > 0 { value } else { f64::NAN };
    Table::default()
        .with("flow", column(rows, |r| r.0))
        .with("direction", column(rows, |r| r.1))
        .with("start_ns", column(rows, |r| r.2.start - origin))
        .with("end_ns", column(rows, |r| r.2.end - origin))
        .with("flight", column(rows, |r| r.2.flight))
        .with("new_bytes", column(rows, |r| r.2.bytes))
        .with("acked_bytes", column(rows, |r| r.2.acked))
        .with("rtt_min_ms", column(rows, |r| known(r.2, f64::from(r.2.rtt_min) / 1e6)))
        .with("rtt_mean_ms", column(rows, |r| known(r.2, r.2.rtt_sum as f64 / f64::from(r.2.rtts) / 1e3)))
        .with("retransmissions", column(rows, |r| r.2.retransmissions))
        .with("ecn_echoes", column(rows, |r| r.2.echoes))
        .with("fast", column(rows, |r| u8::from(r.2.fast)))
        .with("timeout", column(rows, |r| u8::from(r.2.timeout)))
        .with("repairing", column(rows, |r| u8::from(r.2.repairing)))
        .with("limit", column(rows, |r| r.2.limit.name().to_owned()))
}

/// `total`: one row for each interval of the capture, over all frames.
pub(super) fn total(connections: &mut Connections) -> Table {
    let length = connections.ticks.length().0;
    let rows = std::mem::take(&mut connections.total).finish(connections.ticks.doublings);
    Table::default()
        .with("t_ns", column(&rows, |r| r.at * length))
        .with("packets", column(&rows, |r| r.packets))
        .with("bytes", column(&rows, |r| r.bytes))
        .with("errors", column(&rows, |r| r.errors))
}
