//! Blocks without a packet that have a frame number, as in tshark 4.0.17.

use dumbbell_capture::Reader;

/// A pcapng block: type, length, body, length.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let len = (12 + padded as u32).to_le_bytes();
    let mut block = [&kind.to_le_bytes(), &len, body].concat();
    block.resize(8 + padded, 0);
    block.extend_from_slice(&len);
    block
}

/// Frame numbers of three packets with a block of this type after the first and two after the second.
fn numbers(kind: u32) -> Vec<u64> {
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &1_u16.to_le_bytes(), &0_u16.to_le_bytes(), &[0xff; 8]].concat();
    let interface = [1_u16.to_le_bytes(), 0_u16.to_le_bytes(), 0xffff_u16.to_le_bytes(), [0; 2]].concat();
    let fields: Vec<u8> = [0_u32, 0, 1, 20, 20].into_iter().flat_map(u32::to_le_bytes).collect();
    let packet = block(6, &[&fields[..], &[0; 20]].concat());
    // The fixed fields of a sysdig event take 28 bytes, those of the others fewer.
    let other = block(kind, &[0; 32]);
    let file = [block(0x0a0d_0d0a, &section), block(1, &interface), packet.clone(), other.clone()].concat();
    let file = [file, packet.clone(), other.clone(), other, packet].concat();
    let Ok(mut reader) = Reader::from_read("x", Box::new(std::io::Cursor::new(file))) else {
        return Vec::new();
    };
    let mut numbers = Vec::new();
    while let Some(frame) = reader.next_frame() {
        numbers.push(frame.number);
    }
    assert_eq!(reader.damage(), None);
    numbers
}

#[test]
fn events_and_custom_blocks_have_numbers() {
    for kind in [9, 0x204, 0x216, 0x221, 0x0bad, 0x4000_0bad] {
        assert_eq!(numbers(kind), [1, 3, 6], "block type {kind:#x}");
    }
    // Sysdig's events with flags and unknown types have none.
    for kind in [0x208, 0x1234] {
        assert_eq!(numbers(kind), [1, 2, 3], "block type {kind:#x}");
    }
}
