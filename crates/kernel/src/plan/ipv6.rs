//! IPv6 in the namespaces of a run: settings, without which the kernel would send packets of its own [RFC 4861, RFC
//! 4862, RFC 9777; Linux Documentation/networking/ip-sysctl.rst].

use crate::error::KernelError;
use dumbbell_plan::Plan;
use dumbbell_wire::IpVersion;

/// Settings under `net.ipv6` of every namespace of a run with IPv6.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("conf/all/disable_ipv6", "0"),
    ("conf/default/disable_ipv6", "0"),
    // No link-local addresses, and no search for duplicates of addresses.
    ("conf/default/addr_gen_mode", "1"),
    ("conf/default/accept_dad", "0"),
    ("conf/default/dad_transmits", "0"),
    // No routers besides the run's routes.
    ("conf/default/accept_ra", "0"),
    ("conf/default/router_solicitations", "0"),
    // Reports of multicast groups are sent at once, before the run.
    ("conf/default/mldv2_unsolicited_report_interval", "1"),
];

/// The settings of namespaces that forward packets, in addition.
pub(crate) const FORWARDING: &[(&str, &str)] = &[("conf/all/forwarding", "1")];

/// True if a flow of the plan runs over IPv6.
pub(crate) fn is_used(plan: &Plan) -> bool {
    plan.flows.iter().any(|flow| flow.ip == IpVersion::V6)
}

/// Refuses flows over IPv6 in virtual time.
pub(crate) fn refuse_in_guest(plan: &Plan) -> Result<(), KernelError> {
    let Some(flow) = plan.flows.iter().find(|flow| flow.ip == IpVersion::V6) else { return Ok(()) };
    let message = "6 given: the kernel in virtual time is built without IPv6: back ends 'sim' and 'kernel' \
                   (-o emulation=link or tc) run it";
    Err(KernelError::refused(&format!("flows.{}.ip", flow.name), message))
}
