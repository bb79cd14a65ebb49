//! Measures the cost of a packet in a discipline: `cycle NAME PACKETS`.
//!
//! A link of 100 Mbit/s is kept busy by eight flows in turn with 32 full packets waiting: 3.8 ms, below every AQM's
//! target, so that nothing is dropped and each packet makes one full cycle. Prints the number of packets that left.

use dumbbell_qdisc::{Ecn, LinkInfo, Packet, QdiscContext, build};
use dumbbell_units::{Bytes, Dur, Rate};
use std::error::Error;

const WAITING: u64 = 32;
const FLOWS: u32 = 8;
const BYTES: u32 = 1500;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("usage: cycle NAME PACKETS")?;
    let packets: u32 = arguments.next().ok_or("usage: cycle NAME PACKETS")?.parse()?;
    let rate = Rate(100_000_000);
    let link = LinkInfo { rate, base_rtt: Dur::millis(40), seed: 1, path: "cycle".into(), linux: false, overhead: 0 };
    let mut queue = build(&name, &[], &link)?;
    let mut cx = QdiscContext::default();
    cx.link_busy = true;
    let (mut arrived, mut left) = (0, 0u64);
    while arrived < packets {
        while queue.backlog().packets < WAITING {
            let flow = arrived % FLOWS;
            let class = (flow % 3) as u16;
            let (ecn, body, enqueued) = (Ecn::ECT0, arrived, cx.now);
            queue.enqueue(Packet { bytes: BYTES, flow, body, class, ecn, enqueued }, &mut cx);
            arrived += 1;
        }
        cx.now += rate.time_for(Bytes(u64::from(BYTES)));
        left += u64::from(queue.dequeue(&mut cx).is_some());
        while cx.take_dropped().is_some() {}
    }
    println!("{left}");
    Ok(())
}
