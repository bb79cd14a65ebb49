//! Reads files, runs both stages of the analysis over their frames ([`dispatch`](super::dispatch),
//! [`connections`](super::connections)), and makes the tables. Several files are one capture.

use std::path::Path;

use super::connections::Connections;
use super::dispatch::Dispatcher;
use super::log;
use super::options::Options;
use super::packets::{Chunk, Packets};
use super::result::Analysis;
use super::worker::Worker;
use crate::tcp::label::Rules;
use crate::tcp::track::Tracker;
use crate::udp::Conversations;
use crate::{Dissector, Error, PacketLengths, Properties, Reader};

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

/// Frames between two calls of `progress`.
const REPORT: u64 = 16_384;

/// Analyzes files as one capture: connections continue from file to file.
///
/// `progress` is called every 16,384 frames (every 64 with `live` or `log`); if it returns `false`, the analysis ends
/// as at the end of the files. `packets` receives the chunks of the packet table.
///
/// # Errors
///
/// If a file can't be read at all. Damage inside a file is reported in the result.
pub fn analyze(
    files: &[&Path],
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> bool,
    packets: Option<&mut dyn FnMut(Chunk)>,
) -> Result<Analysis, Error> {
    analyze_readers(&mut files.iter().map(|path| Reader::open(path)), options, progress, packets)
}

/// [`analyze`] for readers, each opened when the one before it has ended.
///
/// # Errors
///
/// The first error of `readers`.
pub fn analyze_readers(
    readers: &mut dyn Iterator<Item = Result<Reader, Error>>,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> bool,
    mut packets: Option<&mut dyn FnMut(Chunk)>,
) -> Result<Analysis, Error> {
    std::thread::scope(|scope| {
        let v44 = options.rules != Rules::Wireshark40;
        let mut dispatcher = Dispatcher::new(Tracker::new(options.max_open, v44), Conversations::new(options.max_open))
            .with_hosts(options.max_open);
        let wanted = packets.is_some() && !options.log && !options.live;
        let connections = Connections::new(options, wanted.then(|| Packets::new(options.chunk)));
        // Rows of a capture that is being written come at once, not in batches.
        let threads = if options.log || options.live { 1 } else { options.threads };
        let mut pipe = Worker::new(connections, threads, scope);
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
        // A capture that is being written may have few frames in a second.
        let report = if options.live || options.log { 64 } else { REPORT };
        let from = options.from.unwrap_or(i64::MIN);
        let to = options.to.unwrap_or(i64::MAX);
        'files: for (file, reader) in readers.enumerate() {
            let mut reader = reader?;
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
                } else {
                    dispatcher.contents.skip();
                }
                if frames.is_multiple_of(report) {
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
        let (connections, chunks) = pipe.finish();
        chunks.into_iter().for_each(&mut pass_on);
        if options.log {
            pass_on(Chunk { log: log::datagrams(&dispatcher.udp.all), ..Chunk::default() });
        }
        Ok(Analysis::new(properties, damage, lengths, dispatcher, connections))
    })
}
