//! Algorithms that users write: congestion control and queue disciplines as Python classes or in libraries, rules for
//! the bit rate as classes.

pub(crate) mod abr;
pub(crate) mod discipline;
pub(crate) mod events;
mod exceptions;
mod python_class;
mod python_queue;
pub(crate) mod queue_objects;

use crate::errors::refused;
use crate::parameters::{Stack, entries};
use dumbbell_cc::{EcnUse, External, Failure, Setup, Variant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use abr::rules_by_name;
pub(crate) use discipline::disciplines_by_name;
pub(crate) use exceptions::take_interrupt;

/// A variant that is not in the registry.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct ExternalVariant {
    external: Arc<dyn External>,
    /// Parameters as (name, kind, default, doc).
    #[pyo3(get)]
    params: Vec<(String, String, String, String)>,
}

#[pymethods]
impl ExternalVariant {
    /// Makes a variant of a Python class. `title` describes it in one line, `columns` names its trace columns, `ecn` is
    /// "stack", "dctcp" or "scalable"; error messages give lines of `file`.
    #[staticmethod]
    #[pyo3(signature = (python_class, name, *, title, file, columns, params, ecn, own_recovery))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn from_class(
        python_class: &Bound<'_, PyType>,
        name: &str,
        title: &str,
        file: String,
        columns: Vec<String>,
        params: Vec<(String, String, String, String)>,
        ecn: &str,
        own_recovery: bool,
    ) -> PyResult<ExternalVariant> {
        let ecn =
            EcnUse::from_name(ecn).ok_or_else(|| PyValueError::new_err("one of stack, dctcp, scalable is needed"))?;
        let row = Variant { ecn, own_recovery, ..static_row(name, title, columns) };
        let external = Arc::new(python_class::PythonVariant::new(row, python_class, file)?);
        Ok(ExternalVariant { external, params })
    }

    /// Loads the variant of a library. Raises ValueError with the reason if that fails.
    #[staticmethod]
    fn from_library(path: PathBuf, name: &str) -> PyResult<ExternalVariant> {
        let variant = dumbbell_plugin::load(&path, name).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let params = variant.params().iter().cloned();
        let params = params.map(|p| (p.name, p.kind, p.default, p.doc)).collect();
        Ok(ExternalVariant { external: Arc::new(variant), params })
    }

    /// The name in results.
    #[getter]
    fn name(&self) -> &'static str {
        self.external.variant().name
    }

    /// Its description in one line.
    #[getter]
    fn title(&self) -> &'static str {
        self.external.variant().title
    }

    /// The names of its private columns in the trace.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.external.variant().columns.to_vec()
    }

    /// Checks parameters: creates the algorithm once, as on the stack of that preset.
    /// Raises ParamError(parameter, message).
    fn check(&self, py: Python<'_>, params: &Bound<'_, PyDict>, preset: &str) -> PyResult<()> {
        let given = entries(params)?;
        let preset = Stack::find(preset)?.variants_as();
        let setup = Setup { preset, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
        let failure = Failure::default();
        let made = py.detach(|| self.external.make(&given, &setup, &failure).map(drop));
        if let Some(interrupt) = take_interrupt() {
            return Err(interrupt);
        }
        made.map_err(refused)?;
        failure.get().map_or(Ok(()), |(_, message)| {
            Err(refused(dumbbell_units::param::ParamError { name: "name".into(), message: message.into() }))
        })
    }
}

impl ExternalVariant {
    /// Its registry row.
    pub(crate) fn variant(&self) -> &'static Variant {
        self.external.variant()
    }
}

/// Returns the calls of libraries that are in progress: the number of the thread, that of the call, and the name of the
/// variant or discipline.
#[pyfunction]
pub(crate) fn library_calls() -> Vec<(u64, u64, String)> {
    let calls = dumbbell_plugin::calls_in_progress().into_iter();
    calls.map(|call| (call.thread, call.call, call.library)).collect()
}

/// Reads a dict of external variants by the names that the plan gives them.
pub(crate) fn by_name(variants: Option<&Bound<'_, PyDict>>) -> PyResult<BTreeMap<String, Arc<dyn External>>> {
    let Some(variants) = variants else { return Ok(BTreeMap::new()) };
    let pairs = variants.iter().map(|(name, variant)| {
        let variant = variant.cast::<ExternalVariant>()?;
        Ok((name.extract()?, Arc::clone(&variant.get().external)))
    });
    pairs.collect()
}

/// Makes a row with a static lifetime: each class becomes a variant once, so that little memory is leaked.
fn static_row(name: &str, title: &str, columns: Vec<String>) -> Variant {
    Variant {
        name: leaked(name.to_owned()),
        title: leaked(title.to_owned()),
        source: "a Python class",
        columns: static_columns(columns),
        ..Variant::EMPTY
    }
}

fn static_columns(columns: Vec<String>) -> &'static [&'static str] {
    columns.into_iter().map(leaked).collect::<Vec<_>>().leak()
}

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
