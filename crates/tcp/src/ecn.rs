//! Congestion marks: how the receiver reports them, and how the sender reads the reports.
//!
//! ```text
//! classic    ECE in every ACK from a mark until CWR                                               [RFC 3168 §6.1.3]
//! DCTCP      ECE = the segments that this ACK covers were marked: an ACK is sent at each change   [RFC 8257 §3.2]
//! accurate   ACE, three bits: packets that arrived with a mark, modulo 8; an option with the bytes that arrived with
//!            each codepoint. An ACK is sent for the first mark after none and for every second mark  [RFC 9768 §3.2]
//! ```
//! In the accurate mode AE, CWR and ECE form the ACE field; in the handshake they request it (1, 1, 1) and accept it
//! (0, 1, 0 for a SYN without ECN) [RFC 9768 §3.1.1]. SYNs and pure ACKs are not ECN-capable here. The counters r.cep, r.ceb,
//! r.e0b, r.e1b, s.cep and s.ceb are those of RFC 9768 §3.2.

use crate::config::{Config, EcnFeedback};
use dumbbell_wire::{AccEcn, Ecn, TcpFlags};

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

    /// Returns the flags of a SYN.
    pub(crate) fn syn_flags(config: &Config) -> TcpFlags {
        let wanted = EcnMode::wanted(config);
        let (ae, any) = (wanted == EcnMode::Accurate, wanted != EcnMode::Off);
        TcpFlags::SYN | TcpFlags::AE.when(ae) | (TcpFlags::CWR | TcpFlags::ECE).when(any)
    }

    /// Returns the mode in which a SYN with these flags is answered. An endpoint that wants accurate feedback also accepts
    /// the classic one.
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

/// The receiver's side: it counts marks and writes the feedback into segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnReceiver {
    pub(crate) mode: EcnMode,
    /// Classic: ECE is set until CWR arrives; DCTCP: the last packet was marked (DCTCP.CE).
    ece: bool,
    /// Packets that arrived with a mark (r.cep).
    cep: u64,
    /// Payload bytes that arrived with ECT(0), CE, ECT(1): r.e0b, r.ceb, r.e1b.
    bytes: [u64; 3],
    /// The values in the last option.
    last_option: [u64; 3],
    last_marked: bool,
    marks_since_ack: u32,
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
    /// A first mark: the sender may have little data outstanding, so that its next segments need quick ACKs.
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
                AckRequest { quick: first, ..AckRequest::default() }
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
                let last =
                    |order: [usize; 3]| order.iter().rposition(|i| self.bytes[*i] != self.last_option[*i]);
                let (zero, one) = ([0, 1, 2], [2, 1, 0]);
                let reversed = last(one) < last(zero);
                let count = last(if reversed { one } else { zero }).map_or(0, |last| last + 1);
                self.last_option = self.bytes;
                Some(AccEcn {
                    reversed,
                    count: count as u8,
                    fields: self.bytes.map(|b| b as u32 & 0xff_ffff),
                })
            }
        }
    }
}

/// The sender's side: the marks reported so far, and the response to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnSender {
    pub(crate) mode: EcnMode,
    /// Packets reported as marked (s.cep).
    cep: u64,
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
fn safest_marks(least: u64, acknowledged: u64) -> u64 {
    if acknowledged <= least { least } else { acknowledged - ((acknowledged - least) & 7) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(mode: EcnMode) -> EcnReceiver {
        EcnReceiver { mode, ..EcnReceiver::default() }
    }

    fn flags(e: &mut EcnReceiver) -> TcpFlags {
        let mut flags = TcpFlags::default();
        e.write_feedback(&mut flags, true);
        flags
    }

    #[test]
    fn the_classic_echo_lasts_until_cwr() {
        let mut e = receiver(EcnMode::Classic);
        assert!(e.on_packet(Ecn::CE, TcpFlags::default(), 1000).quick);
        assert!(flags(&mut e).contains(TcpFlags::ECE));
        assert!(!e.on_packet(Ecn::ECT0, TcpFlags::default(), 1000).quick);
        assert!(flags(&mut e).contains(TcpFlags::ECE));
        e.on_packet(Ecn::ECT0, TcpFlags::CWR, 1000);
        assert!(!flags(&mut e).contains(TcpFlags::ECE));
        // CWR and a mark in one packet: CWR first, then the mark.
        e.on_packet(Ecn::CE, TcpFlags::CWR, 1000);
        assert!(flags(&mut e).contains(TcpFlags::ECE));
    }

    #[test]
    fn dctcp_requests_an_ack_at_each_change() {
        let mut e = receiver(EcnMode::Dctcp);
        let mut observed = Vec::new();
        for ecn in [Ecn::ECT0, Ecn::CE, Ecn::CE, Ecn::ECT0] {
            let request = e.on_packet(ecn, TcpFlags::default(), 1000);
            observed.push((request.now, flags(&mut e).contains(TcpFlags::ECE)));
            e.set_ce_state(ecn);
        }
        assert_eq!(observed, [(false, false), (true, false), (false, true), (true, true)]);
        assert!(!flags(&mut e).contains(TcpFlags::ECE));
    }

    #[test]
    fn ace_counts_modulo_eight_from_five() {
        let mut e = receiver(EcnMode::Accurate);
        let mut sender = EcnSender { mode: EcnMode::Accurate, ..EcnSender::default() };
        let mut marked = 0;
        for i in 0..20 {
            let ecn = if i % 3 == 0 { Ecn::CE } else { Ecn::ECT1 };
            e.on_packet(ecn, TcpFlags::default(), 1000);
            let f = flags(&mut e);
            marked += sender.read(f, None, 1000, 1000).bytes;
        }
        assert_eq!((e.cep, marked), (5 + 7, 7000)); // 0, 3, .. 18
    }

    #[test]
    fn a_first_mark_and_every_second_one_require_an_ack() {
        let mut e = receiver(EcnMode::Accurate);
        let mut now = |ecn| e.on_packet(ecn, TcpFlags::default(), 1000).now;
        assert_eq!([now(Ecn::ECT1), now(Ecn::CE), now(Ecn::CE)], [false, true, true]);
        flags(&mut e);
        let mut now = |ecn| e.on_packet(ecn, TcpFlags::default(), 1000).now;
        assert_eq!([now(Ecn::CE), now(Ecn::CE)], [false, true]);
    }

    #[test]
    fn the_option_has_the_shorter_order() {
        let mut e = receiver(EcnMode::Accurate);
        e.on_packet(Ecn::ECT1, TcpFlags::default(), 1000);
        let option = e.write_feedback(&mut TcpFlags::default(), true).unwrap();
        assert_eq!((option.reversed, option.count, option.fields), (true, 1, [1, 0, 1001]));
        assert_eq!((option.marked(), option.bytes()), (None, 5));
        assert_eq!(e.write_feedback(&mut TcpFlags::default(), true), None); // unchanged
        e.on_packet(Ecn::CE, TcpFlags::default(), 700);
        let option = e.write_feedback(&mut TcpFlags::default(), true).unwrap();
        assert_eq!((option.count, option.marked(), option.bytes()), (2, Some(700), 8));
    }

    #[test]
    fn a_counter_that_may_have_wrapped_is_read_as_if_it_had() {
        // The counter has moved by 2 while 20 packets were acknowledged: 18 marks are possible. With 9: only 2.
        assert_eq!(
            (safest_marks(2, 20), safest_marks(2, 9), safest_marks(2, 10), safest_marks(3, 1)),
            (18, 2, 10, 3)
        );
        // With the option: 2 packets.
        let mut sender = EcnSender { mode: EcnMode::Accurate, ..EcnSender::default() };
        let option = AccEcn { reversed: false, count: 2, fields: [0, 2000, 0] };
        let f = TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE; // ACE 7 = 5 + 2
        let report = sender.read(f, Some(&option), 20_000, 1000);
        assert_eq!((report.bytes, sender.cep), (2000, 7));
    }

    #[test]
    fn handshakes_of_all_pairs() {
        let config = |ecn: &str, feedback: &str| {
            let given = [("ecn", ecn), ("ecn_feedback", feedback)].map(|(n, v)| {
                let raw = match v.parse::<bool>() {
                    Ok(b) => dumbbell_units::param::Raw::Bool(b),
                    Err(_) => dumbbell_units::param::Raw::Text(v.into()),
                };
                (n.to_owned(), raw)
            });
            Config::read("rfc", &given, dumbbell_cc::find("sack").unwrap()).unwrap()
        };
        let off = config("false", "classic");
        let (classic, accurate) = (config("true", "classic"), config("true", "accurate"));
        let negotiate = |client: &Config, server: &Config| {
            let mode = EcnMode::on_syn(server, EcnMode::syn_flags(client));
            (EcnMode::on_syn_ack(client, mode.syn_ack_flags()), mode)
        };
        assert_eq!(negotiate(&accurate, &accurate), (EcnMode::Accurate, EcnMode::Accurate));
        assert_eq!(negotiate(&accurate, &classic), (EcnMode::Classic, EcnMode::Classic));
        assert_eq!(negotiate(&classic, &accurate), (EcnMode::Classic, EcnMode::Classic));
        assert_eq!(negotiate(&off, &accurate), (EcnMode::Off, EcnMode::Off));
        assert_eq!(negotiate(&accurate, &off), (EcnMode::Off, EcnMode::Off));
        let dctcp = config("true", "dctcp");
        assert_eq!(negotiate(&dctcp, &dctcp), (EcnMode::Dctcp, EcnMode::Dctcp));
    }
}
