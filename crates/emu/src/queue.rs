//! Scenario disciplines as the kernel's.

use crate::error::EmuError;
use dumbbell_qdisc::{Limit, LinkFacts};
use dumbbell_sim::{LinkPlan, Named, Plan};
use dumbbell_units::param::Params;
use dumbbell_units::{Dur, Rate};

/// A queue discipline as the kernel takes it. Sizes are IP bytes with the link's framing.
#[derive(Clone, Debug, PartialEq)]
pub enum Qdisc {
    /// FIFO, limit in packets.
    Pfifo {
        /// Packets that may wait.
        limit: u32,
    },
    /// FIFO, limit in bytes.
    Bfifo {
        /// Bytes that may wait.
        limit: u32,
    },
    /// Token bucket over another discipline.
    Tbf {
        /// Rate, bit/s.
        rate_bps: u64,
        /// Depth of the bucket, bytes.
        burst: u64,
        /// Added to each packet's length (Ethernet header included in that), bytes.
        overhead: i32,
        /// What is shaped.
        inner: Box<Qdisc>,
    },
    /// Transmitter and wire.
    Netem {
        /// Rate, bit/s.
        rate_bps: u64,
        /// Added to each packet's length (Ethernet header included in that), bytes.
        overhead: i32,
        /// Mean delay, ns.
        delay_ns: u64,
        /// Delay varies by so much to both sides, ns.
        jitter_ns: u64,
        /// Share of packets lost.
        loss: f64,
        /// Start of its random numbers.
        seed: u64,
    },
}

/// The kernel's form of a link's discipline; `packet` is the size of the largest packet.
pub(crate) fn queue(
    plan: &Plan,
    link: &str,
    discipline: &Named,
    facts: &LinkPlan,
    _packet: u64,
) -> Result<Qdisc, EmuError> {
    let place = |key: &str| format!("links.{link}.queue{key}");
    let row = dumbbell_qdisc::find(&discipline.name).map_err(|e| EmuError::refused(&place(""), e.message))?;
    let params = Params::read(row.params, &discipline.given())
        .map_err(|e| EmuError::refused(&place(&format!(".{}", e.name)), e.message))?;
    let facts = LinkFacts {
        rate: Rate(facts.rate_bps),
        base_rtt: Dur(facts.base_rtt_ns),
        seed: plan.seed,
        path: String::new(),
    };
    match discipline.name.as_str() {
        "droptail" => {
            if params.choice("counting") != "waiting" {
                let message = "the kernel's queues count what waits: 'waiting' only";
                return Err(EmuError::refused(&place(".counting"), message));
            }
            Ok(match facts.limit(params.length("limit")) {
                Limit::Packets(n) => Qdisc::Pfifo { limit: n.0.min(u64::from(u32::MAX)) as u32 },
                Limit::Bytes(n) => Qdisc::Bfifo { limit: n.0.min(u64::from(u32::MAX)) as u32 },
            })
        }
        other => {
            let message = format!("'{other}' given: the kernel back ends have droptail");
            Err(EmuError::refused(&place(".discipline"), message))
        }
    }
}
