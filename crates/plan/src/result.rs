//! What a run gives back. Field docs say how each figure is defined; rates are bit/s, times seconds unless named.

use serde::Serialize;

/// Metrics of a flow, over its own time within the measurement: from its start (or the start of measurement, whichever
/// is later) to its stop, its completion or the end of the run (whichever is first).
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowResult {
    /// Name in the scenario.
    pub name: String,
    /// Variant, or the transport where there is none.
    pub variant: String,
    /// Kind of application.
    pub application: String,
    /// When it started, jitter included, s.
    pub start_s: f64,
    /// When it stopped, s.
    pub stop_s: f64,
    /// Offset of the first packet after the start (CBR), s.
    pub phase_s: Option<f64>,
    /// Payload delivered in order, each byte once, per time, bit/s.
    pub goodput_bps: f64,
    /// IP bytes that reached the receiver, headers and duplicates included, per time, bit/s.
    pub throughput_bps: f64,
    /// Packets with payload that the data sender sent, retransmissions included.
    pub sent_packets: u64,
    /// Their payload bytes (UDP: IP bytes).
    pub sent_bytes: u64,
    /// Payload bytes delivered in order (UDP: IP bytes received).
    pub delivered_bytes: u64,
    /// Of the sent packets, those dropped anywhere.
    pub dropped_packets: u64,
    /// Of the sent packets, copies that links made.
    pub duplicated_packets: u64,
    /// Dropped / sent; null without packets.
    pub drop_rate: Option<f64>,
    /// Packets with payload sent again.
    pub retransmitted_packets: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recoveries begun without a timeout.
    pub fast_retransmits: u64,
    /// Packets that arrived although their bytes had arrived before: payload bytes.
    pub duplicate_bytes: u64,
    /// Round trips of packets sent once, from sending to the cumulative ACK that covers them, so with what they wait
    /// behind a hole (ping: of answered requests); mean, ms.
    pub rtt_mean_ms: Option<f64>,
    /// Round trips of all packets, from first transmission to acknowledgment, ms.
    pub rtt_first_mean_ms: Option<f64>,
    /// Smallest of the round trips of packets sent once, ms.
    pub rtt_min_ms: Option<f64>,
    /// Their median, ms (percentiles within 0.1 %).
    pub rtt_p50_ms: Option<f64>,
    /// Their 95th percentile, ms.
    pub rtt_p95_ms: Option<f64>,
    /// Their 99th percentile, ms.
    pub rtt_p99_ms: Option<f64>,
    /// Largest, ms.
    pub rtt_max_ms: Option<f64>,
    /// One-way delay of datagrams, mean, ms.
    pub owd_mean_ms: Option<f64>,
    /// Its 99th percentile, ms.
    pub owd_p99_ms: Option<f64>,
    /// From the start of the first transfer to the last byte of the last one; null unless all have completed.
    pub completion_time_s: Option<f64>,
    /// Transfers, downloads begun.
    pub transfers_started: u64,
    /// Of these, completed.
    pub transfers_completed: u64,
    /// cwnd over time, mean, in segments.
    pub cwnd_mean_packets: Option<f64>,
    /// srtt over time, mean, ms.
    pub srtt_mean_ms: Option<f64>,
    /// Bytes outstanding over time, mean, in segments.
    pub mean_inflight_packets: Option<f64>,
    /// Echo requests sent (ping).
    pub pings_sent: u64,
    /// Echo requests without a reply in time (ping).
    pub pings_lost: u64,
}

/// Metrics of one direction of a link, over the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct QueueResult {
    /// Name of the link.
    pub name: String,
    /// Queue discipline.
    pub discipline: String,
    /// Packets that came to the entrance.
    pub arrivals: u64,
    /// Packets whose transmission began.
    pub departures: u64,
    /// Packets that reached the other end, copies included.
    pub delivered: u64,
    /// Packets waiting when measurement began.
    pub waiting_at_start: u64,
    /// Packets waiting at the end: waiting_at_start + arrivals = departures + drops + waiting_at_end.
    pub waiting_at_end: u64,
    /// Packets in transmission or on the wire when measurement began.
    pub on_wire_at_start: u64,
    /// The same at the end: on_wire_at_start + departures + duplicated = delivered + wire_losses + on_wire_at_end.
    pub on_wire_at_end: u64,
    /// Packets dropped at entrance or queue.
    pub drops: u64,
    /// Of these, because the queue was full.
    pub drops_full: u64,
    /// Of these, early, by an AQM's probability.
    pub drops_early: u64,
    /// Of these, by an AQM that drops everything.
    pub drops_forced: u64,
    /// Of these, because the scenario says so.
    pub drops_scripted: u64,
    /// Of these, by a policer.
    pub drops_policed: u64,
    /// Packets lost on the wire, after departure.
    pub wire_losses: u64,
    /// Of these, by the link's loss model.
    pub losses_random: u64,
    /// Of these, because they were damaged.
    pub losses_corrupted: u64,
    /// Of these, by an outage.
    pub losses_outage: u64,
    /// Copies that the wire made.
    pub duplicated: u64,
    /// Packets that reached the other end behind one that was sent later (RFC 4737).
    pub reordered: u64,
    /// Of these, the largest extent: arrivals since the first packet that was sent later, itself included.
    pub largest_reordering_extent: u64,
    /// Packets marked.
    pub marks: u64,
    /// Waiting packets over time, mean; the one in transmission not counted.
    pub mean_backlog_packets: Option<f64>,
    /// Their wire bytes over time, mean.
    pub mean_backlog_bytes: Option<f64>,
    /// Time from arrival to start of transmission, mean, ms.
    pub mean_sojourn_ms: Option<f64>,
    /// Its median, ms.
    pub p50_sojourn_ms: Option<f64>,
    /// Its 95th percentile, ms.
    pub p95_sojourn_ms: Option<f64>,
    /// Its 99th percentile, ms.
    pub p99_sojourn_ms: Option<f64>,
    /// Largest, ms.
    pub max_sojourn_ms: Option<f64>,
    /// Share of the time in which the transmitter was busy; where the rate changes or an outage holds packets, wire bits
    /// sent over those that could be.
    pub utilization: f64,
    /// Wire bytes whose transmission began, per time, bit/s.
    pub throughput_bps: f64,
    /// Wire bits that could be sent, per time, bit/s: the link's rate or its mean, zero while an outage holds packets.
    pub capacity_bps: f64,
}

/// One transfer or download.
#[derive(Clone, Debug, Serialize)]
pub struct Transfer {
    /// The flow.
    pub flow: String,
    /// Which of the flow's, from 0.
    pub number: u64,
    /// When it began, s.
    pub start_s: f64,
    /// When its last byte arrived, s; null if it did not by the end.
    pub end_s: Option<f64>,
    /// Payload bytes asked for.
    pub bytes: u64,
}
