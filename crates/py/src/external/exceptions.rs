//! Exceptions in a variant's Python code: their message with file and line, and interrupts by the user.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTraceback;
use std::cell::RefCell;

thread_local! {
    /// The exception that ended a run of this thread and is not an error of the variant, such as KeyboardInterrupt.
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Returns the exception that interrupted the last run of this thread, if any.
pub(crate) fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.with(|i| i.borrow_mut().take())
}

/// Returns the message of an exception: file and line of the variant where it was raised, kind and text.
pub(super) fn describe_exception(py: Python<'_>, error: PyErr, file: &str) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "an exception".into(), |n| n.to_string());
    let message = error.value(py).str().map_or_else(|_| String::new(), |s| s.to_string());
    let place = error.traceback(py).and_then(|tb| source_location(&tb, file)).unwrap_or_else(|| file.to_owned());
    if !error.is_instance_of::<PyException>(py) {
        INTERRUPT.with(|i| *i.borrow_mut() = Some(error));
    }
    if message.is_empty() { format!("{place}: {kind}") } else { format!("{place}: {kind}: {message}") }
}

/// Returns the location of the innermost frame in `file`, or of the innermost frame of all.
fn source_location(traceback: &Bound<'_, PyTraceback>, file: &str) -> Option<String> {
    let mut next = Some(traceback.clone().into_any());
    let (mut innermost, mut in_file) = (None, None);
    while let Some(tb) = next.filter(|tb| !tb.is_none()) {
        let line: usize = tb.getattr("tb_lineno").ok()?.extract().ok()?;
        let code = tb.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
        let name: String = code.getattr("co_filename").ok()?.extract().ok()?;
        let function: String = code.getattr("co_qualname").ok()?.extract().ok()?;
        let location = format!("{name}, line {line}, in {function}");
        if name == file {
            in_file = Some(location.clone());
        }
        innermost = Some(location);
        next = tb.getattr("tb_next").ok();
    }
    in_file.or(innermost)
}
