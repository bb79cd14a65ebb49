//! Facts about the kernel of a run: version, sysctls, offloads, queue disciplines, processor load
//! [proc(5), proc_stat(5); Linux ethtool.h].

use crate::error::{KernelError, Step};
use crate::netlink::{self, Netlink};
use crate::run::network::FlowHosts;
use crate::sys;
use serde_json::{Map, Value, json};
use std::fs;

/// `ETHTOOL_GTSO`, `ETHTOOL_GGSO`, `ETHTOOL_GGRO` [Linux ethtool.h].
const OFFLOADS: [(&str, u32); 3] = [("tso", 0x1e), ("gso", 0x23), ("gro", 0x2b)];

/// Returns the facts of the kernel, read in the first host: hosts differ only in settings of the scenario.
pub(crate) fn kernel(flow_hosts: &[FlowHosts], interface: &str, mtu: u32) -> Result<Value, KernelError> {
    let read = |path: &str| fs::read_to_string(path).map(|s| s.trim().to_owned()).unwrap_or_default();
    let Some(flow_hosts) = flow_hosts.first() else { return Ok(Value::Null) };
    sys::enter_net_namespace(&flow_hosts.namespaces[0]).step(|| "namespace".into())?;
    let mut settings = Map::new();
    let mut names: Vec<String> = fs::read_dir("/proc/sys/net/ipv4")
        .step(|| "/proc/sys/net/ipv4".into())?
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|name| name.starts_with("tcp_") && !name.contains("key"))
        .collect();
    names.sort();
    for name in names {
        settings.insert(name.clone(), read(&format!("/proc/sys/net/ipv4/{name}")).into());
    }
    let control = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).step(|| "socket".into())?;
    let offloads: Map<String, Value> = OFFLOADS
        .iter()
        .filter_map(|(name, command)| {
            sys::offload(&control, interface, *command).ok().map(|on| ((*name).into(), on.into()))
        })
        .collect();
    let index = sys::interface_number(interface).step(|| interface.into())?;
    let disciplines: Vec<String> =
        netlink::statistics(&Netlink::new()?)?.into_iter().filter(|s| s.index == index).map(|s| s.kind).collect();
    Ok(json!({
        "kernel": read("/proc/sys/kernel/osrelease"),
        "version": read("/proc/sys/kernel/version"),
        "mtu": mtu,
        "offloads": offloads,
        "disciplines": disciplines,
        "sysctl": settings,
    }))
}

/// Time of each processor since boot: (busy, all), in ticks of `/proc/stat`.
#[derive(Clone, Debug)]
pub(crate) struct Cpu(Vec<(u64, u64)>);

impl Cpu {
    pub(crate) fn now() -> Cpu {
        Cpu(processors(&fs::read_to_string("/proc/stat").unwrap_or_default()))
    }

    /// Returns the busy share since then, of all processors and of the busiest one.
    pub(crate) fn since(&self) -> Value {
        let shares: Vec<f64> = Cpu::now()
            .0
            .iter()
            .zip(&self.0)
            .map(|(now, then)| {
                let (busy, all) = (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1));
                if all == 0 { 0.0 } else { busy as f64 / all as f64 }
            })
            .collect();
        let n = shares.len().max(1) as f64;
        json!({
            "processors": shares.len(),
            "share": shares.iter().sum::<f64>() / n,
            "share_of_busiest": shares.iter().copied().fold(0.0, f64::max),
        })
    }
}

fn processors(stat: &str) -> Vec<(u64, u64)> {
    let numbered =
        |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    stat.lines()
        .filter(numbered)
        .map(|line| {
            // user, nice, system, idle, iowait, irq, softirq, steal; guest times are included in user and nice
            // [proc_stat(5)].
            let ticks: Vec<u64> = line.split_whitespace().skip(1).take(8).filter_map(|t| t.parse().ok()).collect();
            let all: u64 = ticks.iter().sum();
            let idle: u64 = ticks.iter().skip(3).take(2).sum();
            (all - idle, all)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_and_all_ticks_of_each_processor_are_read() {
        let text = "cpu  30 0 30 40 0 0 0 0 0 0\ncpu0 10 5 20 50 10 1 2 2 99 0\ncpu1 1 0 0 9 0 0 0 0 0 0\nintr 5";
        // 10 + 5 + 20 + 1 + 2 + 2 = 40 of 100; 1 of 10.
        assert_eq!(processors(text), [(40, 100), (1, 10)]);
    }
}
