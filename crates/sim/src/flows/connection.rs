//! A TCP connection, with or without TLS: applications write to it, read from it and close it.

use super::quic::ENDLESS;
use crate::tcp_meter::{Connected, Delivered, Ends};
use dumbbell_tcp::{Counters, Endpoint};
use dumbbell_tls::{Config, End, Tls};

/// An end of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The data sender.
    Sender,
    /// The data receiver.
    Receiver,
}

/// Both ends of a TCP connection.
pub(crate) struct Connection {
    ends: Ends<Endpoint>,
    /// The side that opens the connection.
    client: Side,
    tls: Option<Box<Tls>>,
}

impl Connection {
    /// A connection that is not open; `client` will open it.
    pub(crate) fn new(ends: Ends<Endpoint>, client: Side, tls: Option<Config>) -> Connection {
        let mut connection = Connection { ends, client, tls: tls.map(|config| Box::new(Tls::new(config))) };
        connection.pass_on(client);
        connection
    }

    /// The client connects, the other side listens; without a handshake of TCP, both are established.
    pub(crate) fn open(&mut self, handshake: bool) {
        let (connecting, listening) = match self.client {
            Side::Sender => (&mut self.ends.sender, &mut self.ends.receiver),
            Side::Receiver => (&mut self.ends.receiver, &mut self.ends.sender),
        };
        if handshake {
            listening.listen();
            connecting.connect();
        } else {
            Endpoint::establish_pair(connecting, listening);
        }
    }

    pub(crate) fn sender(&self) -> &Endpoint {
        &self.ends.sender
    }

    pub(crate) fn receiver(&self) -> &Endpoint {
        &self.ends.receiver
    }

    #[inline(always)] // the side is constant at nearly all calls
    pub(crate) fn end(&self, side: Side) -> &Endpoint {
        match side {
            Side::Sender => &self.ends.sender,
            Side::Receiver => &self.ends.receiver,
        }
    }

    #[inline(always)]
    pub(crate) fn end_mut(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Sender => &mut self.ends.sender,
            Side::Receiver => &mut self.ends.receiver,
        }
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    fn tls_end(&self, side: Side) -> End {
        if side == self.client { End::Client } else { End::Server }
    }

    /// The application at `side` writes; [`ENDLESS`] is more than any run sends.
    pub(crate) fn write(&mut self, side: Side, bytes: u64) {
        let end = self.tls_end(side);
        match &mut self.tls {
            None => self.end_mut(side).write(bytes),
            Some(tls) => {
                tls.write(end, bytes.min(ENDLESS));
                self.pass_on(side);
            }
        }
    }

    /// The application at `side` has written everything.
    pub(crate) fn close(&mut self, side: Side) {
        let end = self.tls_end(side);
        match &mut self.tls {
            None => self.end_mut(side).close(),
            Some(tls) => {
                tls.close(end);
                self.pass_on(side);
            }
        }
    }

    /// Both applications stop: data that was not sent yet is discarded.
    pub(crate) fn abandon(&mut self) {
        self.ends.sender.finish();
        self.ends.receiver.finish();
    }

    /// True if the application at `side` has closed.
    pub(crate) fn has_closed(&self, side: Side) -> bool {
        self.end(side).has_closed() || self.tls.as_ref().is_some_and(|tls| tls.is_closing(self.tls_end(side)))
    }

    /// Application bytes that were delivered to `side`, in order.
    #[inline]
    pub(crate) fn delivered(&self, side: Side) -> u64 {
        match &self.tls {
            None => self.end(side).delivered(),
            Some(tls) => tls.delivered(self.tls_end(side)),
        }
    }

    /// Reads what has arrived at `side` through TLS, and writes the answer of the handshake. Called after each segment.
    #[inline]
    pub(crate) fn read(&mut self, side: Side) {
        if self.tls.is_some() {
            self.read_records(side);
        }
    }

    #[inline(never)]
    fn read_records(&mut self, side: Side) {
        let (end, arrived) = (self.tls_end(side), self.end(side).delivered());
        if let Some(tls) = &mut self.tls {
            tls.read(end, arrived);
            self.pass_on(side);
        }
    }

    /// Passes the records of `side` to TCP.
    fn pass_on(&mut self, side: Side) {
        let end = self.tls_end(side);
        let Some(tls) = &mut self.tls else { return };
        let (bytes, closed) = (tls.take(end), tls.has_closed(end));
        let endpoint = self.end_mut(side);
        if endpoint.has_closed() {
            return;
        }
        if bytes > 0 {
            endpoint.write(bytes);
        }
        if closed {
            endpoint.close();
        }
    }
}

impl Connected for Connection {
    fn counters(&self) -> &Counters {
        self.ends.sender.counters()
    }

    fn arrived(&self) -> (Delivered, u64) {
        let receiver = &self.ends.receiver;
        let delivered = match &self.tls {
            None => Delivered { bytes: receiver.received(), in_order: receiver.delivered() },
            Some(_) => {
                let bytes = self.delivered(Side::Receiver);
                Delivered { bytes, in_order: bytes }
            }
        };
        (delivered, receiver.duplicate_bytes())
    }
}
