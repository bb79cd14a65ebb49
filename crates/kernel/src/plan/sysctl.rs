//! What of a flow's stack the kernel can take on: it has its own, so most parameters are what they are.

use crate::error::KernelError;
use dumbbell_plan::Named;
use dumbbell_units::param::Params;
use dumbbell_units::parse::Size;

/// The stack that the kernel's is.
const LINUX: &str = "linux";

/// What a flow's hosts are set to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelStack {
    /// Settings under `/proc/sys/net/ipv4`.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// Initial window, segments.
    pub(crate) initcwnd: Option<u32>,
    /// Largest segment that is offered to the peer, bytes.
    pub(crate) mss: Option<u32>,
}

/// Switches: our name, the kernel's setting, its values for false and true.
const SWITCHES: &[(&str, &str, [&str; 2])] = &[
    ("timestamps", "tcp_timestamps", ["0", "1"]),
    ("ecn", "tcp_ecn", ["0", "1"]),
    ("dsack", "tcp_dsack", ["0", "1"]),
    ("frto", "tcp_frto", ["0", "2"]),
    ("rack", "tcp_recovery", ["0", "1"]),
    ("tlp", "tcp_early_retrans", ["0", "3"]),
    ("idle_restart", "tcp_slow_start_after_idle", ["0", "1"]),
];

/// The kernel's form of a flow's stack, for a variant by its scenario name.
pub(crate) fn kernel_stack(flow: &str, variant: &str, stack: &Named) -> Result<KernelStack, KernelError> {
    let place = |key: &str| format!("flows.{flow}.stack{key}");
    // "rfc" is what a scenario has that says nothing.
    if ![LINUX, "rfc"].contains(&stack.name.as_str()) {
        let message = format!("'{}' given: the kernel has its own; leave it out, or use 'linux'", stack.name);
        return Err(KernelError::refused(&place(""), message));
    }
    let specs =
        dumbbell_tcp::find_preset(LINUX).map_err(|e| KernelError::refused(&place(""), e.message))?.params();
    let mut kernel = KernelStack::default();
    if variant == "newreno" {
        kernel.settings.push(("tcp_sack", "0".into()));
    }
    if variant == "dctcp" {
        kernel.settings.push(("tcp_ecn", "1".into()));
    }
    let usual = Params::read(&specs, &[]).map_err(|e| KernelError::refused(&place(""), e.message))?;
    for (key, raw) in stack.given() {
        let here = place(&format!(".{key}"));
        let given = Params::read(&specs, &[(key.clone(), raw)])
            .map_err(|e| KernelError::refused(&here, e.message))?;
        if let Some((_, setting, values)) = SWITCHES.iter().find(|(ours, ..)| *ours == key) {
            kernel.settings.push((setting, values[usize::from(given.bool(&key))].into()));
        } else if key == "initial_window"
            && let Size::Packets(n) = given.size(&key)
        {
            kernel.initcwnd = Some(n.0.clamp(1, 1 << 16) as u32);
        } else if key == "mss" {
            kernel.mss = Some(given.bytes(&key).0.clamp(88, 65_495) as u32);
        } else if given != usual {
            return Err(KernelError::refused(&here, "the kernel's own can't be changed"));
        }
    }
    Ok(kernel)
}
