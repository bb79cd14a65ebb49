//! Fuzz target: a capture file, compressed or not; `harness.rs` has the checks.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::file(data));
