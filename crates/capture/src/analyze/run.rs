//! From files to tables.

use std::path::Path;

use super::connections::Connections;
use super::dispatch::Dispatcher;
use super::flows;
use super::options::Options;
use super::packets::{Chunk, Packets};
use super::warnings::{self, Warning};
use super::worker::Worker;
use crate::table::Table;
use crate::tcp::label::Rules;
use crate::tcp::track::Tracker;
use crate::udp::Conversations;
use crate::{Damage, Dissector, Error, PacketLengths, Properties, Reader};

/// How far the analysis is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of the file, from 0.
    pub file: usize,
    /// Bytes of it that were read (compressed, if it is).
    pub bytes: u64,
    /// Its size, where it has one.
    pub size: Option<u64>,
    /// Frames of all files so far.
    pub frames: u64,
}

/// What was found.
#[derive(Debug)]
pub struct Analysis {
    /// Properties of each file.
    pub properties: Vec<Properties>,
    /// Damage of each file that has some.
    pub damage: Vec<Damage>,
    /// The packet-length table of all files.
    pub lengths: PacketLengths,
    /// One row for each direction of each TCP connection.
    pub flows: Table,
    /// One row for each direction of each UDP conversation.
    pub udp: Table,
    /// One row for each QUIC connection among them.
    pub quic: Table,
    /// One row for each direction and interval.
    pub series: Table,
    /// One row for each phase of each direction.
    pub phases: Table,
    /// One row for each long transfer: which congestion control it may have.
    pub classes: Table,
    /// One row for each round trip of those.
    pub rounds: Table,
    /// One row for each interval: all frames.
    pub total: Table,
    /// Length of the intervals, ns.
    pub interval: u64,
    /// Time of the first frame, ns since 1970: what `t_ns` counts from.
    pub origin: i64,
    /// What one has to know before one believes the unlisted.
    pub warnings: Vec<Warning>,
}

/// Frames between two reports of progress.
const REPORT: u64 = 16_384;

/// Analyzes files as one capture: connections go on from file to file.
///
/// `progress` is called now and then; if it returns `false`, the analysis ends as if the files did. `packets`, if there
/// is one, is given the rows of the packet table.
///
/// # Errors
///
/// If a file can't be read at all. Damage inside of one is records in the result.
pub fn analyze(
    files: &[&Path],
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> bool,
    mut packets: Option<&mut dyn FnMut(Chunk)>,
) -> Result<Analysis, Error> {
    std::thread::scope(|scope| {
        let v44 = options.rules != Rules::Wireshark40;
        let mut dispatcher =
            Dispatcher::new(Tracker::new(options.max_open, v44), Conversations::new(options.max_flows));
        let connections = Connections::new(options, packets.is_some().then(|| Packets::new(options.chunk)));
        let mut pipe = Worker::new(connections, options.threads, scope);
        let mut hand_on = |chunk: Chunk| {
            if let Some(packets) = &mut packets {
                packets(chunk);
            }
        };
        let mut dissector = Dissector::new(options.enter_tunnels);
        let mut properties = Vec::new();
        let mut damage = Vec::new();
        let mut lengths = PacketLengths::default();
        let mut frames = 0;
        let from = options.from.unwrap_or(i64::MIN);
        let to = options.to.unwrap_or(i64::MAX);
        'files: for (file, path) in files.iter().enumerate() {
            let mut reader = Reader::open(path)?;
            while let Some(mut frame) = reader.next_frame() {
                frames += 1;
                frame.number = frames;
                let time = frame.time.unwrap_or(0);
                if time >= from && time < to {
                    let found = dissector.dissect(&frame);
                    if found.is_counted() {
                        lengths.add(frame.time, frame.len);
                    }
                    if let Some(chunk) = pipe.event(dispatcher.frame(&frame, &found)) {
                        hand_on(chunk);
                    }
                }
                if frames.is_multiple_of(REPORT) {
                    let now = Progress { file, bytes: reader.consumed(), size: reader.file_size(), frames };
                    if !progress(now) {
                        properties.push(reader.properties());
                        break 'files;
                    }
                }
            }
            progress(Progress { file, bytes: reader.consumed(), size: reader.file_size(), frames });
            properties.push(reader.properties());
            damage.extend(reader.damage().cloned());
        }
        let (mut connections, chunks) = pipe.finish();
        chunks.into_iter().for_each(hand_on);
        let origin = connections.ticks.origin();
        Ok(Analysis {
            warnings: warnings::warnings(&properties, &dispatcher, &connections),
            properties,
            damage,
            lengths,
            flows: flows::flows(&connections.records, origin),
            udp: flows::udp(&dispatcher.udp.all, origin),
            quic: flows::quic(&dispatcher.udp.all),
            series: flows::series(&connections),
            phases: flows::phases(&connections.records, origin),
            classes: flows::classes(&connections.records),
            rounds: flows::rounds(&connections.records, origin),
            total: flows::total(&mut connections),
            interval: connections.ticks.length(),
            origin,
        })
    })
}
