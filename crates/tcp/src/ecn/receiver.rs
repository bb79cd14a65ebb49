//! The receiver's side of ECN: it counts marks and writes the feedback into segments [RFC 3168 §6.1.3, RFC 8257 §3.2,
//! RFC 9768 §3.2; Linux tcp_input.c __tcp_ecn_check_ce, tcp_dctcp.h dctcp_ece_ack_update].

use super::{EcnMode, INITIAL_BYTES, INITIAL_CEP};
use dumbbell_wire::{AccEcn, Ecn, TcpFlags};

/// The receiver's side: it counts marks and writes the feedback into segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnReceiver {
    pub(crate) mode: EcnMode,
    /// Classic: ECE is set until CWR arrives; DCTCP: the last packet was marked (DCTCP.CE).
    ece: bool,
    /// Packets that arrived with a mark (r.cep).
    pub(super) cep: u64,
    /// Payload bytes that arrived with ECT(0), CE, ECT(1): r.e0b, r.ceb, r.e1b.
    bytes: [u64; 3],
    /// The values in the last option.
    last_option: [u64; 3],
    last_marked: bool,
    marks_since_ack: u32,
    /// A segment was ECN-capable (TCP_ECN_SEEN).
    capable_seen: bool,
}

impl Default for EcnReceiver {
    fn default() -> EcnReceiver {
        EcnReceiver {
            mode: EcnMode::Off,
            ece: false,
            cep: INITIAL_CEP,
            bytes: INITIAL_BYTES,
            last_option: INITIAL_BYTES,
            last_marked: false,
            marks_since_ack: 0,
            capable_seen: false,
        }
    }
}

/// The ACKs that a packet's ECN field requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckRequest {
    /// An ACK must be sent at once.
    pub(crate) now: bool,
    /// Before it, an ACK for the segments before this packet, if they are not acknowledged yet.
    pub(crate) before: bool,
    /// A first mark, or a retransmission: the sender may have little data outstanding, so that its next segments need
    /// quick ACKs.
    pub(crate) quick: bool,
}

impl EcnReceiver {
    /// Counts a packet that arrives.
    pub(crate) fn on_packet(&mut self, ecn: Ecn, flags: TcpFlags, payload: u32) -> AckRequest {
        let ce = ecn == Ecn::CE;
        match self.mode {
            EcnMode::Off => AckRequest::default(),
            EcnMode::Classic => {
                let cwr = flags.contains(TcpFlags::CWR);
                let first = ce && (!self.ece || cwr);
                self.ece = ce || (self.ece && !cwr);
                // Data that isn't ECN-capable, after data that was, is probably a retransmission.
                let again = self.capable_seen && payload > 0 && !ecn.is_capable();
                self.capable_seen |= ecn.is_capable();
                AckRequest { quick: first || again, ..AckRequest::default() }
            }
            EcnMode::Dctcp if payload == 0 => AckRequest::default(),
            EcnMode::Dctcp => {
                let changes = ce != self.ece;
                // The ACK for the segments before this packet carries the old state [RFC 8257 §3.2].
                AckRequest { now: changes, before: changes, quick: false }
            }
            EcnMode::Accurate => self.count(ecn, payload),
        }
    }

    /// DCTCP: changes the state for the ACKs from now on [RFC 8257 §3.2; Linux tcp_dctcp.h dctcp_ece_ack_update].
    pub(crate) fn set_ce_state(&mut self, ecn: Ecn) {
        if self.mode == EcnMode::Dctcp {
            self.ece = ecn == Ecn::CE;
        }
    }

    fn count(&mut self, ecn: Ecn, payload: u32) -> AckRequest {
        let ce = ecn == Ecn::CE;
        let first = ce && !self.last_marked && payload > 0;
        self.last_marked = ce;
        let field = match ecn {
            Ecn::ECT0 => Some(0),
            Ecn::CE => Some(1),
            Ecn::ECT1 => Some(2),
            _ => None,
        };
        if let Some(field) = field {
            self.bytes[field] += u64::from(payload);
        }
        self.cep += u64::from(ce);
        self.marks_since_ack += u32::from(ce);
        let limit = if payload > 0 { 2 } else { 3 };
        AckRequest { now: first || self.marks_since_ack >= limit, ..AckRequest::default() }
    }

    /// Writes the feedback into the flags of a segment; returns the option, if `option_fits` and it has changed.
    pub(crate) fn write_feedback(&mut self, flags: &mut TcpFlags, option_fits: bool) -> Option<AccEcn> {
        match self.mode {
            EcnMode::Off => None,
            EcnMode::Classic | EcnMode::Dctcp => {
                flags.set(TcpFlags::ECE, self.ece);
                None
            }
            EcnMode::Accurate => {
                flags.set_ace(self.cep as u8);
                self.marks_since_ack = 0;
                if !option_fits || self.bytes == self.last_option {
                    return None;
                }
                // The order in which fewer fields include all changed ones [RFC 9768 §3.2.3].
                let last = |order: [usize; 3]| order.iter().rposition(|i| self.bytes[*i] != self.last_option[*i]);
                let (zero, one) = ([0, 1, 2], [2, 1, 0]);
                let reversed = last(one) < last(zero);
                let count = last(if reversed { one } else { zero }).map_or(0, |last| last + 1);
                self.last_option = self.bytes;
                Some(AccEcn { reversed, count: count as u8, fields: self.bytes.map(|b| b as u32 & 0xff_ffff) })
            }
        }
    }
}
