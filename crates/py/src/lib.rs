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

/// The Rust core of Dumbbell.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "a name in Python")]
    const version: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::capture::{CaptureOutput, analyze, analyze_pair, capture_labels, capture_rules};
    #[pymodule_export]
    use crate::errors::{CaptureError, ParamError, RunError};
    #[pymodule_export]
    use crate::external::abr::{AbrDownload, AbrView};
    #[pymodule_export]
    use crate::external::discipline::ExternalDiscipline;
    #[pymodule_export]
    use crate::external::events::{Ack, Congestion, ConnectionEvent, Lost, RateSample, Sent, Setup};
    #[pymodule_export]
    use crate::external::queue_objects::{QueueLink, QueuePacket};
    #[pymodule_export]
    use crate::external::{ExternalVariant, library_calls};
    #[pymodule_export]
    use crate::kernel::{bpf_variants, kernel_variants, plan_link, plan_tc, plan_uml, plan_uml_link};
    #[pymodule_export]
    use crate::parameters::{check, check_queue, check_wifi, lacking, nearest, parse};
    #[pymodule_export]
    use crate::registry::registry;
    #[pymodule_export]
    use crate::rows::{RunRows, result_columns};
    #[pymodule_export]
    use crate::run::{RunOutput, plan_schema, run};
    #[pymodule_export]
    use crate::voice::{mos, r_factor};
}
