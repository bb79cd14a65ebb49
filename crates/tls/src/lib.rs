//! TLS over a byte stream, by the lengths of its messages and records [RFC 5246, RFC 8446]. It holds both ends of a
//! connection, because the reader of a stream without content can't see where a record ends.
//!
//! ```text
//! TLS 1.3: ClientHello                     ->
//!                                          <-  ServerHello, CCS, {EncryptedExtensions .. Finished}, {data}
//!          CCS, {Finished}, {data}         ->
//! TLS 1.2: ClientHello                     ->
//!                                          <-  ServerHello, Certificate, ServerKeyExchange, ServerHelloDone
//!          ClientKeyExchange, CCS, {Fin.}  ->
//!                                          <-  CCS, {Finished}
//!          {data}                          ->
//! ```
//! A resumed handshake of TLS 1.2 ends one round trip earlier: the server's first flight has its Finished
//! [RFC 5246 §7.3]. With early data, the client's data of TLS 1.3 follows its ClientHello [RFC 8446 §2.3]. CCS is the
//! change_cipher_spec record, which TLS 1.3 sends for compatibility [RFC 8446 appendix D.4]. Braces: encrypted records.
//!
//! Each write of the application makes new records, full ones and a last one. A record is delivered once its last byte
//! is.
//!
//! Left out: session tickets, HelloRetryRequest, client certificates, alerts except close_notify, key updates, padding,
//! False Start, TCP Fast Open.

mod config;
mod records;

pub use config::{Config, Handshake, RESUMED_FLIGHT, SERVER_FLIGHT, SERVER_HELLO, VERSIONS, Version, find_version};

use records::{Content, Direction};

/// Application data of a write without end: records of that much still have a length in 64 bits.
const MAX_PENDING: u64 = 1 << 60;

/// An end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl End {
    fn peer(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// The last message of a flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flight {
    ClientHello,
    Server,
    ClientFinished,
    ServerFinished,
}

/// What one end sends.
#[derive(Clone, Debug, Default)]
struct Sender {
    out: Direction,
    /// Application data that waits for the keys.
    pending: u64,
    /// Data that may still be sent before the handshake is complete.
    early: u64,
    /// True once the handshake allows data.
    can_send: bool,
    closing: bool,
    closed: bool,
}

/// A TLS connection: both ends.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Config,
    client: Sender,
    server: Sender,
}

impl Tls {
    /// Returns a connection whose client has written its ClientHello.
    #[must_use]
    pub fn new(config: Config) -> Tls {
        let mut tls = Tls { config, client: Sender::default(), server: Sender::default() };
        let out = &mut tls.client.out;
        out.plain(config.client_hello, config.record, Some(Flight::ClientHello));
        if config.handshake == Handshake::EarlyData {
            tls.client.early = config.early_data_limit;
            tls.client.out.change_cipher_spec(None);
        }
        tls
    }

    fn end(&mut self, end: End) -> &mut Sender {
        match end {
            End::Client => &mut self.client,
            End::Server => &mut self.server,
        }
    }

    fn end_ref(&self, end: End) -> &Sender {
        match end {
            End::Client => &self.client,
            End::Server => &self.server,
        }
    }

    /// The application of `end` writes `bytes`.
    pub fn write(&mut self, end: End, bytes: u64) {
        let sender = self.end(end);
        sender.pending = sender.pending.saturating_add(bytes).min(MAX_PENDING);
        self.flush(end);
    }

    /// The application of `end` has written everything: a close_notify alert follows its data.
    pub fn close(&mut self, end: End) {
        self.end(end).closing = true;
        self.flush(end);
    }

    /// True once [`Tls::close`] was called for `end`.
    #[must_use]
    pub fn is_closing(&self, end: End) -> bool {
        self.end_ref(end).closing
    }

    /// True once everything of `end`, close_notify included, was returned by [`Tls::take`].
    #[must_use]
    pub fn has_closed(&self, end: End) -> bool {
        let sender = self.end_ref(end);
        sender.closed && sender.out.is_taken()
    }

    /// Bytes of records that `end` has to write to its transport now.
    #[must_use]
    pub fn take(&mut self, end: End) -> u64 {
        self.end(end).out.take()
    }

    /// Reads the stream of `end`: `bytes` is the number of bytes that its transport has delivered in order so far.
    pub fn read(&mut self, end: End, bytes: u64) {
        while let Some(flight) = self.end(end.peer()).out.read(bytes) {
            self.on_flight(flight);
        }
    }

    /// Application bytes that were delivered to `end`.
    #[must_use]
    pub fn delivered(&self, end: End) -> u64 {
        self.end_ref(end.peer()).out.delivered
    }

    /// True if `end` may send application data, early data aside.
    #[must_use]
    pub fn is_open(&self, end: End) -> bool {
        self.end_ref(end).can_send
    }

    /// Acts on a whole flight.
    fn on_flight(&mut self, flight: Flight) {
        let Config { version, handshake, record, overhead, finished, .. } = self.config;
        let abbreviated = version == Version::Tls12 && handshake != Handshake::Full;
        match (flight, version) {
            (Flight::ClientHello, Version::Tls13) => {
                let out = &mut self.server.out;
                out.plain(self.config.server_hello, record, None);
                out.change_cipher_spec(None);
                out.encrypted(self.config.server_flight, record, overhead, Some(Flight::Server));
                self.server.can_send = true;
            }
            (Flight::ClientHello, Version::Tls12) => {
                let out = &mut self.server.out;
                let rest = if abbreviated { 0 } else { self.config.server_flight };
                out.plain(self.config.server_hello + rest, record, (!abbreviated).then_some(Flight::Server));
                if abbreviated {
                    out.change_cipher_spec(None);
                    out.encrypted(finished, record, overhead, Some(Flight::Server));
                }
            }
            (Flight::Server, Version::Tls13) => {
                let out = &mut self.client.out;
                if handshake == Handshake::EarlyData {
                    out.encrypted(config::END_OF_EARLY_DATA, record, overhead, None);
                } else {
                    out.change_cipher_spec(None);
                }
                out.encrypted(finished, record, overhead, Some(Flight::ClientFinished));
                self.client.can_send = true;
            }
            (Flight::Server, Version::Tls12) => {
                let out = &mut self.client.out;
                if !abbreviated {
                    out.plain(self.config.client_key_exchange, record, None);
                }
                out.change_cipher_spec(None);
                out.encrypted(finished, record, overhead, Some(Flight::ClientFinished));
                self.client.can_send = abbreviated;
            }
            (Flight::ClientFinished, Version::Tls13) => {}
            (Flight::ClientFinished, Version::Tls12) => {
                if !abbreviated {
                    let out = &mut self.server.out;
                    out.change_cipher_spec(None);
                    out.encrypted(finished, record, overhead, Some(Flight::ServerFinished));
                }
                self.server.can_send = true;
            }
            (Flight::ServerFinished, _) => self.client.can_send = true,
        }
        self.flush(End::Client);
        self.flush(End::Server);
    }

    /// Makes records of the data that may be sent.
    fn flush(&mut self, end: End) {
        let Config { record, overhead, .. } = self.config;
        let sender = self.end(end);
        let now = if sender.can_send { sender.pending } else { sender.pending.min(sender.early) };
        sender.out.data(now, record, overhead);
        sender.pending -= now;
        sender.early = sender.early.saturating_sub(now);
        if sender.closing && sender.can_send && sender.pending == 0 && !sender.closed {
            sender.closed = true;
            sender.out.push(Content::Overhead(None), 1, 0, config::ALERT + overhead);
        }
    }
}

#[cfg(test)]
mod tests;
