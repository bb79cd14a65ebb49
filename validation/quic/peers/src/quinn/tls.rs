//! TLS without cryptography: the messages of a full TLS 1.3 handshake with their sizes, keys that change nothing and
//! add a tag of 16 zero bytes. The client's first message and the server's second one begin with the transport
//! parameters.

use bytes::BytesMut;
use dumbbell_quic::ConnectionConfig;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::Arc;

const TAG: usize = 16;
/// Bytes of a Finished message with SHA-256 [RFC 8446 §4.4.4].
const FINISHED: u32 = 36;

/// Keys, and everything else that has to exist.
pub struct Nothing;

impl PacketKey for Nothing {
    fn encrypt(&self, _: u64, packet: &mut [u8], _: usize) {
        let end = packet.len() - TAG;
        packet[end..].fill(0);
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let end = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(end);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Nothing {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        16
    }
}

impl HmacKey for Nothing {
    /// Not the tag of a packet: a packet that ends with it is a stateless reset [RFC 9000 §10.3.1].
    fn sign(&self, _: &[u8], out: &mut [u8]) {
        out.fill(0xff);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Nothing {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Nothing)
    }
}

impl AeadKey for Nothing {
    fn seal(&self, data: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        data.extend([0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let end = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..end])
    }
}

fn pair<T: ?Sized>(key: fn() -> Box<T>) -> KeyPair<Box<T>> {
    KeyPair { local: key(), remote: key() }
}

fn keys() -> Keys {
    Keys { header: pair(|| Box::new(Nothing) as _), packet: pair(|| Box::new(Nothing) as _) }
}

/// Makes the sessions; the sizes of the messages are those of the settings.
pub struct Sizes(pub ConnectionConfig);

impl ClientConfig for Sizes {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        own: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, &self.0, own)))
    }
}

impl ServerConfig for Sizes {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; TAG]
    }

    fn start_session(self: Arc<Self>, _: u32, own: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, &self.0, own))
    }
}

/// A step of the handshake: a message arrives or is written, new keys are installed.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// Bytes; true: it has the transport parameters.
    Read(u32, bool),
    /// Bytes; true: it has the transport parameters, or new keys follow it.
    Write { bytes: u32, params: bool, keys: bool },
}

struct Handshake {
    side: Side,
    steps: Vec<Step>,
    /// The transport parameters of both sides.
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    arrived: Vec<u8>,
}

impl Handshake {
    fn new(side: Side, sizes: &ConnectionConfig, params: &TransportParameters) -> Handshake {
        let (hello, answer, flight) = (sizes.client_hello, sizes.server_hello, sizes.server_flight);
        let write = |bytes, params, keys| Step::Write { bytes, params, keys };
        let steps = if side.is_client() {
            vec![
                write(hello, true, false),
                Step::Read(answer, false),
                write(0, false, true),
                Step::Read(flight, true),
                write(FINISHED, false, true),
            ]
        } else {
            vec![
                Step::Read(hello, true),
                write(answer, false, true),
                write(flight, true, true),
                Step::Read(FINISHED, false),
            ]
        };
        let mut own = Vec::new();
        params.write(&mut own);
        Handshake { side, steps, own, peer: None, arrived: Vec::new() }
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        !self.steps.is_empty()
    }

    fn read_handshake(&mut self, data: &[u8]) -> Result<bool, TransportError> {
        self.arrived.extend(data);
        let mut has_params = false;
        while let Some(Step::Read(bytes, params)) = self.steps.first().copied()
            && self.arrived.len() >= bytes as usize
        {
            let message: Vec<u8> = self.arrived.drain(..bytes as usize).collect();
            self.steps.remove(0);
            if params {
                let length = usize::from(u16::from_be_bytes([message[0], message[1]]));
                let read = TransportParameters::read(self.side, &mut &message[2..2 + length]);
                self.peer = Some(read?);
                has_params = true;
            }
        }
        Ok(has_params)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        let Some(Step::Write { bytes, params, keys: new_keys }) = self.steps.first().copied() else {
            return None;
        };
        self.steps.remove(0);
        let end = out.len() + bytes as usize;
        if params {
            out.extend((self.own.len() as u16).to_be_bytes());
            out.extend(&self.own);
        }
        assert!(out.len() <= end, "a message of {bytes} bytes has no room for the transport parameters");
        out.resize(end, 0);
        new_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(pair(|| Box::new(Nothing) as _))
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
