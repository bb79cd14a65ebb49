//! The streams of a connection, and its flow control [RFC 9000 §2, §4]. Streams are numbered from 0 and bidirectional;
//! data of several streams is sent in turn, a packet of each. A part of a stream that is complete is forgotten: a
//! connection may have thousands of them.

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

/// The receiving part of a stream.
#[derive(Debug)]
enum Receive {
    Open(Box<ReceiveStream>),
    /// All of it has arrived: its length.
    Complete(u64),
}

impl Receive {
    fn delivered(&self) -> u64 {
        match self {
            Receive::Open(stream) => stream.delivered(),
            Receive::Complete(length) => *length,
        }
    }
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Streams {
    config: StreamsConfig,
    /// The sending parts; None once a stream and its end are acknowledged.
    send: Vec<Option<Box<SendStream>>>,
    /// The streams that have something to send, perhaps beyond the connection's credit; ascending.
    ready: Vec<u32>,
    /// Of the forgotten sending parts: their bytes.
    settled: u64,
    receive: Vec<Receive>,
    /// Complete receiving parts: how many, and those not taken by the application yet.
    complete: usize,
    finished: Vec<u32>,
    /// Stream whose turn it is.
    turn: u32,
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
            ready: Vec::new(),
            settled: 0,
            receive: Vec::new(),
            complete: 0,
            finished: Vec::new(),
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

    /// Changes the sending part of a stream, which is made if it is new; nothing if it is forgotten.
    fn sending(&mut self, stream: u32, change: impl FnOnce(&mut SendStream)) {
        let window = self.config.stream_window;
        while self.send.len() <= stream as usize {
            self.send.push(Some(Box::new(SendStream::new(window))));
        }
        let Some(state) = &mut self.send[stream as usize] else { return };
        let was_ready = state.has_something(u64::MAX);
        change(state);
        let is_ready = state.has_something(u64::MAX);
        if was_ready != is_ready {
            self.set_ready(stream, is_ready);
        }
    }

    fn set_ready(&mut self, stream: u32, is_ready: bool) {
        match (self.ready.binary_search(&stream), is_ready) {
            (Err(place), true) => self.ready.insert(place, stream),
            (Ok(place), false) => drop(self.ready.remove(place)),
            _ => {}
        }
    }

    fn part(&self, stream: u32) -> Option<&SendStream> {
        self.send.get(stream as usize)?.as_deref()
    }

    /// Writes data to a stream.
    pub(crate) fn write(&mut self, stream: u32, bytes: u64) {
        self.sending(stream, |s| s.write(bytes));
    }

    /// Ends a stream after its data.
    pub(crate) fn finish(&mut self, stream: u32) {
        self.sending(stream, SendStream::finish);
    }

    /// Ends every stream after the data that was sent.
    pub(crate) fn finish_now(&mut self) {
        (0..self.send.len() as u32).for_each(|stream| self.sending(stream, SendStream::finish_now));
    }

    /// The sending parts that are not forgotten.
    fn live(&self) -> impl Iterator<Item = &SendStream> {
        self.send.iter().filter_map(Option::as_deref)
    }

    fn credit(&self) -> u64 {
        self.max.saturating_sub(self.sent)
    }

    /// True if stream data can be sent now.
    pub(crate) fn has_data(&self) -> bool {
        let credit = self.credit();
        self.ready.iter().any(|stream| self.part(*stream).is_some_and(|s| s.has_something(credit)))
    }

    /// Bytes of stream data that can be sent now, at most about `limit`.
    pub(crate) fn sendable(&self, limit: u64) -> u64 {
        let credit = self.credit();
        let mut bytes = 0;
        for stream in &self.ready {
            bytes += self.part(*stream).map_or(0, |s| s.sendable(credit));
            if bytes >= limit {
                break;
            }
        }
        bytes
    }

    /// Takes the next piece of data whose frame has at most `room` bytes, and reports if it was sent before.
    pub(crate) fn take(&mut self, room: u32) -> Option<(Chunk, bool)> {
        let credit = self.credit();
        let can_send = |i: &&u32| self.part(**i).is_some_and(|s| s.has_something(credit));
        let (earlier, later) = self.ready.split_at(self.ready.partition_point(|i| *i < self.turn));
        let stream = *later.iter().chain(earlier).find(can_send)?;
        let count = self.send.len() as u32;
        let s = self.send[stream as usize].as_deref_mut()?;
        let header = stream_header(&Chunk { stream, offset: s.next_offset(), len: room, fin: false });
        let limit = room.checked_sub(header).filter(|limit| *limit > 0)?;
        let before = s.next();
        let piece = s.take(limit, credit)?;
        self.sent += s.next() - before;
        if !s.has_something(u64::MAX) {
            self.set_ready(stream, false);
        }
        self.turn = (stream + 1) % count;
        Some((Chunk { stream, offset: piece.offset, len: piece.len, fin: piece.fin }, piece.again))
    }

    pub(crate) fn on_acked(&mut self, chunk: &Chunk) {
        let Some(s) = self.send.get_mut(chunk.stream as usize).and_then(Option::as_deref_mut) else { return };
        let may_change = s.has_lost();
        s.on_acked(chunk.offset, chunk.len, chunk.fin);
        if s.is_settled() {
            self.settled += s.acknowledged();
            self.send[chunk.stream as usize] = None;
            self.set_ready(chunk.stream, false);
        } else if may_change && !s.has_something(u64::MAX) {
            self.set_ready(chunk.stream, false);
        }
    }

    pub(crate) fn on_lost(&mut self, chunk: &Chunk) {
        self.sending(chunk.stream, |s| s.on_lost(chunk.offset, chunk.len, chunk.fin));
    }

    /// Adds data that has arrived. Returns false if it is beyond the limits that this end has offered.
    pub(crate) fn receive(&mut self, chunk: &Chunk) -> bool {
        let window = self.config.stream_window;
        while self.receive.len() <= chunk.stream as usize {
            self.receive.push(Receive::Open(Box::new(ReceiveStream::new(window))));
        }
        let place = &mut self.receive[chunk.stream as usize];
        let Receive::Open(stream) = place else {
            self.duplicate += u64::from(chunk.len);
            return self.received_highest <= self.offered;
        };
        let (highest, delivered) = (stream.highest(), stream.delivered());
        let new = stream.add(chunk.offset, chunk.len, chunk.fin);
        self.received += new;
        self.duplicate += u64::from(chunk.len) - new;
        self.received_highest += stream.highest() - highest;
        self.delivered += stream.delivered() - delivered;
        // An update is due when half of a window is used.
        self.updates.data |= self.offered.saturating_sub(self.delivered) <= self.config.window / 2;
        let within = stream.highest() <= stream.offered && self.received_highest <= self.offered;
        if stream.is_complete() {
            *place = Receive::Complete(stream.delivered());
            self.complete += 1;
            self.finished.push(chunk.stream);
        } else if stream.offered.saturating_sub(stream.delivered()) <= window / 2
            && !self.updates.streams.contains(&chunk.stream)
        {
            self.updates.streams.push(chunk.stream);
        }
        within
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
        let max = state.delivered() + self.config.stream_window;
        if let Receive::Open(state) = state {
            state.offered = max;
        }
        Some(Frame::MaxStreamData { stream, max })
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
        self.sending(stream, |s| s.max = s.max.max(max));
    }

    /// Bytes delivered to the application, in the order of each stream.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes delivered of one stream.
    pub(crate) fn delivered_of(&self, stream: u32) -> u64 {
        self.receive.get(stream as usize).map_or(0, Receive::delivered)
    }

    /// Bytes that have arrived, each once.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that have arrived again.
    pub(crate) fn duplicate(&self) -> u64 {
        self.duplicate
    }

    /// A stream whose end and all data have arrived; each is returned once.
    pub(crate) fn take_finished(&mut self) -> Option<u32> {
        self.finished.pop()
    }

    /// True if the peer has ended at least one stream, and all data of every stream has arrived.
    pub(crate) fn peer_has_finished(&self) -> bool {
        !self.receive.is_empty() && self.complete == self.receive.len()
    }

    /// Bytes before the first one not acknowledged, and before the first one not sent, summed over the streams.
    pub(crate) fn progress(&self) -> (u64, u64) {
        let sum = |bytes: fn(&SendStream) -> u64| self.settled + self.live().map(bytes).sum::<u64>();
        (sum(SendStream::acknowledged), sum(SendStream::next))
    }

    /// True if everything written is acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.live().all(SendStream::is_acknowledged)
    }
}
