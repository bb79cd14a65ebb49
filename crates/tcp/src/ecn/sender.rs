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

/// The marks that an ACK newly reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MarkReport {
    /// True if it reports a mark.
    pub(crate) any: bool,
    /// Bytes that arrived with a mark; 0 with the classic echo, which has no count.
    pub(crate) bytes: u64,
}

impl EcnSender {
    /// True if segments carry CWR after a reduction: in the accurate mode this flag is a bit of the ACE counter
    /// [RFC 3168 §6.1.2, RFC 9768 §3.1.5].
    pub(crate) fn uses_cwr(&self) -> bool {
        !matches!(self.mode, EcnMode::Off | EcnMode::Accurate)
    }

    /// Reads an ACK that delivers `delivered` bytes in segments of at most `mss`.
    pub(crate) fn read(
        &mut self,
        flags: TcpFlags,
        option: Option<&AccEcn>,
        delivered: u64,
        mss: u64,
    ) -> MarkReport {
        match self.mode {
            EcnMode::Off => MarkReport::default(),
            EcnMode::Classic => MarkReport { any: flags.contains(TcpFlags::ECE), bytes: 0 },
            EcnMode::Dctcp => {
                let any = flags.contains(TcpFlags::ECE);
                MarkReport { any, bytes: if any { delivered } else { 0 } }
            }
            EcnMode::Accurate => {
                let ace = u64::from(flags.ace());
                let bytes = option.and_then(AccEcn::marked).map(|field| {
                    let new = u64::from(field).wrapping_sub(self.ceb) & 0xff_ffff;
                    self.ceb += new;
                    new
                });
                let least = ace.wrapping_sub(self.cep) & 7;
                let packets = match bytes {
                    // As many whole cycles of the counter as the bytes need.
                    Some(bytes) => least + bytes.div_ceil(mss).saturating_sub(least).div_ceil(8) * 8,
                    None => safest_marks(least, delivered.div_ceil(mss)),
                };
                self.cep += packets;
                let bytes = bytes.unwrap_or_else(|| {
                    let bytes = (packets * mss).min(delivered);
                    self.ceb += bytes; // an estimate, until the next option
                    bytes
                });
                MarkReport { any: packets > 0, bytes }
            }
        }
    }
}

/// Returns the largest number of marks that agrees with a counter that has moved by `least` modulo 8 while an ACK covers
/// `acknowledged` packets [RFC 9768 §3.2.2.5.2].
pub(super) fn safest_marks(least: u64, acknowledged: u64) -> u64 {
    if acknowledged <= least { least } else { acknowledged - ((acknowledged - least) & 7) }
}
