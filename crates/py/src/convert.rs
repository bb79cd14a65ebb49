//! Conversion of serializable results to plain Python objects.

use crate::errors::RunError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Serialize;

/// Returns each item as a dict of plain Python values, keys in the order of its fields; NaN and infinity become None.
/// Python's JSON reader makes the objects: it is fast, and floats keep every bit.
pub(crate) fn dicts<T: Serialize>(py: Python<'_>, items: &[T]) -> PyResult<Py<PyList>> {
    let text = serde_json::to_string(items).map_err(|e| RunError::new_err(e.to_string()))?;
    let list = py.import("json")?.call_method1("loads", (text,))?;
    Ok(list.cast_into::<PyList>()?.unbind())
}
