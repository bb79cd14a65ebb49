//! The exceptions of `dumbbell._core`, and the conversion of errors of the other crates.

use dumbbell_units::param;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    _core,
    ParamError,
    PyValueError,
    "A name or parameter that a registry refuses; args are (parameter, message)."
);
pyo3::create_exception!(_core, RunError, PyRuntimeError, "A run that could not be started or failed.");
pyo3::create_exception!(_core, CaptureError, PyRuntimeError, "A capture that could not be read.");

/// Converts a refused name or parameter.
pub(crate) fn refused(error: param::ParamError) -> PyErr {
    ParamError::new_err((error.name, error.message))
}
