//! Policy routing: rules that send the packets of some ports over one interface [ip-rule(8); Linux fib_rules.h].

use super::message::{Message, Netlink};
use crate::error::KernelError;

const AF_INET: u8 = libc::AF_INET as u8;
const FRA_IIFNAME: u16 = 3;
const FRA_PRIORITY: u16 = 6;
const FRA_PROTOCOL: u16 = 21;
const FRA_IP_PROTO: u16 = 22;
const FRA_SPORT_RANGE: u16 = 23;
const FRA_DPORT_RANGE: u16 = 24;
const FR_ACT_TO_TBL: u8 = 1;
/// Number of the table, and of the protocol that marks the rules as ours [Linux
/// include/uapi/linux/rtnetlink.h RTPROT_*: 219 is free].
const TABLE: u8 = 219;
const OURS: u8 = 219;
/// Priorities: packets that come from the interface go on by the main table; all others of these ports go to it.
const RETURNING: u32 = 21_900;
const ENTERING: u32 = 21_901;

/// Returns a `fib_rule_hdr` and the attributes that mark a rule as ours.
fn rule(kind: u16, flags: i32, table: u8, priority: u32) -> Message {
    let action = if kind == libc::RTM_NEWRULE { FR_ACT_TO_TBL } else { 0 };
    let fixed = [AF_INET, 0, 0, 0, table, 0, 0, action, 0, 0, 0, 0];
    Message::new(kind, flags, &fixed).number(FRA_PRIORITY, priority).attribute(FRA_PROTOCOL, &[OURS])
}

/// Routes TCP and UDP packets whose source or destination port is in the range over `interface`. Packets that come from
/// it are routed as if there were no such rules.
pub(crate) fn add_rules(net: &Netlink, interface: &str, ports: (u16, u16)) -> Result<(), KernelError> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let new = libc::RTM_NEWRULE;
    let returning = rule(new, flags, libc::RT_TABLE_MAIN, RETURNING).text(FRA_IIFNAME, interface);
    net.request(returning, || format!("rule for packets from {interface}"))?;
    let range = [ports.0.to_ne_bytes(), ports.1.to_ne_bytes()].concat();
    for protocol in [libc::IPPROTO_TCP as u8, libc::IPPROTO_UDP as u8] {
        for side in [FRA_SPORT_RANGE, FRA_DPORT_RANGE] {
            let entering =
                rule(new, flags, TABLE, ENTERING).attribute(FRA_IP_PROTO, &[protocol]).attribute(side, &range);
            net.request(entering, || format!("rule for ports {}-{}", ports.0, ports.1))?;
        }
    }
    Ok(())
}

/// Adds the default route of our table.
pub(crate) fn add_default_route(net: &Netlink, index: u32) -> Result<(), KernelError> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    let (scope, kind) = (libc::RT_SCOPE_LINK, libc::RTN_UNICAST);
    let fixed = [AF_INET, 0, 0, 0, TABLE, OURS, scope, kind, 0, 0, 0, 0];
    let route = Message::new(libc::RTM_NEWROUTE, flags, &fixed).number(libc::RTA_OIF, index);
    net.request(route, || "route to the link".into())
}

/// Removes our rules, also those of a process that was killed.
pub(crate) fn remove_rules(net: &Netlink) {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK;
    for priority in [RETURNING, ENTERING] {
        // Each request removes the first rule that it describes; the last one finds none.
        while net.attempt(rule(libc::RTM_DELRULE, flags, 0, priority)).is_ok() {}
    }
}
