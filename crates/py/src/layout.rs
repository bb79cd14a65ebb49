//! A plan laid out for a kernel.

use crate::errors::RunError;
use dumbbell_emu::{Layout, Sites, VARIANTS};
use dumbbell_sim::Plan;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// What a kernel back end does with a plan (JSON), step by step, and the options that its kernel boots with; RunError if
/// it can't honour something of it.
#[pyfunction]
pub(crate) fn layout(plan_json: &str) -> PyResult<(Vec<String>, Vec<String>)> {
    let plan: Plan = serde_json::from_str(plan_json)
        .map_err(|e| RunError::new_err(format!("the plan does not read: {e}")))?;
    let layout = Layout::new(&plan).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((layout.steps(), layout.boot))
}

/// What a run on the host's own kernel does with a plan (JSON), step by step, and the congestion control that the kernel
/// must have; RunError if it can't honour something of it.
#[pyfunction]
pub(crate) fn sites(plan_json: &str) -> PyResult<(Vec<String>, Vec<&'static str>)> {
    let plan: Plan = serde_json::from_str(plan_json)
        .map_err(|e| RunError::new_err(format!("the plan does not read: {e}")))?;
    let sites = Sites::new(&plan).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok((sites.steps(&plan), sites.variants()))
}

/// The kernel's names of congestion control that can be loaded as BPF programs.
#[pyfunction]
pub(crate) fn bpf_variants() -> Vec<&'static str> {
    #[cfg(target_os = "linux")]
    return dumbbell_emu::bpf::names().collect();
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// The congestion control that the kernel has: scenario name -> kernel name.
#[pyfunction]
pub(crate) fn kernel_variants() -> BTreeMap<&'static str, &'static str> {
    VARIANTS.iter().copied().collect()
}
