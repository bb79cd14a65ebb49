//! Plans (JSON) translated for the kernel back ends, and the congestion control of kernels.

use crate::errors::RunError;
use dumbbell_kernel::{Kernel, Target, TunTopology, VARIANTS, VethTopology};
use dumbbell_plan::Plan;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Steps, flows in words, options of the kernel's command line, bytes of memory.
type UmlPlan = (Vec<String>, Vec<String>, Vec<String>, u64);
/// Steps, flows in words, congestion control, queue disciplines with the place that needs each.
type TcPlan = (Vec<String>, Vec<String>, Vec<&'static str>, BTreeMap<&'static str, String>);
/// Steps, flows in words, congestion control.
type LinkPlan = (Vec<String>, Vec<String>, Vec<&'static str>);

/// Translates a plan for the virtual-time kernel (uml). `offloads`: interfaces segment and merge. RunError: the kernel
/// can't run it.
#[pyfunction]
#[pyo3(signature = (plan_json, offloads = false))]
pub(crate) fn plan_uml(plan_json: &str, offloads: bool) -> PyResult<UmlPlan> {
    let (plan, topology) = veth(plan_json, Target { kernel: Kernel::Guest, offloads })?;
    let memory = topology.memory(&plan);
    Ok((topology.steps(), topology.flows(&plan), topology.boot, memory))
}

/// Translates a plan for the virtual-time kernel with link emulation; otherwise like `plan_uml`.
#[pyfunction]
pub(crate) fn plan_uml_link(plan_json: &str) -> PyResult<UmlPlan> {
    let plan = read(plan_json)?;
    let topology = TunTopology::in_guest(&plan).map_err(|e| RunError::new_err(e.to_string()))?;
    let memory = topology.memory(&plan);
    Ok((topology.steps(&plan), topology.flows(&plan), topology.boot, memory))
}

/// Translates a plan for the host's own kernel with its own queue disciplines (tc); otherwise like `plan_uml`.
#[pyfunction]
#[pyo3(signature = (plan_json, offloads = false))]
pub(crate) fn plan_tc(plan_json: &str, offloads: bool) -> PyResult<TcPlan> {
    let (plan, topology) = veth(plan_json, Target { kernel: Kernel::Host, offloads })?;
    Ok((topology.steps(), topology.flows(&plan), topology.variants(), topology.disciplines))
}

/// Translates a plan for the host's own kernel with link emulation. `offloads`: hosts send and receive super-packets;
/// None: where the links are fast. RunError: kernel or links can't run it.
#[pyfunction]
#[pyo3(signature = (plan_json, offloads = None))]
pub(crate) fn plan_link(plan_json: &str, offloads: Option<bool>) -> PyResult<LinkPlan> {
    let plan = read(plan_json)?;
    let topology = TunTopology::new(&plan, offloads).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((topology.steps(&plan), topology.flows(&plan), topology.variants()))
}

fn veth(plan_json: &str, target: Target) -> PyResult<(Plan, VethTopology)> {
    let plan = read(plan_json)?;
    let topology = VethTopology::new(&plan, target).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((plan, topology))
}

fn read(plan_json: &str) -> PyResult<Plan> {
    Plan::from_json(plan_json).map_err(|e| RunError::new_err(format!("invalid plan: {e}")))
}

/// The kernel's names of the congestion control that can be loaded as BPF programs.
#[pyfunction]
pub(crate) fn bpf_variants() -> Vec<&'static str> {
    #[cfg(target_os = "linux")]
    return dumbbell_kernel::bpf::names().collect();
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// The congestion control that the kernel has: scenario name -> kernel name.
#[pyfunction]
pub(crate) fn kernel_variants() -> BTreeMap<&'static str, &'static str> {
    VARIANTS.iter().copied().collect()
}
