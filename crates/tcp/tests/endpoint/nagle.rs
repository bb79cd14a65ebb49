//! Nagle's algorithm as Linux has it [Linux tcp_output.c tcp_nagle_check, tcp_minshall_check].

use crate::linux_stack::{MSS, linux};
use dumbbell_testkit::wire::losing;

#[test]
fn a_segment_that_is_not_full_waits_only_for_another_one() {
    let (_, mut wire) = linux(10, &[], losing(&[]));
    wire.receiver.listen();
    wire.sender.connect();
    wire.sender.write(1000); // nothing is outstanding
    wire.run_until(1.0);
    wire.sender.write(2 * MSS + 1); // the last byte follows the full segments
    wire.run_until(1.02);
    wire.sender.write(100); // the byte is outstanding: its ACK arrives after a round trip
    wire.run_until(2.0);
    let sent: Vec<u64> = wire.sent.iter().map(|s| s.at.0 / 1_000_000).collect();
    assert_eq!(sent, [100, 1000, 1000, 1000, 1100]);
}
