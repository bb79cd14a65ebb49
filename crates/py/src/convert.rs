//! Serialisable results as plain Python objects.

use crate::errors::RunError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Serialize;

/// Each item as a dict of plain Python values, keys in the order of its fields; what is not a number (NaN, infinity)
/// becomes None. Python's own JSON reader makes the objects: it is fast, and floats survive to the last bit.
pub(crate) fn dicts<T: Serialize>(py: Python<'_>, items: &[T]) -> PyResult<Py<PyList>> {
    let text = serde_json::to_string(items).map_err(|e| RunError::new_err(e.to_string()))?;
    let list = py.import("json")?.call_method1("loads", (text,))?;
    Ok(list.cast_into::<PyList>()?.unbind())
}
