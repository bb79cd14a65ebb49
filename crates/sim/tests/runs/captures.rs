//! Captures of runs: their packets and comments agree with the results, and recording them changes no result.

use crate::one_by_one::network;
use crate::plans::{Row, cbr};
use dumbbell_capture::{Dissector, Frame, Reader, Transport};
use dumbbell_plan::Plan;
use dumbbell_sim::{Output, Part, Simulation, run};
use dumbbell_units::Time;
use dumbbell_wire::TcpFlags;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::process::Command;

/// A sender, a slow link with a short queue that loses and duplicates packets, and a receiver: a TCP flow, datagrams,
/// and pings in the reverse direction.
fn row() -> Row {
    Row::new(&[(100_000_000, 1_000_000), (10_000_000, 10_000_000)])
        .link(1, 2, "queue", json!({"name": "droptail", "params": {"limit": "10 packets"}}))
        .link(1, 2, "loss", json!(0.003))
        .link(1, 2, "duplication", json!({"share": 0.005, "delay_ns": 1_000_000}))
        .tcp(0, 2, "reno", json!({"preset": "rfc"}), json!({"kind": "bulk"}))
        .udp(0, 2, cbr(500_000, 1000))
        .udp(
            2,
            0,
            json!({"kind": "ping", "interval_ns": 100_000_000, "packet_bytes": 84, "count": 0,
                   "timeout_ns": 1_000_000_000}),
        )
}

/// The plan of a row with captures at the sender, at both directions of the slow link (2 and 3) and at the receiver.
fn captured(row: &Row, snaplen: u32) -> Plan {
    let mut plan = row.plan();
    plan.capture = serde_json::from_value(json!({
        "points": [
            {"name": "sender", "nodes": [0], "links": []},
            {"name": "bottleneck", "nodes": [], "links": [2, 3]},
            {"name": "receiver", "nodes": [2], "links": []},
        ],
        "snaplen_bytes": snaplen,
    }))
    .unwrap();
    plan
}

fn file(output: &Output, name: &str) -> Vec<u8> {
    let capture = output.captures.iter().find(|capture| capture.name() == name).unwrap();
    capture.write(Vec::new()).unwrap()
}

/// Calls `each` with every frame of a file and its comments; asserts that the file is valid.
fn each_frame(bytes: Vec<u8>, mut each: impl FnMut(&Frame<'_>, &[String])) {
    let mut reader = Reader::from_read("capture", Box::new(Cursor::new(bytes))).unwrap();
    let mut last = 0;
    while let Some(frame) = reader.next_frame() {
        let time = frame.time.unwrap();
        assert!(time >= last, "the time decreases");
        last = time;
        let comments: Vec<String> = frame.comments().map(Into::into).collect();
        each(&frame, &comments);
    }
    assert_eq!(reader.damage(), None);
}

#[test]
fn a_capture_changes_nothing() {
    let row = row();
    let text =
        |output: &Output| serde_json::to_string(&json!([output.flows, output.queues, output.transfers])).unwrap();
    assert_eq!(text(&row.run()), text(&run(&captured(&row, 0)).unwrap()));
}

/// The plan with a capture of all nodes, one of all links, and one of the last node.
fn all_captured(mut plan: Plan) -> Plan {
    let (nodes, links) = (0..plan.nodes.len(), 0..plan.links.len());
    plan.capture = serde_json::from_value(json!({
        "points": [
            {"name": "nodes", "nodes": nodes.collect::<Vec<_>>(), "links": []},
            {"name": "links", "nodes": [], "links": links.collect::<Vec<_>>()},
            {"name": "last", "nodes": [plan.nodes.len() - 1], "links": []},
        ],
        "snaplen_bytes": 96,
    }))
    .unwrap();
    plan
}

fn add(parts: &mut BTreeMap<String, Vec<u8>>, output: &Output) {
    for capture in &output.captures {
        parts.entry(capture.name().to_owned()).or_default().extend(capture.write(Vec::new()).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn parts_of_captures_are_the_same_file(
        row in network(), mut stops in prop::collection::vec(0..330_000_000u64, 1..8), least in 0..100usize
    ) {
        stops.sort_unstable();
        let plan = all_captured(row.plan());
        let mut simulation = Simulation::new(plan.clone()).unwrap();
        let mut parts: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for stop in stops {
            simulation.advance(Time(stop)).unwrap();
            let mut sink = |name: &str, bytes| parts.entry(name.to_owned()).or_default().extend::<Vec<u8>>(bytes);
            simulation.drain_captures(least, &mut sink).unwrap();
        }
        let output = simulation.finish().unwrap();
        add(&mut parts, &output);
        let mut whole = BTreeMap::new();
        let at_once = run(&plan).unwrap();
        add(&mut whole, &at_once);
        prop_assert!(parts == whole);
        let packets = |output: &Output| output.captures.iter().map(|c| c.packets()).collect::<Vec<_>>();
        prop_assert_eq!(packets(&output), packets(&at_once));
    }
}

/// Five minutes: some 500,000 packets, with losses, copies and retransmissions.
#[test]
fn a_long_run_passes_its_captures_on_in_parts() {
    let mut plan = captured(&row(), 96);
    plan.duration_ns = 300_000_000_000;
    let (mut parts, mut before, mut count) = (BTreeMap::<String, Vec<u8>>::new(), 0, 0);
    let mut sink = |part: Part| {
        let Part::Capture { name, bytes } = part else { panic!("the run has no series") };
        (before, count) = (before + bytes.len(), count + 1);
        parts.entry(name).or_default().extend(bytes);
        true
    };
    let output = Simulation::new(plan.clone()).unwrap().finish_in_parts(&mut sink).unwrap().unwrap();
    assert!(count > 5, "{count} parts");
    add(&mut parts, &output);
    let all: usize = parts.values().map(Vec::len).sum();
    assert!(all - before < all / 3, "{before} of {all} bytes before the end");
    let mut whole = BTreeMap::new();
    add(&mut whole, &run(&plan).unwrap());
    assert!(parts == whole);
}

#[test]
fn comments_agree_with_the_results() {
    let output = run(&captured(&row(), 96)).unwrap();
    let (mut data, mut again, mut lost, mut spurious, mut spurious_bytes) = (0, 0, 0, 0, 0);
    let mut dissector = Dissector::new(false);
    each_frame(file(&output, "sender"), |frame, comments| {
        let found = dissector.dissect(frame);
        let Transport::Tcp(tcp) = found.transport else { return };
        let has = |word: &str| comments.iter().any(|c| c.contains(word));
        if tcp.len == Some(0) {
            assert!(!has("spurious"));
            return;
        }
        data += 1;
        again += u64::from(has("retransmission"));
        lost += u64::from(has("dropped at n1->n2"));
        spurious += u64::from(has("spurious"));
        spurious_bytes += u64::from(has("spurious")) * u64::from(tcp.len.unwrap());
    });
    let flow = &output.flows[0];
    assert_eq!(data, flow.sent_packets);
    assert_eq!(again, flow.retransmitted_packets);
    assert!(again > 20, "{again}");
    assert_eq!(lost, flow.dropped_packets);
    // Data that arrives twice at the receiver was retransmitted spuriously or duplicated by the link.
    assert!(flow.duplicate_bytes >= spurious_bytes, "{} < {spurious_bytes}", flow.duplicate_bytes);
    assert!(spurious <= again);

    // At the link: all arrivals at its queue, and every drop there.
    let (mut forward, mut drops) = (0, 0);
    each_frame(file(&output, "bottleneck"), |frame, comments| {
        forward += u64::from(frame.interface == 0);
        drops += u64::from(comments.iter().any(|c| c.starts_with("dropped here")));
    });
    let queue = output.queues.iter().find(|q| q.name == "n1->n2").unwrap();
    assert_eq!(forward, queue.arrivals);
    assert_eq!(drops, queue.drops + queue.wire_losses);
    assert!(queue.drops > 0 && queue.wire_losses > 0);

    // At the receiver: the packets that the link delivered, including duplicates, and those that the receiver sent.
    let (mut arrived, mut copies, mut echoes) = (0, 0, 0);
    each_frame(file(&output, "receiver"), |frame, comments| {
        let found = dissector.dissect(frame);
        let ip = found.ip.unwrap();
        let to_receiver = ip.addresses.dst().to_string() == "10.0.0.3";
        arrived += u64::from(to_receiver);
        // One router on the path.
        assert_eq!(ip.ttl, if to_receiver { 63 } else { 64 });
        assert_eq!(found.ip.map(|ip| ip.len), Some(frame.len));
        copies += u64::from(comments.iter().any(|c| c == "copy made by n1->n2"));
        assert!(!to_receiver || !comments.iter().any(|c| c.starts_with("dropped")));
        echoes += u64::from(matches!(found.transport, Transport::Icmp { kind: 8, .. }));
    });
    assert_eq!(arrived, queue.delivered);
    assert!(copies > 0 && copies <= queue.duplicated);
    assert_eq!(echoes, output.flows[2].pings_sent);
}

/// Headers of QUIC: an Initial of the client with both connection IDs, 1-RTT packets with the spin bit of the endpoint.
#[test]
fn quic_packets_have_their_headers() {
    let row = Row::new(&[(10_000_000, 10_000_000)]).quic(
        0,
        1,
        "reno",
        json!({"address_token": true}),
        json!({"kind": "transfer", "bytes": 200_000, "repeat": 1, "every_ns": 0}),
    );
    let mut plan = row.plan();
    plan.capture = serde_json::from_value(json!({
        "points": [{"name": "all", "nodes": [0], "links": []}], "snaplen_bytes": 0,
    }))
    .unwrap();
    let output = run(&plan).unwrap();
    let (mut payloads, mut short, mut spun) = (Vec::new(), 0, 0);
    each_frame(file(&output, "all"), |frame, _| {
        let payload = &frame.data[28..]; // headers of IPv4 and UDP
        assert_eq!(frame.data.len() as u32, frame.len);
        if payload[0] & 0x80 == 0 {
            assert_eq!(payload[0] & 0x40, 0x40);
            short += 1;
            spun += u64::from(payload[0] & 0x20 != 0);
        }
        payloads.push((frame.data[12..16].to_vec(), payload.to_vec()));
    });
    let (client, first) = payloads[0].clone();
    // Initial, version 1, two connection IDs of 8 bytes, a token of 64 bytes (its length in two: 0x4040), and the
    // length of the rest: 1200 bytes less 1 + 4 + 9 + 9 + 2 + 64 + 2 = 91 make 1109, 0x4455 with its two bits.
    assert_eq!(first.len(), 1200);
    assert_eq!(first[..6], [0xc0, 0, 0, 0, 1, 8]);
    assert_eq!((first[14], &first[23..25], &first[89..91]), (8, &[0x40, 0x40][..], &[0x44, 0x55][..]));
    let of_server = payloads.iter().find(|(from, _)| *from != client).map(|(_, payload)| payload.clone()).unwrap();
    // Each end names the other's connection ID as the destination.
    assert_eq!((&first[6..14], &first[15..23]), (&of_server[15..23], &of_server[6..14]));
    assert!(short > 200_000 / 1452, "{short}");
    assert!(0 < spun && spun < short, "{spun} of {short}");
}

/// A scripted drop instead of random loss: data packet 30 is dropped, so exactly one retransmission follows.
#[test]
fn one_loss_one_retransmission() {
    let row = Row::new(&[(10_000_000, 10_000_000)])
        .link(0, 1, "drops", json!([{"flow": 0, "data_only": true, "packets": [30], "spans_ns": []}]))
        .tcp(
            0,
            1,
            "reno",
            json!({"preset": "rfc"}),
            json!({"kind": "transfer", "bytes": 200_000, "repeat": 1, "every_ns": 0}),
        );
    let mut plan = row.plan();
    plan.capture = serde_json::from_value(json!({
        "points": [{"name": "all", "nodes": [0], "links": []}], "snaplen_bytes": 96,
    }))
    .unwrap();
    let output = run(&plan).unwrap();
    let mut comments_seen = Vec::new();
    let mut first = None;
    let mut dissector = Dissector::new(false);
    each_frame(file(&output, "all"), |frame, comments| {
        let found = dissector.dissect(frame);
        let Transport::Tcp(tcp) = found.transport else { panic!("not TCP") };
        first.get_or_insert((tcp.flags, tcp.options.mss));
        comments_seen.extend(comments.iter().map(|c| (tcp.seq, c.clone())));
    });
    assert_eq!(first, Some((TcpFlags::SYN, Some(1460))));
    let (dropped, again) = (&comments_seen[0], &comments_seen[1]);
    assert_eq!(dropped.1, "dropped at n0->n1: scripted");
    assert_eq!(again.1, "retransmission: fast");
    assert_eq!(dropped.0, again.0);
    assert_eq!(comments_seen.len(), 2);
}

/// tshark reports correct checksums and no malformed packet.
#[test]
#[ignore = "starts tshark: `make test-rest`"]
fn tshark_reports_no_error() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("skipped: tshark isn't installed");
        return;
    }
    for snaplen in [0, 96] {
        let output = run(&captured(&row(), snaplen)).unwrap();
        for name in ["sender", "bottleneck", "receiver"] {
            let path = std::env::temp_dir().join(format!("dumbbell-{}-{name}-{snaplen}.pcapng", std::process::id()));
            std::fs::write(&path, file(&output, name)).unwrap();
            let filter = "_ws.malformed || _ws.expert.severity >= error || ip.checksum.status == 0 \
                          || tcp.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0";
            let options =
                ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"];
            let tshark = |filter: &str| {
                let mut command = Command::new("tshark");
                command.args(options).args(["-Y", filter, "-T", "fields", "-e", "frame.number", "-r"]).arg(&path);
                let done = command.output().unwrap();
                assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                String::from_utf8_lossy(&done.stdout).lines().count()
            };
            assert_eq!(tshark(filter), 0, "{name}, snap length {snaplen}");
            // The checksum of a packet that was captured completely is verified.
            if snaplen == 0 {
                assert!(tshark("tcp.checksum.status == 1") > 1000);
                assert!(tshark("udp.checksum.status == 1") > 100);
                assert!(tshark("icmp.checksum.status == 1") > 50);
            }
            std::fs::remove_file(&path).unwrap();
        }
    }
}
