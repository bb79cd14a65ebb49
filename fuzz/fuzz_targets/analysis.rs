//! Fuzz target: the analysis of a whole file, and of the file paired with itself; `harness.rs` has the checks.
#![no_main]

#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::analysis(data));
