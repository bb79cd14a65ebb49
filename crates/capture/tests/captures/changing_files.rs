//! Files that change while they are read: truncated ones end with damage at the right offset, appended records are
//! read.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use dumbbell_capture::{Fault, LinkType, Reader};
use dumbbell_pcap::PcapWriter;
use dumbbell_units::Time;

/// Bytes of a frame, and of its record: a file's header has 24.
const FRAME: usize = 984;
const RECORD: u64 = 16 + FRAME as u64;

/// A file that is removed when the test ends.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// `n` frames full of ones, a millisecond apart.
fn frames(out: Vec<u8>, range: std::ops::Range<u64>) -> Vec<u8> {
    let mut writer = PcapWriter::new(out, LinkType::ETHERNET, 65_535).expect("memory");
    for i in range {
        writer.frame(Time((i + 1) * 1_000_000), FRAME as u32, &[1; FRAME]).expect("memory");
    }
    writer.finish().expect("memory")
}

fn file(name: &str, n: u64) -> Temporary {
    let path = std::env::temp_dir().join(format!("dumbbell-{}-{name}.pcap", std::process::id()));
    fs::write(&path, frames(Vec::new(), 0..n)).expect("a place for files");
    Temporary(path)
}

/// Reads the rest of the file and counts the frames; each of them must be whole.
fn count(reader: &mut Reader) -> u64 {
    let mut n = 0;
    while let Some(frame) = reader.next_frame() {
        assert!(frame.data.len() == FRAME && frame.data[0] == 1, "frame {}", frame.number);
        n += 1;
    }
    n
}

/// Reads the first 10 of 3,000 frames, truncates the file to `size` bytes and reads on.
fn truncate(name: &str, size: u64) -> (u64, Reader) {
    let file = file(name, 3_000);
    let mut reader = Reader::open(&file.0).expect("a capture");
    for _ in 0..10 {
        assert!(reader.next_frame().is_some());
    }
    OpenOptions::new().write(true).open(&file.0).and_then(|f| f.set_len(size)).expect("a cut");
    (10 + count(&mut reader), reader)
}

/// Truncated inside a record. 1,000 records and the file's header end at byte 1,000,024, 245 pages of memory end at
/// 1,003,520: three more records are whole, and the fourth lacks 504 bytes.
#[test]
fn truncated_inside_a_record() {
    let (n, reader) = truncate("inside", 245 * 4096);
    assert_eq!(n, 1_003);
    let damage = reader.damage().expect("damage");
    assert!(matches!(damage.fault, Fault::Stream(_)), "{damage}");
    assert_eq!((damage.frames, damage.offset), (n, 24 + n * RECORD));
}

/// Truncated between two records: without a check of the size this would be a regular end of the file.
#[test]
fn truncated_between_records() {
    let (n, reader) = truncate("record", 24 + 500 * RECORD);
    assert_eq!(n, 500);
    let damage = reader.damage().expect("damage");
    assert!(matches!(damage.fault, Fault::Stream(_)), "{damage}");
    assert_eq!(damage.offset, 24 + 500 * RECORD);
}

/// Truncated before the position of the reader.
#[test]
fn truncated_to_nothing() {
    let (n, reader) = truncate("nothing", 0);
    // The records in the window of 256 KiB were read before: 262.
    assert!(n <= 262, "{n}");
    assert!(reader.damage().is_some_and(|d| matches!(d.fault, Fault::Stream(_))));
    // Another file can be read as before.
    let next = file("next", 100);
    assert_eq!(count(&mut Reader::open(&next.0).expect("a capture")), 100);
}

/// Records that are appended while the file is read belong to it, beyond the first window too.
#[test]
fn records_appended_while_reading_are_read() {
    let file = file("grown", 10);
    let mut reader = Reader::open(&file.0).expect("a capture");
    assert!(reader.next_frame().is_some());
    let more = frames(Vec::new(), 10..10_000);
    let append = |bytes: &[u8]| {
        let mut file = OpenOptions::new().append(true).open(&file.0).expect("the file");
        file.write_all(bytes).expect("space on the disk");
    };
    append(&more[24..]);
    assert_eq!(count(&mut reader), 9_999);
    assert!(reader.damage().is_none());
    assert_eq!(reader.consumed(), 24 + 10_000 * RECORD);
}

/// Many files at a time.
#[test]
fn many_files_are_open_at_a_time() {
    let file = file("many", 50);
    let mut readers: Vec<Reader> = (0..200).map(|_| Reader::open(&file.0).expect("a capture")).collect();
    for reader in &mut readers {
        assert_eq!(count(reader), 50);
    }
}

/// A record that lies across two windows, and records longer than a window: frames of USB may have 16 MiB.
#[test]
fn records_longer_than_a_window_are_read() {
    let lengths = [5 << 20, 3, (16 << 20) - 1, 4 << 20, 0, 7 << 20];
    let mut writer = PcapWriter::new(Vec::new(), LinkType(189), 16 << 20).expect("memory");
    for (i, &len) in lengths.iter().enumerate() {
        writer.frame(Time(1), len as u32, &vec![i as u8 + 1; len]).expect("memory");
    }
    let file = Temporary(std::env::temp_dir().join(format!("dumbbell-{}-long.pcap", std::process::id())));
    File::create(&file.0).and_then(|mut f| f.write_all(&writer.finish().expect("memory"))).expect("a place for files");
    let mut reader = Reader::open(&file.0).expect("a capture");
    for (i, &len) in lengths.iter().enumerate() {
        let frame = reader.next_frame().expect("a frame");
        assert_eq!(frame.data.len(), len);
        assert!(frame.data.iter().all(|&b| usize::from(b) == i + 1));
    }
    assert!(reader.next_frame().is_none() && reader.damage().is_none());
}
