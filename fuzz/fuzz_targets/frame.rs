//! Fuzz target: frames of any link type; `harness.rs` has the checks.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::frame(data));
