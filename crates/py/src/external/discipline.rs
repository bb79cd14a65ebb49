//! `ExternalDiscipline`: a queue discipline of the user, from a Python class or a library.

use super::exceptions::take_interrupt;
use super::python_queue::PythonDiscipline;
use crate::errors::refused;
use crate::parameters::entries;
use dumbbell_qdisc::LinkInfo;
use dumbbell_qdisc::external::{Exercise, External, exercise};
use dumbbell_sim::Disciplines;
use dumbbell_units::{Dur, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::path::PathBuf;
use std::sync::Arc;

/// A queue discipline that is not in the registry.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct ExternalDiscipline {
    external: Arc<dyn External>,
    /// The name in results.
    #[pyo3(get)]
    name: String,
    /// Its description in one line.
    #[pyo3(get)]
    title: String,
    /// Parameters as (name, kind, default, doc).
    #[pyo3(get)]
    params: Vec<(String, String, String, String)>,
}

#[pymethods]
impl ExternalDiscipline {
    /// Makes a discipline of a Python class; `columns` names its trace columns, error messages give lines of `file`.
    #[staticmethod]
    #[pyo3(signature = (python_class, name, *, title, file, columns, params))]
    fn from_class(
        python_class: &Bound<'_, PyType>,
        name: String,
        title: String,
        file: &str,
        columns: Vec<String>,
        params: Vec<(String, String, String, String)>,
    ) -> PyResult<ExternalDiscipline> {
        let discipline = PythonDiscipline::new(python_class, file, super::static_columns(columns))?;
        Ok(ExternalDiscipline { external: Arc::new(discipline), name, title, params })
    }

    /// Loads the discipline of a library. Raises ValueError with the reason if that fails.
    #[staticmethod]
    fn from_library(path: PathBuf, name: String) -> PyResult<ExternalDiscipline> {
        let discipline =
            dumbbell_plugin::load_discipline(&path, &name).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let params = discipline.params().iter().cloned();
        let params = params.map(|p| (p.name, p.kind, p.default, p.doc)).collect();
        let title = discipline.title().to_owned();
        Ok(ExternalDiscipline { external: Arc::new(discipline), name, title, params })
    }

    /// The names of its private columns in the trace.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.external.columns().to_vec()
    }

    /// Checks parameters: starts the discipline once, for a link with this rate (bit/s) and base round-trip time (ns).
    /// Returns the number of its classes, None if it doesn't use the class of packets. Raises ParamError(parameter,
    /// message).
    fn check(
        &self,
        py: Python<'_>,
        params: &Bound<'_, PyDict>,
        rate_bps: u64,
        base_rtt_ns: u64,
    ) -> PyResult<Option<u32>> {
        let given = entries(params)?;
        let link = LinkInfo::new(Rate(rate_bps), Dur(base_rtt_ns));
        let made = py.detach(|| self.external.make(&given, &link).map(|code| code.classes()));
        if let Some(interrupt) = take_interrupt() {
            return Err(interrupt);
        }
        made.map_err(refused)
    }

    /// Tries the discipline on random packets. Returns a dict: the counts `arrived`, `dropped`, `marked` and `longest`,
    /// and `findings`, tuples of (is an error, message, steps). Raises ParamError(parameter, message).
    fn exercise<'py>(
        &self,
        py: Python<'py>,
        params: &Bound<'py, PyDict>,
        cases: u32,
        seed: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let given = entries(params)?;
        let report = py.detach(|| exercise(self.external.as_ref(), &given, &Exercise { cases, seed }));
        if let Some(interrupt) = take_interrupt() {
            return Err(interrupt);
        }
        let report = report.map_err(refused)?;
        let dict = PyDict::new(py);
        dict.set_item("arrived", report.arrived)?;
        dict.set_item("dropped", report.dropped)?;
        dict.set_item("marked", report.marked)?;
        dict.set_item("longest", report.longest)?;
        let findings: Vec<_> = report.findings.into_iter().map(|f| (f.is_error, f.message, f.steps)).collect();
        dict.set_item("findings", findings)?;
        Ok(dict)
    }
}

/// Reads a dict of external disciplines by the names that the plan gives them.
pub(crate) fn disciplines_by_name(disciplines: Option<&Bound<'_, PyDict>>) -> PyResult<Disciplines> {
    let Some(disciplines) = disciplines else { return Ok(Disciplines::new()) };
    let pairs = disciplines.iter().map(|(name, discipline)| {
        let discipline = discipline.cast::<ExternalDiscipline>()?;
        Ok((name.extract()?, Arc::clone(&discipline.get().external)))
    });
    pairs.collect()
}
