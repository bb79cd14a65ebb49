//! The packet table: one row for each segment, passed on in chunks so that memory stays bounded. Its columns are
//! documented in `docs/reference/capture-tables.md`.

use crate::flow::SegmentAnalysis;
use crate::table::{Table, maybe};
use crate::tcp::segment::Segment;
use crate::tcp::track::Placed;
use dumbbell_wire::TcpFlags;

/// A chunk of the packet table.
#[derive(Debug, Default)]
pub struct Chunk {
    /// One row for each segment.
    pub packets: Table,
    /// One row for each SACK block.
    pub sacks: Table,
    /// One row for each earlier retransmission that a later frame proves to be spurious.
    pub spurious: Table,
    /// Connections that have ended, if [`Options::log`](super::Options::log) is set.
    pub log: Table,
    /// The flows of the last second, if [`Options::live`](super::Options::live) is set.
    pub live: Table,
}

macro_rules! columns {
    ($name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(Debug, Default)]
        struct $name { $($field: Vec<$type>),* }
        impl $name {
            fn table(self) -> Table {
                Table::default()$(.with(stringify!($field), self.$field))*
            }
        }
    };
}

columns!(Rows {
    frame: u64,
    t_ns: i64,
    flow: u64,
    direction: u8,
    quoted: u8,
    len: u32,
    frame_len: u32,
    seq: u32,
    ack: u32,
    flags: u16,
    window: u64,
    labels: u16,
    duplicate_ack_num: u32,
    ack_rtt_ns: i64,
    bytes_in_flight: u32,
    initial_rtt_ns: i64,
    tsval: i64,
    tsecr: i64,
    new_bytes: u32,
});
columns!(Sacks { frame: u64, flow: u64, direction: u8, left: u32, right: u32, duplicate: u8 });
columns!(Proofs { frame: u64, proof_frame: u64, flow: u64 });

/// Collects the rows of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    rows: Rows,
    sacks: Sacks,
    proofs: Proofs,
    most: usize,
}

impl Packets {
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), ..Self::default() }
    }

    pub(crate) fn add(&mut self, placed: &Placed, s: &Segment, seen: &SegmentAnalysis, origin: i64) {
        // As in Wireshark, the field is relative only with the ACK flag.
        let base_ack = placed.base_ack.filter(|_| s.flags.contains(TcpFlags::ACK)).unwrap_or(0);
        let ack = |number: u32| number.wrapping_sub(base_ack);
        let v = &seen.verdict;
        let r = &mut self.rows;
        r.frame.push(s.number);
        r.t_ns.push(s.time - origin);
        r.flow.push(placed.stream);
        r.direction.push(placed.direction);
        r.quoted.push(u8::from(s.quoted));
        r.len.push(s.len.unwrap_or(0));
        r.frame_len.push(s.frame_len);
        r.seq.push(s.seq.wrapping_sub(placed.base_seq));
        r.ack.push(ack(s.ack));
        r.flags.push(s.flags.bits());
        r.window.push(if s.len.is_some() { seen.window } else { u64::from(s.window) });
        r.labels.push(v.labels.0);
        r.duplicate_ack_num.push(v.duplicate_ack);
        r.ack_rtt_ns.push(v.ack_rtt);
        r.bytes_in_flight.push(v.bytes_in_flight);
        r.initial_rtt_ns.push(v.initial_rtt);
        r.tsval.push(maybe(s.options.timestamps.map(|t| t.0)));
        r.tsecr.push(maybe(s.options.timestamps.map(|t| t.1)));
        r.new_bytes.push(seen.new_bytes);
        for (i, b) in s.options.sack.as_slice().iter().enumerate() {
            self.sacks.frame.push(s.number);
            self.sacks.flow.push(placed.stream);
            self.sacks.direction.push(placed.direction);
            self.sacks.left.push(ack(b.left.0));
            self.sacks.right.push(ack(b.right.0));
            self.sacks.duplicate.push(u8::from(i == 0 && seen.acked.dsack));
        }
        if let Some(frame) = seen.spurious_frame {
            self.proofs.frame.push(frame);
            self.proofs.proof_frame.push(s.number);
            self.proofs.flow.push(placed.stream);
        }
    }

    #[inline]
    pub(crate) fn full(&mut self) -> Option<Chunk> {
        (self.rows.frame.len() >= self.most).then(|| self.finish())
    }

    pub(crate) fn finish(&mut self) -> Chunk {
        Chunk {
            packets: std::mem::take(&mut self.rows).table(),
            sacks: std::mem::take(&mut self.sacks).table(),
            spurious: std::mem::take(&mut self.proofs).table(),
            ..Chunk::default()
        }
    }
}
