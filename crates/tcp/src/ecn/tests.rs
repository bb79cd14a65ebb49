//! Feedback of both sides together, and the handshakes of all pairs of modes [RFC 3168 §6.1, RFC 8257 §3.2, RFC 9768
//! §3].

use super::sender::{Delivered, safest_marks};
use super::*;
use dumbbell_wire::{AccEcn, Ecn};

fn receiver(mode: EcnMode) -> EcnReceiver {
    let mut receiver = EcnReceiver::default();
    receiver.mode = mode;
    receiver
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
fn data_that_is_not_capable_after_data_that_was_needs_quick_acks() {
    let mut e = receiver(EcnMode::Classic);
    let mut quick = |ecn, payload| e.on_packet(ecn, TcpFlags::default(), payload).quick;
    // Nothing was capable before; then a retransmission, an ACK, and data as before.
    let packets = [(Ecn::NOT_ECT, 1000), (Ecn::ECT0, 1000), (Ecn::NOT_ECT, 1000), (Ecn::NOT_ECT, 0), (Ecn::ECT0, 1000)];
    assert_eq!(packets.map(|(ecn, payload)| quick(ecn, payload)), [false, false, true, false, false]);
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
    let mut sender = EcnSender::default();
    sender.mode = EcnMode::Accurate;
    let mut marked = 0;
    for i in 0..20 {
        let ecn = if i % 3 == 0 { Ecn::CE } else { Ecn::ECT1 };
        e.on_packet(ecn, TcpFlags::default(), 1000);
        let f = flags(&mut e);
        marked += sender.read(f, None, &delivered(1, 1000, 0), 1000).bytes;
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
    assert_eq!((safest_marks(2, 20), safest_marks(2, 9), safest_marks(2, 10), safest_marks(3, 1)), (18, 2, 10, 3));
    // With the option: 2 packets.
    let mut sender = EcnSender::default();
    sender.mode = EcnMode::Accurate;
    let option = AccEcn { reversed: false, count: 2, fields: [0, 2000, 0] };
    let f = TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE; // ACE 7 = 5 + 2
    let report = sender.read(f, Some(&option), &delivered(20, 1000, 0), 1000);
    assert_eq!((report.bytes, sender.cep), (2000, 7));
}

#[test]
fn short_segments_are_marked_as_full_ones_where_these_count() {
    // Segments of 500 bytes that count as 1448 each. An ACK whose option doesn't fit reports two marks, by the counter
    // alone.
    let mut sender = EcnSender::default();
    sender.mode = EcnMode::Accurate;
    let ace = |n: u64| {
        [TcpFlags::CWR, TcpFlags::ECE, TcpFlags::AE]
            .iter()
            .zip([2, 1, 4])
            .fold(TcpFlags::default(), |flags, (flag, bit)| if n & bit > 0 { flags | *flag } else { flags })
    };
    let report = sender.read(ace(7), None, &delivered(2, 500, 1448), 1448);
    assert_eq!((report.any, report.bytes, sender.cep), (true, 2 * 1448, 7));
    // The next option has the bytes of these two and of a third; a counter below the estimate is no mark.
    let option = AccEcn { reversed: false, count: 2, fields: [0, 1500, 0] };
    let report = sender.read(ace(0), Some(&option), &delivered(1, 500, 1448), 1448);
    assert_eq!((report.any, report.bytes, sender.cep), (true, 1448, 8));
    let option = AccEcn { reversed: false, count: 2, fields: [0, 1400, 0] };
    let report = sender.read(ace(0), Some(&option), &delivered(1, 500, 1448), 1448);
    assert_eq!((report.any, report.bytes, sender.cep), (false, 0, 8));
}

/// Segments of one length.
fn delivered(segments: u64, payload: u64, unit: u64) -> Delivered {
    let bytes = segments * if unit > 0 { unit } else { payload };
    Delivered { bytes, payload: segments * payload, segments, unit }
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
        let mode = EcnMode::on_syn(server, EcnMode::syn_flags(client, true));
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

#[test]
fn linux_sends_the_syn_again_without_ecn() {
    let given = [("ecn".to_owned(), dumbbell_units::param::Raw::Bool(true))];
    let flags = |preset: &str, variant: &str, first| {
        EcnMode::syn_flags(&Config::read(preset, &given, dumbbell_cc::find(variant).unwrap()).unwrap(), first)
    };
    assert!(flags("linux", "cubic", true).contains(TcpFlags::CWR | TcpFlags::ECE));
    assert_eq!(flags("linux", "cubic", false), TcpFlags::SYN);
    // RFC 3168 §6.1.1.1 only allows it. Linux 6.12 has no accurate feedback [net/ipv4/tcp_output.c tcp_ecn_send_syn].
    for (preset, variant) in [("rfc", "cubic"), ("linux", "prague")] {
        assert_eq!(flags(preset, variant, true), flags(preset, variant, false));
    }
}
