//! Reads and dissects captures and counts their frames: `dissect FILE...`, for measuring the speed of the dissection.

use std::path::Path;

use dumbbell_capture::{Dissected, Dissector, Frame, Reader, Sink, Transport, run};

#[derive(Default, Debug)]
struct Count {
    frames: u64,
    bytes: u64,
    tcp: u64,
    sum: u64,
}

impl Sink for Count {
    fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>) {
        self.frames += 1;
        self.bytes += u64::from(frame.len);
        if let Transport::Tcp(tcp) = &found.transport {
            self.tcp += 1;
            self.sum = self.sum.wrapping_add(u64::from(tcp.seq ^ tcp.ack)) + u64::from(tcp.len.unwrap_or(0));
            self.sum = self.sum.wrapping_add(tcp.options.timestamps.map_or(0, |t| u64::from(t.0)));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the program measures the speed of the dissector")]
fn main() {
    let mut dissector = Dissector::new(false);
    for file in std::env::args().skip(1) {
        let mut count = Count::default();
        let begin = std::time::Instant::now();
        match Reader::open(Path::new(&file)) {
            Ok(mut reader) => {
                if let Some(damage) = run(&mut reader, &mut dissector, &mut count) {
                    println!("{damage}");
                }
                println!("{file}: {count:?} {:?}", begin.elapsed());
            }
            Err(e) => println!("{e}"),
        }
    }
}
