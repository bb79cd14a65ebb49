//! Malformed files: the corpus of `fuzz/`, the captures of `data`, and random changes of both.
//!
//! `FUZZ_ROUNDS=1000000 cargo test --release -p dumbbell-capture --test fuzz -- random_mutations --nocapture` tries
//! more; `FUZZ_SEED` sets the seed.

#![expect(clippy::expect_used, reason = "helpers of tests")]

#[path = "../../../fuzz/harness.rs"]
mod harness;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect();
    files.sort();
    files
}

fn data() -> Vec<Vec<u8>> {
    let files = files(Path::new("tests/data"));
    let all: Vec<_> = files.iter().map(|file| fs::read(file).expect("a file")).collect();
    assert!(all.len() > 50);
    all
}

fn every_target(bytes: &[u8]) {
    harness::file(bytes);
    harness::pcap(bytes);
    harness::pcapng(bytes);
    harness::frame(bytes);
    for choice in [0x00, 0xff] {
        analysis(choice, bytes);
    }
}

/// A capture as input of the target `analysis`: a byte for the options, then the file.
fn analysis(choice: u8, capture: &[u8]) {
    harness::analysis(&[&[choice], capture].concat());
}

/// The inputs of a packed corpus (`fuzz/corpus.py`), each after its length in two bytes.
fn unpacked(mut packed: &[u8]) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    while let Some((len, rest)) = packed.split_first_chunk::<2>() {
        let (input, rest) = rest.split_at(usize::from(u16::from_le_bytes(*len)));
        inputs.push(input.to_vec());
        packed = rest;
    }
    inputs
}

/// Runs the target of this name.
type Target = (&'static str, fn(&[u8]));

/// Runs each input of the corpus, which a fuzzer has selected by coverage, with its target, and each capture with every
/// target.
#[test]
fn the_corpus_causes_no_panic() {
    let targets: [Target; 5] = [
        ("file", harness::file),
        ("pcap", harness::pcap),
        ("pcapng", harness::pcapng),
        ("frame", harness::frame),
        ("analysis", harness::analysis),
    ];
    for (name, target) in targets {
        let packed = fs::read(Path::new("../../fuzz/corpus").join(name)).expect("a corpus");
        let inputs = unpacked(&packed);
        assert!(inputs.len() > 100, "{name}: {} inputs", inputs.len());
        inputs.iter().for_each(|input| target(input));
    }
    for input in &data() {
        every_target(input);
    }
}

/// Runs each capture cut at every byte.
#[test]
fn captures_cut_at_any_byte_cause_no_panic() {
    for whole in data() {
        let step = (whole.len() / 200).max(1);
        for end in (0..whole.len()).step_by(step) {
            harness::file(&whole[..end]);
        }
    }
}

/// A small random number generator (xorshift), sufficient for these tests.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n.max(1)
    }
}

/// Mutates an input as fuzzers do: bits, bytes, lengths, pieces moved, removed, duplicated or taken from another input.
fn change(input: &mut Vec<u8>, others: &[Vec<u8>], chance: &mut Chance) {
    const NOTABLE: [u8; 12] = [0, 1, 2, 4, 6, 8, 0x0f, 0x45, 0x7f, 0x80, 0xfe, 0xff];
    for _ in 0..=chance.below(8) {
        let len = input.len();
        if len == 0 {
            return;
        }
        let at = chance.below(len);
        let end = (at + 1 + chance.below(64)).min(len);
        match chance.below(9) {
            0 => input[at] ^= 1 << chance.below(8),
            1 => input[at] = chance.below(256) as u8,
            2 => input[at] = NOTABLE[chance.below(NOTABLE.len())],
            3 => {
                let value = [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 65_535, 262_145][chance.below(7)];
                for (place, byte) in input[at..].iter_mut().zip(value.to_le_bytes()) {
                    *place = byte;
                }
            }
            4 => input.truncate(at),
            5 => drop(input.drain(at..end)),
            6 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            7 => {
                let other = &others[chance.below(others.len())];
                let from = chance.below(other.len());
                let piece = other[from..(from + 256).min(other.len())].to_vec();
                input.splice(at..end, piece);
            }
            _ => input[at..end].reverse(),
        }
    }
}

/// Runs 30,000 random mutations, or `FUZZ_ROUNDS`.
#[test]
fn random_mutations_cause_no_panic() {
    if !is_alone("random_mutations_cause_no_panic") {
        return;
    }
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let seeds = data();
    let mut chance = Chance(number("FUZZ_SEED", 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for round in 0..number("FUZZ_ROUNDS", 30_000) {
        let mut input = seeds[chance.below(seeds.len())].clone();
        change(&mut input, &seeds, &mut chance);
        let target =
            [harness::file, harness::analysis, harness::pcap, harness::pcapng, harness::frame][chance.below(5)];
        let caught = std::panic::catch_unwind(|| target(&input));
        if caught.is_err() {
            let kept = std::env::temp_dir().join(format!("dumbbell-fuzz-input-{}", std::process::id()));
            fs::write(&kept, &input).expect("a place for the input");
            panic!("round {round}: the input is kept in {}", kept.display());
        }
    }
    #[cfg(target_os = "linux")]
    assert!(peak_memory_kib() < 400 * 1024, "{} KiB", peak_memory_kib());
}

/// True in a process that runs only this test; otherwise runs it in such a process. Memory is measured for whole
/// processes, and the other tests use some at the same time.
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "DUMBBELL_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let this = std::env::current_exe().expect("a test");
    let status = Command::new(this).args([test, "--exact", "--nocapture"]).env(ALONE, "1").status();
    assert!(status.expect("a process").success(), "{test} has failed in its own process");
    false
}

/// The peak memory of the process.
#[cfg(target_os = "linux")]
fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a running system");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
}

/// False lengths cost no memory: a record of 2^32 - 1 bytes, a block of 2^32 - 4, a record of 16 MiB of which the file
/// has 100 bytes.
#[test]
#[cfg(target_os = "linux")]
fn false_lengths_cost_no_memory() {
    if !is_alone("false_lengths_cost_no_memory") {
        return;
    }
    let before = peak_memory_kib();
    let mut record = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
    record.extend([0; 8]);
    record.extend([0xff; 8]);
    harness::file(&record);
    let mut block = Vec::new();
    for n in [0x0a0d_0d0a_u32, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28, 0x7777, u32::MAX - 3] {
        block.extend(n.to_le_bytes());
    }
    harness::file(&block);
    // USB's link type (189) may have long records: this one is 16 MiB, of which the file has 100 bytes.
    record.truncate(24);
    record[20] = 189;
    record.extend([0; 8]);
    record.extend([0, 0, 0, 1, 0, 0, 0, 1]);
    record.extend([7; 100]);
    harness::file(&record);
    assert!(peak_memory_kib() - before < 64 * 1024, "{} KiB more", peak_memory_kib() - before);
}
