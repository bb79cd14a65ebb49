//! The kernel's CAKE: a shaper, one tin, its attributes [Linux sch_cake.c, pkt_sched.h].

use super::from_scenario::{Reader, setting};
use super::{Qdisc, Value};
use crate::error::KernelError;
use dumbbell_units::param::Params;

const TCA_CAKE_BASE_RATE64: u16 = 2;
const TCA_CAKE_DIFFSERV_MODE: u16 = 3;
const TCA_CAKE_FLOW_MODE: u16 = 5;
const TCA_CAKE_OVERHEAD: u16 = 6;
const TCA_CAKE_RTT: u16 = 7;
const TCA_CAKE_TARGET: u16 = 8;
const TCA_CAKE_MPU: u16 = 14;

/// Values of `TCA_CAKE_FLOW_MODE` and of `TCA_CAKE_DIFFSERV_MODE`.
const CAKE_FLOW_NONE: u32 = 0;
const CAKE_FLOW_FLOWS: u32 = 4;
const CAKE_DIFFSERV_BESTEFFORT: u32 = 3;

/// Translates the parameters.
pub(super) fn cake(reader: &Reader) -> Result<Qdisc, KernelError> {
    let p = &reader.params;
    if p.unless_word("limit", Params::length).is_some() {
        return reader.refuse("limit", "the kernel counts the memory of packets, not their bytes: leave it at auto");
    }
    let bandwidth = p.unless_word("bandwidth", Params::rate).map_or(0, |rate| rate.0);
    let (flow_mode, isolation) =
        if p.choice("isolation") == "flowblind" { (CAKE_FLOW_NONE, "flowblind") } else { (CAKE_FLOW_FLOWS, "flows") };
    let rtt = reader.micros("rtt")?;
    let overhead = reader.framing + p.bytes("overhead").0 as u32;
    let shaper = if bandwidth == 0 { "unlimited".into() } else { format!("bandwidth {bandwidth}bit") };
    let mut options = vec![
        setting(TCA_CAKE_BASE_RATE64, Value::U64(bandwidth / 8), shaper),
        setting(TCA_CAKE_DIFFSERV_MODE, Value::U32(CAKE_DIFFSERV_BESTEFFORT), "besteffort".into()),
        setting(TCA_CAKE_FLOW_MODE, Value::U32(flow_mode), isolation.into()),
        setting(TCA_CAKE_RTT, Value::U32(rtt), format!("rtt {rtt}us")),
        setting(TCA_CAKE_TARGET, Value::U32(rtt / 20), String::new()),
        setting(TCA_CAKE_OVERHEAD, Value::U32(overhead), format!("overhead {overhead}")),
    ];
    let mpu = p.bytes("mpu").0 as u32;
    if mpu > 0 {
        options.push(setting(TCA_CAKE_MPU, Value::U32(mpu), format!("mpu {mpu}")));
    }
    Ok(Qdisc::Options { kind: "cake", options })
}
