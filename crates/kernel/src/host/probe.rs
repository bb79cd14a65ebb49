//! Tries the features that runs need, in a temporary namespace, for `dumbbell doctor` and the back ends. A feature
//! is tried with the system call or netlink message of a run.

use super::settings;
use crate::netlink::{self, Netlink};
use crate::plan::ipv6;
use crate::plan::qdisc::supported;
use crate::plan::tun::INTERFACE;
use crate::run::veth_network::{OFFLOADS, set_ipv6};
use crate::sys;
use serde_json::{Map, Value, json};
use std::io::{Error, Result};

/// Disciplines that are tried beside those of links' queues: shapers, link emulation, pacing of hosts.
const OTHERS: [&str; 6] = ["tbf", "htb", "ets", "netem", "fq", "prio"];

/// Index of the loopback interface, which every namespace has.
const LOOPBACK: u32 = 1;

/// Prints one JSON object: for each feature null, or why it is not available.
pub fn print() {
    let namespaces = namespace().err();
    let usable = namespaces.is_none();
    let veth = if usable { netlink::try_veth().err().map(|e| e.to_string()) } else { None };
    let offloads = if veth.is_none() && usable { offloads() } else { Map::new() };
    let settings = if usable { settings::make_writable().err() } else { None };
    // The first setting that a run with IPv6 makes. It is the namespace's own.
    let ipv6 = if usable && settings.is_none() {
        ipv6::SETTINGS[..1].iter().find_map(|(name, value)| set_ipv6(name, value).err()).map(|e| e.to_string())
    } else {
        None
    };
    let tunnel = if usable { sys::tunnel(INTERFACE, false).map(Some) } else { Ok(None) };
    let real_time = sys::real_time(1).err();
    let mut disciplines = Map::new();
    let mut reason = tunnel.as_ref().err().map(Error::to_string);
    if usable {
        let queues = supported().flat_map(|(_, row)| row.kinds);
        for (n, name) in OTHERS.iter().chain(queues).enumerate() {
            let found = match discipline(name, n as u32 + 1) {
                Ok(()) => Value::Null,
                Err(why) => why.into(),
            };
            disciplines.insert((*name).into(), found);
        }
    } else {
        reason = Some("no namespace to try it in".into());
    }
    let text = |e: &Option<Error>| e.as_ref().map(Error::to_string);
    println!(
        "{}",
        json!({
            "namespaces": text(&namespaces),
            "settings": text(&settings),
            "ipv6": ipv6,
            "tunnel": reason,
            "veth": veth,
            "offloads": offloads,
            "real_time": text(&real_time),
            "disciplines": disciplines,
        })
    );
}

/// Tries to switch the offloads of an interface off.
fn offloads() -> Map<String, Value> {
    let names = ["tso", "gso", "gro"].iter().zip(OFFLOADS);
    let switched = names.map(|(name, command)| {
        let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let why = control.and_then(|c| sys::set_offload(&c, netlink::TRIED, command, false)).err();
        ((*name).to_owned(), why.map_or(Value::Null, |e| e.to_string().into()))
    });
    switched.collect()
}

fn namespace() -> Result<()> {
    if !sys::is_root() {
        sys::new_user_namespace()?;
    }
    sys::new_net_namespace()
}

/// Tries a discipline. A kernel that has it may still refuse it because parameters are missing.
fn discipline(name: &str, number: u32) -> std::result::Result<(), String> {
    let socket = Netlink::new().map_err(|e| e.to_string())?;
    match netlink::try_qdisc(&socket, LOOPBACK, name, number) {
        Err(e) if [Some(libc::ENOENT), Some(libc::EOPNOTSUPP)].contains(&e.raw_os_error()) => {
            Err("the kernel doesn't have it".into())
        }
        // Without the right, nothing was tried.
        Err(e) if [Some(libc::EPERM), Some(libc::EACCES)].contains(&e.raw_os_error()) => Err(e.to_string()),
        _ => Ok(()),
    }
}
