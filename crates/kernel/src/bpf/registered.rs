//! The variants that a run has loaded as BPF, with their names in the kernel (`TCP_CONGESTION`,
//! net.ipv4.tcp_congestion_control).

use crate::bpf::{self, Loaded};
use crate::error::{KernelError, Step};
use crate::sys;
use std::fs;
use std::os::fd::OwnedFd;

/// See the top of this file; they are registered as long as this value exists.
#[derive(Default)]
pub(crate) struct LoadedVariants(Vec<(String, Loaded)>);

impl LoadedVariants {
    /// Loads the variants of these names in the kernel.
    pub(crate) fn load(names: &[String]) -> Result<LoadedVariants, KernelError> {
        let each = names.iter().enumerate();
        each.map(|(n, name)| Ok((name.clone(), bpf::load(name, n)?))).collect::<Result<_, _>>().map(LoadedVariants)
    }

    /// Returns the name of a variant in this run.
    pub(crate) fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|(theirs, _)| theirs == name).map_or(name, |(_, loaded)| &loaded.name)
    }
}

/// Makes a variant the default of namespaces, where the kernel allows it; routes have it (`congctl`) in any case.
pub(crate) fn make_default(variant: &str, hosts: &[OwnedFd]) -> Result<(), KernelError> {
    for host in hosts {
        sys::enter_net_namespace(host).step(|| "namespace".into())?;
        let _ = fs::write("/proc/sys/net/ipv4/tcp_congestion_control", variant);
    }
    Ok(())
}
