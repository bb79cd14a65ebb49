//! Queue disciplines and their statistics: `RTM_NEWQDISC` and `RTM_GETQDISC` [rtnetlink(7); Linux rtnetlink.h tcmsg,
//! pkt_sched.h, gen_stats.h].

use super::filter::add_class_filter;
use super::message::{Message, Netlink, attributes, head};
use super::traffic_control::{NEW, TC_LINKLAYER_ETHERNET, TCA_KIND, TCA_OPTIONS, TCA_STATS_QUEUE, fixed, words};
use crate::error::KernelError;
use crate::plan::qdisc::{Qdisc, Value, supported};
use crate::plan::veth::Interface;

const TC_H_ROOT: u32 = 0xffff_ffff;
const TCA_STATS2: u16 = 7;
const TCA_STAB: u16 = 8;
const TCA_STAB_BASE: u16 = 1;
const TCA_STATS_APP: u16 = 4;
const TCA_DRR_QUANTUM: u16 = 1;
const TCA_RED_PARMS: u16 = 1;
const TCA_RED_STAB: u16 = 2;
const TCA_RED_MAX_P: u16 = 3;
/// Size of the RED part of `tc_sfq_qopt_v1`, bytes; zeros: no RED in its queues.
const SFQ_RED: usize = 44;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
/// Major number of `HTB_VER` [Linux sch_htb.c], and `rate2quantum`, which has no effect with one class.
const HTB_VERSION: u32 = 3;
const HTB_RATE_TO_QUANTUM: u32 = 10;
const HTB_QUANTUM: u32 = 1514;
/// Nanoseconds of a tick of the kernel's token buckets [Linux pkt_sched.h PSCHED_SHIFT].
const TICK_NS: u128 = 64;
const TCA_ETS_NBANDS: u16 = 1;
const TCA_ETS_NSTRICT: u16 = 2;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_NETEM_JITTER64: u16 = 11;
const TCA_NETEM_PRNG_SEED: u16 = 14;
/// A limit that no link reaches, packets or bytes.
const NO_LIMIT: u32 = 100_000_000;

/// Tries to add a discipline without options as the root qdisc of an interface, with this handle.
pub(crate) fn try_qdisc(net: &Netlink, index: u32, kind: &str, number: u32) -> std::io::Result<()> {
    let fixed = fixed(index, number << 16, TC_H_ROOT);
    let message = Message::new(libc::RTM_NEWQDISC, NEW, &fixed).text(TCA_KIND, kind);
    net.attempt(message)
}

impl Qdisc {
    fn options(&self, message: Message) -> Message {
        match self {
            Qdisc::Pfifo { limit } | Qdisc::Bfifo { limit } => message.number(TCA_OPTIONS, *limit),
            Qdisc::Red(red) => message.nested(TCA_OPTIONS, |m| {
                m.attribute(TCA_RED_PARMS, &red.structure())
                    .attribute(TCA_RED_STAB, &red.idle_table().halvings)
                    .number(TCA_RED_MAX_P, red.max_p())
            }),
            Qdisc::Sfq { quantum, perturb, limit, divisor, flows, depth, headdrop } => {
                let mut parms = words(&[*quantum, *perturb, *limit, *divisor, *flows, *depth, u32::from(*headdrop)]);
                parms.extend([0; SFQ_RED]);
                message.attribute(TCA_OPTIONS, &parms)
            }
            Qdisc::Drr { .. } => message, // its classes have the options
            Qdisc::Options { options, .. } => message.nested(TCA_OPTIONS, |m| {
                options.iter().fold(m, |m, o| match o.value {
                    Value::U8(v) => m.attribute(o.number, &[v]),
                    Value::U32(v) => m.number(o.number, v),
                    Value::U64(v) => m.attribute(o.number, &v.to_ne_bytes()),
                })
            }),
            Qdisc::Tbf { rate_bps, burst, .. } => {
                let rate = rate_bps / 8;
                let word = rate.min(u64::from(u32::MAX)) as u32;
                // tc_tbf_qopt: a rate for Ethernet frames, no peak rate. A limit makes the kernel create an inner
                // discipline [Linux sch_tbf.c tbf_change]; the link's queue replaces it.
                let mut parms = vec![0, TC_LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
                parms.extend(words(&[word, 0, 0, 0, NO_LIMIT, 0, 0]));
                message.nested(TCA_OPTIONS, |m| {
                    let m =
                        m.attribute(TCA_TBF_PARMS, &parms).number(TCA_TBF_BURST, (*burst).min(NO_LIMIT.into()) as u32);
                    if rate > u64::from(u32::MAX) { m.attribute(TCA_TBF_RATE64, &rate.to_ne_bytes()) } else { m }
                })
            }
            // tc_htb_glob: packets without a class go to class 1.
            Qdisc::Htb { .. } => message.nested(TCA_OPTIONS, |m| {
                m.attribute(TCA_HTB_INIT, &words(&[HTB_VERSION, HTB_RATE_TO_QUANTUM, 1, 0, 0]))
            }),
            Qdisc::Ets { .. } => {
                message.nested(TCA_OPTIONS, |m| m.attribute(TCA_ETS_NBANDS, &[1]).attribute(TCA_ETS_NSTRICT, &[1]))
            }
            Qdisc::Netem { rate_bps, overhead, delay_ns, jitter_ns, loss, seed, inner: _ } => {
                let rate = rate_bps / 8;
                let word = rate.min(u64::from(u32::MAX)) as u32;
                let share = (loss * f64::from(u32::MAX)).round() as u32;
                // tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter. TCA_NETEM_LATENCY64 and
                // TCA_NETEM_JITTER64 replace latency and jitter [Linux sch_netem.c netem_change].
                message.nested(TCA_OPTIONS, |m| {
                    let m = m.raw(&words(&[0, NO_LIMIT, share, 0, 0, 0]));
                    let m = if rate == 0 {
                        m
                    } else {
                        m.attribute(TCA_NETEM_RATE, &words(&[word, *overhead as u32, 0, 0]))
                            .attribute(TCA_NETEM_RATE64, &rate.to_ne_bytes())
                    };
                    m.attribute(TCA_NETEM_LATENCY64, &delay_ns.to_ne_bytes())
                        .attribute(TCA_NETEM_JITTER64, &jitter_ns.to_ne_bytes())
                        .attribute(TCA_NETEM_PRNG_SEED, &seed.to_ne_bytes())
                })
            }
        }
    }
}

/// Adds a discipline as the root qdisc of an interface, and its inner discipline.
pub(crate) fn add_qdisc(net: &Netlink, end: &Interface, qdisc: &Qdisc) -> Result<(), KernelError> {
    add(net, end, qdisc, SHAPER, TC_H_ROOT)
}

/// Handle of the shaper at an interface, the class in it that has the link's queue, and the class of the band around
/// RED.
const SHAPER: u32 = 0x1_0000;
const QUEUE_PARENT: u32 = SHAPER + 1;
const BAND: u32 = 2 * SHAPER + 1;

fn add(net: &Netlink, end: &Interface, qdisc: &Qdisc, handle: u32, parent: u32) -> Result<(), KernelError> {
    let mut message =
        Message::new(libc::RTM_NEWQDISC, NEW, &fixed(end.index, handle, parent)).text(TCA_KIND, qdisc.kind());
    if let Some(overhead) = qdisc.overhead() {
        // tc_sizespec without a table of sizes: only the overhead changes the length
        // [Linux sch_api.c __qdisc_calculate_pkt_len].
        let spec = [&[0; 4], &overhead.to_ne_bytes()[..], &words(&[1, 0, 0, 0])].concat();
        message = message.nested(TCA_STAB, |m| m.attribute(TCA_STAB_BASE, &spec));
    }
    net.request(qdisc.options(message), || format!("{} at {}", qdisc.kind(), end.name()))?;
    if let Qdisc::Htb { rate_bps, burst, .. } = qdisc {
        add_htb_class(net, end, handle, *rate_bps, *burst)?;
    }
    if let Some(inner) = qdisc.inner() {
        add(net, end, inner, handle + 0x1_0000, handle + 1)?;
    }
    match qdisc {
        Qdisc::Drr { quantum, classes } => {
            for (number, class) in (1..).zip(classes) {
                let id = handle + number;
                let fixed = fixed(end.index, id, handle);
                let message = Message::new(libc::RTM_NEWTCLASS, NEW, &fixed)
                    .text(TCA_KIND, qdisc.kind())
                    .nested(TCA_OPTIONS, |m| m.number(TCA_DRR_QUANTUM, *quantum));
                net.request(message, || format!("class {number} of drr at {}", end.name()))?;
                add(net, end, &class.queue, handle + number * 0x1_0000, id)?;
                for source in &class.sources {
                    add_class_filter(net, end.index, handle, *source, id)?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Adds the only class of an htb.
fn add_htb_class(net: &Netlink, end: &Interface, handle: u32, rate_bps: u64, burst: u64) -> Result<(), KernelError> {
    let rate = rate_bps / 8;
    let ticks = u128::from(burst) * 1_000_000_000 / u128::from(rate.max(1)) / TICK_NS;
    let ticks = u32::try_from(ticks).unwrap_or(u32::MAX).max(1);
    // tc_htb_opt: rate and ceil for Ethernet frames (tc_ratespec), buffer, cbuffer, quantum, level, prio.
    let mut spec = vec![0, TC_LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
    spec.extend(words(&[rate.min(u64::from(u32::MAX)) as u32]));
    let parms = [&spec[..], &spec, &words(&[ticks, ticks, HTB_QUANTUM, 0, 0])].concat();
    let message = Message::new(libc::RTM_NEWTCLASS, NEW, &fixed(end.index, handle + 1, handle))
        .text(TCA_KIND, "htb")
        .nested(TCA_OPTIONS, |m| {
            m.attribute(TCA_HTB_PARMS, &parms)
                .attribute(TCA_HTB_RATE64, &rate.to_ne_bytes())
                .attribute(TCA_HTB_CEIL64, &rate.to_ne_bytes())
        });
    net.request(message, || format!("class of htb at {}", end.name()))
}

/// The counters of a queue discipline.
#[derive(Clone, Debug, Default)]
pub(crate) struct QdiscStats {
    /// Index of its interface.
    pub(crate) index: u32,
    /// Its name in the kernel.
    pub(crate) kind: String,
    /// True if it is a link's queue: neither the shaper around it nor a queue of its classes.
    pub(crate) is_queue: bool,
    /// Waiting packets (`qlen` of `gnet_stats_queue`).
    pub(crate) waiting: u32,
    /// Dropped packets (`drops` of `gnet_stats_queue`).
    drops: u32,
    /// Its statistics structure (`TCA_STATS_APP`).
    own: Vec<u8>,
}

impl QdiscStats {
    /// Returns the number of packets dropped because the queue was full.
    pub(crate) fn full(&self) -> u64 {
        let word = |at: &usize| u64::from(u32::from_ne_bytes(head(self.own.get(*at..).unwrap_or(&[]))));
        let mut rows = supported().map(|(_, row)| row);
        match rows.find(|row| row.kinds.contains(&self.kind.as_str())).and_then(|row| row.overlimit) {
            Some(places) => places.iter().map(word).sum(),
            None => u64::from(self.drops),
        }
    }
}

/// Returns the counters of every discipline of the namespace.
pub(crate) fn statistics(net: &Netlink) -> Result<Vec<QdiscStats>, KernelError> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_DUMP;
    let message = Message::new(libc::RTM_GETQDISC, flags, &fixed(0, 0, 0));
    let mut found = Vec::new();
    net.dump(
        message,
        || "queue statistics".into(),
        |body| {
            let mut stats = QdiscStats { index: u32::from_ne_bytes(head(&body[4..])), ..QdiscStats::default() };
            let parent = u32::from_ne_bytes(head(body.get(12..).unwrap_or(&[])));
            for (kind, value) in attributes(body.get(20..).unwrap_or(&[])) {
                match kind {
                    TCA_KIND => stats.kind = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
                    TCA_STATS2 => {
                        for (kind, value) in attributes(value) {
                            match kind {
                                TCA_STATS_QUEUE => {
                                    stats.waiting = u32::from_ne_bytes(head(value));
                                    stats.drops = u32::from_ne_bytes(head(value.get(8..).unwrap_or(&[])));
                                }
                                TCA_STATS_APP => stats.own = value.to_vec(),
                                _ => {}
                            }
                        }
                    }
                    _ => {}
                }
            }
            stats.is_queue = match stats.kind.as_str() {
                "red" => parent == BAND,
                "ets" => false,
                _ => parent == QUEUE_PARENT,
            };
            found.push(stats);
        },
    )?;
    Ok(found)
}
