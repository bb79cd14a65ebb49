//! Labels beside tshark's, the rules of 4.4 and `dumbbell` on hand-worked captures, limits, threads, QUIC.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use dumbbell_capture::analyze::{Kind, Options, analyze};
use dumbbell_capture::table::{Table, Values};
use dumbbell_capture::tcp::label::{Label, Rules};
use dumbbell_capture::{Dissector, Labeler, LinkType, Reader};
use dumbbell_pcap::{IpFields, PcapWriter, Segment};
use dumbbell_units::Time;
use dumbbell_wire::{Seq, TcpFlags, TcpOptions};

const SYN: TcpFlags = TcpFlags::SYN;
const ACK: TcpFlags = TcpFlags::ACK;
const RST: TcpFlags = TcpFlags::RST;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// One line per segment, in the format of the stored output of tshark.
fn labels(path: &Path, rules: Rules) -> Vec<String> {
    let mut reader = Reader::open(path).unwrap();
    let mut dissector = Dissector::default();
    let mut labeler = Labeler::new(rules);
    let mut lines = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let found = dissector.dissect(&frame);
        if let Some((stream, v)) = labeler.frame(&frame, &found) {
            lines.push(format!(
                "{}\t{stream}\t{}\t{}\t{}\t{}\t{}",
                frame.number, v.labels, v.duplicate_ack, v.ack_rtt, v.bytes_in_flight, v.initial_rtt
            ));
        }
    }
    lines
}

#[test]
fn labels_are_those_of_tshark() {
    // Captures and stored results were made by validation/tshark/labels.py and options.py with tshark 4.0.17: 120
    // random, damaged connections, and some with unusual options.
    for name in ["random-1", "random-15", "random-112", "options"] {
        let ours = labels(&data(&format!("labels/{name}.pcap")), Rules::Wireshark40);
        let stored = std::fs::read_to_string(data(&format!("labels/{name}.tshark"))).unwrap();
        assert_eq!(ours.len(), stored.lines().count(), "{name}");
        for (ours, theirs) in ours.iter().zip(stored.lines()) {
            // -1: a segment quoted by an ICMP error; tshark shows the initial RTT there only sometimes.
            let cut = |s: &str| s.rsplit_once('\t').unwrap().0.to_owned();
            if theirs.ends_with("\t-1") {
                assert_eq!(cut(ours), cut(theirs), "{name}");
            } else {
                assert_eq!(ours, theirs, "{name}");
            }
        }
    }
}

/// A hand-made connection: the client's numbers begin at 1000, the server's at 5000.
#[derive(Default)]
struct Script {
    segments: Vec<(u64, Segment)>,
}

impl Script {
    fn put(&mut self, us: u64, client: bool, seq: u32, ack: u32, flags: TcpFlags, len: u32) -> &mut Segment {
        let ends = [10, 11].map(|h| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, h)), 4000 + u16::from(h)));
        let (from, to) = if client { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
        self.segments.push((
            us * 1000,
            Segment {
                from,
                to,
                ip: IpFields::default(),
                seq: Seq(seq),
                ack: Seq(ack),
                flags,
                window: 1000,
                options: TcpOptions::default(),
                aligned: false,
                payload: len,
            },
        ));
        &mut self.segments.last_mut().unwrap().1
    }

    /// SYN at 0, SYN+ACK after 40 ms, ACK at the same time: captured at the client.
    fn opened() -> Self {
        let mut s = Self::default();
        s.put(0, true, 999, 0, SYN, 0).options.wscale = Some(7);
        s.put(40_000, false, 4999, 1000, SYN | ACK, 0).options.wscale = Some(7);
        s.put(40_000, true, 1000, 5000, ACK, 0);
        s
    }

    fn write(&self, name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("dumbbell-{}-{name}.pcap", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = PcapWriter::new(file, LinkType::RAW, 65_535).unwrap();
        let mut packet = Vec::new();
        for (time, segment) in &self.segments {
            packet.clear();
            let len = segment.write(&mut packet, 65_535);
            writer.frame(Time(1_700_000_000_000_000_000 + time), len, &packet).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    /// Labels of the last segments, after those of the handshake.
    fn labels(&self, name: &str, rules: Rules) -> Vec<String> {
        let path = self.write(&format!("{name}-{}", rules.name()));
        let lines = labels(&path, rules);
        std::fs::remove_file(path).unwrap();
        lines.iter().map(|l| l.split('\t').nth(2).unwrap().to_owned()).collect()
    }
}

#[test]
fn a_retransmission_soon_after_the_newest_data_is_no_reordering_since_4_4() {
    let mut s = Script::opened();
    s.put(41_000, true, 1000, 5000, ACK, 100);
    s.put(41_000, true, 1100, 5000, ACK, 100);
    // 10 ms after the newest data, less than the initial RTT of 40 ms; data that was captured before.
    s.put(51_000, true, 1000, 5000, ACK, 100);
    assert_eq!(s.labels("seen", Rules::Wireshark40)[5], "out_of_order");
    assert_eq!(s.labels("seen", Rules::Wireshark44)[5], "retransmission");
    assert_eq!(s.labels("seen", Rules::Dumbbell)[5], "retransmission");
}

#[test]
fn a_syn_after_a_reset_begins_a_stream_since_4_4() {
    let mut s = Script::default();
    s.put(0, true, 999, 0, SYN, 0);
    s.put(10, false, 0, 1000, RST | ACK, 0);
    s.put(500_000, true, 999, 0, SYN, 0);
    assert_eq!(s.labels("syn", Rules::Wireshark40)[2], "retransmission");
    assert_eq!(s.labels("syn", Rules::Wireshark44)[2], "reused_ports");
}

/// The client's ACK sets the server's base_seq, 5000, before the server's SYN is captured. Wireshark handles that SYN
/// as a retransmitted one: it has an analysis result but no label (tshark 4.0.17 on this capture). Frames with a result
/// show the initial RTT: 1 ms from the client's SYN to its ACK.
#[test]
fn a_syn_on_a_known_number_shows_the_initial_rtt() {
    let mut s = Script::default();
    s.put(0, true, 1000, 0, SYN, 0);
    s.put(1000, true, 1001, 5001, ACK, 0);
    s.put(3000, false, 5000, 0, SYN, 0);
    let path = s.write("syn-late");
    let lines = labels(&path, Rules::Wireshark40);
    std::fs::remove_file(path).unwrap();
    assert_eq!(lines[2], "3\t0\t\t0\t0\t0\t1000000");
}

#[test]
fn each_ack_of_an_unseen_segment_is_labeled_since_4_4() {
    let mut s = Script::opened();
    s.put(50_000, false, 5000, 2000, ACK, 0);
    s.put(60_000, false, 5000, 3000, ACK, 0);
    // 4.0: the client sends nothing, so the second ACK has no label.
    assert_eq!(s.labels("unseen", Rules::Wireshark40)[3..], ["ack_lost_segment", ""]);
    assert_eq!(s.labels("unseen", Rules::Wireshark44)[3..], ["ack_lost_segment", "ack_lost_segment"]);
}

#[test]
fn a_zero_window_probe_that_was_accepted_has_a_probe_ack_since_4_4() {
    let mut s = Script::opened();
    s.put(41_000, false, 5000, 1000, ACK, 0).window = 0;
    s.put(300_000, true, 1000, 5000, ACK, 1);
    s.put(340_000, false, 5000, 1001, ACK, 0).window = 0;
    s.put(400_000, true, 1001, 5000, ACK, 1);
    s.put(440_000, false, 5000, 1002, ACK, 0).window = 500;
    assert_eq!(
        s.labels("probe", Rules::Wireshark44)[3..],
        ["zero_window", "zero_window_probe", "zero_window,zero_window_probe_ack", "zero_window_probe", "window_update",]
    );
}

#[test]
fn a_second_hole_can_have_a_fast_retransmission_since_4_4() {
    let mut s = Script::opened();
    for i in 0..8 {
        s.put(41_000, true, 1000 + i * 100, 5000, ACK, 100);
    }
    // 1000 and 1200 are lost: three duplicate ACKs have SACK blocks for 1100 and from 1300 on.
    s.put(81_000, false, 5000, 1000, ACK, 0);
    for right in [1400, 1500, 1600] {
        let options = &mut s.put(81_000, false, 5000, 1000, ACK, 0).options;
        options.sack.push(Seq(1300), Seq(right));
        options.sack.push(Seq(1100), Seq(1200));
    }
    s.put(82_000, true, 1000, 5000, ACK, 100);
    s.put(82_000, true, 1200, 5000, ACK, 100);
    let last = |rules| s.labels("holes", rules)[15..].to_vec();
    let fast = "retransmission,fast_retransmission";
    // 4.0: 41 ms after the newest data and longer than the initial RTT: retransmission.
    assert_eq!(last(Rules::Wireshark40), [fast, "retransmission"]);
    assert_eq!(last(Rules::Wireshark44), [fast, fast]);
    assert_eq!(last(Rules::Dumbbell), [fast, fast]);
}

#[test]
fn partial_acks_give_an_rtt_sample_since_4_4() {
    let mut s = Script::opened();
    s.put(50_000, true, 1000, 5000, ACK, 1000);
    s.put(95_000, false, 5000, 1500, ACK, 0);
    let rtt = |rules: Rules| {
        let path = s.write(&format!("partial-{}", rules.name()));
        let lines = labels(&path, rules);
        std::fs::remove_file(path).unwrap();
        lines[4].split('\t').nth(4).unwrap().to_owned()
    };
    assert_eq!(rtt(Rules::Wireshark40), "0");
    assert_eq!(rtt(Rules::Wireshark44), "45000000");
}

/// Captured at the receiver: the SYN+ACK follows at once, the ACK one round-trip time later.
fn at_receiver() -> Script {
    let mut s = Script::default();
    s.put(0, true, 999, 0, SYN, 0).options.timestamps = Some((100, 0));
    s.put(10, false, 4999, 1000, SYN | ACK, 0).options.timestamps = Some((700, 100));
    s.put(40_000, true, 1000, 5000, ACK, 0).options.timestamps = Some((140, 700));
    s
}

#[test]
fn timestamps_distinguish_retransmission_and_reordering() {
    for (tsval, label) in [(150, "out_of_order"), (195, "retransmission")] {
        let mut s = at_receiver();
        s.put(50_000, true, 1000, 5000, ACK, 100).options.timestamps = Some((150, 700));
        s.put(50_100, true, 1200, 5000, ACK, 100).options.timestamps = Some((151, 700));
        s.put(90_200, true, 1100, 5000, ACK, 100).options.timestamps = Some((tsval, 700));
        assert_eq!(s.labels(&format!("ts{tsval}"), Rules::Dumbbell)[5], label, "{tsval}");
    }
}

#[test]
fn without_timestamps_a_retransmission_is_at_least_a_round_trip_later() {
    for (us, label) in [(70_000, "out_of_order"), (95_000, "retransmission")] {
        let mut s = at_receiver();
        for (_, segment) in &mut s.segments {
            segment.options = TcpOptions::default();
        }
        s.put(50_000, true, 1000, 5000, ACK, 100);
        s.put(50_100, true, 1200, 5000, ACK, 100);
        s.put(us, true, 1100, 5000, ACK, 100);
        assert_eq!(s.labels(&format!("rtt{us}"), Rules::Dumbbell)[5], label, "{us}");
    }
}

fn column<'a>(table: &'a Table, name: &str) -> &'a Values {
    table.column(name).unwrap_or_else(|| panic!("no column {name}"))
}

fn u64s(table: &Table, name: &str) -> Vec<u64> {
    match column(table, name) {
        Values::U64(v) => v.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_dsack_proves_a_retransmission_spurious() {
    let mut s = Script::opened();
    s.put(41_000, true, 1000, 5000, ACK, 100);
    s.put(341_000, true, 1000, 5000, ACK, 100);
    s.put(342_000, false, 5000, 1100, ACK, 0);
    let options = &mut s.put(382_000, false, 5000, 1100, ACK, 0).options;
    options.sack.push(Seq(1000), Seq(1100));
    let path = s.write("dsack");
    let mut proofs = Vec::new();
    let mut keep = |chunk: dumbbell_capture::analyze::Chunk| proofs.extend(u64s(&chunk.spurious, "frame"));
    let found = analyze(&[&path], &Options::default(), &mut |_| true, Some(&mut keep)).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(u64s(&found.table(Kind::Flows), "retransmitted_packets"), [1, 0]);
    assert_eq!(u64s(&found.table(Kind::Flows), "retransmitted_spurious"), [1, 0]);
    assert_eq!(u64s(&found.table(Kind::Flows), "timeouts"), [1, 0]);
    assert_eq!(u64s(&found.table(Kind::Flows), "dsacks"), [0, 1]);
    assert_eq!(proofs, [5]);
    // The timer ran from the first transmission at 41 ms to the second at 341 ms.
    assert_eq!(format!("{:?}", column(&found.table(Kind::Flows), "rto_max_ms")), "F64([300.0, NaN])");
}

#[test]
fn results_with_one_and_two_threads_are_equal() {
    let path = data("labels/random-15.pcap");
    let run = |threads, rules| {
        let options = Options { threads, rules, chunk: 100, ..Options::default() };
        let mut packets = String::new();
        let mut keep = |chunk| packets += &format!("{chunk:?}");
        let found = analyze(&[&path], &options, &mut |_| true, Some(&mut keep)).unwrap();
        (format!("{:?} {:?}", Kind::ALL.map(|kind| found.table(kind)), found.warnings), !packets.is_empty())
    };
    for rules in Rules::ALL {
        assert_eq!(run(1, rules), run(2, rules));
    }
}

#[test]
fn label_counts_of_the_flows_are_those_of_the_frames() {
    let path = data("labels/random-1.pcap");
    let lines = labels(&path, Rules::Wireshark40);
    let options = Options { rules: Rules::Wireshark40, ..Options::default() };
    let found = analyze(&[&path], &options, &mut |_| true, None).unwrap();
    let flows = found.table(Kind::Flows);
    for label in Label::ALL {
        let frames =
            lines.iter().filter(|l| l.split('\t').nth(2).unwrap().split(',').any(|name| name == label.name())).count();
        let Values::U32(counts) = column(&flows, label.name()) else { panic!() };
        assert_eq!(counts.iter().sum::<u32>() as usize, frames, "{}", label.name());
    }
}

#[test]
fn memory_is_bounded_for_many_connections() {
    let mut s = Script::default();
    for i in 0..20_000_u32 {
        let segment = s.put(u64::from(i), true, i, 0, SYN, 0);
        segment.from = SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + i / 50_000)), (i % 50_000) as u16 + 1);
    }
    let path = s.write("many");
    let options = Options { max_open: 100, max_flows: 500, ..Options::default() };
    let found = analyze(&[&path], &options, &mut |_| true, None).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(found.table(Kind::Flows).rows(), 1000);
    let texts: Vec<&str> = found.warnings.iter().filter(|w| w.kind == "limit").map(|w| w.text.as_str()).collect();
    assert!(texts[0].starts_with("19900 connections were evicted"), "{texts:?}");
    assert!(texts[1].starts_with("19500 connections with the fewest bytes"), "{texts:?}");
}

/// Every table, as text: NaN differs from itself.
fn tables(path: &Path, options: &Options) -> Vec<String> {
    let found = analyze(&[path], options, &mut |_| true, None).unwrap();
    Kind::ALL.map(|kind| format!("{:?}", found.table(kind))).to_vec()
}

#[test]
fn packed_connections_continue_as_if_they_had_been_ready() {
    // Each packet of another connection packs the state before it: hundreds of times in these captures.
    for name in ["labels/random-1.pcap", "labels/random-15.pcap", "labels/random-112.pcap", "labels/options.pcap"] {
        for rules in Rules::ALL {
            let all = Options { rules, max_rows: 1000, ..Options::default() };
            let few = Options { max_ready: 1, ..all.clone() };
            assert_eq!(tables(&data(name), &few), tables(&data(name), &all), "{name} {rules:?}");
        }
    }
}

#[test]
fn pages_are_parts_of_the_table() {
    let found = analyze(&[&data("labels/random-1.pcap")], &Options::default(), &mut |_| true, None).unwrap();
    let numbers = found.numbers();
    assert!(numbers.len() > 10);
    let json = |table: &Table| {
        let mut bytes = Vec::new();
        table.write_json(b',', &mut bytes);
        String::from_utf8(bytes).unwrap()
    };
    for kind in [Kind::Flows, Kind::Series, Kind::Phases] {
        let (first, rest) = numbers.split_at(5);
        let parts = [first, rest].map(|part| json(&found.rows(kind, part)));
        assert_eq!(parts.join(","), json(&found.table(kind)));
    }
    assert!(found.rows(Kind::Flows, &[999_999]).rows() == 0);
}

#[test]
fn names_of_quic_connections() {
    let found = analyze(&[&data("quic-v1-v2.pcap")], &Options::default(), &mut |_| true, None).unwrap();
    let text = |name| match column(&found.table(Kind::Quic), name) {
        Values::Text(v) => v.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text("version"), ["1", "2"]);
    assert_eq!(text("sni"), ["v1.quic.example.net", "v2.quic.example.net"]);
    assert_eq!(text("alpn"), ["hq-test", "hq-test"]);
    assert_eq!(text("original_cid"), ["47b1d5737ae2e6b2", "0815e7408128d388"]);
}
