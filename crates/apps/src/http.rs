//! HTTP over one connection: requests and responses as byte counts on streams. It holds both ends, because the reader
//! of a stream without content can't see where a message ends.
//!
//! ```text
//! HTTP/1.1  one response after the other, in the order of the requests [RFC 9112 §9.3]
//! HTTP/2    DATA frames of at most 16 KiB, of the responses in turn [RFC 9113 §4.2, §6.1]; written while less than 64
//!           KiB waits unsent, so that a later response gets its turn
//! HTTP/3    a QUIC stream for each request [RFC 9114 §4.1]; the QUIC endpoint sends its streams in turn
//! ```
//! Left out: priorities [RFC 9218], flow control of HTTP/2's streams, header compression (sizes are given), server
//! push.

use crate::plan::Http;
use std::collections::{BTreeMap, VecDeque};

/// Bytes of a frame's header [RFC 9113 §4.1].
const FRAME_HEADER: u64 = 9;
/// SETTINGS_MAX_FRAME_SIZE's initial value [RFC 9113 §6.5.2].
const MAX_FRAME: u64 = 1 << 14;
/// Unsent bytes with which a server writes no further frame.
pub const UNSENT_LIMIT: u64 = 1 << 16;

/// A response that the server writes.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    id: u32,
    /// Bytes that can be written, and bytes that remain in all.
    ready: u64,
    remaining: u64,
}

/// A part of the server's byte stream.
#[derive(Clone, Copy, Debug)]
struct Part {
    id: u32,
    /// Bytes of the frame's header and of the response.
    header: u64,
    bytes: u64,
}

/// Bytes of a response that have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The request.
    pub id: u32,
    /// Bytes of its response, headers included.
    pub bytes: u64,
}

/// The messages on one byte stream in each direction: HTTP/1.1 and HTTP/2.
#[derive(Debug)]
pub struct Exchange {
    version: Http,
    /// Requests on their way: their ends in the client's stream.
    requests: VecDeque<(u64, u32)>,
    requested: u64,
    outgoing: VecDeque<Outgoing>,
    /// The server's stream, from the first byte that the client has not read.
    parts: VecDeque<Part>,
    read: u64,
}

impl Exchange {
    /// An exchange over a new connection.
    #[must_use]
    pub fn new(version: Http) -> Exchange {
        Exchange {
            version,
            requests: VecDeque::new(),
            requested: 0,
            outgoing: VecDeque::new(),
            parts: VecDeque::new(),
            read: 0,
        }
    }

    /// The client writes a request of `bytes`; returns the bytes to write to the connection.
    pub fn request(&mut self, id: u32, bytes: u64) -> u64 {
        let bytes = bytes + if self.version == Http::H2 { FRAME_HEADER } else { 0 };
        self.requested += bytes;
        self.requests.push_back((self.requested, id));
        bytes
    }

    /// The next request that has arrived at the server, which has received `delivered` bytes.
    pub fn take_request(&mut self, delivered: u64) -> Option<u32> {
        let (end, id) = *self.requests.front()?;
        (end <= delivered).then(|| {
            self.requests.pop_front();
            id
        })
    }

    /// The server begins a response of `total` bytes; [`Exchange::release`] makes its bytes available.
    pub fn respond(&mut self, id: u32, total: u64) {
        self.outgoing.push_back(Outgoing { id, ready: 0, remaining: total });
    }

    /// The next `bytes` of a response can be written.
    pub fn release(&mut self, id: u32, bytes: u64) {
        if let Some(response) = self.outgoing.iter_mut().find(|o| o.id == id) {
            response.ready += bytes;
        }
    }

    /// The server writes: returns the number of bytes to write to the connection, where `unsent` bytes wait.
    pub fn write(&mut self, mut unsent: u64) -> u64 {
        let mut written = 0;
        while unsent < UNSENT_LIMIT {
            let Some(place) = self.next_outgoing() else { break };
            let Some(mut response) = self.outgoing.remove(place) else { break };
            let (header, most) = match self.version {
                Http::H2 => (FRAME_HEADER, MAX_FRAME),
                Http::H1 | Http::H3 => (0, u64::MAX),
            };
            let bytes = response.ready.min(most);
            response.ready -= bytes;
            response.remaining -= bytes;
            self.parts.push_back(Part { id: response.id, header, bytes });
            written += header + bytes;
            unsent += header + bytes;
            if response.remaining > 0 {
                // The next response has its turn, with HTTP/1.1 only after this one.
                let place = if self.version == Http::H2 { self.outgoing.len() } else { place };
                self.outgoing.insert(place, response);
            }
        }
        written
    }

    fn next_outgoing(&self) -> Option<usize> {
        match self.version {
            Http::H2 => self.outgoing.iter().position(|o| o.ready > 0),
            Http::H1 | Http::H3 => self.outgoing.front().is_some_and(|o| o.ready > 0).then_some(0),
        }
    }

    /// The client has received `delivered` bytes: returns the next bytes of a response among them.
    pub fn read(&mut self, delivered: u64) -> Option<Arrived> {
        let part = self.parts.front_mut()?;
        let here = delivered.saturating_sub(self.read);
        let header = part.header.min(here);
        part.header -= header;
        let bytes = part.bytes.min(here - header);
        part.bytes -= bytes;
        self.read += header + bytes;
        let id = part.id;
        if part.header + part.bytes == 0 {
            self.parts.pop_front();
        }
        (bytes > 0).then_some(Arrived { id, bytes })
    }
}

/// The messages on the streams of a QUIC connection: HTTP/3.
#[derive(Debug, Default)]
pub struct Streams {
    /// Stream of each request, and its state.
    streams: BTreeMap<u32, (u32, Stream)>,
    opened: u32,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    request_bytes: u64,
    arrived: bool,
    remaining: u64,
    read: u64,
}

impl Streams {
    /// The client opens a stream for a request of `bytes`; returns its number.
    pub fn request(&mut self, id: u32, bytes: u64) -> u32 {
        let stream = self.opened;
        self.opened += 1;
        let state = Stream { request_bytes: bytes, arrived: false, remaining: 0, read: 0 };
        self.streams.insert(id, (stream, state));
        stream
    }

    /// The next request that has arrived; `delivered`: bytes that the server has received on a stream.
    pub fn take_request(&mut self, delivered: impl Fn(u32) -> u64) -> Option<u32> {
        let arrived = |(stream, s): &(u32, Stream)| !s.arrived && delivered(*stream) >= s.request_bytes;
        let (id, (_, state)) = self.streams.iter_mut().find(|(_, s)| arrived(s))?;
        state.arrived = true;
        Some(*id)
    }

    /// The server begins a response of `total` bytes.
    pub fn respond(&mut self, id: u32, total: u64) {
        if let Some((_, state)) = self.streams.get_mut(&id) {
            state.remaining = total;
        }
    }

    /// The next `bytes` of a response can be written: returns the stream, and if it then ends.
    pub fn release(&mut self, id: u32, bytes: u64) -> Option<(u32, bool)> {
        let (stream, state) = self.streams.get_mut(&id)?;
        state.remaining -= bytes;
        Some((*stream, state.remaining == 0))
    }

    /// Returns the next bytes that the client has received; `delivered`: those of a stream.
    pub fn read(&mut self, delivered: impl Fn(u32) -> u64) -> Option<Arrived> {
        self.streams.iter_mut().find_map(|(id, (stream, state))| {
            let bytes = delivered(*stream) - state.read;
            state.read += bytes;
            (bytes > 0).then_some(Arrived { id: *id, bytes })
        })
    }

    /// The response of a request is complete: its stream isn't looked at any more.
    pub fn forget(&mut self, id: u32) {
        self.streams.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(exchange: &mut Exchange, delivered: u64) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| exchange.read(delivered)).map(|a| (a.id, a.bytes)).collect()
    }

    fn answer(exchange: &mut Exchange, id: u32, bytes: u64) {
        exchange.respond(id, bytes);
        exchange.release(id, bytes);
    }

    #[test]
    fn responses_of_http_1_follow_each_other() {
        let mut x = Exchange::new(Http::H1);
        assert_eq!([x.request(0, 300), x.request(1, 200)], [300, 200]);
        assert_eq!([x.take_request(299), x.take_request(300), x.take_request(499)], [None, Some(0), None]);
        assert_eq!(x.take_request(500), Some(1));
        answer(&mut x, 0, 1000);
        answer(&mut x, 1, 500);
        assert_eq!(x.write(0), 1500);
        assert_eq!(all(&mut x, 400), [(0, 400)]);
        assert_eq!(all(&mut x, 1200), [(0, 600), (1, 200)]);
        assert_eq!(all(&mut x, 1500), [(1, 300)]);
    }

    /// Two responses of 40,000 bytes: frames of 16,384, 16,384 and 7232 bytes with headers of 9 bytes, in turn. With 64
    /// KiB unsent nothing more is written: after four frames, 65,572 bytes.
    #[test]
    fn responses_of_http_2_take_turns() {
        let mut x = Exchange::new(Http::H2);
        assert_eq!(x.request(7, 300), 309);
        answer(&mut x, 7, 40_000);
        answer(&mut x, 8, 40_000);
        assert_eq!(x.write(0), 4 * (16_384 + 9));
        assert_eq!(x.write(65_536), 0);
        assert_eq!(x.write(0), 2 * (7232 + 9));
        assert_eq!(all(&mut x, 9), [], "a frame's header is no part of a response");
        assert_eq!(all(&mut x, 16_393 + 10), [(7, 16_384), (8, 1)]);
        let rest = all(&mut x, 6 * 9 + 80_000);
        let sum = |id| rest.iter().filter(|a| a.0 == id).map(|a| a.1).sum::<u64>();
        assert_eq!([sum(7), sum(8)], [40_000 - 16_384, 40_000 - 1]);
    }

    #[test]
    fn a_throttled_response_is_written_as_it_is_released() {
        let mut x = Exchange::new(Http::H1);
        x.respond(0, 1000);
        assert_eq!(x.write(0), 0);
        x.release(0, 600);
        assert_eq!([x.write(0), x.write(0)], [600, 0]);
        x.release(0, 400);
        assert_eq!(x.write(0), 400);
        assert_eq!(all(&mut x, 1000), [(0, 600), (0, 400)]);
    }

    #[test]
    fn streams_of_http_3_do_not_wait_for_each_other() {
        let mut x = Streams::default();
        assert_eq!([x.request(3, 300), x.request(5, 300)], [0, 1]);
        assert_eq!(x.take_request(|stream| 300 * u64::from(stream)), Some(5));
        assert_eq!(x.take_request(|stream| 300 * u64::from(stream)), None);
        x.respond(5, 1000);
        assert_eq!(x.release(5, 400), Some((1, false)));
        assert_eq!(x.release(5, 600), Some((1, true)));
        assert_eq!(x.read(|stream| 700 * u64::from(stream)), Some(Arrived { id: 5, bytes: 700 }));
        assert_eq!(x.read(|stream| 700 * u64::from(stream)), None);
    }
}
