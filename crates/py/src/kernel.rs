//! Plans for a real kernel: the commands, flows and requirements of a run, for each kind of kernel back end.

use crate::errors::RunError;
use dumbbell_kernel::{Kernel, Target, TunTopology, VARIANTS, VethTopology};
use dumbbell_plan::Plan;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Lays a plan (JSON) out for a kernel that is booted for the run. Returns its commands in order, a description of each
/// flow, the kernel's boot options, and the memory for namespaces, interfaces and buffers, bytes. `offloads`: interfaces
/// segment and merge packets. Raises RunError if the kernel can't do a part of the plan.
#[pyfunction]
#[pyo3(signature = (plan_json, offloads = false))]
pub(crate) fn guest_topology(plan_json: &str, offloads: bool) -> PyResult<GuestTopology> {
    let (plan, topology) = veth_topology(plan_json, Target { owner: Kernel::Guest, offloads })?;
    let memory = topology.memory(&plan);
    Ok((topology.steps(), topology.flows(&plan), topology.boot, memory))
}

/// Lays a plan (JSON) out for the host's kernel and its queue disciplines. Returns its commands in order, a description of
/// each flow, the congestion control algorithms that the kernel needs, and the disciplines that it needs, each with the key
/// of the scenario that asks for it. Raises RunError if the kernel can't do a part of the plan.
#[pyfunction]
#[pyo3(signature = (plan_json, offloads = false))]
pub(crate) fn host_topology(plan_json: &str, offloads: bool) -> PyResult<HostTopology> {
    let (plan, topology) = veth_topology(plan_json, Target { owner: Kernel::Host, offloads })?;
    Ok((topology.steps(), topology.flows(&plan), topology.variants(), topology.disciplines))
}

type GuestTopology = (Vec<String>, Vec<String>, Vec<String>, u64);
type HostTopology = (Vec<String>, Vec<String>, Vec<&'static str>, BTreeMap<&'static str, String>);

fn read_plan(plan_json: &str) -> PyResult<Plan> {
    serde_json::from_str(plan_json).map_err(|e| RunError::new_err(format!("invalid plan: {e}")))
}

fn veth_topology(plan_json: &str, target: Target) -> PyResult<(Plan, VethTopology)> {
    let plan = read_plan(plan_json)?;
    let topology = VethTopology::new(&plan, target).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((plan, topology))
}

/// Lays a plan (JSON) out for the host's kernel with links in user space (TUN interfaces). Returns its commands in order, a
/// description of each flow, and the congestion control algorithms that the kernel needs. Raises RunError if it can't do a
/// part of the plan.
#[pyfunction]
pub(crate) fn tun_topology(plan_json: &str) -> PyResult<(Vec<String>, Vec<String>, Vec<&'static str>)> {
    let plan = read_plan(plan_json)?;
    let topology = TunTopology::new(&plan).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((topology.steps(&plan), topology.flows(&plan), topology.variants()))
}

/// Returns the kernel's names of the congestion control algorithms that can be loaded as BPF programs.
#[pyfunction]
pub(crate) fn bpf_variants() -> Vec<&'static str> {
    #[cfg(target_os = "linux")]
    return dumbbell_kernel::bpf::names().collect();
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// Returns the congestion control algorithms that the kernel has: the kernel's name by the scenario's name.
#[pyfunction]
pub(crate) fn kernel_variants() -> BTreeMap<&'static str, &'static str> {
    VARIANTS.iter().copied().collect()
}
