//! The fuzz targets, shared with the tests: they read, dissect, label and analyze arbitrary bytes, and check properties
//! that hold for any input.
#![allow(dead_code, reason = "each fuzz target uses one function of this module")]

use std::io::Cursor;
use std::path::Path;

use dumbbell_capture::analyze::{Analysis, Kind, Options as Wanted, analyze};
use dumbbell_capture::capinfos::{Numbers, report};
use dumbbell_capture::dissect::QuotedTransport;
use dumbbell_capture::pair::pair;
use dumbbell_capture::read::options::Options;
use dumbbell_capture::tcp::label::Rules;
use dumbbell_capture::{
    Dissected, Dissector, Frame, Labeler, LinkType, PacketLengths, Properties, Reader, TcpView, Transport,
};
use dumbbell_units::Dur;

/// Link types that have a dissector, and one that has none.
const LINKS: [u16; 34] = [
    1, 0, 9, 12, 14, 50, 51, 101, 104, 105, 108, 113, 127, 192, 204, 228, 229, 276, 147, 1, 6, 10, 100, 107, 109, 117,
    119, 178, 179, 180, 226, 239, 252, 258,
];

/// A capture file, compressed or not.
pub fn file(data: &[u8]) {
    let Ok(mut reader) = Reader::from_read("fuzz", Box::new(Cursor::new(data.to_vec()))) else { return };
    let mut analyzer = Analyzer::new();
    let mut number = 0;
    while let Some(frame) = reader.next_frame() {
        assert!(frame.number > number);
        number = frame.number;
        assert!(frame.data.len() <= data.len() || reader_is_compressed(data));
        assert_eq!(frame.comments().count(), frame.options.iter().filter(|o| o.0 == 1).count());
        let _ = frame.options.dropped_before();
        analyzer.frame(&frame);
    }
    let properties = Properties::of(&reader);
    let _ = (report(&properties, Numbers::Full), report(&properties, Numbers::Short));
    let _ = analyzer.lengths.report();
    let _ = reader.damage().map(ToString::to_string);
    // A reader that has stopped returns no further frame.
    assert!(reader.next_frame().is_none());
}

fn reader_is_compressed(data: &[u8]) -> bool {
    matches!(data, [0x1f, 0x8b, ..] | [0x28, 0xb5, ..] | [0x04, 0x22, ..] | [0x50..=0x5f, 0x2a, ..])
}

/// The records of a pcap file; the first byte of the input chooses the file header.
pub fn pcap(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let magic: [u8; 4] = match choice & 3 {
        0 => [0xd4, 0xc3, 0xb2, 0xa1],
        1 => [0xa1, 0xb2, 0xc3, 0xd4],
        2 => [0x4d, 0x3c, 0xb2, 0xa1],
        _ => [0xa1, 0xb2, 0x3c, 0x4d],
    };
    let link = LINKS[usize::from(choice >> 2) % LINKS.len()];
    let order = |n: u16| if choice & 1 == 0 { n.to_le_bytes() } else { n.to_be_bytes() };
    let wide = |n: u32| if choice & 1 == 0 { n.to_le_bytes() } else { n.to_be_bytes() };
    let mut all = magic.to_vec();
    all.extend(order(2));
    all.extend(order(4));
    all.extend([0; 8]);
    all.extend(wide(65_535));
    all.extend(wide(u32::from(link)));
    all.extend(rest);
    file(&all);
}

/// The blocks of a pcapng file after its section header and one interface; the first byte chooses link type and byte
/// order.
pub fn pcapng(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let big = choice & 1 == 1;
    let wide = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let short = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut all = Vec::new();
    for n in [0x0a0d_0d0a, 28, 0x1a2b_3c4d] {
        all.extend(wide(n));
    }
    all.extend(short(1));
    all.extend(short(0));
    all.extend([0xff; 8]);
    for n in [28, 1, 20] {
        all.extend(wide(n));
    }
    all.extend(short(LINKS[usize::from(choice >> 1) % LINKS.len()]));
    all.extend([0; 6]);
    all.extend(wide(20));
    all.extend(rest);
    file(&all);
}

/// Frames of one link type: a byte for the link type, a byte for the length that the snap length cuts off, then frames
/// with one length byte each.
pub fn frame(data: &[u8]) {
    let [link, cut, rest @ ..] = data else { return };
    let link = LinkType(LINKS[usize::from(*link) % LINKS.len()]);
    let mut analyzer = Analyzer::new();
    let mut rest = rest;
    let mut number = 0;
    while let Some((&len, after)) = rest.split_first() {
        let (data, next) = after.split_at(usize::from(len).min(after.len()));
        rest = next;
        number += 1;
        analyzer.frame(&Frame {
            number,
            time: Some(i64::try_from(number).unwrap_or(0) * 1_000_000),
            len: data.len() as u32 + u32::from(*cut),
            data,
            interface: 0,
            link,
            fcs_len: cut & 4,
            offset: 0,
            options: Options::default(),
        });
    }
}

/// A file that is analyzed as a whole; the first byte chooses the options. Then the file is matched with itself, as two
/// captures of one path.
pub fn analysis(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let name = format!("dumbbell-fuzz-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, rest).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let bit = |n: u8| choice >> n & 1 == 1;
    let wanted = Wanted {
        rules: [Rules::Wireshark40, Rules::Wireshark44, Rules::Dumbbell, Rules::Dumbbell][usize::from(choice & 3)],
        interval: bit(2).then_some(Dur::millis(1)),
        enter_tunnels: bit(3),
        max_open: if bit(4) { 2 } else { 1_000 },
        max_ready: if bit(4) { 1 } else { 1_000 },
        max_flows: if bit(5) { 2 } else { 1_000 },
        max_rows: 1_000,
        threads: if bit(6) { 2 } else { 1 },
        chunk: 7,
        ..Wanted::default()
    };
    let mut rows = 0;
    let mut count = |chunk: dumbbell_capture::analyze::Chunk| rows += chunk.packets.rows();
    let found = analyze(&[&path], &wanted, &mut |_| true, if bit(7) { Some(&mut count) } else { None });
    if let Ok(found) = &found {
        check_analysis(found, &wanted);
    }
    let both = pair(Path::new(&path), &path, None, bit(3), &mut |_| true, None);
    assert_eq!(found.is_ok(), both.is_ok());
    if let Ok(both) = both {
        let [a, b, matched] = both.packets;
        assert!(a == b && matched <= a, "{a} {b} {matched}");
    }
    let _ = std::fs::remove_file(&path);
}

/// Checks properties of an analysis.
fn check_analysis(found: &Analysis, wanted: &Wanted) {
    // Each frame has one name.
    let named: u64 = found.contents.iter().map(|(_, count)| count).sum();
    assert_eq!(named, found.properties.iter().map(|p| p.packets).sum::<u64>());
    let flows = found.table(Kind::Flows);
    assert!(flows.rows() <= 2 * wanted.max_flows && flows.rows().is_multiple_of(2));
    // Two rows for each connection remain, even above the limit.
    let most = 2 * wanted.max_rows + flows.rows();
    let series = found.table(Kind::Series);
    assert!(series.rows() <= most, "{} rows", series.rows());
    for kind in Kind::ALL {
        let table = found.table(kind);
        assert!(table.columns.iter().all(|(_, values)| values.len() == table.rows()));
        let mut json = Vec::new();
        table.write_json(b',', &mut json);
        assert!(String::from_utf8(json).is_ok());
    }
    for warning in &found.warnings {
        assert!(!warning.text.is_empty());
    }
}

/// All consumers of a frame.
struct Analyzer {
    dissectors: [Dissector; 2],
    labelers: [Labeler; 3],
    lengths: PacketLengths,
}

impl Analyzer {
    fn new() -> Self {
        let rules = [Rules::Wireshark40, Rules::Wireshark44, Rules::Dumbbell];
        Self {
            dissectors: [Dissector::new(false), Dissector::new(true)],
            labelers: rules.map(Labeler::new),
            lengths: PacketLengths::default(),
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.lengths.add(frame.time, frame.len);
        let [outside, inside] = &mut self.dissectors;
        check(frame, &outside.dissect(frame));
        let found = inside.dissect(frame);
        check(frame, &found);
        for labeler in &mut self.labelers {
            let _ = labeler.frame(frame, &found);
        }
    }
}

/// Checks properties of a dissected frame.
fn check(frame: &Frame<'_>, found: &Dissected<'_>) {
    // A reassembled datagram can be longer than the frame with its last fragment, up to the limit of IP.
    let whole = (frame.len as usize).max(frame.data.len());
    let most = if found.ip.is_some_and(|ip| ip.reassembled) { whole.max(65_535) } else { whole.max(131_070) };
    match &found.transport {
        Transport::Tcp(tcp) => segment(tcp, most),
        Transport::Udp(udp) => {
            assert!(udp.payload.len() <= most);
            assert!(udp.len.is_none_or(|len| udp.payload.len() <= len as usize));
        }
        Transport::Icmp { quoted: Some(quoted), .. } => {
            if let QuotedTransport::Tcp(tcp) = &quoted.transport {
                assert_eq!(tcp.len, None);
                segment(tcp, most);
            }
        }
        _ => {}
    }
}

fn segment(tcp: &TcpView<'_>, most: usize) {
    assert!(tcp.header_len <= 60 && tcp.header_len.is_multiple_of(4));
    if let Some(len) = tcp.len {
        assert!(len as usize <= most && tcp.payload.len() <= len as usize);
    }
}
