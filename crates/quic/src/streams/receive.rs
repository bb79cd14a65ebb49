//! The receiving part of a stream, and of the handshake's messages in a packet number space [RFC 9000 §3.2]. The
//! application reads at once.

use crate::ranges::RangeSet;

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct ReceiveStream {
    received: RangeSet,
    /// Highest offset received.
    highest: u64,
    /// Length of the stream, once its end has arrived.
    length: Option<u64>,
    /// Offset below which the peer may send.
    pub(crate) offered: u64,
}

impl ReceiveStream {
    pub(crate) fn new(window: u64) -> ReceiveStream {
        ReceiveStream { offered: window, ..ReceiveStream::default() }
    }

    /// Adds data; returns the number of new bytes.
    pub(crate) fn add(&mut self, offset: u64, len: u32, fin: bool) -> u64 {
        let end = offset + u64::from(len);
        self.highest = self.highest.max(end);
        if fin {
            self.length = Some(end);
        }
        self.received.insert(offset, end)
    }

    /// Bytes delivered to the application, in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.received.prefix()
    }

    /// The highest offset received: what counts for flow control [RFC 9000 §4.1].
    pub(crate) fn highest(&self) -> u64 {
        self.highest
    }

    /// True if the end and all data before it have arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.length == Some(self.delivered())
    }
}
