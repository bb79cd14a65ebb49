//! The server: when the bytes of a response can be written.

use crate::client::Response;
use dumbbell_units::{Dur, Time};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Serving {
    response: Response,
    /// Time of the response's first byte.
    begins: Time,
    released: u64,
}

impl Serving {
    /// Bytes that can be written at `now`.
    fn available(&self, now: Time) -> u64 {
        let Some(limit) = self.response.limit.filter(|_| now >= self.begins) else {
            return if now < self.begins { 0 } else { self.response.bytes };
        };
        let blocks = now.since(self.begins).as_secs() * limit.bytes_per_s / limit.block as f64;
        // A timer may be early by a rounding: a block is due from a nanosecond before its time.
        let blocks = (blocks + 1e-9 * limit.bytes_per_s / limit.block as f64).floor() as u64;
        (limit.burst + blocks.saturating_mul(limit.block)).min(self.response.bytes)
    }

    /// Time of the next bytes.
    fn next(&self) -> Time {
        let Some(limit) = self.response.limit.filter(|_| self.released > 0) else { return self.begins };
        let blocks = self.released.saturating_sub(limit.burst) / limit.block + 1;
        self.begins + Dur::from_secs_f64(blocks as f64 * limit.block as f64 / limit.bytes_per_s)
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub struct Server {
    serving: BTreeMap<u32, Serving>,
}

impl Server {
    /// A request has arrived.
    pub fn on_request(&mut self, id: u32, response: Response, delay: Dur, now: Time) {
        self.serving.insert(id, Serving { response, begins: now + delay, released: 0 });
    }

    /// Time at which the next bytes can be written.
    #[must_use]
    pub fn next_timer(&self) -> Option<Time> {
        self.serving.values().map(Serving::next).min()
    }

    /// The next response with bytes to write at `now`: its request and the bytes.
    pub fn release(&mut self, now: Time) -> Option<(u32, u64)> {
        let (&id, serving) = self.serving.iter_mut().find(|(_, s)| s.available(now) > s.released)?;
        let bytes = serving.available(now) - serving.released;
        serving.released += bytes;
        if serving.released == serving.response.bytes {
            self.serving.remove(&id);
        }
        Some((id, bytes))
    }

    /// The connection of a response has ended.
    pub fn forget(&mut self, id: u32) {
        self.serving.remove(&id);
    }

    /// All connections have ended.
    pub fn clear(&mut self) {
        self.serving.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Limit;

    #[test]
    fn a_response_waits_for_the_server() {
        let mut server = Server::default();
        let at = |ms| Time::ZERO + Dur::millis(ms);
        server.on_request(4, Response { bytes: 1000, limit: None }, Dur::millis(20), at(10));
        assert_eq!((server.next_timer(), server.release(at(29))), (Some(at(30)), None));
        assert_eq!((server.release(at(30)), server.release(at(30))), (Some((4, 1000)), None));
        assert_eq!(server.next_timer(), None);
    }

    /// 10,000 bytes with a burst of 4000, then blocks of 2000 bytes at 1000 bytes/s: 4000 at 0 s, 6000 at 2 s, 8000 at
    /// 4 s.
    #[test]
    fn a_limited_response_comes_in_blocks() {
        let mut server = Server::default();
        let limit = Limit { burst: 4000, bytes_per_s: 1000.0, block: 2000 };
        server.on_request(0, Response { bytes: 10_000, limit: Some(limit) }, Dur::ZERO, Time::ZERO);
        let mut sent = Vec::new();
        while let Some(at) = server.next_timer() {
            sent.extend(server.release(at).map(|(_, bytes)| (at.as_secs(), bytes)));
            assert_eq!(server.release(at), None);
        }
        assert_eq!(sent, [(0.0, 4000), (2.0, 2000), (4.0, 2000), (6.0, 2000)]);
    }
}
