//! `dumbbell._core`: the Rust functions that the Python package uses.
//!
//! | module | functions and classes |
//! |---|---|
//! | `registry` | `registry`: variants, disciplines and stacks as one JSON document |
//! | `parameters` | `parse`, `check`, `check_queue`, `check_wifi`, `lacking`, `nearest`: quantities and parameters |
//! | `external` | `ExternalVariant`, `ExternalDiscipline`: variants and queue disciplines from Python classes and libraries |
//! | `run` | `run`: a run of the simulator, its series as NumPy arrays; `plan_schema`: the JSON Schema of plans |
//! | `kernel` | `plan_uml`, `plan_uml_link`, `plan_tc`, `plan_link`: a plan as commands for a real kernel |
//! | `capture` | `analyze`, `analyze_pair`: the analysis of capture files |
//!
//! This crate only converts between Python and Rust. It decides nothing, so that both sides follow the same rules.

mod capture;
mod convert;
mod errors;
mod external;
mod kernel;
mod parameters;
mod registry;
mod rows;
mod run;
mod voice;

use pyo3::prelude::*;

/// The Rust core of Dumbbell.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("version", env!("CARGO_PKG_VERSION"))?;
    errors::register(m)?;
    external::register(m)?;
    m.add_function(wrap_pyfunction!(registry::registry, m)?)?;
    m.add_function(wrap_pyfunction!(rows::result_columns, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::check, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::check_queue, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::check_wifi, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::lacking, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::parse, m)?)?;
    m.add_function(wrap_pyfunction!(parameters::nearest, m)?)?;
    m.add_function(wrap_pyfunction!(voice::r_factor, m)?)?;
    m.add_function(wrap_pyfunction!(voice::mos, m)?)?;
    m.add_function(wrap_pyfunction!(run::run, m)?)?;
    m.add_function(wrap_pyfunction!(run::plan_schema, m)?)?;
    m.add_function(wrap_pyfunction!(external::library_calls, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::plan_uml, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::plan_uml_link, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::plan_tc, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::plan_link, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::kernel_variants, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::bpf_variants, m)?)?;
    m.add_class::<rows::RunRows>()?;
    m.add_class::<run::RunOutput>()?;
    m.add_function(wrap_pyfunction!(capture::analyze, m)?)?;
    m.add_function(wrap_pyfunction!(capture::analyze_pair, m)?)?;
    m.add_function(wrap_pyfunction!(capture::capture_rules, m)?)?;
    m.add_function(wrap_pyfunction!(capture::capture_labels, m)?)?;
    m.add_class::<capture::CaptureOutput>()?;
    Ok(())
}
