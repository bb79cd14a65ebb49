//! `dumbbell._core`: what the Python front asks of the Rust side.
//!
//! - the registries (variants, disciplines, stacks) as one JSON document: `registry`
//! - the reading of quantities and parameters: `parse`, `check`, `check_queue`, `nearest`
//! - the analysis of captures: `analyze`
//! - what a kernel back end does with a plan: `plan_link`, `plan_tc`, `plan_uml`, `kernel_variants`, `bpf_variants`
//! - a run of the simulator, without the GIL, its series moved into NumPy arrays: `run`
//!
//! Nothing is decided here: every rule lives in the crates below, so that Rust and Python never differ.

mod capture;
mod convert;
mod errors;
mod kernel;
mod law;
mod parameters;
mod registry;
mod run;

use pyo3::prelude::*;

/// The Rust core of Dumbbell.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("version", env!("CARGO_PKG_VERSION"))?;
    errors::register(m)?;
    law::register(m)?;
    m.add_function(wrap_pyfunction!(registry::registry, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::check, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::check_queue, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::parse, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::nearest, m)?)?;
    m.add_function(wrap_pyfunction!(run::run, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::plan_uml, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::plan_tc, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::plan_link, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::kernel_variants, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::bpf_variants, m)?)?;
    m.add_class::<run::RunOutput>()?;
    m.add_function(wrap_pyfunction!(capture::analyze, m)?)?;
    m.add_function(wrap_pyfunction!(capture::analyze_pair, m)?)?;
    m.add_function(wrap_pyfunction!(capture::capture_rules, m)?)?;
    m.add_function(wrap_pyfunction!(capture::capture_labels, m)?)?;
    m.add_class::<capture::CaptureOutput>()?;
    Ok(())
}
