//! QUIC packets as a capture has them: the long and short headers [RFC 9000 §17.2, §17.3]. All that is encrypted on a
//! real path is zero: the protected bits of the first byte, the packet number, the frames and the tag.
//!
//! The server uses the connection ID that the client has chosen for it. A connection ID has the flow's and the
//! connection's numbers, so that it is unique in a run.

use dumbbell_quic::{Datagram, Endpoint, Form, Role};

/// QUIC version 1.
const VERSION: [u8; 4] = [0, 0, 0, 1];
/// Header form and fixed bit of a long header, and its packet types [RFC 9000 §17.2].
const LONG: u8 = 0xc0;
const ZERO_RTT: u8 = 0x10;
const HANDSHAKE: u8 = 0x20;
/// Fixed bit and spin bit of a short header [RFC 9000 §17.3.1].
const SHORT: u8 = 0x40;
const SPIN: u8 = 0x20;
/// Bytes of the Length field of a long header, as the endpoint counts them.
const LENGTH_BYTES: usize = 2;

type ConnectionId = [u8; 8];

/// The sender of a datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuicSender {
    source: ConnectionId,
    destination: ConnectionId,
    /// Bytes of the token in its Initial packets.
    token: u32,
}

impl QuicSender {
    pub(crate) fn new(flow: u32, connection: u32, endpoint: &Endpoint) -> QuicSender {
        let id = |role: u8| {
            let [_, f @ ..] = flow.to_be_bytes();
            let [a, b, c, d] = connection.to_be_bytes();
            [role, f[0], f[1], f[2], a, b, c, d]
        };
        let (client, server) = (id(1), id(2));
        match endpoint.role() {
            Role::Client => {
                QuicSender { source: client, destination: server, token: endpoint.config().connection.token }
            }
            Role::Server => QuicSender { source: server, destination: client, token: 0 },
        }
    }

    /// Appends the payload of a datagram, up to its last header.
    pub(super) fn write(&self, datagram: &Datagram, out: &mut Vec<u8>) {
        let begin = out.len();
        let mut at = begin;
        let mut packets = datagram.packets().peekable();
        while let Some((packet, _)) = packets.next() {
            out.resize(at, 0);
            at += packet.bytes as usize;
            let kind = match packet.form {
                Form::OneRtt => {
                    out.push(SHORT | if packet.spin { SPIN } else { 0 });
                    out.extend(self.destination);
                    continue;
                }
                Form::Initial => 0,
                Form::ZeroRtt => ZERO_RTT,
                Form::Handshake => HANDSHAKE,
            };
            out.push(LONG | kind);
            out.extend(VERSION);
            for id in [self.destination, self.source] {
                out.push(id.len() as u8);
                out.extend(id);
            }
            if packet.form == Form::Initial {
                let token = self.token as usize;
                match u8::try_from(token) {
                    Ok(short @ ..64) => out.push(short),
                    _ => out.extend((0x4000 | token as u16).to_be_bytes()),
                }
                out.resize(out.len() + token, 0);
            }
            // PADDING frames of the last packet fill up the datagram.
            let end = if packets.peek().is_some() { at } else { begin + datagram.bytes as usize };
            let rest = end.saturating_sub(out.len() + LENGTH_BYTES) as u16;
            out.extend((0x4000 | rest).to_be_bytes());
        }
    }
}
