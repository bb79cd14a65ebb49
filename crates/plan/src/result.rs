//! Results of a run: one row per flow, per direction of a link, per transfer. The field docs are the definitions that
//! the documentation shows.

use crate::column::{Better, Column, Connections, FrameColumns, Hosts, Summary, Unit, Value, columns};
use crate::optional::Optional;
use serde::Serialize;
use std::borrow::Cow;

/// A name of a registry, which takes no memory of its own, or one of the user's.
pub type Name = Cow<'static, str>;

columns! {
    merged
    /// Metrics of a flow. They cover the flow's measured time: from its start or the start of the measurement,
    /// whichever is later, to its stop, its completion or the end of the run, whichever is first.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct FlowResult {
        /// Name of the flow in the scenario.
        #[merge(Main, Sender)]
        pub name: String,
        /// Congestion control variant; `udp` or `ping` for flows without one.
        #[merge(Main, Sender)]
        pub variant: Name,
        /// Kind of application.
        #[merge(Main, Sender)]
        pub application: Name,
        /// Start time, including the start jitter, s.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub start_s: f64,
        /// Stop time, s.
        #[merge(Main, Receiver)]
        #[column(unit = S)]
        pub stop_s: f64,
        /// Time from the start to the first packet (CBR), s.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub phase_s: Optional,
        /// Goodput: payload that reached the receiver in the measured time, each byte counted once, bit/s. UDP and
        /// ping: the same as the throughput.
        #[merge(Sum, Sender)]
        #[column(unit = BitPerS, better = More, margin = "1 %", summary = (10, "goodput Mbit/s"))]
        pub goodput_bps: f64,
        /// Throughput: IP bytes that reached the receiver in the measured time, including headers and retransmissions,
        /// bit/s. A packet that a link duplicated counts once.
        #[merge(Sum, Router)]
        #[column(unit = BitPerS, margin = "1 %")]
        pub throughput_bps: f64,
        /// Packets with payload that the data sender sent in the measured time, including retransmissions.
        #[merge(Sum, Router)]
        #[column(unit = Packets)]
        pub sent_packets: u64,
        /// Payload bytes of the sent packets (UDP: IP bytes).
        #[merge(Sum, Router)]
        #[column(unit = Bytes)]
        pub sent_bytes: u64,
        /// Payload bytes that reached the receiver in the measured time, in order or not, each counted once (UDP: IP
        /// bytes).
        #[merge(Sum, Router)]
        #[column(unit = Bytes)]
        pub delivered_bytes: u64,
        /// Those of the sent packets that never arrived, because they were dropped or lost anywhere on the path before
        /// the end of the run, with every duplicate that a link made of them.
        #[merge(Sum, Router)]
        #[column(unit = Packets)]
        pub dropped_packets: u64,
        /// Duplicates of sent packets, made by links.
        #[merge(Main, Router)]
        #[column(unit = Packets)]
        pub duplicated_packets: u64,
        /// dropped_packets / sent_packets; null if no packet was sent.
        #[merge(Main, Sender)]
        #[column(unit = Share, better = Less, margin = "10 %", summary = (20, "drops %"))]
        pub drop_rate: Optional,
        /// Retransmitted packets with payload.
        #[merge(Sum, Router)]
        #[column(unit = Packets, better = Less, summary = (50, "retransmitted"))]
        pub retransmitted_packets: u64,
        /// Retransmitted payload bytes.
        #[merge(Sum, Router)]
        #[column(unit = Bytes)]
        pub retransmitted_bytes: u64,
        /// Payload of a full segment, bytes: the MSS less the options that each segment carries. Null for datagrams.
        #[merge(Main, Sender)]
        #[column(unit = Bytes)]
        pub snd_mss_bytes: Option<u64>,
        /// Expiries of the retransmission timer.
        #[merge(Main, Sender)]
        #[column(better = Less, summary = (60, "timeouts"))]
        pub timeouts: u64,
        /// Fast retransmits: loss recoveries that began without a timeout.
        #[merge(Main, Sender)]
        pub fast_retransmits: u64,
        /// Payload bytes that arrived at the receiver again.
        #[merge(Sum, Router)]
        #[column(unit = Bytes)]
        pub duplicate_bytes: u64,
        /// Mean round-trip time of packets sent once: from sending a packet to the ACK or SACK that first covers it,
        /// ms. A cumulative ACK that first covers a retransmitted packet gives no RTT. Ping: mean RTT of the answered
        /// requests.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms, better = Less, margin = "5 %", summary = (30, "RTT ms"))]
        pub rtt_mean_ms: Optional,
        /// Minimum of the times that `rtt_mean_ms` averages, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms)]
        pub rtt_min_ms: Optional,
        /// Median of the same times, ms. Percentiles are exact within 0.1 %.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms, better = Less, margin = "5 %")]
        pub rtt_p50_ms: Optional,
        /// 95th percentile of the same times, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms, better = Less, margin = "5 %", summary = (40, "RTT p95 ms"))]
        pub rtt_p95_ms: Optional,
        /// 99th percentile of the same times, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms, better = Less, margin = "5 %")]
        pub rtt_p99_ms: Optional,
        /// Maximum of the same times, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms)]
        pub rtt_max_ms: Optional,
        /// Mean time from sending a packet to the cumulative ACK that covers it, of packets sent once, ms. It includes
        /// the wait of a packet that arrived behind a lost one for the retransmission (head-of-line blocking).
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms, better = Less)]
        pub ack_delay_mean_ms: Optional,
        /// Minimum of the times that `ack_delay_mean_ms` averages, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms)]
        pub ack_delay_min_ms: Optional,
        /// Median of the same times, ms. Percentiles are exact within 0.1 %.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms)]
        pub ack_delay_p50_ms: Optional,
        /// 95th percentile of the same times, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms, better = Less)]
        pub ack_delay_p95_ms: Optional,
        /// 99th percentile of the same times, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms)]
        pub ack_delay_p99_ms: Optional,
        /// Maximum of the same times, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms)]
        pub ack_delay_max_ms: Optional,
        /// Mean time from a packet's first transmission to the cumulative ACK that covers it, of all packets, ms.
        #[merge(Main, TcpRouter)]
        #[column(unit = Ms)]
        pub ack_delay_first_mean_ms: Optional,
        /// Mean one-way delay of datagrams, ms.
        #[merge(Main, Receiver)]
        #[column(unit = Ms)]
        pub owd_mean_ms: Optional,
        /// 99th percentile of the one-way delay of datagrams, ms.
        #[merge(Main, Receiver)]
        #[column(unit = Ms)]
        pub owd_p99_ms: Optional,
        /// Time from the start of the first transfer to the last byte of the last one, s; null unless all completed.
        #[merge(Main, Sender)]
        #[column(unit = S, better = Less, margin = "5 %", summary = (70, "completed in s"))]
        pub completion_time_s: Optional,
        /// Transfers and downloads started.
        #[merge(Main, Sender)]
        pub transfers_started: u64,
        /// Transfers and downloads completed.
        #[merge(Main, Sender)]
        pub transfers_completed: u64,
        /// Time average of cwnd, segments.
        #[merge(Main, Sender)]
        #[column(unit = Packets)]
        pub cwnd_mean_packets: Optional,
        /// Time average of srtt, ms.
        #[merge(Main, Sender)]
        #[column(unit = Ms)]
        pub srtt_mean_ms: Optional,
        /// Time average of the bytes in flight, segments.
        #[merge(Main, TcpRouter)]
        #[column(unit = Packets)]
        pub mean_inflight_packets: Optional,
        /// Echo requests sent (ping).
        #[merge(Main, Sender)]
        pub pings_sent: u64,
        /// Echo requests without a reply before their timeout (ping).
        #[merge(Main, Sender)]
        pub pings_lost: u64,
        /// Interarrival jitter of a voice call [RFC 3550 §6.4.1], its mean over the packets that arrived, ms.
        #[merge(Main, Sender)]
        #[column(unit = Ms)]
        pub jitter_ms: Optional,
        /// Packets of a voice call that arrived after their playout time.
        #[merge(Main, Sender)]
        #[column(unit = Packets)]
        pub late_packets: Option<u64>,
        /// Share of the packets of a voice call that were not played: lost or late, 0 to 1. Packets whose playout time
        /// is after the flow's end don't count.
        #[merge(Main, Sender)]
        #[column(bounds = (0.0, 1.0))]
        pub playout_loss: Optional,
        /// Burst ratio of these losses [ITU-T G.107 §7.5]: the mean length of a burst / its mean length if losses were
        /// random, 1 to 8.
        #[merge(Main, Sender)]
        #[column(bounds = (1.0, 8.0))]
        pub burst_ratio: Optional,
        /// Mean one-way delay of a voice call from mouth to ear: packetization, network and jitter buffer, ms.
        #[merge(Main, Sender)]
        #[column(unit = Ms)]
        pub mouth_to_ear_ms: Optional,
        /// Rating factor R of a voice call by the E-model [ITU-T G.107]; 93.2 without delay and losses.
        #[merge(Main, Sender)]
        pub r_factor: Optional,
        /// Mean opinion score that belongs to `r_factor`, 1 to 4.5 [ITU-T G.107 Annex B].
        #[merge(Main, Sender)]
        #[column(bounds = (1.0, 4.5), summary = (80, "MOS"))]
        pub mos: Optional,
        /// Time from the start of the flow to the first byte of the first response (video, page of objects), s. The
        /// times of videos and pages include connecting, and cover the whole flow; for a page that is loaded repeatedly
        /// they are means over its loads.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub first_byte_s: Optional,
        /// Time from the start of the flow to the last byte of the video or of the page's last object, s; null if it
        /// did not arrive.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub load_time_s: Optional,
        /// Time from the start of the flow to the page's load event: the arrival of the last object that doesn't wait
        /// for it, s.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub onload_s: Optional,
        /// Time from the start of the flow to the start of playback, s; null if it did not start.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub startup_delay_s: Optional,
        /// Number of stalls. A stall begins when the buffer is empty before the end of the video, and ends when
        /// `resume_buffer` is buffered, or the rest of the video. The startup delay is no stall.
        #[merge(Main, Sender)]
        pub stalls: Option<u64>,
        /// Time of all stalls, s; of one that lasts, until the flow's stop or the end of the run.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub stall_s: Optional,
        /// Media played, s.
        #[merge(Main, Sender)]
        #[column(unit = S)]
        pub played_s: Optional,
        /// stall_s / (stall_s + played_s); null if playback did not start.
        #[merge(Main, Sender)]
        #[column(bounds = (0.0, 1.0))]
        pub stall_ratio: Optional,
        /// Mean bit rate of the media that arrived, bit/s.
        #[merge(Main, Sender)]
        #[column(unit = BitPerS)]
        pub mean_bitrate_bps: Optional,
        /// Segments with another bit rate than the segment before.
        #[merge(Main, Sender)]
        pub switches: Option<u64>,
        /// Linear quality of experience: (sum of the segments' bit rates - `switches` weight x sum of the changes
        /// between them - `stalls` weight x stall_s - `startup` weight x startup_delay_s) / number of segments, bit
        /// rates in Mbit/s.
        #[merge(Main, Sender)]
        pub qoe: Optional,
    }
}

columns! {
    /// Metrics of one direction of a link during the measurement.
    #[derive(Clone, Debug, Serialize)]
    pub struct QueueResult {
        /// Name of the link.
        pub name: String,
        /// Queue discipline.
        pub discipline: Name,
        /// Packets that arrived at the link.
        pub arrivals: u64,
        /// Packets whose transmission began.
        pub departures: u64,
        /// Packets that reached the other end, including duplicates.
        pub delivered: u64,
        /// Packets waiting when the measurement began.
        pub waiting_at_start: u64,
        /// Packets waiting at the end: waiting_at_start + arrivals = departures + drops + waiting_at_end.
        pub waiting_at_end: u64,
        /// Packets in transmission or on the wire when the measurement began.
        pub on_wire_at_start: u64,
        /// Packets in transmission or on the wire at the end: on_wire_at_start + departures + duplicated = delivered +
        /// wire_losses + on_wire_at_end.
        pub on_wire_at_end: u64,
        /// Packets dropped before or in the queue; the `drops_*` columns add up to it.
        #[column(summary = (20, "drops"))]
        pub drops: u64,
        /// Drops because the queue was full.
        pub drops_full: u64,
        /// Early drops: by the drop probability or control law of an AQM.
        pub drops_early: u64,
        /// Forced drops: by an AQM that drops every packet, such as RED above max_th.
        pub drops_forced: u64,
        /// Drops scripted in the scenario.
        pub drops_scripted: u64,
        /// Drops by a policer.
        pub drops_policed: u64,
        /// Packets lost on the wire, after their departure; the `losses_*` columns add up to it.
        #[column(summary = (40, "lost on the wire", where_any))]
        pub wire_losses: u64,
        /// Losses by the link's loss model.
        pub losses_random: u64,
        /// Losses of corrupted packets.
        pub losses_corrupted: u64,
        /// Losses by outages.
        pub losses_outage: u64,
        /// Packets that Wi-Fi gave up after the last retry.
        pub losses_retries: u64,
        /// Duplicates made on the wire.
        #[column(summary = (60, "duplicated", where_any))]
        pub duplicated: u64,
        /// Reordered packets: a packet sent later arrived before them [RFC 4737 §3.3].
        #[column(summary = (50, "reordered", where_any))]
        pub reordered: u64,
        /// Largest reordering extent: arrivals since the first of the packets sent later, itself included [RFC 4737
        /// §4.2].
        pub largest_reordering_extent: u64,
        /// Packets marked CE.
        #[column(summary = (30, "marks"))]
        pub marks: u64,
        /// Time average of the waiting packets, without the one in transmission.
        #[column(unit = Packets, summary = (70, "backlog packets"))]
        pub mean_backlog_packets: Optional,
        /// Time average of the waiting wire bytes.
        #[column(unit = Bytes)]
        pub mean_backlog_bytes: Optional,
        /// Mean sojourn time, from arrival to the start of the transmission, ms.
        #[column(unit = Ms, better = Less, margin = "5 %", summary = (80, "sojourn ms"))]
        pub mean_sojourn_ms: Optional,
        /// Median sojourn time, ms.
        #[column(unit = Ms)]
        pub p50_sojourn_ms: Optional,
        /// 95th percentile of the sojourn time, ms.
        #[column(unit = Ms)]
        pub p95_sojourn_ms: Optional,
        /// 99th percentile of the sojourn time, ms.
        #[column(unit = Ms, better = Less, margin = "5 %", summary = (90, "sojourn p99 ms"))]
        pub p99_sojourn_ms: Optional,
        /// Maximum sojourn time, ms.
        #[column(unit = Ms)]
        pub max_sojourn_ms: Optional,
        /// Share of the time for which the transmitter was busy, 0 to 1. On a link whose rate changes, or whose outages
        /// hold packets: wire bits sent / wire bits of capacity.
        #[column(unit = Share, better = More, margin = "1 %", summary = (10, "utilization %"))]
        pub utilization: f64,
        /// Wire bytes whose transmission began, as a rate, bit/s.
        #[column(unit = BitPerS)]
        pub throughput_bps: f64,
        /// Mean capacity, bit/s: the link's rate over time, zero while an outage holds packets.
        #[column(unit = BitPerS)]
        pub capacity_bps: f64,
    }
}

columns! {
    /// One transfer or download; of a video each segment, of a page each object.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct Transfer {
        /// Name of the flow.
        pub flow: String,
        /// Number of the transfer within its flow, from 0.
        pub number: u64,
        /// Start time, s: a new connection, or the request of a segment or object.
        #[column(unit = S)]
        pub start_s: f64,
        /// Time at which its connection was established at the client, s; null except for pages of one response over
        /// TCP.
        #[column(unit = S)]
        pub connected_s: Option<f64>,
        /// Arrival time of its last byte, s; null if it did not complete.
        #[column(unit = S)]
        pub end_s: Option<f64>,
        /// Payload bytes requested.
        #[column(unit = Bytes)]
        pub bytes: u64,
        /// Name of the segment or object; null for other applications, as are the columns that follow.
        pub object: Option<String>,
        /// Arrival time of the first byte of its response, s.
        #[column(unit = S)]
        pub first_byte_s: Option<f64>,
        /// Number of its connection within the flow, from 1.
        pub connection: Option<u64>,
        /// Bit rate of the segment, bit/s.
        #[column(unit = BitPerS)]
        pub bitrate_bps: Option<u64>,
    }
}

/// The frames of the results, with the declarations of their columns.
pub const FRAMES: [FrameColumns; 3] = [
    FrameColumns { name: "flows", columns: FlowResult::COLUMNS },
    FrameColumns { name: "queues", columns: QueueResult::COLUMNS },
    FrameColumns { name: "transfers", columns: Transfer::COLUMNS },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_their_unit() {
        let units = [Unit::BitPerS, Unit::Ms, Unit::S, Unit::Bytes, Unit::Packets];
        for column in FRAMES.iter().flat_map(|frame| frame.columns) {
            let named = units.into_iter().find(|u| column.name.ends_with(u.suffix()));
            let unit = (column.unit.suffix() != "").then_some(column.unit);
            assert!(unit == named || column.name == "bytes", "{}: {:?}", column.name, column.unit);
        }
    }

    #[test]
    fn summaries_have_their_columns_in_one_order() {
        for frame in FRAMES {
            let mut places: Vec<u8> = frame.columns.iter().filter_map(|c| c.summary).map(|s| s.place).collect();
            let columns = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), columns, "{}: two columns have the same place", frame.name);
        }
    }

    #[test]
    fn counts_of_connections_are_added_and_times_are_those_of_the_main_one() {
        let main = || FlowResult { sent_packets: 3, rtt_mean_ms: 40.0.into(), ..FlowResult::default() };
        let mut flow = main();
        flow.add_connection(&FlowResult { sent_packets: 2, rtt_mean_ms: 90.0.into(), ..FlowResult::default() });
        assert_eq!((flow.sent_packets, flow.rtt_mean_ms), (5, main().rtt_mean_ms));
    }
}
