//! Rules for the bit rate as Python classes.

use super::exceptions::describe_exception;
use dumbbell_apps::State;
use dumbbell_apps::abr::{self, Abr, Choice, ExternalAbr, Fail};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The player when a segment can be requested: times in seconds, rates in bit/s.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct AbrView {
    /// Now.
    now: f64,
    /// Media buffered ahead of the playback position.
    buffer: f64,
    /// The bit rates, ascending.
    ladder: Vec<u64>,
    /// Length of the segment.
    segment: f64,
    /// Number of the segment, from 0.
    number: u64,
    /// Index of the bit rate of the segment before; None for the first.
    last: Option<usize>,
    /// "starting", "playing" or "stalled".
    state: &'static str,
}

/// A segment that has arrived.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct AbrDownload {
    /// Arrival of its last byte, s.
    at: f64,
    /// Number of the segment, from 0.
    number: u64,
    /// Index of its bit rate.
    level: usize,
    /// Bytes of its content.
    bytes: u64,
    /// Time from its request to its last byte, s.
    took: f64,
    /// Time from its request to its first byte, s.
    first_byte: f64,
    /// Throughput from the request to the last byte, bit/s.
    throughput: f64,
}

/// A rule implemented as a Python class.
#[derive(Debug)]
struct PythonRule {
    class: Py<PyType>,
    file: Arc<str>,
}

/// Returns the rules by the names that plans give them; each is a class and its file.
pub(crate) fn rules_by_name(rules: Option<&Bound<'_, PyDict>>) -> PyResult<BTreeMap<String, Arc<dyn ExternalAbr>>> {
    let Some(rules) = rules else { return Ok(BTreeMap::new()) };
    let rule = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let (class, file): (Bound<'_, PyType>, String) = value.extract()?;
        let rule: Arc<dyn ExternalAbr> = Arc::new(PythonRule { class: class.unbind(), file: file.into() });
        Ok((name.extract()?, rule))
    };
    rules.iter().map(rule).collect()
}

impl ExternalAbr for PythonRule {
    fn make(&self, params: &Map<String, Value>, fail: Fail) -> Result<Box<dyn Abr>, String> {
        let object = Python::attach(|py| {
            let made = keywords(py, params).and_then(|kwargs| self.class.bind(py).call((), Some(&kwargs)));
            let described = |e| describe_exception(py, e, &self.file);
            let object = made.map_err(described)?;
            let listens = object.hasattr("on_download").map_err(described)?;
            Ok::<_, String>((object.unbind(), listens))
        });
        let (object, listens) = object?;
        Ok(Box::new(PythonAbr { object, listens, file: Arc::clone(&self.file), failed: false, fail }))
    }
}

/// Returns the parameters as keyword arguments.
fn keywords<'py>(py: Python<'py>, params: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let text = Value::Object(params.clone()).to_string();
    Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into::<PyDict>()?)
}

/// The rule of one video: an instance of the class.
struct PythonAbr {
    object: Py<PyAny>,
    /// True if it has a method on_download.
    listens: bool,
    file: Arc<str>,
    failed: bool,
    fail: Fail,
}

impl fmt::Debug for PythonAbr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonAbr").field("file", &self.file).finish_non_exhaustive()
    }
}

impl PythonAbr {
    /// Calls a method; an error ends the run.
    fn call<T>(&mut self, work: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<T>) -> Option<T> {
        if self.failed {
            return None;
        }
        let result = Python::attach(|py| work(self.object.bind(py)).map_err(|e| describe_exception(py, e, &self.file)));
        result
            .map_err(|message| {
                self.failed = true;
                (self.fail)(message);
            })
            .ok()
    }
}

impl Abr for PythonAbr {
    fn choose(&mut self, view: &abr::View<'_>) -> Choice {
        let levels = view.ladder.len();
        let shown = AbrView {
            now: view.now.as_secs(),
            buffer: view.buffer.as_secs(),
            ladder: view.ladder.to_vec(),
            segment: view.segment.as_secs(),
            number: view.number,
            last: view.last,
            state: match view.state {
                State::Starting => "starting",
                State::Playing | State::Ended => "playing",
                State::Stalled => "stalled",
            },
        };
        let level = self.call(|object| {
            let choice = object.call_method1(intern!(object.py(), "choose"), (shown,))?;
            let level = choice.extract::<usize>().ok().filter(|level| *level < levels);
            level.ok_or_else(|| {
                let text = choice.repr().map_or_else(|_| "something".into(), |r| r.to_string());
                let message = format!("choose returned {text}: an index from 0 to {} is needed", levels - 1);
                pyo3::exceptions::PyValueError::new_err(message)
            })
        });
        Choice::Level(level.unwrap_or(0))
    }

    fn on_download(&mut self, download: &abr::Download) {
        if !self.listens {
            return;
        }
        let shown = AbrDownload {
            at: download.at.as_secs(),
            number: download.number,
            level: download.level,
            bytes: download.bytes,
            took: download.took.as_secs(),
            first_byte: download.first_byte.as_secs(),
            throughput: download.throughput(),
        };
        self.call(|object| object.call_method1(intern!(object.py(), "on_download"), (shown,)).map(drop));
    }
}
