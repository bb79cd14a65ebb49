//! When a receiver on the stack `linux` acknowledges: quick, delayed, pushed and compressed ACKs [Linux tcp_input.c
//! __tcp_ack_snd_check, tcp_event_data_recv].

use crate::linux_stack::{MSS, config, linux};
use dumbbell_tcp::{Config, Segment};
use dumbbell_testkit::cc_recorder::CcRecorder;
use dumbbell_testkit::wire::{Fate, Faults, Wire, losing};
use dumbbell_units::{Dur, Rate};
use dumbbell_wire::TcpFlags;
use std::cell::RefCell;

/// Sends a segment each `ms`. Returns when ACKs were sent, in ms, and how many segments each newly acknowledged.
fn paced(ms: u64, segments: u64, changes: &[(&str, &str)]) -> Vec<(u64, u64)> {
    paced_with(ms, segments, config(UNPACED, changes))
}

/// Single segments, each of which has the time of a paced one.
const UNPACED: &[(&str, &str)] = &[("send_quantum", "segment"), ("unpaced_segments", "0"), ("pacing_credit", "0")];

/// The same with a configuration.
fn paced_with(ms: u64, segments: u64, config: Config) -> Vec<(u64, u64)> {
    let cc = CcRecorder::new(1000.0 * MSS as f64).paced(Rate(MSS * 8 * 1000 / ms), MSS);
    let mut wire = Wire::with_config(config, move |_| Box::new(cc.clone()), arrives());
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(segments * MSS);
    wire.run_until(100.0);
    let mut before = 0;
    wire.acks
        .iter()
        .map(|(at, acknowledged)| {
            let new = acknowledged - before;
            before = *acknowledged;
            (at.0 / 1_000_000, new)
        })
        .collect()
}

fn arrives() -> Faults<'static> {
    Box::new(|_, _, _| Fate::Arrives)
}

#[test]
fn sixteen_quick_acks_then_every_second_segment() {
    let acks = paced(10, 31, &[]);
    // The first segment is sent at 100 ms and arrives at 150; the last, the 31st, carries PSH.
    let quick: Vec<(u64, u64)> = (0..16).map(|i| (150 + 10 * i, 1)).collect();
    assert_eq!(acks[..16], quick);
    let slow: Vec<(u64, u64)> = (0..7).map(|i| (150 + 170 + 20 * i, 2)).collect();
    assert_eq!(acks[16..23], slow);
    assert_eq!(acks[23..], [(150 + 300, 1)]);
}

#[test]
fn without_quick_acks_every_second_from_the_start() {
    assert_eq!(paced(10, 5, &[("quick_acks", "0")]), [(160, 2), (180, 2), (190, 1)]);
}

#[test]
fn a_single_segment_is_acknowledged_after_40_ms_at_first() {
    // A segment each 60 ms, no quick ACKs. The ACK of the first, at 150 ms, is delayed by 40 ms. The delay doubles: 80
    // ms is more than the time between segments, so that the second one, at 210 ms, is acknowledged with the third.
    let acks = paced(60, 6, &[("quick_acks", "0")]);
    assert_eq!(acks[0], (190, 1));
    assert_eq!(acks[1], (270, 2));
}

#[test]
fn a_constant_delay_is_constant() {
    let mut constant = config(UNPACED, &[("quick_acks", "0"), ("ack_delay", "50 ms")]);
    constant.ack.delay_min = constant.ack.delay;
    let acks = paced_with(60, 3, constant);
    assert_eq!(acks[..2], [(200, 1), (260, 1)]);
}

#[test]
fn a_pushed_segment_is_acknowledged_at_once() {
    // Writes of three segments: each third one carries PSH.
    let changes = [("quick_acks", "0"), ("push_every", "4344 bytes")];
    assert_eq!(paced(10, 7, &changes), [(160, 2), (170, 1), (190, 2), (200, 1), (210, 1)]);
    let mut unpushed = config(UNPACED, &changes);
    unpushed.ack.pushed = false;
    assert_eq!(paced_with(10, 6, unpushed), [(160, 2), (180, 2), (200, 2)]);
}

#[test]
fn a_growing_window_keeps_acks_quick() {
    // The window starts at 20 segments and grows by two with each, up to 162/128 of the start less the segment that is
    // not read yet.
    let count = |changes: &[(&str, &str)]| {
        let acks = paced(10, 41, changes);
        acks.iter().take_while(|a| a.1 == 1).count()
    };
    assert_eq!(count(&[("quick_acks", "2")]), 2);
    // 28,960 * 162 / 128 - 1448 - 28,960 = 6,244 bytes: three segments let it grow (2,896 each). Meanwhile the two
    // quick ACKs of the start are not used up: five.
    assert_eq!(count(&[("quick_acks", "2"), ("autotuning", "true"), ("window_start", "28960 bytes")]), 5);
}

#[test]
fn further_reports_of_a_hole_are_compressed_after_three() {
    // Segments 0 to 9 are sent at once, the first is lost. The SACKs of 1, 2, 3 are sent at once. Those of 4 to 9,
    // which arrive at the same time, are one ACK after 1 ms (less than 5 % of the round trip of 100 ms) and 0.1 ms.
    // Quick ACKs are off.
    let (_, wire) = linux(10, &[("quick_acks", "0")], losing(&[0]));
    let wire = wire.send(10).until_done();
    let sacks: Vec<u64> = wire.acks.iter().filter(|a| a.1 == 0).map(|a| a.0.0 / 100_000).collect();
    assert_eq!(sacks[..4], [1500, 1500, 1500, 1511]);
    let (_, wire) = linux(10, &[("quick_acks", "0"), ("sack_delay", "0 ms")], losing(&[0]));
    let wire = wire.send(10).until_done();
    assert_eq!(wire.acks.iter().filter(|a| a.1 == 0 && a.0.0 == 150_000_000).count(), 9);
}

/// The SACK blocks of the receiver's ACKs, in numbers of segments.
type Reports = RefCell<Vec<(f64, Vec<(u64, u64)>)>>;

/// Records them; `fate` decides the fate of data segments.
fn reporting<'a>(reports: &'a Reports, mut fate: impl FnMut(u64) -> Fate + 'a) -> Faults<'a> {
    // Number of the sender's first data byte.
    let first = (u32::MAX - 5_000).wrapping_add(1);
    Box::new(move |forward, n, segment: &Segment| {
        if forward {
            return if segment.payload > 0 { fate(n) } else { Fate::Arrives };
        }
        let number = |seq: u32| u64::from(seq.wrapping_sub(first)) / MSS;
        let blocks = segment.sack.as_slice().iter().map(|b| (number(b.left.0), number(b.right.0))).collect();
        reports.borrow_mut().push((0.0, blocks));
        Fate::Arrives
    })
}

#[test]
fn compressed_reports_are_sent_before_a_third_range_starts() {
    // Segments 0, 3 and 6 of 0 to 9 are lost. 1, 2 and 4 are reported at once, the report of 5 is held back. 7 would
    // start a third range, so that the report of 5 is sent first, without 7. Those of 8 and 9 are held back for 1.1 ms.
    let reports = Reports::default();
    let faults = reporting(&reports, |n| if [0, 3, 6].contains(&n) { Fate::Lost } else { Fate::Arrives });
    let (_, mut wire) = linux(10, &[("quick_acks", "0")], faults);
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(10 * MSS);
    wire.run_until(0.152);
    let times: Vec<u64> = wire.acks.iter().map(|a| a.0.0 / 100_000).collect();
    drop(wire);
    let reported: Vec<_> = reports.borrow().iter().filter(|r| !r.1.is_empty()).map(|r| r.1.clone()).collect();
    let expected =
        [vec![(1, 2)], vec![(1, 3)], vec![(4, 5), (1, 3)], vec![(4, 6), (1, 3)], vec![(7, 10), (4, 6), (1, 3)]];
    assert_eq!(reported, expected);
    assert_eq!(times[times.len() - 5..], [1500, 1500, 1500, 1500, 1511]);
}

#[test]
fn compressed_reports_are_sent_when_the_timer_of_an_earlier_ack_expires() {
    // Segment 0 arrives at 150 ms: its ACK is due at 190 ms. 1 is lost; 2, 3 and 4 arrive at 187 ms and are reported at
    // once, which acknowledges 0. 5 arrives at 188 ms; its report would be held back for 5.1 ms, but is sent at 190 ms.
    let late = |n: u64| match n {
        0 => Fate::Arrives,
        1 => Fate::Lost,
        2..=4 => Fate::Late(Dur::millis(37)),
        5 => Fate::Late(Dur::millis(38)),
        _ => Fate::Late(Dur::millis(80)),
    };
    let reports = Reports::default();
    let (_, mut wire) = linux(10, &[("quick_acks", "0"), ("sack_delay", "5 ms")], reporting(&reports, late));
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(10 * MSS);
    wire.run_until(0.2);
    let times: Vec<u64> = wire.acks.iter().map(|a| a.0.0 / 100_000).collect();
    drop(wire);
    assert_eq!(times, [1870, 1870, 1870, 1900]);
    assert_eq!(reports.borrow().last().unwrap().1, [(2, 6)]);
}

#[test]
fn the_end_of_a_piece_or_of_a_full_buffer_is_pushed_and_acknowledged_at_once() {
    // A window of one segment, so that each is sent alone. The SYN-ACK offers 65,535 bytes, so that pieces have 22
    // segments (31,856 of 32,767 bytes); the first starts after the initial window and ends with the 23rd. An end is
    // marked if it is more than 32,767 bytes after the last mark or the last end of a write of 256 KiB (181.04
    // segments):
    //     23, 67, 111, 155 (every second); 181.04 ends a write; 199 is 26,008 bytes after it, 221 is 57,864; 265
    // The application writes 1,000,000 bytes at first: 23 + 31 * 22 = 705. It continues when two thirds of 1 MiB are in
    // use. With 66,460 bytes for a piece of 45 that is after 685,377 bytes, at 705 - 473 = 232; with six pieces, 975,
    // 743 * 1448 of 1,028,066 bytes are in use again.
    let pushed = RefCell::new(Vec::new());
    let faults: Faults<'_> = Box::new(|forward, n, segment: &Segment| {
        if forward && segment.payload > 0 && segment.flags.contains(TcpFlags::PSH) {
            pushed.borrow_mut().push(n + 1);
        }
        Fate::Arrives
    });
    let buffers = [
        ("quick_acks", "0"),
        ("window_start", "16 MiB"),
        ("receive_buffer", "none"),
        ("send_buffer_start", "1 MiB"),
        ("send_buffer", "256 MiB"),
    ];
    let (_, mut wire) = linux(1, &buffers, faults);
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(2000 * MSS);
    wire.run_until(300.0);
    let (sent, acks) = (wire.sent.clone(), wire.acks.clone());
    drop(wire);
    let pushed = pushed.into_inner();
    assert_eq!(pushed[..6], [23, 67, 111, 155, 221, 265]);
    assert!(pushed.contains(&705) && pushed.contains(&975), "{pushed:?}");
    assert!(sent.len() > 1100);
    // Without a mark the ACK is delayed by 40 ms or more.
    for (n, s) in sent.iter().enumerate().take(1000) {
        let waited = acks.iter().find(|a| a.1 > n as u64).unwrap().0.since(s.at) - Dur::millis(50);
        assert_eq!(waited == Dur::ZERO, pushed.contains(&(n as u64 + 1)), "segment {} waited {waited}", n + 1);
    }
}

#[test]
fn the_largest_send_buffer_limits_the_data_in_flight() {
    // A window of 200 segments, 289,600 bytes, and a round trip of 100 ms. The application continues when a third of 64
    // KiB is free. Its write of 256 KiB, 181 segments, is sent piece by piece while it writes, so that a write leaves
    // in each round trip.
    let sent_in_10_s = |buffer: &[(&str, &str)]| {
        let options = [&[("quick_acks", "0")], buffer].concat();
        let (_, mut wire) = linux(200, &options, Box::new(|_, _, _| Fate::Arrives));
        wire.receiver.listen();
        wire.sender.connect();
        wire.sender.write(40_000 * MSS);
        wire.run_until(10.0);
        wire.sent.len()
    };
    let limited = sent_in_10_s(&[("send_buffer_start", "64 KiB"), ("send_buffer", "64 KiB")]);
    assert!((13_000..=18_100).contains(&limited), "{limited}");
    let free = sent_in_10_s(&[]);
    assert!(free > 19_000, "{free}");
}
