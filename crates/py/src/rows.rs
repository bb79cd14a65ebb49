//! The metrics of a run. They stay in Rust, where they take an eighth of the memory of dicts, until Python reads them.

use crate::convert::dicts;
use dumbbell_plan::{FRAMES, FlowResult, QueueResult, Transfer};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Returns the declarations of all columns that a run's rows have, by frame.
#[pyfunction]
pub(crate) fn result_columns(py: Python<'_>) -> PyResult<Py<PyList>> {
    dicts(py, &FRAMES)
}

/// The rows of a run. Each access makes new objects.
#[pyclass(module = "dumbbell._core", frozen)]
pub(crate) struct RunRows {
    flows: Vec<FlowResult>,
    queues: Vec<QueueResult>,
    transfers: Vec<Transfer>,
}

impl RunRows {
    /// Takes the results of a run.
    pub(crate) fn new(flows: Vec<FlowResult>, queues: Vec<QueueResult>, transfers: Vec<Transfer>) -> RunRows {
        RunRows { flows, queues, transfers }
    }
}

#[pymethods]
impl RunRows {
    /// One dict of metrics for each flow.
    #[getter]
    fn flows(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        dicts(py, &self.flows)
    }

    /// One dict of metrics for each queue.
    #[getter]
    fn queues(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        dicts(py, &self.queues)
    }

    /// One dict for each transfer, of applications with transfers.
    #[getter]
    fn transfers(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        dicts(py, &self.transfers)
    }
}
