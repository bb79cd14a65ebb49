//! Damage in compressed captures: every frame before it is read, and a message has its place.

use std::io::{self, BufReader, Read, Write};

use dumbbell_capture::{Damage, Reader};

const FRAMES: u32 = 6_000;

/// A pcap file whose frames compress neither well nor not at all.
fn capture() -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    let mut state = 1_u32;
    for n in 0..FRAMES {
        for word in [1_700_000_000 + n / 1000, n % 1000 * 1000, 60, 60] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        for _ in 0..15 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            file.extend_from_slice(&(state >> 24).to_le_bytes());
        }
    }
    file
}

/// Frames of a stream, and its damage; no frames if it isn't a capture.
fn frames(file: &[u8]) -> (u64, Option<Damage>) {
    let file = io::Cursor::new(file.to_vec());
    let Ok(mut reader) = Reader::from_read("x", Box::new(file)) else { return (0, None) };
    let mut count = 0;
    while reader.next_frame().is_some() {
        count += 1;
    }
    (count, reader.damage().cloned())
}

/// The bytes that a decoder gives one by one before its error or its end, and its error.
fn one_by_one(mut decoder: impl Read) -> (Vec<u8>, bool) {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    loop {
        match decoder.read(&mut byte) {
            Ok(0) => return (bytes, false),
            Ok(_) => bytes.push(byte[0]),
            Err(_) => return (bytes, true),
        }
    }
}

/// Damages a compressed file in many places. The frames must be those of the bytes that `decode` gives one by one.
fn check<D: Read>(format: &str, packed: &[u8], decode: impl Fn(io::Cursor<Vec<u8>>) -> D) {
    assert_eq!(frames(packed), (u64::from(FRAMES), None));
    let mut damages = 0;
    for part in 1..12 {
        let at = packed.len() * part / 12;
        let mut broken = packed.to_vec();
        broken[at..at + 3].iter_mut().for_each(|byte| *byte ^= 0xa5);
        let cut = packed[..at].to_vec();
        for broken in [broken, cut] {
            let (before, failed) = one_by_one(decode(io::Cursor::new(broken.clone())));
            if before.len() < 24 {
                continue;
            }
            let (count, damage) = frames(&broken);
            assert_eq!(count, frames(&before).0, "{format}, damage in part {part}");
            if failed {
                damages += 1;
                let text = damage.map(|damage| damage.to_string()).unwrap_or_default();
                assert!(text.contains("(decompressed), after frame"), "{text}");
            }
        }
    }
    assert!(damages > 10, "{format}: {damages} damaged files");
}

#[test]
fn all_frames_before_damaged_gzip_data_are_read() {
    let mut packed = Vec::new();
    let file = capture();
    // Two members.
    for half in file.chunks(file.len() / 2 + 1) {
        let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::default());
        encoder.write_all(half).expect("in memory");
        encoder.finish().expect("in memory");
    }
    check("gzip", &packed, flate2::read::MultiGzDecoder::new);
    // A wrong checksum at the end costs no frame.
    let last = packed.len() - 6;
    packed[last] ^= 1;
    let (count, damage) = frames(&packed);
    assert_eq!(count, u64::from(FRAMES));
    let text = damage.expect("damage").to_string();
    assert!(text.contains("the gzip data is damaged at or before byte"), "{text}");
}

#[test]
fn all_frames_before_damaged_zstandard_data_are_read() {
    let file = capture();
    let mut packed = Vec::new();
    for half in file.chunks(file.len() / 2 + 1) {
        packed.extend(zstd::encode_all(half, 3).expect("in memory"));
    }
    // Input byte by byte: each block is given before the next is decoded.
    check("zstd", &packed, |file| zstd::Decoder::with_buffer(BufReader::with_capacity(1, file)).expect("a decoder"));
}

#[test]
fn all_frames_before_damaged_lz4_data_are_read() {
    let mut info = lz4_flex::frame::FrameInfo::new();
    info.block_size = lz4_flex::frame::BlockSize::Max64KB;
    info.block_checksums = true;
    let pack = |part: &[u8]| {
        let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info.clone(), Vec::new());
        encoder.write_all(part).expect("in memory");
        encoder.finish().expect("in memory")
    };
    let file = capture();
    check("lz4", &pack(&file), lz4_flex::frame::FrameDecoder::new);
    // Three frames, the second of which is empty.
    let (first, last) = file.split_at(file.len() / 2);
    let mut packed = [first, &[], last].map(pack).concat();
    let (count, damage) = frames(&packed);
    assert_eq!((count, damage.map(|damage| damage.to_string())), (u64::from(FRAMES), None));
    for cut in [packed.len() - 1, packed.len() - 4, packed.len() / 3, packed.len() / 3 * 2] {
        let (_, damage) = frames(&packed[..cut]);
        let text = damage.expect("damage").to_string();
        assert!(text.contains(&format!("the lz4 data is cut after byte {cut} of the file")), "{text}");
    }
    let middle = packed.len() / 3;
    packed[middle] ^= 0x55;
    let (count, damage) = frames(&packed);
    assert!((1..u64::from(FRAMES)).contains(&count));
    let text = damage.expect("damage").to_string();
    let place = text.split("the lz4 data is damaged at or before byte ").nth(1).expect("a place");
    let place: usize = place.split(' ').next().expect("a number").parse().expect("a number");
    assert!((middle..middle + (64 << 10)).contains(&place), "{text}");
}
