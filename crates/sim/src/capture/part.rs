//! A capture file that is written in parts, the first ones while the run is in progress.

use super::write::Point;
use super::{CapturedPacket, Run};
use dumbbell_pcap::{PcapngWriter, Statistics};
use dumbbell_units::Time;
use std::io::{self, Write};

/// A capture file and the counts of its packets so far.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    point: Point,
    begun: bool,
    /// Packets so far, per interface.
    counted: Vec<Statistics>,
    /// Time of the last packet.
    end: Time,
}

impl Begun {
    pub(super) fn new(point: Point) -> Begun {
        let counted = vec![Statistics::default(); point.interfaces()];
        Begun { point, begun: false, counted, end: Time::ZERO }
    }

    pub(super) fn name(&self) -> &str {
        self.point.name()
    }

    /// Number of packets so far.
    pub(super) fn packets(&self) -> u64 {
        self.counted.iter().map(|counted| counted.received).sum()
    }

    /// Writes packets after those before; the first call writes the head of the file.
    fn append<W: Write>(
        &mut self,
        run: &Run,
        packets: impl Iterator<Item = CapturedPacket>,
        out: W,
    ) -> io::Result<PcapngWriter<W>> {
        let mut writer = if self.begun {
            PcapngWriter::resume(out, self.counted.len() as u32)
        } else {
            self.point.begin(run, out)?
        };
        self.begun = true;
        let (mut packet, mut comments) = (Vec::new(), Vec::new());
        for seen in packets {
            self.point.frame(run, &seen, &mut writer, &mut packet, &mut comments)?;
            self.counted[usize::from(seen.interface)].received += 1;
            self.end = seen.at;
        }
        Ok(writer)
    }

    /// Appends packets to a part of the file.
    pub(super) fn part(
        &mut self,
        run: &Run,
        packets: impl Iterator<Item = CapturedPacket>,
        part: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.append(run, packets, part)?.finish().map(drop)
    }

    /// Writes the last packets and the counts.
    pub(super) fn finish<W: Write>(
        mut self,
        run: &Run,
        packets: impl Iterator<Item = CapturedPacket>,
        out: W,
    ) -> io::Result<W> {
        let mut writer = self.append(run, packets, out)?;
        for (id, counted) in (0..).zip(&self.counted) {
            writer.statistics(id, self.end, counted)?;
        }
        writer.finish()
    }
}
