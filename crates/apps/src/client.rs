//! The client of an application: it makes requests and learns what of the responses has arrived.

use crate::plan::HttpPlan;
use dumbbell_units::Time;
use std::fmt::Debug;

/// A server's limit on the rate of a response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Bytes that are sent at once.
    pub burst: u64,
    /// Rate of the rest.
    pub bytes_per_s: f64,
    /// The rest is sent in blocks of this size, bytes.
    pub block: u64,
}

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Bytes with headers.
    pub bytes: u64,
    /// The server's limit on its rate.
    pub limit: Option<Limit>,
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its number, from 0 within the flow.
    pub id: u32,
    /// Name of the object.
    pub object: String,
    /// Bytes of the content.
    pub content: u64,
    /// Bit rate of the media in it, bit/s.
    pub bitrate: Option<u64>,
    /// The response.
    pub response: Response,
}

/// See the top of this file. The order of calls: [`Client::on_timer`] at the start and when [`Client::next_timer`] is
/// due; then, and after every event, [`Client::take_request`] until it returns None.
pub trait Client: Send + Debug {
    /// Sizes and version of its requests.
    fn http(&self) -> &HttpPlan;

    /// Time at which `on_timer` has to be called.
    fn next_timer(&self) -> Option<Time>;

    /// Acts at `now`.
    fn on_timer(&mut self, now: Time);

    /// The next request that is due.
    fn take_request(&mut self, now: Time) -> Option<Request>;

    /// The first byte of a response has arrived.
    fn on_first_byte(&mut self, id: u32, now: Time);

    /// `content` bytes of a response's content have arrived so far; it isn't complete.
    fn on_content(&mut self, _id: u32, _content: u64, _now: Time) {}

    /// A response is complete.
    fn on_complete(&mut self, id: u32, now: Time);

    /// True if every response has arrived and no request follows.
    fn is_over(&self) -> bool;

    /// True if the next request is to use new connections; the answer is then false again.
    fn wants_new_connections(&mut self) -> bool {
        false
    }
}
