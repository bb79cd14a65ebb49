//! Fuzz target: the blocks of a pcapng file; `harness.rs` has the checks.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::pcapng(data));
