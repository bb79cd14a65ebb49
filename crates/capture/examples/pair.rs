//! Matches two captures of one path.
//!
//!     cargo run --release -p dumbbell-capture --example pair -- SENDER RECEIVER

use std::path::Path;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = files.as_slice() else {
        eprintln!("usage: pair SENDER RECEIVER");
        std::process::exit(2);
    };
    match dumbbell_capture::pair::pair(Path::new(a), Path::new(b), None, false, &mut |_| true, None) {
        Ok(found) => {
            println!("{:?} {:?}", found.clock, found.packets);
            for (name, values) in &found.flows.columns {
                println!("{name}: {values:?}");
            }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
