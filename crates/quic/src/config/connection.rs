//! Datagram sizes, the handshake and its messages, idle timeout [RFC 9000 §7, §8, §10.1, §14].

use super::{Defaults, Reading, invalid};
use dumbbell_tls::{RESUMED_FLIGHT, SERVER_FLIGHT, SERVER_HELLO};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Spec, specs};

/// The smallest allowed maximum datagram size [RFC 9000 §14].
pub(crate) const MIN_DATAGRAM: u32 = 1200;
/// The largest UDP payload [RFC 768, RFC 791 §3.1].
const MAX_UDP_PAYLOAD: u64 = 65_507;
/// The smallest idle timeout: the unit of max_idle_timeout [RFC 9000 §18.2]. An application with more to send connects
/// again after each timeout.
const LEAST_IDLE_TIMEOUT: Dur = Dur::millis(1);
/// Bytes of an address token; implementations choose their own format.
const TOKEN: u32 = 64;

pub(super) const PARAMS: &[Spec] = specs! {
    /// UDP payload of a full datagram at the start; the unit "packets" of sizes [RFC 9000 §14.1]
    initial_datagram = "1200 bytes", Kind::Bytes;
    /// whether probes find a larger datagram size after the handshake [RFC 9000 §14.3, RFC 8899]
    mtu_discovery = "true", Kind::Bool;
    /// largest datagram size that the probes try: an Ethernet packet with an IPv6 header
    max_datagram = "1452 bytes", Kind::Bytes;
    /// how a connection starts: with a full handshake, with one that resumes a session and sends data in the first
    /// flight [RFC 9001 §4.6], or established
    handshake = "1-rtt", Kind::Choice(&["1-rtt", "0-rtt", "none"]);
    /// whether the client's first packet carries a token that validates its address, so that the server may send more
    /// than three times the bytes received [RFC 9000 §8.1.3]
    address_token = "false", Kind::Bool;
    /// ClientHello: with a hybrid key share it needs two datagrams; Chromium 156 sends 1982 to 2142 bytes
    client_hello = "2062 bytes", Kind::Bytes;
    SERVER_HELLO;
    SERVER_FLIGHT;
    RESUMED_FLIGHT;
    /// time without packets after which a connection is closed silently, at least three PTOs [RFC 9000 §10.1]
    idle_timeout = "30 s", Kind::Duration;
    /// whether 1-RTT packets show the round-trip time to an observer of the path [RFC 9000 §17.4]
    spin_bit = "true", Kind::Bool;
    /// whether the sender skips packet numbers at random, so that it detects a receiver that acknowledges packets it
    /// has not received [RFC 9000 §21.4]
    skip_numbers = "false", Kind::Bool;
};

// [quinn-proto 0.11.19 connection/spaces.rs PacketNumberFilter]
pub(super) const QUINN: Defaults = &[("skip_numbers", "true")];

// [aioquic 1.7.2 configuration.py max_datagram_size, idle_timeout]
pub(super) const AIOQUIC: Defaults = &[("mtu_discovery", "false"), ("idle_timeout", "60 s")];

// [QUICHE quic_constants.h kDefaultMaxPacketSize; kMaxOutgoingPacketSize is the default of max_datagram]
pub(super) const CHROMIUM: Defaults = &[("initial_datagram", "1250 bytes")];

/// How a connection starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A full handshake.
    OneRtt,
    /// A resumed handshake with data in the first flight.
    ZeroRtt,
    /// Established.
    Established,
}

/// Datagram sizes, handshake, idle timeout.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionConfig {
    /// UDP payload of a full datagram at the start.
    pub initial_datagram: u32,
    /// Largest UDP payload of a full datagram; the initial one without discovery.
    pub max_datagram: u32,
    /// How the connection starts.
    pub start: Start,
    /// Bytes of the address token; 0 without one.
    pub token: u32,
    /// Bytes of ClientHello.
    pub client_hello: u32,
    /// Bytes of ServerHello.
    pub server_hello: u32,
    /// Bytes of the server's handshake messages after ServerHello.
    pub server_flight: u32,
    /// Idle timeout.
    pub idle_timeout: Dur,
    /// True if 1-RTT packets carry the spin bit.
    pub spin_bit: bool,
    /// True if the sender skips packet numbers.
    pub skip_numbers: bool,
}

impl ConnectionConfig {
    pub(super) fn read(p: &Reading<'_>) -> Result<ConnectionConfig, ParamError> {
        let initial = datagram(p, "initial_datagram")?;
        let max = datagram(p, "max_datagram")?;
        let discovers = p.params.bool("mtu_discovery");
        if discovers && max < initial {
            let message = format!("{max} bytes given: at least initial_datagram, {initial} bytes, is needed");
            return Err(invalid("max_datagram", &message));
        }
        let start = match p.params.choice("handshake") {
            "0-rtt" => Start::ZeroRtt,
            "none" => Start::Established,
            _ => Start::OneRtt,
        };
        let flight = if start == Start::ZeroRtt { "resumed_flight" } else { "server_flight" };
        if p.params.duration("idle_timeout") < LEAST_IDLE_TIMEOUT {
            return Err(invalid("idle_timeout", "at least 1 ms is needed: the unit of max_idle_timeout"));
        }
        Ok(ConnectionConfig {
            initial_datagram: initial,
            max_datagram: if discovers { max } else { initial },
            start,
            token: if p.params.bool("address_token") { TOKEN } else { 0 },
            client_hello: message(p, "client_hello")?,
            server_hello: message(p, "server_hello")?,
            server_flight: message(p, flight)?,
            idle_timeout: p.params.duration("idle_timeout"),
            spin_bit: p.params.bool("spin_bit"),
            skip_numbers: p.params.bool("skip_numbers"),
        })
    }
}

fn datagram(p: &Reading<'_>, name: &str) -> Result<u32, ParamError> {
    let bytes = p.params.bytes(name).0;
    if (u64::from(MIN_DATAGRAM)..=MAX_UDP_PAYLOAD).contains(&bytes) {
        return Ok(bytes as u32);
    }
    Err(invalid(name, &format!("{bytes} bytes given: {MIN_DATAGRAM} to {MAX_UDP_PAYLOAD} bytes are allowed")))
}

/// Bytes of a handshake message.
fn message(p: &Reading<'_>, name: &str) -> Result<u32, ParamError> {
    let bytes = p.params.bytes(name).0;
    if (1..=1 << 20).contains(&bytes) {
        return Ok(bytes as u32);
    }
    Err(invalid(name, &format!("{bytes} bytes given: 1 byte to 1 MiB are allowed")))
}
