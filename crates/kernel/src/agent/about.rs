//! The features of a machine: kernel, user, congestion control, addresses, settings [proc(5), getifaddrs(3)].

use crate::error::{KernelError, Step};
use crate::sys;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

/// Settings of TCP and of routing that runs depend on, under `net.ipv4`.
const SETTINGS: [&str; 12] = [
    "ip_forward",
    "conf/all/rp_filter",
    "tcp_dsack",
    "tcp_early_retrans",
    "tcp_ecn",
    "tcp_frto",
    "tcp_recovery",
    "tcp_rmem",
    "tcp_sack",
    "tcp_slow_start_after_idle",
    "tcp_timestamps",
    "tcp_wmem",
];

/// Returns the features of this machine.
pub(super) fn about() -> Result<Value, KernelError> {
    let read = |path: &str| fs::read_to_string(path).map(|s| s.trim().to_owned()).unwrap_or_default();
    let names = |file: &str| -> Vec<String> {
        read(&format!("/proc/sys/net/ipv4/{file}")).split_whitespace().map(Into::into).collect()
    };
    let mut interfaces = Map::new();
    for (name, address) in sys::interface_addresses().step(|| "addresses of interfaces".into())? {
        interfaces.entry(name).or_insert_with(|| address.to_string().into());
    }
    let settings: Map<String, Value> =
        SETTINGS.iter().map(|name| ((*name).to_owned(), read(&format!("/proc/sys/net/ipv4/{name}")).into())).collect();
    Ok(json!({
        "kernel": read("/proc/sys/kernel/osrelease"),
        "root": sys::is_root(),
        "available": names("tcp_available_congestion_control"),
        "allowed": names("tcp_allowed_congestion_control"),
        "bpf": sys::is_root() && Path::new("/sys/kernel/btf/vmlinux").exists(),
        "tun": Path::new("/dev/net/tun").exists(),
        "interfaces": interfaces,
        "settings": settings,
    }))
}
