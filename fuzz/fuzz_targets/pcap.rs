//! Fuzz target: the records of a pcap file; `harness.rs` has the checks.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::pcap(data));
