//! The versions and their parameters: how a connection begins, and the lengths of messages and records.

use dumbbell_units::named;
use dumbbell_units::param::{Kind, ParamError, Params, Raw, Spec, specs, unknown_name};

/// Bytes of a record's header [RFC 5246 §6.2.1, RFC 8446 §5.1].
pub(crate) const HEADER: u32 = 5;
/// Bytes that encryption adds to a record of TLS 1.3: the header, the content type, the tag [RFC 8446 §5.2, RFC 5116
/// §5.1].
const OVERHEAD_13: u32 = HEADER + 1 + 16;
/// The same for TLS 1.2 with AES-GCM: the header, the explicit nonce, the tag [RFC 5288 §3].
const OVERHEAD_12: u32 = HEADER + 8 + 16;
/// Bytes of an alert: level and description [RFC 8446 §6].
pub(crate) const ALERT: u32 = 2;
/// Bytes of an EndOfEarlyData message: its header only [RFC 8446 §4.5].
pub(crate) const END_OF_EARLY_DATA: u32 = 4;
/// The largest plaintext of a record [RFC 8446 §5.1].
const MAX_RECORD: u64 = 1 << 14;

const CLIENT_HELLO: Spec = Spec {
    name: "client_hello",
    kind: Kind::Bytes,
    default: "2062 bytes",
    doc: "ClientHello: with a hybrid key share, as for QUIC; Chromium 156 sends 1982 to 2142 bytes",
};
/// Length of the ServerHello of TLS 1.3, also in QUIC [RFC 9001 §4].
pub const SERVER_HELLO: Spec = Spec {
    name: "server_hello",
    kind: Kind::Bytes,
    default: "122 bytes",
    doc: "ServerHello with an X25519 key share [RFC 8446 §4.1.3]",
};
/// Length of the server's messages after it in a full handshake.
pub const SERVER_FLIGHT: Spec = Spec {
    name: "server_flight",
    kind: Kind::Bytes,
    default: "820 bytes",
    doc: "EncryptedExtensions to Finished of a full handshake, with a small ECDSA certificate; a chain of \
          certificates takes 2 to 4 kB",
};
/// Length of the server's messages after it in a resumed handshake.
pub const RESUMED_FLIGHT: Spec = Spec {
    name: "resumed_flight",
    kind: Kind::Bytes,
    default: "140 bytes",
    doc: "EncryptedExtensions and Finished of a resumed handshake, which sends no certificate [RFC 8446 §2.2]",
};
const RECORD: Spec = Spec {
    name: "record",
    kind: Kind::Bytes,
    default: "16384 bytes",
    doc: "largest plaintext of a record, which is delivered only whole [RFC 8446 §5.1]; nginx: ssl_buffer_size",
};

const PARAMS_12: &[Spec] = specs! {
    /// with the certificate, or resumed: one round trip less [RFC 5246 §7.3]
    handshake = "full", Kind::Choice(&["full", "resumed"]);
    CLIENT_HELLO;
    /// ServerHello with a session identifier and the usual extensions [RFC 5246 §7.4.1.3]
    server_hello = "100 bytes", Kind::Bytes;
    /// Certificate to ServerHelloDone, with the certificate of TLS 1.3's server_flight
    server_flight = "800 bytes", Kind::Bytes;
    /// ClientKeyExchange with an X25519 key [RFC 8422 §5.7]
    client_key_exchange = "37 bytes", Kind::Bytes;
    RECORD;
};

const PARAMS_13: &[Spec] = specs! {
    /// with the certificate; resumed: without it, in the same round trips [RFC 8446 §2.2]; early-data: resumed, and the
    /// client's data follows its ClientHello (0-RTT) [RFC 8446 §2.3]
    handshake = "full", Kind::Choice(&["full", "resumed", "early-data"]);
    CLIENT_HELLO;
    SERVER_HELLO;
    SERVER_FLIGHT;
    RESUMED_FLIGHT;
    /// largest amount of early data (max_early_data_size [RFC 8446 §4.2.10]); the rest waits for the handshake;
    /// BoringSSL's value
    early_data_limit = "14336 bytes", Kind::Bytes;
    RECORD;
};

named! {
    /// A version of TLS, with its name in a scenario.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Version {
        /// TLS 1.2.
        Tls12 = "1.2",
        /// TLS 1.3.
        Tls13 = "1.3",
    }
}

/// Every version; the last is the newest.
pub const VERSIONS: &[Version] = &[Version::Tls12, Version::Tls13];

impl Version {
    /// Its document.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Version::Tls12 => "RFC 5246",
            Version::Tls13 => "RFC 8446",
        }
    }

    /// Its parameters.
    #[must_use]
    pub fn params(self) -> &'static [Spec] {
        match self {
            Version::Tls12 => PARAMS_12,
            Version::Tls13 => PARAMS_13,
        }
    }
}

/// Returns the version of that name.
///
/// # Errors
/// An unknown name; the message lists the nearest or all names.
pub fn find_version(name: &str) -> Result<Version, ParamError> {
    VERSIONS.iter().copied().find(|v| v.name() == name).ok_or_else(|| {
        let message = unknown_name("TLS version", name, VERSIONS.iter().map(|v| v.name()));
        ParamError { name: "version".into(), message }
    })
}

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// With the certificate.
    Full,
    /// Of an earlier session.
    Resumed,
    /// Of an earlier session, with data in the client's first flight.
    EarlyData,
}

/// The parameters of a connection; lengths are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The version.
    pub version: Version,
    /// How the connection begins.
    pub handshake: Handshake,
    /// ClientHello.
    pub client_hello: u32,
    /// ServerHello.
    pub server_hello: u32,
    /// The server's messages after ServerHello; those of a resumed handshake of TLS 1.2 are the Finished only.
    pub server_flight: u32,
    /// ClientKeyExchange of TLS 1.2.
    pub client_key_exchange: u32,
    /// A Finished message.
    pub finished: u32,
    /// Largest amount of early data.
    pub early_data_limit: u64,
    /// Largest plaintext of a record.
    pub record: u32,
    /// What an encrypted record has besides its plaintext.
    pub overhead: u32,
}

impl Config {
    /// Reads the parameters of a version.
    ///
    /// # Errors
    /// An unknown version, an unknown parameter, or a value that is not allowed.
    pub fn read(version: &str, given: &[(String, Raw)]) -> Result<Config, ParamError> {
        let version = find_version(version)?;
        let params = Params::read(version.params(), given)?;
        let handshake = match params.choice("handshake") {
            "resumed" => Handshake::Resumed,
            "early-data" => Handshake::EarlyData,
            _ => Handshake::Full,
        };
        let message = |name: &str| within(&params, name, 1 << 20);
        let is_13 = version == Version::Tls13;
        let flight = if is_13 && handshake != Handshake::Full { "resumed_flight" } else { "server_flight" };
        Ok(Config {
            version,
            handshake,
            client_hello: message("client_hello")?,
            server_hello: message("server_hello")?,
            server_flight: message(flight)?,
            client_key_exchange: if is_13 { 0 } else { message("client_key_exchange")? },
            // With SHA-256: 4 + 32 bytes [RFC 8446 §4.4.4]; verify_data of 12 bytes in TLS 1.2 [RFC 5246 §7.4.9].
            finished: if is_13 { 36 } else { 16 },
            early_data_limit: if is_13 { params.bytes("early_data_limit").0 } else { 0 },
            record: within(&params, "record", MAX_RECORD)?,
            overhead: if is_13 { OVERHEAD_13 } else { OVERHEAD_12 },
        })
    }
}

fn within(params: &Params, name: &str, most: u64) -> Result<u32, ParamError> {
    let bytes = params.bytes(name).0;
    if (1..=most).contains(&bytes) {
        return Ok(bytes as u32);
    }
    let message = format!("{bytes} bytes given: 1 to {most} bytes are allowed");
    Err(ParamError { name: name.into(), message })
}
