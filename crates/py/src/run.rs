//! One run of the simulator: plan (JSON) in, metrics, NumPy tables and captures out.

use crate::errors::RunError;
use crate::external;
use crate::rows::RunRows;
use dumbbell_plan::Plan;
use dumbbell_sim::{Capture, Externals, Part, Qlog, Simulation};
use dumbbell_trace::{ColumnData, Table};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

/// A series table: kept in Rust until it is requested, then in NumPy arrays.
enum Series {
    Kept(Table),
    Moved(Py<PyDict>),
}

/// The results of a run.
#[pyclass(module = "dumbbell._core")]
pub(crate) struct RunOutput {
    /// The metrics. They outlive the rest of the output.
    #[pyo3(get)]
    rows: Py<RunRows>,
    tables: Vec<(String, Option<Series>)>,
    captures: Vec<Capture>,
    qlogs: Vec<Qlog>,
}

#[pymethods]
impl RunOutput {
    /// The names of the traced tables.
    fn tables(&self) -> Vec<String> {
        self.tables.iter().map(|(name, _)| name.clone()).collect()
    }

    /// A traced table: a dict of arrays of one length, by column name. The arrays take over the memory of the trace;
    /// nothing is copied. Raises KeyError for an unknown name.
    fn table(&mut self, py: Python<'_>, name: &str) -> PyResult<Py<PyDict>> {
        let Some((_, series)) = self.tables.iter_mut().find(|(n, _)| n == name) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        let dict = match series.take() {
            Some(Series::Kept(table)) => arrays(py, table)?,
            Some(Series::Moved(dict)) => dict,
            None => return Err(PyKeyError::new_err(name.to_owned())),
        };
        *series = Some(Series::Moved(dict.clone_ref(py)));
        Ok(dict)
    }

    /// The names of the capture points.
    fn captures(&self) -> Vec<String> {
        self.captures.iter().map(|capture| capture.name().to_owned()).collect()
    }

    /// Writes the packets of a capture point to a pcapng file; `append`: after the parts that were passed on. Raises
    /// KeyError for an unknown name, OSError.
    #[pyo3(signature = (name, path, append=false))]
    fn write_capture(&self, py: Python<'_>, name: &str, path: PathBuf, append: bool) -> PyResult<()> {
        let Some(capture) = self.captures.iter().find(|capture| capture.name() == name) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        py.detach(|| {
            let file = if append { File::options().append(true).open(path)? } else { File::create(path)? };
            capture.write(BufWriter::new(file))?;
            Ok(())
        })
    }

    /// The qlog files of QUIC connections: name and content.
    fn qlogs(&self) -> Vec<(String, String)> {
        self.qlogs.iter().map(|log| (log.name.clone(), log.text.clone())).collect()
    }
}

fn arrays(py: Python<'_>, table: Table) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for column in table.columns {
        match column.data {
            ColumnData::U64(v) => dict.set_item(column.name, PyArray1::from_vec(py, v))?,
            ColumnData::F64(v) => dict.set_item(column.name, PyArray1::from_vec(py, v))?,
            ColumnData::U32(v) => dict.set_item(column.name, PyArray1::from_vec(py, v))?,
            ColumnData::U8(v) => dict.set_item(column.name, PyArray1::from_vec(py, v))?,
        }
    }
    Ok(dict.unbind())
}

/// Passes a part of the output on to Python.
fn pass_on(py: Python<'_>, parts: &Py<PyAny>, part: Part) -> PyResult<()> {
    match part {
        Part::Table(table) => {
            let name = table.name.clone();
            parts.call_method1(py, "add_rows", (name, arrays(py, table)?))
        }
        Part::Capture { name, bytes } => parts.call_method1(py, "add_packets", (name, PyBytes::new(py, &bytes))),
    }
    .map(drop)
}

/// The JSON Schema of plans, as JSON.
#[pyfunction]
pub(crate) fn plan_schema() -> String {
    dumbbell_plan::schema().to_string()
}

/// Runs a plan (JSON) in the simulator, without the GIL. `variants` holds the external variants by the names that the
/// plan gives them, `rules` those for the bit rate: classes with their files; `disciplines` the external queue
/// disciplines. While the run is in progress, parts of long tables go to `parts.add_rows` (name and columns), and those
/// of long captures to `parts.add_packets` (name and bytes of the file); the output then has the rows and packets after
/// them. Raises RunError, the KeyboardInterrupt that ended Python code, or the error of `parts`.
#[pyfunction]
#[pyo3(signature = (plan_json, variants=None, rules=None, disciplines=None, parts=None))]
pub(crate) fn run(
    py: Python<'_>,
    plan_json: &str,
    variants: Option<&Bound<'_, PyDict>>,
    rules: Option<&Bound<'_, PyDict>>,
    disciplines: Option<&Bound<'_, PyDict>>,
    parts: Option<Py<PyAny>>,
) -> PyResult<RunOutput> {
    let external = Externals {
        variants: external::by_name(variants)?,
        rules: external::rules_by_name(rules)?,
        disciplines: external::disciplines_by_name(disciplines)?,
    };
    let mut refused = None;
    let output = py
        .detach(|| {
            let plan = Plan::from_json(plan_json).map_err(|e| format!("invalid plan: {e}"))?;
            let simulation = Simulation::with_externals(plan, &external).map_err(|e| e.to_string())?;
            let Some(parts) = parts else {
                return simulation.finish().map(Some).map_err(|e| e.to_string());
            };
            let mut sink = |part: Part| {
                refused = Python::attach(|py| pass_on(py, &parts, part)).err();
                refused.is_none()
            };
            simulation.finish_in_parts(&mut sink).map_err(|e| e.to_string())
        })
        .map_err(|e| external::take_interrupt().unwrap_or_else(|| RunError::new_err(e)))?;
    let Some(output) = output else {
        return Err(refused.unwrap_or_else(|| RunError::new_err("the run was ended")));
    };
    Ok(RunOutput {
        rows: Py::new(py, RunRows::new(output.flows, output.queues, output.transfers))?,
        tables: output.trace.tables.into_iter().map(|t| (t.name.clone(), Some(Series::Kept(t)))).collect(),
        captures: output.captures,
        qlogs: output.qlogs,
    })
}
