//! A queue discipline implemented as a Python class.
//!
//! The simulator runs without the GIL; each call acquires it. An exception ends the run with an error that has its file
//! and line. What the class returns is checked by [`dumbbell_qdisc::external`].

use super::exceptions::describe_exception;
use super::python_class::keywords;
use super::queue_objects::{QueueLink, QueuePacket};
use dumbbell_qdisc::external::{Code, External, Handle, Held};
use dumbbell_qdisc::{LinkInfo, QdiscContext};
use dumbbell_units::Time;
use dumbbell_units::param::{ParamError, Raw};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{PyErr, intern};
use std::sync::Arc;

/// A discipline implemented as a Python class.
#[derive(Debug)]
pub(crate) struct PythonDiscipline {
    class: Py<PyType>,
    /// File and class, for messages.
    name: Arc<str>,
    file: Arc<str>,
    columns: &'static [&'static str],
    has_next_ready: bool,
    has_observe: bool,
}

impl PythonDiscipline {
    pub(crate) fn new(
        class: &Bound<'_, PyType>,
        file: &str,
        columns: &'static [&'static str],
    ) -> PyResult<PythonDiscipline> {
        Ok(PythonDiscipline {
            name: format!("{file}: {}", class.qualname()?).into(),
            file: file.into(),
            columns,
            has_next_ready: class.hasattr("next_ready")?,
            has_observe: class.hasattr("observe")?,
            class: class.clone().unbind(),
        })
    }
}

impl External for PythonDiscipline {
    fn columns(&self) -> &'static [&'static str] {
        self.columns
    }

    fn make(&self, given: &[(String, Raw)], link: &LinkInfo) -> Result<Box<dyn Code>, ParamError> {
        let made = Python::attach(|py| {
            let make = || {
                let link = Bound::new(py, QueueLink::new(link))?;
                let object = self.class.bind(py).call((&link,), Some(&keywords(py, given)?))?;
                Ok::<_, PyErr>((object.unbind(), link.unbind()))
            };
            make().map_err(|e| describe_exception(py, e, &self.file))
        });
        let (object, link) = made.map_err(|message| ParamError { name: "name".into(), message })?;
        Ok(Box::new(PythonQueue {
            object,
            link,
            name: Arc::clone(&self.name),
            file: Arc::clone(&self.file),
            columns: self.columns,
            has_next_ready: self.has_next_ready,
            has_observe: self.has_observe,
        }))
    }
}

/// The discipline of one queue: an instance of the class.
#[derive(Debug)]
struct PythonQueue {
    object: Py<PyAny>,
    link: Py<QueueLink>,
    name: Arc<str>,
    file: Arc<str>,
    columns: &'static [&'static str],
    has_next_ready: bool,
    has_observe: bool,
}

impl PythonQueue {
    /// Calls `work` with the object while its link has the packets.
    fn call<T>(
        &self,
        held: &mut Held,
        cx: &mut QdiscContext,
        work: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>, &QueueLink) -> PyResult<T>,
    ) -> Result<T, String> {
        Python::attach(|py| {
            let link = self.link.get();
            link.open(held, cx);
            let result = work(py, self.object.bind(py), link);
            link.close(held, cx);
            result.map_err(|e| describe_exception(py, e, &self.file))
        })
    }
}

impl Code for PythonQueue {
    fn name(&self) -> &str {
        &self.name
    }

    fn enqueue(&mut self, handle: Handle, held: &mut Held, cx: &mut QdiscContext) -> Result<(), String> {
        let now = cx.now.as_secs();
        let (Some(packet), Some(number)) = (held.get(handle), held.number(handle)) else {
            unreachable!("a packet that arrives is held")
        };
        let packet = self.link.get().packet(handle, packet, number);
        self.call(held, cx, |py, object, _| {
            let result = object.call_method1(intern!(py, "enqueue"), (packet, now))?;
            if result.is_none() {
                return Ok(());
            }
            let message = format!("enqueue returned {}: link.drop drops a packet, None is needed", shown(&result));
            Err(PyTypeError::new_err(message))
        })
    }

    fn dequeue(&mut self, held: &mut Held, cx: &mut QdiscContext) -> Result<Option<Handle>, String> {
        let now = cx.now.as_secs();
        self.call(held, cx, |py, object, link| {
            let result = object.call_method1(intern!(py, "dequeue"), (now,))?;
            if result.is_none() {
                return Ok(None);
            }
            let Ok(packet) = result.cast::<QueuePacket>() else {
                let message = format!("dequeue returned {}: a packet or None is needed", shown(&result));
                return Err(PyTypeError::new_err(message));
            };
            let handle = link.handle(packet.get());
            handle
                .map(Some)
                .ok_or_else(|| PyValueError::new_err(format!("dequeue returned {} of another queue", shown(&result))))
        })
    }

    fn next_ready(&mut self, now: Time) -> Result<Option<Time>, String> {
        if !self.has_next_ready {
            return Ok(None);
        }
        let seconds = now.as_secs();
        Python::attach(|py| {
            let ready = || {
                let result = self.object.bind(py).call_method1(intern!(py, "next_ready"), (seconds,))?;
                if result.is_none() {
                    return Ok(None);
                }
                match result.extract::<f64>() {
                    // Within the range of Time, with room for additions.
                    Ok(at) if (0.0..1e9).contains(&at) => {
                        let least = if at > seconds { now.0 + 1 } else { 0 };
                        Ok(Some(Time(nanoseconds(at).max(least))))
                    }
                    _ => {
                        let text = shown(&result);
                        let message =
                            format!("next_ready returned {text}: seconds of simulated time, or None, are needed");
                        Err(PyValueError::new_err(message))
                    }
                }
            };
            ready().map_err(|e| describe_exception(py, e, &self.file))
        })
    }

    /// The values that `observe` returns for the columns, or else the attributes of those names.
    fn observe(&self, row: &mut Vec<f64>) -> Result<(), String> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let mut values = || {
                let observed = match self.has_observe {
                    true => Some(object.call_method0(intern!(py, "observe"))?),
                    false => None,
                };
                for column in self.columns {
                    let value = match &observed {
                        Some(values) => values.get_item(column)?,
                        None => object.getattr(*column)?,
                    };
                    row.push(value.extract::<Option<f64>>()?.unwrap_or(f64::NAN));
                }
                Ok(())
            };
            values().map_err(|e| format!("in its columns: {}", describe_exception(py, e, &self.file)))
        })
    }
}

/// Returns the first time in whole ns that is not before a time in seconds.
fn nanoseconds(seconds: f64) -> u64 {
    let nearest = Time((seconds * 1e9).round() as u64);
    if nearest.as_secs() < seconds { nearest.0 + 1 } else { nearest.0 }
}

/// Returns the representation of a value, shortened.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".into(), |r| r.to_string());
    if text.chars().count() <= 80 { text } else { format!("{}...", text.chars().take(80).collect::<String>()) }
}
