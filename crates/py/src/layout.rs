//! A plan laid out for a kernel.

use crate::errors::RunError;
use dumbbell_kernel::{Kernel, Target, TunTopology, VARIANTS, VethTopology};
use dumbbell_plan::Plan;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// What a kernel back end does with a plan (JSON), step by step, its flows in words, the options that its kernel boots
/// with, bytes of memory for what it makes; RunError if it can't honour something of it. `offloads`: whether interfaces segment and merge.
#[pyfunction]
#[pyo3(signature = (plan_json, offloads = false))]
pub(crate) fn layout(plan_json: &str, offloads: bool) -> PyResult<GuestLayout> {
    let (plan, layout) = on(plan_json, Target { owner: Kernel::Guest, offloads })?;
    let memory = layout.memory(&plan);
    Ok((layout.steps(), layout.flows(&plan), layout.boot, memory))
}

/// The same for the host's own kernel and its queue disciplines: steps, flows, the congestion control that the kernel must have,
/// the disciplines that it must have, each with the place that asks for it.
#[pyfunction]
#[pyo3(signature = (plan_json, offloads = false))]
pub(crate) fn tc_layout(plan_json: &str, offloads: bool) -> PyResult<TcLayout> {
    let (plan, layout) = on(plan_json, Target { owner: Kernel::Host, offloads })?;
    Ok((layout.steps(), layout.flows(&plan), layout.variants(), layout.disciplines))
}

type GuestLayout = (Vec<String>, Vec<String>, Vec<String>, u64);
type TcLayout = (Vec<String>, Vec<String>, Vec<&'static str>, BTreeMap<&'static str, String>);

fn on(plan_json: &str, ground: Target) -> PyResult<(Plan, VethTopology)> {
    let plan: Plan = serde_json::from_str(plan_json)
        .map_err(|e| RunError::new_err(format!("the plan does not read: {e}")))?;
    let layout = VethTopology::new(&plan, ground).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((plan, layout))
}

/// What a run on the host's own kernel does with a plan (JSON), step by step, its flows in words, and the
/// congestion control that the kernel must have; RunError if it can't honour something of it.
#[pyfunction]
pub(crate) fn sites(plan_json: &str) -> PyResult<(Vec<String>, Vec<String>, Vec<&'static str>)> {
    let plan: Plan = serde_json::from_str(plan_json)
        .map_err(|e| RunError::new_err(format!("the plan does not read: {e}")))?;
    let sites = TunTopology::new(&plan).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((sites.steps(&plan), sites.flows(&plan), sites.variants()))
}

/// The kernel's names of congestion control that can be loaded as BPF programs.
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
