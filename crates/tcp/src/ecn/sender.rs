//! The sender's side of ECN: it reads the feedback of ACKs [RFC 3168 §6.1.2, RFC 8257 §3.3, RFC 9768 §3.2.2, §3.2.3].

use super::{EcnMode, INITIAL_CEP};
use dumbbell_wire::{AccEcn, TcpFlags};

/// The sender's side: the marks reported so far, and the response to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnSender {
    pub(crate) mode: EcnMode,
    /// Packets reported as marked (s.cep).
    pub(super) cep: u64,
    /// Bytes reported as marked (s.ceb).
    ceb: u64,
    /// snd_max at the last reduction for a mark: marks of the same window don't cause another [RFC 3168 §6.1.2].
    pub(crate) recover: u64,
    /// True if the next new segment carries CWR.
    pub(crate) owes_cwr: bool,
}

impl Default for EcnSender {
    fn default() -> EcnSender {
        EcnSender { mode: EcnMode::Off, cep: INITIAL_CEP, ceb: 0, recover: 0, owes_cwr: false }
    }
}

/// The data that an ACK newly reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// Bytes as they count in the window.
    pub(crate) bytes: u64,
    /// Payload bytes.
    pub(crate) payload: u64,
    /// Number of segments.
    pub(crate) segments: u64,
    /// Bytes that a segment counts as; 0: as its payload.
    pub(crate) unit: u64,
}

/// The marks that an ACK newly reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MarkReport {
    /// True if it reports a mark.
    pub(crate) any: bool,
    /// Bytes that arrived with a mark, as they count in the window; 0 with the classic echo, which has no count.
    pub(crate) bytes: u64,
}

impl EcnSender {
    /// True if segments carry CWR after a reduction: in the accurate mode this flag is a bit of the ACE counter
    /// [RFC 3168 §6.1.2, RFC 9768 §3.1.5].
    pub(crate) fn uses_cwr(&self) -> bool {
        !matches!(self.mode, EcnMode::Off | EcnMode::Accurate)
    }

    /// Reads an ACK that delivers segments of at most `mss`.
    pub(crate) fn read(
        &mut self,
        flags: TcpFlags,
        option: Option<&AccEcn>,
        delivered: &Delivered,
        mss: u64,
    ) -> MarkReport {
        match self.mode {
            EcnMode::Off => MarkReport::default(),
            EcnMode::Classic => MarkReport { any: flags.contains(TcpFlags::ECE), bytes: 0 },
            EcnMode::Dctcp => {
                let any = flags.contains(TcpFlags::ECE);
                MarkReport { any, bytes: if any { delivered.bytes } else { 0 } }
            }
            EcnMode::Accurate => {
                let ace = u64::from(flags.ace());
                let bytes = option.and_then(AccEcn::marked).map(|field| self.read_bytes(field));
                let least = ace.wrapping_sub(self.cep) & 7;
                let packets = match bytes {
                    // As many whole cycles of the counter as the bytes need.
                    Some(bytes) => least + bytes.div_ceil(mss).saturating_sub(least).div_ceil(8) * 8,
                    None => safest_marks(least, delivered.segments),
                };
                self.cep += packets;
                let bytes = bytes.unwrap_or_else(|| {
                    let bytes = (packets * mss).min(delivered.payload);
                    self.ceb += bytes; // an estimate, until the next option
                    bytes
                });
                let counted = match delivered.unit {
                    0 => bytes,
                    // An option may report marks of segments that were delivered before.
                    unit => (packets * unit).min(delivered.bytes.max(bytes)),
                };
                MarkReport { any: packets > 0, bytes: counted }
            }
        }
    }

    /// Returns the bytes that a counter of 24 bits newly reports; an estimate may have been higher.
    fn read_bytes(&mut self, field: u32) -> u64 {
        const RANGE: u64 = 1 << 24;
        let new = u64::from(field).wrapping_sub(self.ceb) % RANGE;
        if new >= RANGE / 2 {
            self.ceb -= (RANGE - new).min(self.ceb);
            return 0;
        }
        self.ceb += new;
        new
    }
}

/// Returns the largest number of marks that agrees with a counter that has moved by `least` modulo 8 while an ACK
/// covers `acknowledged` packets [RFC 9768 §3.2.2.5.2].
pub(super) fn safest_marks(least: u64, acknowledged: u64) -> u64 {
    if acknowledged <= least { least } else { acknowledged - ((acknowledged - least) & 7) }
}
