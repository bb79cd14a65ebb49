//! Congestion marks: how the receiver tells of them, and what the sender reads.
//!
//! ```text
//! classic    ECE in every ACK from a mark until CWR                                           [RFC 3168 §6.1.3]
//! DCTCP      ECE says whether what an ACK covers was marked: an ACK goes at each change       [RFC 8257 §3.2]
//! accurate   ACE, three bits: how many packets came marked, modulo 8; an option with the bytes that came with each
//!            codepoint. An ACK goes with the first mark after none and with every second mark [RFC 9768 §3.2]
//! ```
//! In the accurate mode AE, CWR and ECE are the ACE field; in the handshake they ask for it (1, 1, 1) and grant it
//! (0, 1, 0 for a SYN without ECN) [RFC 9768 §3.1.1]. SYNs and pure ACKs are not ECN-capable here.

use crate::config::{Config, EcnFeedback};
use dumbbell_wire::{AccEcn, Ecn, TcpFlags};

/// What the two ends have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Off,
    Classic,
    Dctcp,
    Accurate,
}

impl Mode {
    /// What an endpoint would like.
    fn wanted(config: &Config) -> Mode {
        match (config.ecn, config.ecn_feedback) {
            (false, _) => Mode::Off,
            (true, EcnFeedback::Classic) => Mode::Classic,
            (true, EcnFeedback::Dctcp) => Mode::Dctcp,
            (true, EcnFeedback::Accurate) => Mode::Accurate,
        }
    }

    /// What two endpoints agree on that don't ask each other.
    pub(crate) fn common(a: &Config, b: &Config) -> Mode {
        let (a, b) = (Mode::wanted(a), Mode::wanted(b));
        if a == b { a } else { Mode::Off }
    }

    /// The flags of a SYN.
    pub(crate) fn ask(config: &Config) -> TcpFlags {
        let wanted = Mode::wanted(config);
        let (ae, any) = (wanted == Mode::Accurate, wanted != Mode::Off);
        TcpFlags::SYN | TcpFlags::AE.when(ae) | (TcpFlags::CWR | TcpFlags::ECE).when(any)
    }

    /// What a SYN with these flags leads to. An endpoint with the accurate feedback can also do with the classic one.
    pub(crate) fn answer(config: &Config, syn: TcpFlags) -> Mode {
        let classic = TcpFlags::CWR | TcpFlags::ECE;
        match (Mode::wanted(config), syn.contains(TcpFlags::AE), syn.contains(classic)) {
            (Mode::Off, ..) | (_, false, false) => Mode::Off,
            (Mode::Accurate, true, _) => Mode::Accurate,
            (Mode::Accurate | Mode::Classic, ..) => Mode::Classic,
            (Mode::Dctcp, ..) => Mode::Dctcp,
        }
    }

    /// The flags of a SYN-ACK.
    pub(crate) fn grant(self) -> TcpFlags {
        let ecn = match self {
            Mode::Off => TcpFlags::default(),
            Mode::Classic | Mode::Dctcp => TcpFlags::ECE,
            Mode::Accurate => TcpFlags::CWR,
        };
        TcpFlags::SYN | TcpFlags::ACK | ecn
    }

    /// What a SYN-ACK with these flags grants.
    pub(crate) fn granted(config: &Config, flags: TcpFlags) -> Mode {
        match (Mode::wanted(config), flags.ace()) {
            (Mode::Off, _) | (_, 0b000 | 0b111) => Mode::Off,
            (Mode::Accurate, 0b001) => Mode::Classic,
            (wanted, ..) => wanted,
        }
    }
}

/// The receiver's side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo {
    pub(crate) mode: Mode,
    /// Classic: an echo is due; DCTCP: the last packet came marked.
    echo: bool,
    /// Packets that came marked, and payload bytes that came with ECT(0), marked, with ECT(1).
    packets: u64,
    bytes: [u64; 3],
    /// The bytes that the last option told of.
    told: [u64; 3],
    last_marked: bool,
    marks_since_ack: u32,
}

impl Default for Echo {
    fn default() -> Echo {
        // The counters' first values [RFC 9768 §3.2.1].
        Echo {
            mode: Mode::Off,
            echo: false,
            packets: 5,
            bytes: [1, 0, 1],
            told: [1, 0, 1],
            last_marked: false,
            marks_since_ack: 0,
        }
    }
}

/// What a packet's ECN field asks of the ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asks {
    /// An ACK must go at once.
    pub(crate) now: bool,
    /// Before it one for what came before this packet, if that isn't acknowledged yet.
    pub(crate) before: bool,
    /// A first mark: the sender may have little outstanding.
    pub(crate) quick: bool,
}

impl Echo {
    /// A packet arrives.
    pub(crate) fn on_packet(&mut self, ecn: Ecn, flags: TcpFlags, payload: u32) -> Asks {
        let ce = ecn == Ecn::CE;
        match self.mode {
            Mode::Off => Asks::default(),
            Mode::Classic => {
                let cwr = flags.contains(TcpFlags::CWR);
                let first = ce && (!self.echo || cwr);
                self.echo = ce || (self.echo && !cwr);
                Asks { quick: first, ..Asks::default() }
            }
            Mode::Dctcp if payload == 0 => Asks::default(),
            Mode::Dctcp => {
                let changes = ce != self.echo;
                // The ACK for what came before still says what was.
                Asks { now: changes, before: changes, quick: false }
            }
            Mode::Accurate => self.count(ecn, payload),
        }
    }

    /// DCTCP: what was said of the packets so far has been said.
    pub(crate) fn turn(&mut self, ecn: Ecn) {
        if self.mode == Mode::Dctcp {
            self.echo = ecn == Ecn::CE;
        }
    }

    fn count(&mut self, ecn: Ecn, payload: u32) -> Asks {
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
        self.packets += u64::from(ce);
        self.marks_since_ack += u32::from(ce);
        let most = if payload > 0 { 2 } else { 3 };
        Asks { now: first || self.marks_since_ack >= most, ..Asks::default() }
    }

    /// What a segment that leaves tells: flags, and an option where there is room for it.
    pub(crate) fn tell(&mut self, flags: &mut TcpFlags, room: bool) -> Option<AccEcn> {
        match self.mode {
            Mode::Off => None,
            Mode::Classic | Mode::Dctcp => {
                flags.set(TcpFlags::ECE, self.echo);
                None
            }
            Mode::Accurate => {
                flags.set_ace(self.packets as u8);
                self.marks_since_ack = 0;
                if !room || self.bytes == self.told {
                    return None;
                }
                // The order in which fewer fields reach all that has changed [RFC 9768 §3.2.3].
                let last = |order: [usize; 3]| order.iter().rposition(|i| self.bytes[*i] != self.told[*i]);
                let (zero, one) = ([0, 1, 2], [2, 1, 0]);
                let reversed = last(one) < last(zero);
                let count = last(if reversed { one } else { zero }).map_or(0, |last| last + 1);
                self.told = self.bytes;
                Some(AccEcn {
                    reversed,
                    count: count as u8,
                    fields: self.bytes.map(|b| b as u32 & 0xff_ffff),
                })
            }
        }
    }
}

/// The sender's side: what it knows of the counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    packets: u64,
    /// Marked bytes.
    bytes: u64,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { packets: 5, bytes: 0 }
    }
}

/// What an ACK says of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// It tells of a mark.
    pub(crate) any: bool,
    /// Bytes that came marked; 0 where only the classic echo tells.
    pub(crate) bytes: u64,
}

impl Marks {
    /// Reads an ACK that delivers so many bytes in segments of `mss` at most.
    pub(crate) fn read(
        &mut self,
        mode: Mode,
        flags: TcpFlags,
        option: Option<&AccEcn>,
        delivered: u64,
        mss: u64,
    ) -> Told {
        match mode {
            Mode::Off => Told::default(),
            Mode::Classic => Told { any: flags.contains(TcpFlags::ECE), bytes: 0 },
            Mode::Dctcp => {
                let any = flags.contains(TcpFlags::ECE);
                Told { any, bytes: if any { delivered } else { 0 } }
            }
            Mode::Accurate => {
                let ace = u64::from(flags.ace());
                let bytes = option.and_then(AccEcn::marked).map(|field| {
                    let more = u64::from(field).wrapping_sub(self.bytes) & 0xff_ffff;
                    self.bytes += more;
                    more
                });
                let least = ace.wrapping_sub(self.packets) & 7;
                let packets = match bytes {
                    // As many whole turns of the counter as the bytes need.
                    Some(bytes) => least + bytes.div_ceil(mss).saturating_sub(least).div_ceil(8) * 8,
                    None => safest(least, delivered.div_ceil(mss)),
                };
                self.packets += packets;
                let bytes = bytes.unwrap_or_else(|| {
                    let bytes = (packets * mss).min(delivered);
                    self.bytes += bytes; // until an option says better
                    bytes
                });
                Told { any: packets > 0, bytes }
            }
        }
    }
}

/// The most marks that a counter can stand for that has moved by `least` modulo 8 while so many packets were acknowledged
/// [RFC 9768 §3.2.2.5.2].
fn safest(least: u64, acknowledged: u64) -> u64 {
    if acknowledged <= least { least } else { acknowledged - ((acknowledged - least) & 7) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(mode: Mode) -> Echo {
        Echo { mode, ..Echo::default() }
    }

    fn flags(e: &mut Echo) -> TcpFlags {
        let mut flags = TcpFlags::default();
        e.tell(&mut flags, true);
        flags
    }

    #[test]
    fn the_classic_echo_lasts_until_cwr() {
        let mut e = echo(Mode::Classic);
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
    fn dctcp_tells_of_each_change() {
        let mut e = echo(Mode::Dctcp);
        let mut seen = Vec::new();
        for ecn in [Ecn::ECT0, Ecn::CE, Ecn::CE, Ecn::ECT0] {
            let asks = e.on_packet(ecn, TcpFlags::default(), 1000);
            seen.push((asks.now, flags(&mut e).contains(TcpFlags::ECE)));
            e.turn(ecn);
        }
        assert_eq!(seen, [(false, false), (true, false), (false, true), (true, true)]);
        assert!(!flags(&mut e).contains(TcpFlags::ECE));
    }

    #[test]
    fn ace_counts_modulo_eight_from_five() {
        let mut e = echo(Mode::Accurate);
        let mut marks = Marks::default();
        let mut told = 0;
        for i in 0..20 {
            let ecn = if i % 3 == 0 { Ecn::CE } else { Ecn::ECT1 };
            e.on_packet(ecn, TcpFlags::default(), 1000);
            let f = flags(&mut e);
            told += marks.read(Mode::Accurate, f, None, 1000, 1000).bytes;
        }
        assert_eq!((e.packets, told), (5 + 7, 7000)); // 0, 3, .. 18
    }

    #[test]
    fn a_first_mark_and_every_second_one_ask_for_an_ack() {
        let mut e = echo(Mode::Accurate);
        let mut now = |ecn| e.on_packet(ecn, TcpFlags::default(), 1000).now;
        assert_eq!([now(Ecn::ECT1), now(Ecn::CE), now(Ecn::CE)], [false, true, true]);
        flags(&mut e);
        let mut now = |ecn| e.on_packet(ecn, TcpFlags::default(), 1000).now;
        assert_eq!([now(Ecn::CE), now(Ecn::CE)], [false, true]);
    }

    #[test]
    fn the_option_tells_bytes_in_the_shorter_order() {
        let mut e = echo(Mode::Accurate);
        e.on_packet(Ecn::ECT1, TcpFlags::default(), 1000);
        let option = e.tell(&mut TcpFlags::default(), true).unwrap();
        assert_eq!((option.reversed, option.count, option.fields), (true, 1, [1, 0, 1001]));
        assert_eq!((option.marked(), option.bytes()), (None, 5));
        assert_eq!(e.tell(&mut TcpFlags::default(), true), None); // nothing new
        e.on_packet(Ecn::CE, TcpFlags::default(), 700);
        let option = e.tell(&mut TcpFlags::default(), true).unwrap();
        assert_eq!((option.count, option.marked(), option.bytes()), (2, Some(700), 8));
    }

    #[test]
    fn a_counter_that_may_have_turned_is_read_as_if_it_had() {
        // It has moved by 2 while 20 packets were acknowledged: 18 marks are possible. With 9: only 2.
        assert_eq!((safest(2, 20), safest(2, 9), safest(2, 10), safest(3, 1)), (18, 2, 10, 3));
        // The option knows: 2 packets' worth.
        let mut marks = Marks::default();
        let option = AccEcn { reversed: false, count: 2, fields: [0, 2000, 0] };
        let f = TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE; // ACE 7 = 5 + 2
        let told = marks.read(Mode::Accurate, f, Some(&option), 20_000, 1000);
        assert_eq!((told.bytes, marks.packets), (2000, 7));
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
        let meet = |client: &Config, server: &Config| {
            let mode = Mode::answer(server, Mode::ask(client));
            (Mode::granted(client, mode.grant()), mode)
        };
        assert_eq!(meet(&accurate, &accurate), (Mode::Accurate, Mode::Accurate));
        assert_eq!(meet(&accurate, &classic), (Mode::Classic, Mode::Classic));
        assert_eq!(meet(&classic, &accurate), (Mode::Classic, Mode::Classic));
        assert_eq!(meet(&off, &accurate), (Mode::Off, Mode::Off));
        assert_eq!(meet(&accurate, &off), (Mode::Off, Mode::Off));
        let dctcp = config("true", "dctcp");
        assert_eq!(meet(&dctcp, &dctcp), (Mode::Dctcp, Mode::Dctcp));
    }
}
