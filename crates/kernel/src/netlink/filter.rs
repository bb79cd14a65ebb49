//! Filters that choose packets by their source address, with a class or a policer as verdict, and the policers'
//! counters [Linux pkt_cls.h, cls_flower.c fl_change, act_police.c tcf_police_init, rtnetlink.h tcamsg].

use super::message::{Message, Netlink, attributes, head};
use super::traffic_control::{NEW, TC_LINKLAYER_ETHERNET, TCA_KIND, TCA_OPTIONS, TCA_STATS_QUEUE, fixed, words};
use crate::error::KernelError;
use crate::plan::policer::Policer;
use std::net::IpAddr;

/// Parent and handle of an interface's `ingress` discipline [Linux pkt_sched.h TC_H_INGRESS].
const TC_H_INGRESS: u32 = 0xffff_fff1;
const INGRESS: u32 = 0xffff_0000;
/// Priorities of the filters for IPv4 and IPv6: all filters of one priority have the same protocol.
const PRIORITIES: [u32; 2] = [1, 2];
const TCA_FLOWER_CLASSID: u16 = 1;
const TCA_FLOWER_ACT: u16 = 3;
const TCA_FLOWER_KEY_ETH_TYPE: u16 = 8;
const TCA_FLOWER_KEY_IPV4_SRC: u16 = 10;
const TCA_FLOWER_KEY_IPV4_SRC_MASK: u16 = 11;
const TCA_FLOWER_KEY_IPV6_SRC: u16 = 14;
const TCA_FLOWER_KEY_IPV6_SRC_MASK: u16 = 15;
const TCA_ACT_KIND: u16 = 1;
const TCA_ACT_OPTIONS: u16 = 2;
const TCA_ACT_STATS: u16 = 4;
/// The table of actions in a message, and its first entry.
const TCA_ACT_TAB: u16 = 1;
const FIRST: u16 = 1;
const TCA_POLICE_TBF: u16 = 1;
const TCA_POLICE_RATE: u16 = 2;
const TCA_POLICE_RATE64: u16 = 8;
const TC_ACT_SHOT: u32 = 2;
/// Bytes of a step of the table of transmission times, as a power of two. The kernel asks for such a table, and
/// computes the times itself [Linux act_police.c tcf_police_init, sch_generic.c psched_ratecfg_precompute].
const CELL_LOG: u8 = 8;
const RATE_TABLE: [u8; 1024] = [0; 1024];
/// Length from which all packets are dropped (`tcfp_mtu`): none [Linux act_police.c tcf_police_act].
const ANY_LENGTH: u32 = u32::MAX;

/// Adds a filter below `parent`: packets of this source get a class.
pub(super) fn add_class_filter(
    net: &Netlink,
    index: u32,
    parent: u32,
    source: IpAddr,
    class: u32,
) -> Result<(), KernelError> {
    add(net, index, parent, source, |m| m.number(TCA_FLOWER_CLASSID, class))
}

/// Adds a policer: an `ingress` discipline at each of its interfaces, and a filter for each source.
pub(crate) fn add_policer(net: &Netlink, policer: &Policer) -> Result<(), KernelError> {
    for (n, (index, source)) in policer.inputs.iter().enumerate() {
        if policer.inputs[..n].iter().all(|(known, _)| known != index) {
            let message = Message::new(libc::RTM_NEWQDISC, NEW, &fixed(*index, INGRESS, TC_H_INGRESS));
            net.request(message.text(TCA_KIND, "ingress"), || format!("ingress at v{index}"))?;
        }
        add(net, *index, INGRESS, *source, |m| {
            m.nested(TCA_FLOWER_ACT, |m| {
                m.nested(FIRST, |m| m.text(TCA_ACT_KIND, "police").nested(TCA_ACT_OPTIONS, |m| police(m, policer)))
            })
        })?;
    }
    Ok(())
}

fn add(
    net: &Netlink,
    index: u32,
    parent: u32,
    source: IpAddr,
    verdict: impl FnOnce(Message) -> Message,
) -> Result<(), KernelError> {
    let [v4, v6] = PRIORITIES;
    let (protocol, priority, [key, mask], address) = match source {
        IpAddr::V4(a) => {
            let keys = [TCA_FLOWER_KEY_IPV4_SRC, TCA_FLOWER_KEY_IPV4_SRC_MASK];
            (libc::ETH_P_IP, v4, keys, a.octets().to_vec())
        }
        IpAddr::V6(a) => {
            let keys = [TCA_FLOWER_KEY_IPV6_SRC, TCA_FLOWER_KEY_IPV6_SRC_MASK];
            (libc::ETH_P_IPV6, v6, keys, a.octets().to_vec())
        }
    };
    let protocol = (protocol as u16).to_be_bytes();
    let mut message = fixed(index, 0, parent);
    // tcm_info: priority and protocol.
    message[16..].copy_from_slice(&(priority << 16 | u32::from(u16::from_ne_bytes(protocol))).to_ne_bytes());
    let message = Message::new(libc::RTM_NEWTFILTER, NEW, &message).text(TCA_KIND, "flower").nested(TCA_OPTIONS, |m| {
        verdict(
            m.attribute(TCA_FLOWER_KEY_ETH_TYPE, &protocol)
                .attribute(key, &address)
                .attribute(mask, &vec![0xff; address.len()]),
        )
    });
    net.request(message, || format!("filter for {source} at v{index}"))
}

/// Adds the policer's options: `tc_police` with its `tc_ratespec`. An action with the same index is shared.
fn police(m: Message, policer: &Policer) -> Message {
    let rate = policer.rate_bps / 8;
    let word = rate.min(u64::from(u32::MAX)) as u32;
    let mut structure = words(&[policer.action(), TC_ACT_SHOT, 0, policer.burst_ticks, ANY_LENGTH]);
    structure.extend([CELL_LOG, TC_LINKLAYER_ETHERNET]);
    structure.extend(policer.overhead.to_ne_bytes());
    structure.extend([0; 4]);
    structure.extend(word.to_ne_bytes());
    structure.extend([0; 12 + 3 * 4]); // no peak rate, no counts
    let m = m.attribute(TCA_POLICE_TBF, &structure).attribute(TCA_POLICE_RATE, &RATE_TABLE);
    if rate > u64::from(u32::MAX) { m.attribute(TCA_POLICE_RATE64, &rate.to_ne_bytes()) } else { m }
}

/// Returns the packets that each policer of the namespace has dropped, by the number of its action.
pub(crate) fn policed(net: &Netlink) -> Result<Vec<(u32, u64)>, KernelError> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_DUMP;
    let message = Message::new(libc::RTM_GETACTION, flags, &[0; 4])
        .nested(TCA_ACT_TAB, |m| m.nested(FIRST, |m| m.text(TCA_ACT_KIND, "police")));
    let mut found = Vec::new();
    net.dump(
        message,
        || "counters of policers".into(),
        |body| {
            let table = attributes(body.get(4..).unwrap_or(&[])).filter(|(kind, _)| *kind == TCA_ACT_TAB);
            for (_, action) in table.flat_map(|(_, table)| attributes(table)) {
                let (mut index, mut drops) = (0, 0);
                for (kind, value) in attributes(action) {
                    match kind {
                        TCA_ACT_OPTIONS => {
                            for (_, structure) in attributes(value).filter(|(k, _)| *k == TCA_POLICE_TBF) {
                                index = u32::from_ne_bytes(head(structure));
                            }
                        }
                        TCA_ACT_STATS => {
                            for (_, queue) in attributes(value).filter(|(k, _)| *k == TCA_STATS_QUEUE) {
                                drops = u32::from_ne_bytes(head(queue.get(8..).unwrap_or(&[])));
                            }
                        }
                        _ => {}
                    }
                }
                found.push((index, u64::from(drops)));
            }
        },
    )?;
    Ok(found)
}
