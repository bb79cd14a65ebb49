//! A flow's stack as sysctls and route metrics. The kernel has its own stack, so only a few parameters can be set
//! [Linux sysctl_net_ipv4.c ipv4_net_table, rtnetlink.h RTAX_INITCWND RTAX_ADVMSS].

use crate::error::KernelError;
use dumbbell_plan::Named;
use dumbbell_units::param::{ParamError, Params, Spec};
use dumbbell_units::parse::Size;

/// The presets that describe the kernel's stack. The first one also stands for "rfc", the default of Tahoe, Reno,
/// NewReno and SACK.
const LINUX: [&str; 2] = ["linux", "linux-tuned"];

/// MSS of an Ethernet, and the option with timestamps in each segment, bytes [RFC 9293 §3.7.1, RFC 7323 appendix A].
const ETHERNET_MSS: u32 = 1460;
const TIMESTAMPS: u32 = 12;

/// Settings of a flow's hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelStack {
    /// Sysctls under `net.ipv4`.
    pub(crate) sysctls: Vec<(&'static str, String)>,
    /// Route metric `initcwnd`, segments.
    pub(crate) initcwnd: Option<u32>,
    /// Route metric `advmss`, bytes.
    pub(crate) advmss: Option<u32>,
    /// Largest receive window, bytes: route metric `window`, and `TCP_WINDOW_CLAMP` of the receiver.
    pub(crate) window: Option<u32>,
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

/// Returns the MSS that a stack asks for, bytes, within the bounds of the metric [Linux include/net/tcp.h TCP_MIN_MSS,
/// metrics.c ip_metrics_convert].
pub(crate) fn segment(stack: &Named) -> Option<u32> {
    let specs = dumbbell_tcp::find_preset(LINUX[0]).ok()?.params();
    let given: Vec<_> = stack.given().into_iter().filter(|(key, _)| key == "mss").collect();
    let read = Params::read(&specs, &given).ok().filter(|_| !given.is_empty())?;
    Some(read.bytes("mss").0.clamp(88, 65_495) as u32)
}

/// Parameters that become `tcp_rmem` and `tcp_wmem`.
const BUFFERS: &[&str] = &["window_start", "receive_buffer", "send_buffer_start", "send_buffer"];
/// The parameter that becomes an option of sockets, see [`dumbbell_plan::FlowPlan::sets_nodelay`].
const NAGLE: &str = "nagle";
/// Smallest buffer, bytes [Linux tcp.c tcp_init: sysctl_tcp_rmem, sysctl_tcp_wmem].
const LEAST: u64 = 4096;

/// Returns `tcp_rmem` and `tcp_wmem`: the smallest buffer, that of the start, and the largest. Half of a receive buffer
/// is window before the first segment [Linux include/net/tcp.h TCP_DEFAULT_SCALING_RATIO].
fn buffers(specs: &[Spec], stack: &Named) -> Result<[(&'static str, String); 2], ParamError> {
    let given: Vec<_> = stack.given().into_iter().filter(|(key, _)| BUFFERS.contains(&key.as_str())).collect();
    let params = Params::read(specs, &given)?;
    let start = 2 * size(&params, "window_start", stack);
    let largest = params.unless_word("receive_buffer", Params::bytes).map_or(size(&params, "window", stack), |b| b.0);
    let [send_start, send] = ["send_buffer_start", "send_buffer"].map(|key| params.bytes(key).0);
    let word = |bytes: u64| bytes.clamp(LEAST, 1 << 30);
    let setting = |start: u64, largest: u64| format!("{LEAST} {} {}", word(start), word(largest.max(start)));
    Ok([("tcp_rmem", setting(start, largest)), ("tcp_wmem", setting(send_start, send))])
}

/// Returns a size in bytes; packets are full segments of the stack.
fn size(given: &Params, key: &str, stack: &Named) -> u64 {
    let timestamps = stack.params.get("timestamps").and_then(serde_json::Value::as_bool) != Some(false);
    let payload = segment(stack).unwrap_or(ETHERNET_MSS) - if timestamps { TIMESTAMPS } else { 0 };
    match given.size(key) {
        Size::Packets(n) => n.0.saturating_mul(u64::from(payload)),
        Size::Bytes(n) => n.0,
    }
}

fn one_of() -> String {
    LINUX.map(|name| format!("'{name}'")).join(" or ")
}

/// Translates a flow's stack; `variant` is its scenario name.
pub(crate) fn kernel_stack(flow: &str, variant: &str, stack: &Named) -> Result<KernelStack, KernelError> {
    let place = |key: &str| format!("flows.{flow}.stack{key}");
    let described = match stack.name.as_str() {
        "rfc" => LINUX[0],
        name if LINUX.contains(&name) => name,
        other => {
            let message = format!("'{other}' given: the kernel has its own; leave it out, or use {}", one_of());
            return Err(KernelError::refused(&place(""), message));
        }
    };
    let preset = dumbbell_tcp::find_preset(described).map_err(|e| KernelError::refused(&place(""), e.message))?;
    let specs = preset.params_for(variant);
    let mut kernel = KernelStack::default();
    if variant == "newreno" {
        kernel.sysctls.push(("tcp_sack", "0".into()));
    }
    if variant == "dctcp" {
        kernel.sysctls.push(("tcp_ecn", "1".into()));
    }
    kernel
        .sysctls
        .extend(buffers(&specs, stack).map_err(|e| KernelError::refused(&place(&format!(".{}", e.name)), e.message))?);
    let defaults = Params::read(&specs, &[]).map_err(|e| KernelError::refused(&place(""), e.message))?;
    for (key, raw) in stack.given() {
        let here = place(&format!(".{key}"));
        let given = Params::read(&specs, &[(key.clone(), raw)]).map_err(|e| KernelError::refused(&here, e.message))?;
        if let Some((_, setting, values)) = SWITCHES.iter().find(|(ours, ..)| *ours == key) {
            kernel.sysctls.push((setting, values[usize::from(given.bool(&key))].into()));
        } else if key == "initial_window"
            && let Size::Packets(n) = given.size(&key)
        {
            kernel.initcwnd = Some(n.0.clamp(1, 1 << 16) as u32);
        } else if key == "mss" {
            kernel.advmss = segment(stack);
        } else if key == "window" && given != defaults {
            kernel.window = Some(size(&given, "window", stack).min(1 << 30) as u32);
        } else if given != defaults && key != NAGLE && !BUFFERS.contains(&key.as_str()) {
            return Err(KernelError::refused(&here, "the kernel has no setting for it"));
        }
    }
    Ok(kernel)
}
