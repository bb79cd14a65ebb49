//! The tables of a run, each declared once: name, type, unit and meaning of every column.
//!
//! The simulator and the kernel back ends fill these structs, and the docs list the columns from [`TABLES`]. A queue
//! discipline or a variant adds its private columns, all of type f64, from its registry row.

use crate::{ColumnData, ColumnSlice, Table, TableSlice};
use dumbbell_units::named;

named! {
    /// The type of a column's values, with its name in NumPy.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ColumnType {
        /// See [`ColumnData::U64`].
        U64 = "uint64",
        /// See [`ColumnData::F64`].
        F64 = "float64",
        /// See [`ColumnData::U32`].
        U32 = "uint32",
        /// See [`ColumnData::U8`].
        U8 = "uint8",
    }
}

/// The description of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the values.
    pub kind: ColumnType,
    /// Unit of the values.
    pub unit: &'static str,
    /// Meaning of the values.
    pub doc: &'static str,
}

/// The description of a kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSpec {
    /// Kind of the table: `flow` for `flow/NAME`.
    pub kind: &'static str,
    /// True if only the kernel back ends fill these columns; they follow the columns of the same kind.
    pub kernel_only: bool,
    /// The columns in their order.
    pub columns: &'static [ColumnSpec],
}

/// Declares a table: a struct with one vector per column, its description, and the conversion to a [`Table`].
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $name:ident, $kind:literal, kernel_only: $kernel_only:literal;
        $($column:ident: $type:tt $unit:literal $doc:literal;)+
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            $(#[doc = $doc] pub $column: Vec<$type>,)+
        }

        impl $name {
            /// The description of the table.
            pub const SPEC: TableSpec = TableSpec {
                kind: $kind,
                kernel_only: $kernel_only,
                columns: &[$(table!(@spec $column $type $unit $doc)),+],
            };

            /// Appends the columns to a table.
            ///
            /// # Panics
            /// If the columns differ in length: an error in the recorder.
            #[must_use]
            pub fn append_to(self, table: Table) -> Table {
                table$(.with(stringify!($column), table!(@data $type self.$column)))+
            }

            /// Returns the table of this kind with a name: `flow/tcp`.
            ///
            /// # Panics
            /// If the columns differ in length: an error in the recorder.
            #[must_use]
            pub fn into_table(self, name: &str) -> Table {
                self.append_to(Table::new(format!("{}/{name}", $kind)))
            }

            /// Reserves memory for so many more rows.
            pub fn reserve(&mut self, rows: usize) {
                $(self.$column.reserve_exact(rows);)+
            }

            /// Changes the number of rows; the values of new ones are zero.
            pub fn resize(&mut self, rows: usize) {
                $(self.$column.resize(rows, Default::default());)+
            }

            /// Returns the number of rows.
            #[must_use]
            pub fn rows(&self) -> usize {
                [$(self.$column.len()),+][0]
            }

            /// Borrows the rows so far, under the name that [`Self::into_table`] gives the table.
            #[must_use]
            pub fn as_slice(&self, name: &str) -> TableSlice<'_> {
                TableSlice {
                    name: format!("{}/{name}", $kind),
                    columns: vec![$((stringify!($column), table!(@slice $type &self.$column))),+],
                }
            }
        }
    };
    (@spec $column:ident u64 $unit:literal $doc:literal) => {
        ColumnSpec { name: stringify!($column), kind: ColumnType::U64, unit: $unit, doc: $doc }
    };
    (@spec $column:ident f64 $unit:literal $doc:literal) => {
        ColumnSpec { name: stringify!($column), kind: ColumnType::F64, unit: $unit, doc: $doc }
    };
    (@spec $column:ident u32 $unit:literal $doc:literal) => {
        ColumnSpec { name: stringify!($column), kind: ColumnType::U32, unit: $unit, doc: $doc }
    };
    (@spec $column:ident u8 $unit:literal $doc:literal) => {
        ColumnSpec { name: stringify!($column), kind: ColumnType::U8, unit: $unit, doc: $doc }
    };
    (@slice u64 $values:expr) => { ColumnSlice::U64($values) };
    (@slice f64 $values:expr) => { ColumnSlice::F64($values) };
    (@slice u32 $values:expr) => { ColumnSlice::U32($values) };
    (@slice u8 $values:expr) => { ColumnSlice::U8($values) };
    (@data u64 $values:expr) => { ColumnData::U64($values) };
    (@data f64 $values:expr) => { ColumnData::F64($values) };
    (@data u32 $values:expr) => { ColumnData::U32($values) };
    (@data u8 $values:expr) => { ColumnData::U8($values) };
}

table! {
    /// The state of a TCP flow: one row per change.
    FlowTable, "flow", kernel_only: false;
    t_ns: u64 "ns" "Time of the row since the start of the run.";
    cwnd: f64 "bytes" "Congestion window in use; in fast recovery it includes the inflation by duplicate ACKs.";
    ssthresh: f64 "bytes" "Slow start threshold.";
    srtt_ns: f64 "ns" "Smoothed round-trip time of RFC 6298; NaN before the first sample.";
    rto_ns: f64 "ns" "Retransmission timeout, including backoff.";
    inflight: u64 "bytes" "Bytes in flight: with SACK the pipe of RFC 6675, otherwise from `snd_una` to `snd_nxt`.";
    snd_una: u64 "bytes" "Payload bytes acknowledged so far on the current connection.";
    snd_nxt: u64 "bytes" "Offset of the next payload byte to send. It decreases when a sender without SACK returns to a hole.";
    delivered: u64 "bytes" "Payload bytes that have reached the receiver, in order or not, each counted once, over all connections of the flow.";
    delivered_in_order: u64 "bytes" "The part of `delivered` before the first hole: the application can read it.";
    phase: u8 "code" "Phase of the sender, see below.";
    timeouts: u64 "count" "Expiries of the retransmission timer so far on the current connection.";
}

table! {
    /// Further columns of a TCP flow that only the kernel back ends have, from `tcp_info`.
    KernelFlowColumns, "flow", kernel_only: true;
    pacing_rate: f64 "bit/s" "Pacing rate [Linux tcp_info.tcpi_pacing_rate].";
    delivery_rate: f64 "bit/s" "Delivery rate of the last sample [Linux tcp_info.tcpi_delivery_rate].";
    min_rtt_ns: f64 "ns" "Minimum round-trip time [Linux tcp_info.tcpi_min_rtt].";
    rttvar_ns: f64 "ns" "Variation of the round-trip time [Linux tcp_info.tcpi_rttvar].";
    lost: u64 "segments" "Segments that are considered lost [Linux tcp_info.tcpi_lost].";
    retransmits: u64 "segments" "Segments retransmitted so far on the current connection [Linux tcp_info.tcpi_total_retrans].";
    reordering: u64 "segments" "Reordering degree [Linux tcp_info.tcpi_reordering].";
}

table! {
    /// The RTT samples of a TCP flow: one row per packet that an ACK or SACK first covers. `rtt_mean_ms` is the mean of
    /// the rows within the measurement.
    RttTable, "rtt", kernel_only: false;
    t_ns: u64 "ns" "Time at which the ACK reached the sender.";
    rtt_ns: u64 "ns" "Time since the packet was sent; only packets sent once.";
}

table! {
    /// The round-trip times of a ping flow: one row per request.
    PingTable, "ping", kernel_only: false;
    t_ns: u64 "ns" "Time at which the request was sent.";
    rtt_ns: f64 "ns" "Time until the reply; NaN if the request counts as lost.";
}

table! {
    /// The packets of a voice call: one row per packet whose playout time is within the flow's time.
    VoiceTable, "voice", kernel_only: false;
    t_ns: u64 "ns" "Time at which the packet was sent.";
    delay_ns: f64 "ns" "Time until it arrived; NaN if it did not.";
    playout_ns: u64 "ns" "Time from its sending to its playout.";
    fate: u8 "code" "0: played, 1: it arrived after its playout time, 2: it did not arrive.";
}

table! {
    /// The player of a video: one row per change. Between two rows the buffer is linear in time.
    VideoTable, "video", kernel_only: false;
    t_ns: u64 "ns" "Time of the row since the start of the run.";
    buffer_ns: u64 "ns" "Media buffered ahead of the playback position.";
    bitrate: f64 "bit/s" "Bit rate of the segment that was requested last; NaN before the first.";
    downloaded_ns: u64 "ns" "Media that has arrived.";
    played_ns: u64 "ns" "Media played.";
    state: u8 "code" "0: before the start of playback, 1: playing, 2: stalled, 3: at the end of the video.";
}

table! {
    /// The backlog of a queue: one row per change.
    QueueTable, "queue", kernel_only: false;
    t_ns: u64 "ns" "Time of the row since the start of the run.";
    packets: u64 "packets" "Waiting packets, without the one in transmission.";
    bytes: u64 "bytes" "Their wire bytes, including framing.";
    marks: u64 "packets" "Packets marked so far.";
}

table! {
    /// The packets that left a queue.
    DepartureTable, "departures", kernel_only: false;
    t_ns: u64 "ns" "Start of the transmission of the packet.";
    flow: u32 "code" "Flow and direction: 2 n for data of flow n of the scenario (from 0), 2 n + 1 for the reverse direction.";
    bytes: u32 "bytes" "Wire bytes, including framing.";
    sojourn_ns: u64 "ns" "Time from arrival to the start of the transmission.";
    end_ns: u64 "ns" "End of the transmission.";
}

table! {
    /// The packets that were dropped at a link.
    DropTable, "drops", kernel_only: false;
    t_ns: u64 "ns" "Time of the drop.";
    flow: u32 "code" "Flow and direction, as for departures.";
    bytes: u32 "bytes" "Wire bytes.";
    reason: u8 "code" "Reason of the drop, see below.";
}

table! {
    /// The stations of a Wi-Fi medium: at each time one row for each of them. Sums count from the start of the
    /// measurement.
    WifiTable, "wifi", kernel_only: false;
    t_ns: u64 "ns" "Time of the row since the start of the run.";
    station: u32 "code" "Number of the station, from 0: those with flows in the order of the nodes, then the background.";
    signal_dbm: f64 "dBm" "Signal of the access point at the station, with fading.";
    down_airtime_ns: u64 "ns" "Airtime of frames to the station, with their ACKs, without collisions.";
    down_frames: u64 "frames" "Frames sent to it.";
    down_failed: u64 "frames" "Those that were not acknowledged.";
    down_lost: u64 "frames" "Frames given up after the last retry.";
    down_bytes: u64 "bytes" "IP bytes acknowledged.";
    down_rate_bps: f64 "bit/s" "Mean bit rate of the frames; NaN without one.";
    up_airtime_ns: u64 "ns" "Airtime of frames of the station, with their ACKs, without collisions.";
    up_frames: u64 "frames" "Frames that it sent.";
    up_failed: u64 "frames" "Those that were not acknowledged.";
    up_lost: u64 "frames" "Frames given up after the last retry.";
    up_bytes: u64 "bytes" "IP bytes acknowledged.";
    up_rate_bps: f64 "bit/s" "Mean bit rate of the frames; NaN without one.";
    collided_ns: u64 "ns" "Time of collisions of all devices, the same for all stations.";
}

table! {
    /// All packets that were sent, received or dropped.
    PacketTable, "packets", kernel_only: false;
    t_ns: u64 "ns" "Time of the row since the start of the run.";
    event: u8 "code" "0: sent by its host, 1: received by its destination, 2: dropped at any place.";
    flow: u32 "code" "Flow and direction, as for departures.";
    connection: u32 "count" "Number of the connection within the flow, from 1; 0 for datagrams.";
    number: u64 "bytes or count" "TCP: offset of the first payload byte; datagrams: their number, from 0.";
    payload: u32 "bytes" "Payload bytes of a TCP segment; 0 for datagrams.";
    bytes: u32 "bytes" "IP bytes.";
    retransmission: u8 "0 or 1" "1 if the segment was sent before.";
}

/// All kinds of tables.
pub const TABLES: &[TableSpec] = &[
    FlowTable::SPEC,
    KernelFlowColumns::SPEC,
    RttTable::SPEC,
    PingTable::SPEC,
    VoiceTable::SPEC,
    VideoTable::SPEC,
    QueueTable::SPEC,
    DepartureTable::SPEC,
    DropTable::SPEC,
    WifiTable::SPEC,
    PacketTable::SPEC,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_described_columns() {
        let drops = DropTable { t_ns: vec![5], flow: vec![2], bytes: vec![1500], reason: vec![1] };
        let borrowed = drops.clone();
        assert_eq!(drops.rows(), 1);
        let table = drops.into_table("r1->r2");
        assert_eq!(borrowed.as_slice("r1->r2"), table.as_slice());
        assert_eq!(table.name, "drops/r1->r2");
        let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["t_ns", "flow", "bytes", "reason"]);
        for (column, spec) in table.columns.iter().zip(DropTable::SPEC.columns) {
            assert_eq!((column.name.as_str(), column.data.kind()), (spec.name, spec.kind));
        }
    }

    #[test]
    fn names_are_unique_within_a_kind() {
        for kind in ["flow", "rtt", "ping", "video", "queue", "departures", "drops", "wifi", "packets"] {
            let mut names: Vec<&str> =
                TABLES.iter().filter(|t| t.kind == kind).flat_map(|t| t.columns.iter().map(|c| c.name)).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{kind}");
            assert!(count > 1, "{kind}");
        }
    }
}
