//! A variant implemented as a Python class.
//!
//! Each event calls a method of the object with an instance of a class from `events`. Afterwards the object's
//! attributes `cwnd`, `ssthresh` and `pacing_rate` are read: they are the algorithm's output. The simulator runs
//! without the GIL; each call acquires it. An exception ends the run with an error that has its file and line.

use super::events::{Ack, Congestion, ConnectionEvent, Lost, Sent, Setup};
use super::exceptions::describe_exception;
use dumbbell_cc as cc;
use dumbbell_cc::{CongestionControl, Control, External, Failure, Phase, Variant, validate_control};
use dumbbell_units::param::{ParamError, Raw};
use dumbbell_units::{Dur, Rate};
use pyo3::exceptions::{PyAttributeError, PyException};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use pyo3::{PyClass, intern};
use std::sync::Arc;

/// The optional methods that a class defines, besides `on_ack` and `on_congestion`.
#[derive(Clone, Copy, Debug)]
struct Defines {
    established: bool,
    sent: bool,
    lost: bool,
    recovery_exit: bool,
    undo: bool,
    cwnd_validation: Option<&'static str>,
    restart: bool,
    observe: bool,
}

/// A variant implemented as a Python class.
#[derive(Debug)]
pub(crate) struct PythonVariant {
    variant: &'static Variant,
    class: Py<PyType>,
    class_name: Arc<str>,
    file: Arc<str>,
    defines: Defines,
}

impl PythonVariant {
    pub(crate) fn new(row: Variant, class: &Bound<'_, PyType>, file: String) -> PyResult<PythonVariant> {
        let has = |name: &str| class.hasattr(name);
        let defines = Defines {
            established: has("on_established")?,
            sent: has("on_sent")?,
            lost: has("on_lost")?,
            recovery_exit: has("on_recovery_exit")?,
            undo: has("on_undo")?,
            // The second is its name in version 0.1.
            cwnd_validation: if has("on_cwnd_validation")? {
                Some("on_cwnd_validation")
            } else if has("on_unused")? {
                Some("on_unused")
            } else {
                None
            },
            restart: has("on_restart")?,
            observe: has("observe")?,
        };
        let variant = Box::leak(Box::new(row));
        let class_name = class.qualname()?.to_string().into();
        Ok(PythonVariant { variant, class: class.clone().unbind(), class_name, file: file.into(), defines })
    }
}

impl External for PythonVariant {
    fn variant(&self) -> &'static Variant {
        self.variant
    }

    fn make(
        &self,
        given: &[(String, Raw)],
        setup: &cc::Setup,
        failure: &Failure,
    ) -> Result<Box<dyn CongestionControl>, ParamError> {
        let object = Python::attach(|py| {
            let made =
                keywords(py, given).and_then(|kwargs| self.class.bind(py).call((Setup::new(setup),), Some(&kwargs)));
            made.map(Bound::unbind).map_err(|e| describe_exception(py, e, &self.file))
        });
        let object = object.map_err(|message| ParamError { name: "name".into(), message })?;
        let mut algorithm = PythonAlgorithm {
            object,
            class: Arc::clone(&self.class_name),
            file: Arc::clone(&self.file),
            defines: self.defines,
            columns: self.variant.columns,
            mss: setup.mss,
            initial_window: setup.initial_window,
            control: Control { cwnd: setup.mss, ssthresh: setup.ssthresh, pacing: None, quantum: None },
            failure: failure.clone(),
        };
        algorithm.update("__init__", |_, _| Ok(()));
        Ok(Box::new(algorithm))
    }
}

/// Returns the parameters as keyword arguments.
pub(super) fn keywords<'py>(py: Python<'py>, given: &[(String, Raw)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in given {
        match value {
            // A whole number becomes an int: range(n) and indices need one.
            Raw::Number(n) if n.fract() == 0.0 && n.abs() < 2f64.powi(53) => {
                dict.set_item(name, *n as i64)?;
            }
            Raw::Number(n) => dict.set_item(name, n)?,
            Raw::Text(t) => dict.set_item(name, t)?,
            Raw::Bool(b) => dict.set_item(name, b)?,
            Raw::Table(entries) => dict.set_item(name, keywords(py, entries)?)?,
        }
    }
    Ok(dict)
}

/// The algorithm of one connection: an instance of the class.
#[derive(Debug)]
struct PythonAlgorithm {
    object: Py<PyAny>,
    /// The names of its class and file, for errors.
    class: Arc<str>,
    file: Arc<str>,
    defines: Defines,
    columns: &'static [&'static str],
    mss: f64,
    initial_window: f64,
    control: Control,
    failure: Failure,
}

impl PythonAlgorithm {
    /// Calls `work` with the object and reads the output from its attributes. An error ends the run; its message names
    /// `method`.
    fn update(&mut self, method: &str, work: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>) -> PyResult<()>) {
        if self.failure.is_set() {
            return;
        }
        let result = Python::attach(|py| {
            let object = self.object.bind(py);
            work(py, object).map_err(|e| describe_exception(py, e, &self.file))?;
            let after = |message: String| format!("{}: after {}.{method}: {message}", self.file, self.class);
            let control = read_control(object).map_err(|e| after(e.value(py).to_string()))?;
            validate_control(control, self.mss).map_err(after)
        });
        match result {
            Ok(control) => self.control = control,
            Err(message) => self.failure.fail(message),
        }
    }

    /// Calls a method with an event.
    fn call<E>(&mut self, method: &'static str, event: E)
    where
        E: PyClass + for<'py> IntoPyObject<'py, Target = E, Output = Bound<'py, E>, Error = PyErr>,
    {
        self.update(method, |py, object| {
            object.call_method1(PyString::intern(py, method), (event.into_pyobject(py)?,)).map(drop)
        });
    }

    /// Limits `cwnd` and raises `ssthresh`, the default behavior for an event without a method.
    fn limit_cwnd(&mut self, method: &str, max_cwnd: f64, min_ssthresh: f64) {
        let Control { cwnd, ssthresh, .. } = self.control;
        if cwnd <= max_cwnd && ssthresh >= min_ssthresh {
            return;
        }
        self.update(method, |py, object| {
            object.setattr(intern!(py, "cwnd"), cwnd.min(max_cwnd))?;
            object.setattr(intern!(py, "ssthresh"), ssthresh.max(min_ssthresh))
        });
    }
}

/// Reads the output from the attributes.
fn read_control(object: &Bound<'_, PyAny>) -> PyResult<Control> {
    let py = object.py();
    let number = |name: &Bound<'_, PyString>| -> PyResult<Option<f64>> {
        let value = match object.getattr(name) {
            Ok(value) => value,
            Err(e) if e.is_instance_of::<PyAttributeError>(py) => return Ok(None),
            Err(e) => return Err(e),
        };
        if value.is_none() {
            return Ok(None);
        }
        let number = value.extract::<f64>().map_err(|_| {
            let shown = value.repr().map_or_else(|_| "something".into(), |r| r.to_string());
            PyException::new_err(format!("{name} is {shown}: a number is needed"))
        })?;
        Ok(Some(number))
    };
    let cwnd = number(intern!(py, "cwnd"))?
        .ok_or_else(|| PyException::new_err("the attribute cwnd is missing: a number of bytes is needed"))?;
    let ssthresh = number(intern!(py, "ssthresh"))?.unwrap_or(f64::INFINITY);
    let pacing = match number(intern!(py, "pacing_rate"))? {
        Some(bps) if !bps.is_finite() || bps < 1.0 => {
            return Err(PyException::new_err(format!("pacing_rate is {bps}: bit/s above zero are needed, or None")));
        }
        bps => bps.map(|bps| Rate(bps as u64)),
    };
    Ok(Control { cwnd, ssthresh, pacing, quantum: None })
}

impl CongestionControl for PythonAlgorithm {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &cc::Cx) {
        if self.defines.established {
            self.call("on_established", ConnectionEvent::established(rtt, cx));
        }
    }

    fn on_sent(&mut self, ev: &cc::SentEvent, cx: &cc::Cx) {
        if self.defines.sent {
            self.call("on_sent", Sent::new(ev, cx));
        }
    }

    fn on_lost(&mut self, ev: &cc::LostEvent, cx: &cc::Cx) {
        if self.defines.lost {
            self.call("on_lost", Lost::new(ev, cx));
        }
    }

    fn on_ack(&mut self, ev: &cc::AckEvent, cx: &cc::Cx) {
        self.call("on_ack", Ack::new(ev, cx));
    }

    fn on_congestion(&mut self, ev: &cc::CongestionEvent, cx: &cc::Cx) {
        self.call("on_congestion", Congestion::new(ev, cx));
    }

    /// Without a method: no burst [RFC 6582 §3.2 step 3 (1)].
    fn on_recovery_exit(&mut self, ev: &cc::RecoveryExit, cx: &cc::Cx) {
        if self.defines.recovery_exit {
            self.call("on_recovery_exit", ConnectionEvent::recovery_exit(ev, cx));
        } else {
            self.limit_cwnd("on_recovery_exit", ev.bound, 0.0);
        }
    }

    fn on_undo(&mut self, cx: &cc::Cx) {
        if self.defines.undo {
            self.call("on_undo", ConnectionEvent::at(cx));
        }
    }

    /// Without a method: the window is reduced [RFC 2861].
    fn on_cwnd_validation(&mut self, ev: &cc::CwndValidation, cx: &cc::Cx) {
        if let Some(method) = self.defines.cwnd_validation {
            self.call(method, ConnectionEvent::cwnd_validation(ev, cx));
        } else {
            self.limit_cwnd("on_cwnd_validation", ev.cwnd, ev.ssthresh);
        }
    }

    /// Without a method: at most the initial window [RFC 5681 §4.1].
    fn on_restart(&mut self, idle: Dur, cx: &cc::Cx) {
        if self.defines.restart {
            self.call("on_restart", ConnectionEvent::restart(idle, cx));
        } else {
            self.limit_cwnd("on_restart", self.initial_window, 0.0);
        }
    }

    fn wants_sent(&self) -> bool {
        self.defines.sent
    }

    fn control(&self) -> Control {
        self.control
    }

    fn phase(&self) -> Phase {
        if self.control.cwnd < self.control.ssthresh { Phase::SlowStart } else { Phase::Avoidance }
    }

    /// The values that `observe` returns for the columns, or else the attributes of those names.
    fn observe(&self, row: &mut Vec<f64>) {
        let begin = row.len();
        row.resize(begin + self.columns.len(), f64::NAN);
        if self.columns.is_empty() || self.failure.is_set() {
            return;
        }
        let values = Python::attach(|py| {
            let object = self.object.bind(py);
            let values = (|| {
                let observed =
                    if self.defines.observe { Some(object.call_method0(intern!(py, "observe"))?) } else { None };
                let value = |column: &str| match &observed {
                    Some(values) => values.get_item(column),
                    None => object.getattr(column),
                };
                self.columns.iter().map(|c| value(c)?.extract::<Option<f64>>()).collect::<PyResult<Vec<_>>>()
            })();
            values.map_err(|e| describe_exception(py, e, &self.file))
        });
        match values {
            Ok(values) => {
                for (place, value) in row[begin..].iter_mut().zip(values) {
                    *place = value.unwrap_or(f64::NAN);
                }
            }
            Err(message) => self.failure.fail(format!("in its columns: {message}")),
        }
    }
}
