//! Compares the results for captures with Wireshark's tools: `compare FILE...`; `--tunnels` decapsulates tunnels as
//! Wireshark does.

#[path = "../tests/captures/common.rs"]
mod common;

use std::path::Path;

fn main() {
    let (options, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let tunnels = options.iter().any(|option| option == "--tunnels");
    let mut different = 0;
    for file in &files {
        let found = common::differences(Path::new(file), tunnels);
        different += usize::from(!found.is_empty());
        println!("{file}: {}", if found.is_empty() { "the same" } else { "DIFFERENT" });
        for difference in found {
            println!("{difference}");
        }
    }
    println!("{different} of {} differ", files.len());
}
