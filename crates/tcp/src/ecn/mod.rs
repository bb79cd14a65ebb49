//! Congestion marks: how the receiver reports them, and how the sender reads the reports.
//!
//! ```text
//! classic    ECE in every ACK from a mark until CWR                                               [RFC 3168 §6.1.3]
//! DCTCP      ECE = the segments that this ACK covers were marked: an ACK is sent at each change   [RFC 8257 §3.2]
//! accurate   ACE, three bits: packets that arrived with a mark, modulo 8; an option with the bytes that arrived with
//!            each codepoint. An ACK is sent for the first mark after none and for every second mark  [RFC 9768 §3.2]
//! ```
//! In the accurate mode AE, CWR and ECE form the ACE field; in the handshake they request it (1, 1, 1) and accept it
//! (0, 1, 0 for a SYN without ECN) [RFC 9768 §3.1.1]. SYNs and pure ACKs are not ECN-capable here. The counters r.cep,
//! r.ceb, r.e0b, r.e1b, s.cep and s.ceb are those of RFC 9768 §3.2.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub(crate) use receiver::{AckRequest, EcnReceiver};
pub(crate) use sender::{Delivered, EcnSender, MarkReport};

use crate::config::{Config, EcnFeedback};
use dumbbell_wire::TcpFlags;

/// Initial value of r.cep and s.cep [RFC 9768 §3.2.1].
const INITIAL_CEP: u64 = 5;
/// Initial values of r.e0b, r.ceb and r.e1b [RFC 9768 §3.2.1].
const INITIAL_BYTES: [u64; 3] = [1, 0, 1];

/// The feedback that the two ends have negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EcnMode {
    #[default]
    Off,
    Classic,
    Dctcp,
    Accurate,
}

impl EcnMode {
    /// Returns the mode that an endpoint is configured for.
    fn wanted(config: &Config) -> EcnMode {
        match (config.ecn.enabled, config.ecn.feedback) {
            (false, _) => EcnMode::Off,
            (true, EcnFeedback::Classic) => EcnMode::Classic,
            (true, EcnFeedback::Dctcp) => EcnMode::Dctcp,
            (true, EcnFeedback::Accurate) => EcnMode::Accurate,
        }
    }

    /// Returns the mode of two endpoints that are connected without a handshake.
    pub(crate) fn common(a: &Config, b: &Config) -> EcnMode {
        let (a, b) = (EcnMode::wanted(a), EcnMode::wanted(b));
        if a == b { a } else { EcnMode::Off }
    }

    /// Returns the flags of the first SYN, or of a retransmitted one [RFC 3168 §6.1.1.1].
    pub(crate) fn syn_flags(config: &Config, first: bool) -> TcpFlags {
        let wanted = EcnMode::wanted(config);
        let ae = wanted == EcnMode::Accurate;
        let any = wanted != EcnMode::Off && (first || ae || !config.ecn.fallback);
        TcpFlags::SYN | TcpFlags::AE.when(ae) | (TcpFlags::CWR | TcpFlags::ECE).when(any)
    }

    /// Returns the mode in which a SYN with these flags is answered. An endpoint that wants accurate feedback also
    /// accepts the classic one.
    pub(crate) fn on_syn(config: &Config, syn: TcpFlags) -> EcnMode {
        let classic = TcpFlags::CWR | TcpFlags::ECE;
        match (EcnMode::wanted(config), syn.contains(TcpFlags::AE), syn.contains(classic)) {
            (EcnMode::Off, ..) | (_, false, false) => EcnMode::Off,
            (EcnMode::Accurate, true, _) => EcnMode::Accurate,
            (EcnMode::Accurate | EcnMode::Classic, ..) => EcnMode::Classic,
            (EcnMode::Dctcp, ..) => EcnMode::Dctcp,
        }
    }

    /// Returns the flags of a SYN-ACK.
    pub(crate) fn syn_ack_flags(self) -> TcpFlags {
        let ecn = match self {
            EcnMode::Off => TcpFlags::default(),
            EcnMode::Classic | EcnMode::Dctcp => TcpFlags::ECE,
            EcnMode::Accurate => TcpFlags::CWR,
        };
        TcpFlags::SYN | TcpFlags::ACK | ecn
    }

    /// Returns the mode that a SYN-ACK with these flags accepts.
    pub(crate) fn on_syn_ack(config: &Config, flags: TcpFlags) -> EcnMode {
        match (EcnMode::wanted(config), flags.ace()) {
            (EcnMode::Off, _) | (_, 0b000 | 0b111) => EcnMode::Off,
            (EcnMode::Accurate, 0b001) => EcnMode::Classic,
            (wanted, ..) => wanted,
        }
    }
}
