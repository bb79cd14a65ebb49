//! Reads files, runs both stages of the analysis over their frames ([`dispatch`](super::dispatch),
//! [`connections`](super::connections)), and makes the tables. Several files are one capture.

use std::path::Path;

use super::connections::Connections;
use super::dispatch::Dispatcher;
use super::options::Options;
use super::packets::{Chunk, Packets};
use super::warnings::{self, Warning};
use super::worker::Worker;
use super::{datagrams, flows};
use crate::table::Table;
use crate::tcp::label::Rules;
use crate::tcp::track::Tracker;
use crate::udp::Conversations;
use crate::{Damage, Dissector, Error, PacketLengths, Properties, Reader};
use dumbbell_units::Dur;

/// Progress of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of the file, from 0.
    pub file: usize,
    /// Bytes read from it (compressed bytes of a compressed file).
    pub bytes: u64,
    /// Its size, if it is known.
    pub size: Option<u64>,
    /// Frames of all files so far.
    pub frames: u64,
}

/// Results of an analysis.
#[derive(Debug)]
pub struct Analysis {
    /// Properties of each file.
    pub properties: Vec<Properties>,
    /// Damage of each damaged file.
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
    /// One row for each long transfer: its probable congestion control.
    pub classes: Table,
    /// One row for each round of those transfers.
    pub rounds: Table,
    /// One row for each interval, over all frames.
    pub total: Table,
    /// Length of the intervals.
    pub interval: Dur,
    /// Time of the first frame, ns since 1970; `t_ns` counts from it.
    pub origin: i64,
    /// Properties of the capture that make figures doubtful.
    pub warnings: Vec<Warning>,
}

/// Frames between two calls of `progress`.
const REPORT: u64 = 16_384;

/// Analyzes files as one capture: connections continue from file to file.
///
/// `progress` is called every 16,384 frames; if it returns `false`, the analysis ends as at the end of the files.
/// `packets` receives the chunks of the packet table.
///
/// # Errors
///
/// If a file can't be read at all. Damage inside a file is reported in the result.
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
        let mut pass_on = |chunk: Chunk| {
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
                        pass_on(chunk);
                    }
                }
                if frames.is_multiple_of(REPORT) {
                    let now = Progress { file, bytes: reader.consumed(), size: reader.file_size(), frames };
                    if !progress(now) {
                        properties.push(Properties::of(&reader));
                        break 'files;
                    }
                }
            }
            progress(Progress { file, bytes: reader.consumed(), size: reader.file_size(), frames });
            properties.push(Properties::of(&reader));
            damage.extend(reader.damage().cloned());
        }
        let (mut connections, chunks) = pipe.finish();
        chunks.into_iter().for_each(pass_on);
        let origin = connections.ticks.origin();
        Ok(Analysis {
            warnings: warnings::warnings(&properties, &dispatcher, &connections),
            properties,
            damage,
            lengths,
            flows: flows::flows(&connections.records, origin),
            udp: datagrams::udp(&dispatcher.udp.all, origin),
            quic: datagrams::quic(&dispatcher.udp.all),
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
