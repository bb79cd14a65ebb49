//! A flow's stack as sysctls and route metrics. The kernel has its own stack, so only a few parameters can be set
//! [Linux sysctl_net_ipv4.c ipv4_net_table, rtnetlink.h RTAX_INITCWND RTAX_ADVMSS].

use crate::error::KernelError;
use dumbbell_plan::Named;
use dumbbell_units::param::Params;
use dumbbell_units::parse::Size;

/// The preset that describes the kernel's stack.
const LINUX: &str = "linux";

/// Settings of a flow's hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelStack {
    /// Sysctls under `net.ipv4`.
    pub(crate) sysctls: Vec<(&'static str, String)>,
    /// Route metric `initcwnd`, segments.
    pub(crate) initcwnd: Option<u32>,
    /// Route metric `advmss`, bytes.
    pub(crate) advmss: Option<u32>,
}

/// Switches: parameter, sysctl, its values for false and true [Linux Documentation/networking/ip-sysctl.rst].
const SWITCHES: &[(&str, &str, [&str; 2])] = &[
    ("timestamps", "tcp_timestamps", ["0", "1"]),
    ("ecn", "tcp_ecn", ["0", "1"]),
    ("dsack", "tcp_dsack", ["0", "1"]),
    ("frto", "tcp_frto", ["0", "2"]),
    ("rack", "tcp_recovery", ["0", "1"]),
    ("tlp", "tcp_early_retrans", ["0", "3"]),
    ("idle_restart", "tcp_slow_start_after_idle", ["0", "1"]),
];

/// Translates a flow's stack; `variant` is its scenario name.
pub(crate) fn kernel_stack(flow: &str, variant: &str, stack: &Named) -> Result<KernelStack, KernelError> {
    let place = |key: &str| format!("flows.{flow}.stack{key}");
    // "rfc" is the default of a scenario that names no stack.
    if ![LINUX, "rfc"].contains(&stack.name.as_str()) {
        let message = format!("'{}' given: the kernel has its own; leave it out, or use 'linux'", stack.name);
        return Err(KernelError::refused(&place(""), message));
    }
    let specs =
        dumbbell_tcp::find_preset(LINUX).map_err(|e| KernelError::refused(&place(""), e.message))?.params();
    let mut kernel = KernelStack::default();
    if variant == "newreno" {
        kernel.sysctls.push(("tcp_sack", "0".into()));
    }
    if variant == "dctcp" {
        kernel.sysctls.push(("tcp_ecn", "1".into()));
    }
    let defaults = Params::read(&specs, &[]).map_err(|e| KernelError::refused(&place(""), e.message))?;
    for (key, raw) in stack.given() {
        let here = place(&format!(".{key}"));
        let given = Params::read(&specs, &[(key.clone(), raw)])
            .map_err(|e| KernelError::refused(&here, e.message))?;
        if let Some((_, setting, values)) = SWITCHES.iter().find(|(ours, ..)| *ours == key) {
            kernel.sysctls.push((setting, values[usize::from(given.bool(&key))].into()));
        } else if key == "initial_window"
            && let Size::Packets(n) = given.size(&key)
        {
            kernel.initcwnd = Some(n.0.clamp(1, 1 << 16) as u32);
        } else if key == "mss" {
            // The bounds of the metric [Linux include/net/tcp.h TCP_MIN_MSS, metrics.c ip_metrics_convert].
            kernel.advmss = Some(given.bytes(&key).0.clamp(88, 65_495) as u32);
        } else if given != defaults {
            return Err(KernelError::refused(&here, "the kernel has no setting for it"));
        }
    }
    Ok(kernel)
}
