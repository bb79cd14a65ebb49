//! The streams of a connection, and its flow control [RFC 9000 §2, §4]. Streams are numbered from 0 and bidirectional;
//! data of several streams is sent in turn, a packet of each.

mod receive;
mod send;

pub(crate) use receive::ReceiveStream;
pub(crate) use send::SendStream;

use crate::config::StreamsConfig;
use crate::frame::{Chunk, Frame, stream_header};

/// Flow control frames that are due.
#[derive(Debug, Default)]
struct Updates {
    data: bool,
    streams: Vec<u32>,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Streams {
    config: StreamsConfig,
    send: Vec<SendStream>,
    receive: Vec<ReceiveStream>,
    /// Stream whose turn it is.
    turn: usize,
    /// New bytes sent on all streams, and the peer's limit (MAX_DATA).
    sent: u64,
    max: u64,
    /// The limit that this end has offered.
    offered: u64,
    /// Highest offsets of all streams received, and bytes delivered in order.
    received_highest: u64,
    delivered: u64,
    /// Bytes received, each once; bytes received again.
    received: u64,
    duplicate: u64,
    updates: Updates,
}

impl Streams {
    pub(crate) fn new(config: StreamsConfig) -> Streams {
        Streams {
            config,
            send: Vec::new(),
            receive: Vec::new(),
            turn: 0,
            sent: 0,
            max: config.window,
            offered: config.window,
            received_highest: 0,
            delivered: 0,
            received: 0,
            duplicate: 0,
            updates: Updates::default(),
        }
    }

    fn sending(&mut self, stream: u32) -> &mut SendStream {
        let window = self.config.stream_window;
        while self.send.len() <= stream as usize {
            self.send.push(SendStream::new(window));
        }
        &mut self.send[stream as usize]
    }

    /// Writes data to a stream.
    pub(crate) fn write(&mut self, stream: u32, bytes: u64) {
        self.sending(stream).write(bytes);
    }

    /// Ends a stream after its data.
    pub(crate) fn finish(&mut self, stream: u32) {
        self.sending(stream).finish();
    }

    /// Ends every stream after the data that was sent.
    pub(crate) fn finish_now(&mut self) {
        self.send.iter_mut().for_each(SendStream::finish_now);
    }

    fn credit(&self) -> u64 {
        self.max.saturating_sub(self.sent)
    }

    /// True if stream data can be sent now.
    pub(crate) fn has_data(&self) -> bool {
        let credit = self.credit();
        self.send.iter().any(|s| s.has_something(credit))
    }

    /// Bytes of stream data that can be sent now, at most about `limit`.
    pub(crate) fn sendable(&self, limit: u64) -> u64 {
        let credit = self.credit();
        let mut bytes = 0;
        for stream in &self.send {
            bytes += stream.sendable(credit);
            if bytes >= limit {
                break;
            }
        }
        bytes
    }

    /// Takes the next piece of data whose frame has at most `room` bytes, and reports if it was sent before.
    pub(crate) fn take(&mut self, room: u32) -> Option<(Chunk, bool)> {
        let credit = self.credit();
        let count = self.send.len();
        let place =
            (0..count).map(|i| (self.turn + i) % count).find(|i| self.send[*i].has_something(credit))?;
        let stream = place as u32;
        let s = &mut self.send[place];
        let header = stream_header(&Chunk { stream, offset: s.next_offset(), len: room, fin: false });
        let limit = room.checked_sub(header).filter(|limit| *limit > 0)?;
        let before = s.next();
        let piece = s.take(limit, credit)?;
        self.sent += s.next() - before;
        self.turn = (place + 1) % count;
        Some((Chunk { stream, offset: piece.offset, len: piece.len, fin: piece.fin }, piece.again))
    }

    pub(crate) fn on_acked(&mut self, chunk: &Chunk) {
        self.sending(chunk.stream).on_acked(chunk.offset, chunk.len, chunk.fin);
    }

    pub(crate) fn on_lost(&mut self, chunk: &Chunk) {
        self.sending(chunk.stream).on_lost(chunk.offset, chunk.len, chunk.fin);
    }

    /// Adds data that has arrived. Returns false if it is beyond the limits that this end has offered.
    pub(crate) fn receive(&mut self, chunk: &Chunk) -> bool {
        let window = self.config.stream_window;
        while self.receive.len() <= chunk.stream as usize {
            self.receive.push(ReceiveStream::new(window));
        }
        let stream = &mut self.receive[chunk.stream as usize];
        let (highest, delivered) = (stream.highest(), stream.delivered());
        let new = stream.add(chunk.offset, chunk.len, chunk.fin);
        self.received += new;
        self.duplicate += u64::from(chunk.len) - new;
        self.received_highest += stream.highest() - highest;
        self.delivered += stream.delivered() - delivered;
        // An update is due when half of a window is used.
        let stream_due =
            !stream.is_complete() && stream.offered.saturating_sub(stream.delivered()) <= window / 2;
        if stream_due && !self.updates.streams.contains(&chunk.stream) {
            self.updates.streams.push(chunk.stream);
        }
        self.updates.data |= self.offered.saturating_sub(self.delivered) <= self.config.window / 2;
        let stream = &self.receive[chunk.stream as usize];
        stream.highest() <= stream.offered && self.received_highest <= self.offered
    }

    /// True if a flow control frame is due.
    pub(crate) fn has_updates(&self) -> bool {
        self.updates.data || !self.updates.streams.is_empty()
    }

    /// The next flow control frame.
    pub(crate) fn take_update(&mut self) -> Option<Frame> {
        if std::mem::take(&mut self.updates.data) {
            self.offered = self.delivered + self.config.window;
            return Some(Frame::MaxData(self.offered));
        }
        let stream = self.updates.streams.pop()?;
        let state = &mut self.receive[stream as usize];
        state.offered = state.delivered() + self.config.stream_window;
        Some(Frame::MaxStreamData { stream, max: state.offered })
    }

    /// A flow control frame was lost: the current limit is sent.
    pub(crate) fn repeat_update(&mut self, lost: &Frame) {
        match lost {
            Frame::MaxData(_) => self.updates.data = true,
            Frame::MaxStreamData { stream, .. } if !self.updates.streams.contains(stream) => {
                self.updates.streams.push(*stream);
            }
            _ => {}
        }
    }

    /// The peer has raised its limit for all streams.
    pub(crate) fn on_max_data(&mut self, max: u64) {
        self.max = self.max.max(max);
    }

    /// The peer has raised its limit for a stream.
    pub(crate) fn on_max_stream_data(&mut self, stream: u32, max: u64) {
        let stream = self.sending(stream);
        stream.max = stream.max.max(max);
    }

    /// Bytes delivered to the application, in the order of each stream.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes delivered of one stream.
    pub(crate) fn delivered_of(&self, stream: u32) -> u64 {
        self.receive.get(stream as usize).map_or(0, ReceiveStream::delivered)
    }

    /// Bytes that have arrived, each once.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that have arrived again.
    pub(crate) fn duplicate(&self) -> u64 {
        self.duplicate
    }

    /// True if the peer has ended at least one stream, and all data of every stream has arrived.
    pub(crate) fn peer_has_finished(&self) -> bool {
        !self.receive.is_empty() && self.receive.iter().all(ReceiveStream::is_complete)
    }

    /// Bytes before the first one not acknowledged, and before the first one not sent, summed over the streams.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.send.iter().map(SendStream::acknowledged).sum(), self.send.iter().map(SendStream::next).sum())
    }

    /// True if everything written is acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.send.iter().all(SendStream::is_acknowledged)
    }
}
