//! A link as queue disciplines: a shaper with the link's queue inside, and netem for transmission, delay and loss
//! [tc-tbf(8), tc-netem(8); Linux sch_tbf.c, sch_netem.c].

use crate::error::KernelError;
use crate::plan::hosts::largest_packet;
use crate::plan::qdisc::{Crossing, Qdisc, queue};
use crate::plan::target::{Kernel, Target};
use dumbbell_link::{JitterPlan, LossPlan};
use dumbbell_plan::{LinkPlan, LinkSettings, Plan};

/// Ethernet header, bytes: the kernel counts it in a packet's length [Linux include/net/sch_generic.h
/// qdisc_calculate_pkt_len], a plan doesn't.
const ETHERNET: i32 = 14;
/// Largest super-packet, bytes: with offloads the bucket must hold one
/// [Linux include/linux/netdevice.h GSO_LEGACY_MAX_SIZE].
const SUPER_PACKET: u64 = 1 << 16;

/// The end of refusals: which back ends support the feature.
pub(crate) const SUPPORTED_BY: &str = "the simulator and --backend kernel or uml -o emulation=link do";

/// Returns the shaper at the node's interface, and the netem at the interface of the link's namespace behind it.
/// `crossings` are the directions of flows that cross the link.
pub(crate) fn qdiscs(
    plan: &Plan,
    link: &LinkPlan,
    mtu: u32,
    target: Target,
    crossings: &[Crossing],
) -> Result<(Qdisc, Option<Qdisc>), KernelError> {
    // Every field by name, so that a new one must be translated or refused here.
    let name = &link.name;
    let LinkSettings {
        rate_bps,
        rate_course,
        opportunities,
        delay_ns,
        delay_course,
        delay_reorders: _, // has no effect without delay_course
        outages,
        overhead_bytes,
        base_rtt_ns: _,
        queue: discipline,
        policer: _, // before the queue: see `police`
        loss,
        corruption,
        jitter,
        jitter_reorders,
        reordering,
        duplication,
        drops,
    } = &**link;
    let unsupported = [
        ("rate", "a rate that changes", rate_course.is_some()),
        ("rate", "packet-delivery traces", opportunities.is_some()),
        ("delay", "a delay that changes", delay_course.is_some()),
        ("outages", "outages", !outages.is_empty()),
        ("corruption", "damaged packets", corruption.is_some()),
        ("jitter_reorders", "jitter that reorders", *jitter_reorders),
        ("reordering", "packets held back", reordering.is_some()),
        ("duplication", "copies of packets", duplication.is_some()),
        ("drops", "scripted drops", !drops.is_empty()),
    ];
    let refuse = |key: &str, message: &str| Err(KernelError::refused(&format!("links.{name}.{key}"), message));
    if let Some((key, what, _)) = unsupported.iter().find(|(.., given)| *given) {
        return refuse(key, &format!("the kernel's own links don't have {what}: {SUPPORTED_BY}"));
    }
    let LossPlan::Independent(loss) = loss else {
        return refuse("loss", &format!("the kernel's own links don't have losses in bursts: {SUPPORTED_BY}"));
    };
    let jitter_ns = match jitter {
        None => 0,
        Some(JitterPlan::Uniform { max_ns }) => *max_ns,
        Some(_) => {
            let message = format!("the kernel's own links have uniform jitter only: give a time; {SUPPORTED_BY}");
            return refuse("jitter", &message);
        }
    };
    let overhead = i32::try_from(*overhead_bytes).unwrap_or(i32::MAX) - ETHERNET;
    let packet = u64::from(mtu) + u64::from(*overhead_bytes);
    // Bytes sent while the timer may be late: without them in the bucket, their tokens would be lost.
    let late = rate_bps * target.late_us() / 8_000_000 + 1;
    let largest = match (target.offloads, target.kernel) {
        (true, _) => packet.max(SUPER_PACKET),
        // Calibration sends packets of the MTU.
        (false, Kernel::Host) => packet,
        // A bucket for more than one packet would release the next one before this one is sent: a place in the queue
        // would be free too early, and phase effects would decide otherwise which flow takes it.
        (false, Kernel::Guest) => packet.min(u64::from(largest_packet(plan)) + u64::from(*overhead_bytes)),
    };
    let queue = queue(plan, link, discipline, packet as u32, crossings)?;
    let shaper = queue.shaped(*rate_bps, largest, late, overhead);
    let jitter = jitter_ns / 2; // netem's jitter is to both sides of the delay [Linux sch_netem.c tabledist]
    let rate_bps = if target.netem_has_rate(link) { *rate_bps } else { 0 };
    let netem = Qdisc::Netem {
        rate_bps: if jitter > 0 { KEEPS_ORDER_BPS } else { rate_bps },
        overhead,
        delay_ns: delay_ns + jitter,
        jitter_ns: jitter,
        loss: *loss,
        seed: dumbbell_units::random::Stream::new(plan.seed, &format!("link/{name}/loss")).next_u64(),
        inner: None,
    };
    let netem = if jitter > 0 && rate_bps > 0 { transmitted(rate_bps, overhead, netem) } else { netem };
    Ok((shaper, target.has_netem(link).then_some(netem)))
}

/// Rate of a netem with jitter, bit/s. A netem with a rate keeps the order of packets; at this one their transmission
/// takes less than 1 ns, so it doesn't space them [Linux sch_netem.c netem_enqueue, packet_time_ns].
const KEEPS_ORDER_BPS: u64 = 10_u64.pow(15);

/// Returns a netem that delays packets by their transmission time only, with `netem` behind it. One netem with rate and
/// jitter would space packets again after their jitter, so that a busy link had none [Linux sch_netem.c netem_enqueue].
fn transmitted(rate_bps: u64, overhead: i32, netem: Qdisc) -> Qdisc {
    let inner = Some(Box::new(netem));
    Qdisc::Netem { rate_bps, overhead, delay_ns: 0, jitter_ns: 0, loss: 0.0, seed: 0, inner }
}
