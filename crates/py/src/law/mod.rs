//! Window laws that users bring: Python classes, and laws in libraries.

mod events;
mod python;

use crate::errors::refused;
use crate::parameters::entries;
use dumbbell_cc::{EcnUse, External, Failure, Setup, Variant};
use dumbbell_sim::ExternalVariants;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use python::take_interrupt;

/// A law that is not in the registry.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct Law {
    external: Arc<dyn External>,
    /// Parameters as (name, what it takes, default, what it does).
    #[pyo3(get)]
    params: Vec<(String, String, String, String)>,
}

#[pymethods]
impl Law {
    /// A law that a Python class makes. `title` says what it is, `columns` names what it lets be traced, `ecn` is
    /// "stack", "dctcp" or "scalable"; `file` is where errors are looked for.
    #[staticmethod]
    #[pyo3(signature = (law_class, name, *, title, file, columns, params, ecn, own_recovery))]
    #[allow(clippy::too_many_arguments)] // by keyword
    fn python(
        law_class: &Bound<'_, PyType>,
        name: &str,
        title: &str,
        file: String,
        columns: Vec<String>,
        params: Vec<(String, String, String, String)>,
        ecn: &str,
        own_recovery: bool,
    ) -> PyResult<Law> {
        let uses = [("stack", EcnUse::Stack), ("dctcp", EcnUse::Dctcp), ("scalable", EcnUse::Scalable)];
        let ecn = uses.iter().find(|(word, _)| *word == ecn).map(|(_, ecn)| *ecn);
        let ecn = ecn.ok_or_else(|| PyValueError::new_err("one of stack, dctcp, scalable is needed"))?;
        let row = Variant { ecn, own_recovery, ..python_row(name, title, columns) };
        Ok(Law { external: Arc::new(python::PythonLaw::new(row, law_class, file)?), params })
    }

    /// The law of a library. Raises ValueError with what is wrong with the file.
    #[staticmethod]
    fn library(path: PathBuf, name: &str) -> PyResult<Law> {
        let law = dumbbell_plugin::load(&path, name).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let params = law.params().iter().cloned();
        let params = params.map(|p| (p.name, p.kind, p.default, p.doc)).collect();
        Ok(Law { external: Arc::new(law), params })
    }

    /// The name in results.
    #[getter]
    fn name(&self) -> &'static str {
        self.external.variant().name
    }

    /// What it is, in one line.
    #[getter]
    fn title(&self) -> &'static str {
        self.external.variant().title
    }

    /// The names of its private columns in the trace.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.external.variant().columns.to_vec()
    }

    /// Checks parameters by making the law once, as it starts on the stack of that preset.
    /// Raises ParamError(parameter, message).
    fn check(&self, py: Python<'_>, params: &Bound<'_, PyDict>, preset: &str) -> PyResult<()> {
        let given = entries(params)?;
        let preset = dumbbell_tcp::find_preset(preset).map_err(refused)?.name;
        let start = Setup { preset, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
        let failure = Failure::default();
        let made = py.detach(|| self.external.make(&given, &start, &failure).map(drop));
        if let Some(interrupt) = take_interrupt() {
            return Err(interrupt);
        }
        made.map_err(refused)?;
        failure.get().map_or(Ok(()), |(_, why)| {
            Err(refused(dumbbell_units::param::ParamError { name: "name".into(), message: why.into() }))
        })
    }
}

impl Law {
    /// What the registry would hold of it.
    pub(crate) fn variant(&self) -> &'static Variant {
        self.external.variant()
    }
}

/// External variants by the names that a plan gives them.
pub(crate) fn by_name(laws: Option<&Bound<'_, PyDict>>) -> PyResult<ExternalVariants> {
    let Some(laws) = laws else { return Ok(ExternalVariants::new()) };
    let pairs = laws.iter().map(|(name, law)| {
        let law = law.cast::<Law>()?;
        Ok((name.extract()?, Arc::clone(&law.get().external)))
    });
    pairs.collect()
}

/// A row for as long as the process lives: a class is made a law once.
fn python_row(name: &str, title: &str, columns: Vec<String>) -> Variant {
    let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let columns: Vec<&'static str> = columns.into_iter().map(kept).collect();
    Variant {
        name: kept(name.to_owned()),
        title: kept(title.to_owned()),
        source: "a Python class",
        columns: columns.leak(),
        ..Variant::EMPTY
    }
}

/// Adds the classes to the module.
pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Law>()?;
    events::register(m)
}
