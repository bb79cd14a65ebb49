//! The captures in `data` (made by `data/make.py`), compared with stored results, and with Wireshark's tools if they
//! are installed.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{by_reader, differences, have_tools};
use dumbbell_capture::{Dissector, Reader};

const DATA: &str = "tests/data";

/// Intended differences from Wireshark 4.0: file, part, reason.
const KNOWN: &[(&str, &str, &str)] = &[
    (
        "cut.pcap",
        "frames",
        "Wireshark shows the ports of a header of which fewer than 16 bytes are captured; it creates no stream",
    ),
    (
        "icmp.pcap",
        "frames",
        "Wireshark doesn't show the sequence number of a quoted header, nor options that end early",
    ),
    ("ng-custom-block.pcapng", "", "a custom block is a frame of length 0 without a time to Wireshark"),
    ("ng-simple.pcapng", "frames", "as cut.pcap"),
    ("tcp-header-length.pcap", "frames", "Wireshark shows nothing of a header with a length below 20"),
    ("ng-two-sections.pcapng", "properties", "Wireshark 4.0 assigns the frames of all sections to the first interface"),
];

fn captures() -> Vec<PathBuf> {
    let entries = fs::read_dir(DATA).expect("the folder of the captures").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && path.extension().is_some_and(|kind| kind != "py")).collect();
    files.sort();
    assert!(files.len() > 50, "captures are missing: python3 {DATA}/make.py makes them");
    files
}

fn name(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// All results for a file. `UPDATE_EXPECTED=1 cargo test` renews the stored results.
#[test]
fn results_equal_the_stored_ones() {
    for file in captures() {
        let results = by_reader(&file, true);
        let damage = damage(&file).unwrap_or_default();
        let text = format!("{}{}\n{}\n{damage}\n", results.properties, results.lengths, results.frames);
        let answer = Path::new(DATA).join("expected").join(name(&file) + ".txt");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&answer, &text).expect("a result file that can be written");
        }
        let expected = fs::read_to_string(&answer).unwrap_or_else(|e| panic!("{}: {e}", answer.display()));
        assert_eq!(text, expected, "{}", file.display());
    }
}

fn damage(file: &Path) -> Option<String> {
    let mut reader = Reader::open(file).expect("a capture");
    while reader.next_frame().is_some() {}
    reader.damage().map(ToString::to_string)
}

/// Properties, packet-length table and TCP headers of each file equal those of capinfos and tshark 4.0.
#[test]
#[ignore = "starts Wireshark's tools for each file: `make test-rest`"]
fn results_equal_those_of_wireshark() {
    if !have_tools() {
        return;
    }
    let mut wrong = Vec::new();
    for file in captures() {
        let known: Vec<&str> = KNOWN.iter().filter(|row| row.0 == name(&file)).map(|row| row.1).collect();
        for difference in differences(&file, true) {
            if !known.iter().any(|what| difference.starts_with(what)) {
                wrong.push(format!("{}: {difference}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Damage has its kind and the offset of the record or block, computed by hand.
#[test]
fn damage_is_reported_with_kind_and_offset() {
    let results = |name: &str| {
        let file = Path::new(DATA).join(name);
        damage(&file).map(|text| text.trim_start_matches(&format!("{}: ", file.display())).to_owned())
    };
    let all = [
        // 24 bytes of header, one record of 16 + 54.
        ("damaged-record-cut.pcap", "damaged at byte 94, after frame 1: the file is cut: 10 bytes of 16 are present"),
        ("damaged-frame-cut.pcap", "damaged at byte 94, after frame 1: the file is cut: 40 bytes of 70 are present"),
        // 24 + 5 · 70.
        (
            "damaged-length.pcap",
            "damaged at byte 374, after frame 5: the captured length of a record is 2147483648, but only 0 to 262144 is possible",
        ),
        // Section 28, interface 20, one frame 32 + 56.
        (
            "damaged-block-lengths.pcapng",
            "damaged at byte 136, after frame 1: the block's length is 88 at its start and 104 at its end",
        ),
        (
            "damaged-interface.pcapng",
            "damaged at byte 136, after frame 1: a frame of interface 3, but the section describes 1",
        ),
        (
            "damaged-captured-length.pcapng",
            "damaged at byte 136, after frame 1: the captured length of a frame is 1000, but only 0 to 56 is possible",
        ),
        (
            "damaged-no-interface.pcapng",
            "damaged at byte 28, after frame 0: a frame of interface 0, but the section describes 0",
        ),
        ("damaged-block-cut.pcapng", "damaged at byte 136, after frame 1: the file is cut: 50 bytes of 88 are present"),
        (
            "damaged-block-short.pcapng",
            "damaged at byte 136, after frame 1: the length of a block is 8, but only 32 to 16777216 is possible",
        ),
    ];
    for (name, expected) in all {
        assert_eq!(results(name).as_deref(), Some(expected), "{name}");
    }
    assert_eq!(results("compressed.pcap.gz"), None);
    let compressed = results("damaged-compressed.pcap.gz").expect("damage");
    assert!(compressed.contains("(decompressed)"), "{compressed}");
}

/// A tunnel that is not decapsulated is reported, its content is not.
#[test]
fn tunnels_are_decapsulated_on_request_only() {
    use dumbbell_capture::Transport;
    let count = |enter: bool| {
        let mut reader = Reader::open(&Path::new(DATA).join("tunnels.pcap")).expect("a capture");
        let mut dissector = Dissector::new(enter);
        let (mut tunnels, mut segments) = (0, 0);
        while let Some(frame) = reader.next_frame() {
            let found = dissector.dissect(&frame);
            tunnels += u32::from(found.tunnel.is_some());
            segments += u32::from(matches!(found.transport, Transport::Tcp(_)));
        }
        (tunnels, segments)
    };
    // 22 frames, then one tunneled datagram of 244 bytes in three fragments, complete at the last one.
    assert_eq!(count(false), (23, 0));
    assert_eq!(count(true), (23, 23));
}

/// Bytes that are not a capture, an empty file, a missing file.
#[test]
fn files_that_are_no_captures_are_refused() {
    let refused = |bytes: &'static [u8]| match Reader::from_read("x", Box::new(bytes)) {
        Ok(_) => panic!("read as a capture"),
        Err(e) => e.to_string(),
    };
    assert!(refused(b"").contains("the file is empty"));
    assert!(refused(b"hello world").contains("text"));
    assert!(refused(b"\x7fELF....").contains("a program"));
    assert!(refused(b"\x01\x02\x03\x04\x05").contains("01 02 03 04"));
    assert!(refused(b"\xd4\xc3\xb2\xa1\x02\0").contains("cut after 6 of 24 bytes"));
    assert!(refused(b"\x0a\x0d\x0d\x0a\x1c\0\0\0").contains("section header"));
    let missing = Reader::open(Path::new("nowhere.pcap")).err().map(|e| e.to_string());
    assert!(missing.is_some_and(|text| text.starts_with("nowhere.pcap: ")));
}
