//! QUIC connections: version, connection IDs, server name, round trips, spin bit, loss bits.
//!
//! Only information visible on the path: the client's Initial packets are decrypted with the public salt; the spin bit
//! [RFC 9000 §17.4] changes once per round-trip time. The loss bits of draft-ferrieuxhamchaoui-quic-lossbits
//! (Q: 64 packets of one value, then 64 of the other; L: a loss detected by the sender) are reported if Q has this
//! pattern.

#[cfg(not(target_family = "wasm"))]
mod crypto;
#[cfg(any(test, target_family = "wasm"))]
mod crypto_in_rust;
mod header;
mod hello;
mod initial;

use crate::flow::sketch::Sketch;
use header::{Kind, long};
use hello::Hello;
pub(crate) use hello::server_name;
use initial::Keys;

const SPIN: u8 = 0x20;
const SQUARE: u8 = 0x10;
const LOSS: u8 = 0x08;
/// Packets in a half period of the square signal (Q bit).
const SQUARE_LENGTH: u64 = 64;
/// Most Initial packets that are decrypted.
const TRIES: u8 = 16;

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    /// Packets with a short header.
    pub(crate) short: u64,
    spin: Option<bool>,
    edge: Option<i64>,
    /// Times between the edges of the spin bit.
    pub(crate) spin_rtt: Sketch,
    square: Option<bool>,
    run: u64,
    /// Number and length of the complete runs of the Q bit (the first one may be incomplete and is left out).
    runs: u64,
    in_runs: u64,
    lost: u64,
}

impl Side {
    fn packet(&mut self, first: u8, now: i64) {
        self.short += 1;
        let spin = first & SPIN != 0;
        if self.spin.is_some_and(|s| s != spin) {
            if let Some(edge) = self.edge {
                self.spin_rtt.add(now - edge);
            }
            self.edge = Some(now);
        }
        self.spin = Some(spin);
        self.lost += u64::from(first & LOSS != 0);
        let square = first & SQUARE != 0;
        match self.square {
            Some(s) if s == square => self.run += 1,
            before => {
                if before.is_some() && self.runs < u64::MAX {
                    self.in_runs += self.run;
                    self.runs += 1;
                }
                self.run = 1;
            }
        }
        self.square = Some(square);
    }

    /// True if the spin bit is in use: neither constant nor random.
    pub(crate) fn spins(&self) -> bool {
        let edges = self.spin_rtt.count();
        edges >= 2 && edges * 4 < self.short
    }

    /// Loss rate upstream of the capture point (Q bit), and loss rate detected by the sender (L bit); `None` if they
    /// are not in use.
    pub(crate) fn losses(&self) -> Option<(f64, f64)> {
        // Encrypted bits are random, with runs of 2 packets. At a loss rate of one half, runs still have 32 packets.
        let mean = self.in_runs as f64 / self.runs as f64;
        (self.runs >= 3 && mean >= SQUARE_LENGTH as f64 / 2.0)
            .then(|| ((1.0 - mean / SQUARE_LENGTH as f64).max(0.0), self.lost as f64 / self.short as f64))
    }
}

/// True for a Version Negotiation packet that offers a known version: its versions follow the connection IDs
/// [RFC 9000 §17.2.1]. Other protocols may have the same first bytes.
fn negotiates(payload: &[u8], h: &header::Long<'_>) -> bool {
    let versions = payload.get(h.number_at..).unwrap_or_default().chunks_exact(4);
    h.scid.len() <= 20
        && h.dcid.len() <= 20
        && versions.remainder().is_empty()
        && versions.map(|v| u32::from_be_bytes([v[0], v[1], v[2], v[3]])).any(header::is_known)
}

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct Quic {
    pub(crate) version: u32,
    /// True if the client is side 1 of the conversation.
    pub(crate) client: u8,
    pub(crate) client_cid: Vec<u8>,
    pub(crate) server_cid: Vec<u8>,
    /// The client's first Destination Connection ID, from which the Initial keys are derived.
    pub(crate) original_cid: Vec<u8>,
    pub(crate) sni: Option<String>,
    pub(crate) alpn: Vec<String>,
    pub(crate) retry: bool,
    pub(crate) negotiated: bool,
    pub(crate) zero_rtt: bool,
    hello: Option<Box<Hello>>,
    tries: u8,
    /// Times of the client's first Initial, the server's first answer, and the client's next packet.
    first: i64,
    answer: Option<i64>,
    next: Option<i64>,
    pub(crate) sides: [Side; 2],
}

impl Quic {
    /// The connection that begins with a datagram from side `d`; `None` if it is not QUIC.
    pub(crate) fn detect(d: u8, payload: &[u8], len: usize, now: i64) -> Option<Box<Self>> {
        let h = long(payload, len)?;
        // The least length of a client's first datagram [RFC 9000 §14.1] excludes datagrams that are similar by chance.
        if !matches!(h.kind, Kind::Initial | Kind::Handshake | Kind::VersionNegotiation)
            || h.kind == Kind::Initial && len < 1200
            || h.kind == Kind::VersionNegotiation && !negotiates(payload, &h)
        {
            return None;
        }
        let from_client = h.kind == Kind::Initial && h.dcid.len() >= 8;
        Some(Box::new(Self {
            version: h.version,
            client: if from_client { d } else { 1 - d },
            client_cid: Vec::new(),
            server_cid: Vec::new(),
            original_cid: h.dcid.to_vec(),
            sni: None,
            alpn: Vec::new(),
            retry: false,
            negotiated: false,
            zero_rtt: false,
            hello: Some(Box::default()),
            tries: 0,
            first: now,
            answer: None,
            next: None,
            sides: Default::default(),
        }))
    }

    /// A datagram of `len` bytes, of which `payload` was captured, from side `d`.
    pub(crate) fn datagram(&mut self, d: u8, payload: &[u8], len: usize, now: i64) {
        let from_client = d == self.client;
        match (from_client, self.answer) {
            (false, None) => self.answer = Some(now),
            (true, Some(_)) if self.next.is_none() => self.next = Some(now),
            _ => {}
        }
        let mut rest = payload;
        let mut whole = len;
        while let Some(&first) = rest.first() {
            if first & 0x80 == 0 {
                if first & 0x40 != 0 {
                    self.sides[usize::from(d)].packet(first, now);
                }
                return;
            }
            let Some(h) = long(rest, whole) else { return };
            self.long(from_client, rest, &h, now);
            let Some(next) = rest.get(h.end..) else { return };
            rest = next;
            whole -= h.end;
        }
    }

    fn long(&mut self, from_client: bool, packet: &[u8], h: &header::Long<'_>, now: i64) {
        match h.kind {
            Kind::Retry | Kind::VersionNegotiation => {
                self.retry |= h.kind == Kind::Retry;
                self.negotiated |= h.kind == Kind::VersionNegotiation;
                // The handshake begins again (Version Negotiation or Retry).
                self.answer = None;
                self.next = None;
                return;
            }
            Kind::ZeroRtt => self.zero_rtt = true,
            _ => {}
        }
        let mine = if from_client { &mut self.client_cid } else { &mut self.server_cid };
        if mine.is_empty() {
            *mine = h.scid.to_vec();
        }
        if !from_client || h.kind != Kind::Initial {
            return;
        }
        if self.answer.is_none() {
            self.version = h.version;
            self.first = if self.retry || self.negotiated { now } else { self.first };
        }
        if self.hello.is_some() && self.tries < TRIES {
            self.tries += 1;
            self.decrypt(packet, h);
        }
    }

    #[cold]
    fn decrypt(&mut self, packet: &[u8], h: &header::Long<'_>) {
        let open = |cid: &[u8]| Keys::client(h.version, cid)?.open(packet, h);
        let frames = open(&self.original_cid).or_else(|| {
            let frames = open(h.dcid)?;
            self.original_cid = h.dcid.to_vec();
            Some(frames)
        });
        if let (Some(frames), Some(hello)) = (frames, &mut self.hello)
            && let Some(hello_fields) = hello.take(&frames)
        {
            self.sni = hello_fields.sni;
            self.alpn = hello_fields.alpn;
            self.hello = None;
        }
    }

    /// From the client's first Initial to the server's answer, and from there to the client's next packet, ns.
    pub(crate) fn round_trips(&self) -> (Option<i64>, Option<i64>) {
        (self.answer.map(|t| t - self.first), self.answer.zip(self.next).map(|(a, b)| b - a))
    }
}
