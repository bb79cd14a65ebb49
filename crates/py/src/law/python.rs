//! A window law in Python: events become objects, methods are called, and what the object's attributes `cwnd`,
//! `ssthresh` and `pacing_rate` then are is the answer.
//!
//! The run goes on without the interpreter in between; each call takes it. An exception ends the run, with its place.

use super::events::{Ack, Congestion, Lost, Moment, Sent, Start};
use dumbbell_cc as cc;
use dumbbell_cc::{CongestionControl, Control, External, Failure, Phase, Variant, validate_control};
use dumbbell_units::param::{ParamError, Raw};
use dumbbell_units::{Dur, Rate};
use pyo3::exceptions::{PyAttributeError, PyException};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTraceback, PyType};
use pyo3::{PyClass, intern};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// What a class may define beside `on_ack` and `on_congestion`.
#[derive(Clone, Copy, Debug)]
struct Defines {
    established: bool,
    sent: bool,
    lost: bool,
    recovery_exit: bool,
    undo: bool,
    unused: bool,
    restart: bool,
    observe: bool,
}

/// A class that makes laws.
pub(crate) struct PythonLaw {
    variant: &'static Variant,
    class: Py<PyType>,
    class_name: Arc<str>,
    file: Arc<str>,
    defines: Defines,
}

impl fmt::Debug for PythonLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonLaw").field("name", &self.variant.name).finish_non_exhaustive()
    }
}

impl PythonLaw {
    pub(crate) fn new(row: Variant, class: &Bound<'_, PyType>, file: String) -> PyResult<PythonLaw> {
        let has = |name: &str| class.hasattr(name);
        let defines = Defines {
            established: has("on_established")?,
            sent: has("on_sent")?,
            lost: has("on_lost")?,
            recovery_exit: has("on_recovery_exit")?,
            undo: has("on_undo")?,
            unused: has("on_cwnd_validation")?,
            restart: has("on_restart")?,
            observe: has("observe")?,
        };
        let variant = Box::leak(Box::new(row));
        let class_name = class.qualname()?.to_string().into();
        Ok(PythonLaw { variant, class: class.clone().unbind(), class_name, file: file.into(), defines })
    }
}

impl External for PythonLaw {
    fn variant(&self) -> &'static Variant {
        self.variant
    }

    fn make(
        &self,
        given: &[(String, Raw)],
        start: &cc::Setup,
        failure: &Failure,
    ) -> Result<Box<dyn CongestionControl>, ParamError> {
        let object = Python::attach(|py| {
            let made = keywords(py, given)
                .and_then(|kwargs| self.class.bind(py).call((Start::new(start),), Some(&kwargs)));
            made.map(Bound::unbind).map_err(|e| worded(py, e, &self.file))
        });
        let object = object.map_err(|message| ParamError { name: "name".into(), message })?;
        let mut law = Made {
            object,
            class: Arc::clone(&self.class_name),
            file: Arc::clone(&self.file),
            defines: self.defines,
            columns: self.variant.columns,
            mss: start.mss,
            initial_window: start.initial_window,
            control: Control { cwnd: start.mss, ssthresh: start.ssthresh, pacing: None, quantum: None },
            failure: failure.clone(),
        };
        law.work("__init__", |_, _| Ok(()));
        Ok(Box::new(law))
    }
}

fn keywords<'py>(py: Python<'py>, given: &[(String, Raw)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in given {
        match value {
            // A whole number stays one: range(n) and indices need it.
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

/// A law of one connection.
struct Made {
    object: Py<PyAny>,
    /// What its class and its file are called, for errors.
    class: Arc<str>,
    file: Arc<str>,
    defines: Defines,
    columns: &'static [&'static str],
    mss: f64,
    initial_window: f64,
    control: Control,
    failure: Failure,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").field("control", &self.control).finish_non_exhaustive()
    }
}

impl Made {
    /// Does something with the object and takes its answer; an error ends the run, with the name of the method that it
    /// came from.
    fn work(
        &mut self,
        method: &str,
        work: impl for<'py> FnOnce(Python<'py>, &Bound<'py, PyAny>) -> PyResult<()>,
    ) {
        if self.failure.is_set() {
            return;
        }
        let answer = Python::attach(|py| {
            let object = self.object.bind(py);
            work(py, object).map_err(|e| worded(py, e, &self.file))?;
            let after = |why: String| format!("{}: after {}.{method}: {why}", self.file, self.class);
            let control = answer(object).map_err(|e| after(e.value(py).to_string()))?;
            validate_control(control, self.mss).map_err(after)
        });
        match answer {
            Ok(control) => self.control = control,
            Err(message) => self.failure.fail(message),
        }
    }

    fn call<E>(&mut self, method: &'static str, event: E)
    where
        E: PyClass + for<'py> IntoPyObject<'py, Target = E, Output = Bound<'py, E>, Error = PyErr>,
    {
        self.work(method, |py, object| {
            object.call_method1(PyString::intern(py, method), (event.into_pyobject(py)?,)).map(drop)
        });
    }

    /// Bounds a window attribute where the class leaves that to us.
    fn bound_cwnd(&mut self, instead_of: &str, most: f64, ssthresh: f64) {
        let Control { cwnd, ssthresh: held, .. } = self.control;
        if cwnd <= most && held >= ssthresh {
            return;
        }
        self.work(instead_of, |py, object| {
            object.setattr(intern!(py, "cwnd"), cwnd.min(most))?;
            object.setattr(intern!(py, "ssthresh"), held.max(ssthresh))
        });
    }
}

/// What the attributes say.
fn answer(object: &Bound<'_, PyAny>) -> PyResult<Control> {
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
        .ok_or_else(|| PyException::new_err("there is no cwnd: a number of bytes is needed"))?;
    let ssthresh = number(intern!(py, "ssthresh"))?.unwrap_or(f64::INFINITY);
    let pacing = match number(intern!(py, "pacing_rate"))? {
        Some(bps) if !bps.is_finite() || bps < 1.0 => {
            return Err(PyException::new_err(format!(
                "pacing_rate is {bps}: bit/s above zero are needed, or None"
            )));
        }
        bps => bps.map(|bps| Rate(bps as u64)),
    };
    Ok(Control { cwnd, ssthresh, pacing, quantum: None })
}

impl CongestionControl for Made {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &cc::Cx) {
        if self.defines.established {
            self.call("on_established", Moment::established(rtt, cx));
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

    /// Where the class has nothing to say, no burst [RFC 6582 §3.2 step 3 (1)].
    fn on_recovery_exit(&mut self, ev: &cc::RecoveryExit, cx: &cc::Cx) {
        if self.defines.recovery_exit {
            self.call("on_recovery_exit", Moment::recovery_exit(ev, cx));
        } else {
            self.bound_cwnd("on_recovery_exit", ev.bound, 0.0);
        }
    }

    fn on_undo(&mut self, cx: &cc::Cx) {
        if self.defines.undo {
            self.call("on_undo", Moment::at(cx));
        }
    }

    /// Where the class has nothing to say, less of the window stays [RFC 2861].
    fn on_cwnd_validation(&mut self, ev: &cc::CwndValidation, cx: &cc::Cx) {
        if self.defines.unused {
            self.call("on_cwnd_validation", Moment::unused(ev, cx));
        } else {
            self.bound_cwnd("on_cwnd_validation", ev.cwnd, ev.ssthresh);
        }
    }

    /// Where the class has nothing to say, no more than the initial window [RFC 5681 §4.1].
    fn on_restart(&mut self, idle: Dur, cx: &cc::Cx) {
        if self.defines.restart {
            self.call("on_restart", Moment::restart(idle, cx));
        } else {
            self.bound_cwnd("on_restart", self.initial_window, 0.0);
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

    /// What `observe` gives by column, or the attributes of those names.
    fn observe(&self, row: &mut Vec<f64>) {
        let begin = row.len();
        row.resize(begin + self.columns.len(), f64::NAN);
        if self.columns.is_empty() || self.failure.is_set() {
            return;
        }
        let found = Python::attach(|py| {
            let object = self.object.bind(py);
            let values = (|| {
                let observed = if self.defines.observe {
                    Some(object.call_method0(intern!(py, "observe"))?)
                } else {
                    None
                };
                let value = |column: &str| match &observed {
                    Some(values) => values.get_item(column),
                    None => object.getattr(column),
                };
                self.columns.iter().map(|c| value(c)?.extract::<Option<f64>>()).collect::<PyResult<Vec<_>>>()
            })();
            values.map_err(|e| worded(py, e, &self.file))
        });
        match found {
            Ok(values) => {
                for (place, value) in row[begin..].iter_mut().zip(values) {
                    *place = value.unwrap_or(f64::NAN);
                }
            }
            Err(message) => self.failure.fail(format!("in its columns: {message}")),
        }
    }
}

thread_local! {
    /// What ended a law that is no error of the law's: an interrupt by the user.
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// What ended the last run of this thread, if it was no error.
pub(crate) fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.with(|i| i.borrow_mut().take())
}

/// An exception in words: file and line of the law where it left it, kind and message.
fn worded(py: Python<'_>, error: PyErr, file: &str) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "an exception".into(), |n| n.to_string());
    let message = error.value(py).str().map_or_else(|_| String::new(), |s| s.to_string());
    let place = error.traceback(py).and_then(|tb| place(&tb, file)).unwrap_or_else(|| file.to_owned());
    if !error.is_instance_of::<PyException>(py) {
        INTERRUPT.with(|i| *i.borrow_mut() = Some(error));
    }
    if message.is_empty() { format!("{place}: {kind}") } else { format!("{place}: {kind}: {message}") }
}

/// The innermost frame in the law's file, or the innermost of all.
fn place(traceback: &Bound<'_, PyTraceback>, file: &str) -> Option<String> {
    let mut next = Some(traceback.clone().into_any());
    let (mut innermost, mut own) = (None, None);
    while let Some(tb) = next.filter(|tb| !tb.is_none()) {
        let line: usize = tb.getattr("tb_lineno").ok()?.extract().ok()?;
        let code = tb.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
        let name: String = code.getattr("co_filename").ok()?.extract().ok()?;
        let function: String = code.getattr("co_qualname").ok()?.extract().ok()?;
        let words = format!("{name}, line {line}, in {function}");
        if name == file {
            own = Some(words.clone());
        }
        innermost = Some(words);
        next = tb.getattr("tb_next").ok();
    }
    own.or(innermost)
}
