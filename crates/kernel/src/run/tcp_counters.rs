//! The kernel's TCP counters of a namespace (`/proc/net/netstat`, `/proc/net/snmp`) [Linux proc.c snmp4_net_list,
//! snmp4_tcp_list].

use crate::error::{KernelError, Step};
use crate::sys;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;

/// Returns fast recoveries and timeouts.
pub(super) fn recoveries(host: &OwnedFd) -> Result<[u64; 2], KernelError> {
    let counters = of(host)?;
    let count = |name: &str| counters.get(name).copied().unwrap_or(0);
    Ok([count("TCPSackRecovery") + count("TCPRenoRecovery"), count("TCPTimeouts")])
}

/// Returns the nonzero TCP counters of a host's namespace.
pub(super) fn of(host: &OwnedFd) -> Result<BTreeMap<String, u64>, KernelError> {
    sys::enter_net_namespace(host).step(|| "namespace".into())?;
    let mut counters = BTreeMap::new();
    for file in ["netstat", "snmp"] {
        // thread-self: /proc/net would be the namespace of the main thread.
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).step(|| file.into())?;
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.chunks_exact(2).filter(|p| p[0].starts_with("Tcp")) {
            for (name, value) in pair[0].split_whitespace().zip(pair[1].split_whitespace()).skip(1) {
                if let Ok(value @ 1..) = value.parse() {
                    counters.insert(name.to_owned(), value);
                }
            }
        }
    }
    Ok(counters)
}
