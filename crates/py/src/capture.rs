//! The analysis of capture files, converted for Python.
//!
//! `analyze(paths, ...)` returns a [`CaptureOutput`]: `properties()`, `lengths()`, `warnings` and `damage` are lists of
//! dicts. The other tables are dicts of arrays by column name, all of one length; columns of texts are lists:
//!
//! - `flows`: a row for each direction of each TCP connection
//! - `udp`: a row for each direction of each UDP conversation
//! - `quic`: a row for each QUIC connection in these conversations
//! - `series`: a row for each interval of each direction of each TCP connection with a segment in it
//! - `phases`: a row for each phase (slow start, recovery, ...) of each direction, with the evidence
//! - `classify`: a row for each long transfer: an estimate of its congestion control, with the evidence
//! - `rounds`: a row for each round trip of these transfers
//! - `total`: a row for each interval, over all frames
//!
//! `analyze_pair(a, b, ...)` matches two captures of one path: a dict of `flows`, `series` and the clocks.
//!
//! The tables of packets (`packets`, `sacks`, `spurious`) are passed to a callback, in chunks. Times are ns since the
//! capture's first frame. Missing numbers are NaN in float columns and -1 in int32 columns.

use std::path::{Path, PathBuf};

use dumbbell_capture::analyze::{self as analysis, Analysis, Chunk, Options, Progress};
use dumbbell_capture::pair::{Match, pair};
use dumbbell_capture::table::{Table, Values};
use dumbbell_capture::tcp::label::{Label, Rules};
use dumbbell_units::Dur;
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::CaptureError;

/// The results of an analysis.
#[pyclass(module = "dumbbell._core")]
pub(crate) struct CaptureOutput {
    found: Analysis,
    tables: Vec<(&'static str, Option<Table>)>,
}

fn arrays(py: Python<'_>, table: Table) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in table.columns {
        match values {
            Values::U64(v) => dict.set_item(name, PyArray1::from_vec(py, v))?,
            Values::I64(v) => dict.set_item(name, PyArray1::from_vec(py, v))?,
            Values::U32(v) => dict.set_item(name, PyArray1::from_vec(py, v))?,
            Values::U16(v) => dict.set_item(name, PyArray1::from_vec(py, v))?,
            Values::U8(v) => dict.set_item(name, PyArray1::from_vec(py, v))?,
            Values::I32(v) => dict.set_item(name, PyArray1::from_vec(py, v))?,
            Values::F64(v) => dict.set_item(name, PyArray1::from_vec(py, v))?,
            Values::Text(v) => dict.set_item(name, PyList::new(py, v)?)?,
        }
    }
    Ok(dict.unbind())
}

#[pymethods]
impl CaptureOutput {
    /// The names of the tables.
    fn tables(&self) -> Vec<&'static str> {
        self.tables.iter().map(|(name, _)| *name).collect()
    }

    /// A table: a dict of arrays of one length, by column name. The arrays take over its memory, so each table can be taken
    /// only once. Raises KeyError for an unknown or taken table.
    fn table(&mut self, py: Python<'_>, name: &str) -> PyResult<Py<PyDict>> {
        let table = self.tables.iter_mut().find(|(n, _)| *n == name).and_then(|(_, table)| table.take());
        arrays(py, table.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?)
    }

    /// Length of the intervals of `series` and `total`, ns.
    #[getter]
    fn interval_ns(&self) -> u64 {
        self.found.interval.0
    }

    /// Time of the first frame, ns since 1970: all other times count from it.
    #[getter]
    fn origin_ns(&self) -> i64 {
        self.found.origin
    }

    /// Warnings about the reliability of the results: dicts of `kind`, `flow` (or None) and `text`.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        let list = PyList::empty(py);
        for w in &self.found.warnings {
            let dict = PyDict::new(py);
            dict.set_item("kind", w.kind)?;
            dict.set_item("flow", w.flow)?;
            dict.set_item("text", &w.text)?;
            list.append(dict)?;
        }
        Ok(list.unbind())
    }

    /// Files that can't be read completely: dicts of `file`, `offset` (bytes), `frames` (read before) and `text`.
    #[getter]
    fn damage(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        let list = PyList::empty(py);
        for d in &self.found.damage {
            let dict = PyDict::new(py);
            dict.set_item("file", &d.file)?;
            dict.set_item("offset", d.offset)?;
            dict.set_item("frames", d.frames)?;
            dict.set_item("text", d.fault.to_string())?;
            list.append(dict)?;
        }
        Ok(list.unbind())
    }

    /// The properties of each file, as Wireshark shows them.
    fn properties(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        let list = PyList::empty(py);
        for p in &self.found.properties {
            let dict = PyDict::new(py);
            dict.set_item("file", &p.file)?;
            dict.set_item("format", p.kind.title())?;
            dict.set_item("format_name", p.kind.name())?;
            dict.set_item("compression", p.compression.map(|c| format!("{c:?}").to_lowercase()))?;
            let links: Vec<(String, u64)> = p.encapsulations.iter().map(|(l, n)| (l.title(), *n)).collect();
            dict.set_item("encapsulations", links)?;
            dict.set_item("snaplen", p.snaplen)?;
            dict.set_item("inferred_snaplen", p.inferred_snaplen)?;
            dict.set_item("packets", p.packets)?;
            dict.set_item("file_size", p.file_size)?;
            dict.set_item("bytes", p.bytes)?;
            dict.set_item("captured_bytes", p.captured_bytes)?;
            dict.set_item("first_ns", p.first)?;
            dict.set_item("last_ns", p.last)?;
            dict.set_item("duration_ns", p.duration())?;
            dict.set_item("byte_rate", p.byte_rate())?;
            dict.set_item("bit_rate", p.bit_rate())?;
            dict.set_item("packet_rate", p.packet_rate())?;
            dict.set_item("mean_length", p.mean_length())?;
            dict.set_item("in_order", p.in_order())?;
            dict.set_item("untimed", p.untimed)?;
            dict.set_item("backwards", p.backwards)?;
            let sections = PyList::empty(py);
            for s in &p.sections {
                let section = PyDict::new(py);
                section.set_item("hardware", &s.hardware)?;
                section.set_item("os", &s.os)?;
                section.set_item("application", &s.application)?;
                section.set_item("comments", &s.comments)?;
                sections.append(section)?;
            }
            dict.set_item("sections", sections)?;
            let interfaces = PyList::empty(py);
            for i in &p.interfaces {
                let interface = PyDict::new(py);
                interface.set_item("name", &i.name)?;
                interface.set_item("description", &i.description)?;
                interface.set_item("encapsulation", i.link.title())?;
                interface.set_item("snaplen", i.snaplen)?;
                interface.set_item("filter", &i.filter)?;
                interface.set_item("os", &i.os)?;
                interface.set_item("hardware", &i.hardware)?;
                interface.set_item("speed", i.speed)?;
                interface.set_item("packets", i.frames)?;
                interface.set_item("received", i.received)?;
                interface.set_item("dropped", i.dropped.or(i.dropped_by_os))?;
                interface.set_item("comments", &i.comments)?;
                interfaces.append(interface)?;
            }
            dict.set_item("interfaces", interfaces)?;
            list.append(dict)?;
        }
        Ok(list.unbind())
    }

    /// The packet-length table: a dict for each row, with the values and with the cells as tshark prints them.
    fn lengths(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        let list = PyList::empty(py);
        for row in self.found.lengths.rows() {
            let dict = PyDict::new(py);
            dict.set_item("title", row.title().trim())?;
            dict.set_item("range", row.range)?;
            dict.set_item("count", row.count)?;
            dict.set_item("average", row.average)?;
            dict.set_item("min", row.min)?;
            dict.set_item("max", row.max)?;
            dict.set_item("rate", row.rate)?;
            dict.set_item("percent", row.percent)?;
            dict.set_item("burst_rate", row.burst_rate)?;
            dict.set_item("burst_start", row.burst_start)?;
            dict.set_item("cells", row.cells().to_vec())?;
            list.append(dict)?;
        }
        Ok(list.unbind())
    }

    /// The packet-length table as `tshark -z plen,tree` prints it.
    fn lengths_text(&self) -> String {
        self.found.lengths.report()
    }

    /// The properties of each file as capinfos prints them.
    fn properties_text(&self) -> Vec<String> {
        use dumbbell_capture::capinfos::{Numbers, report};
        self.found.properties.iter().map(|p| report(p, Numbers::Short)).collect()
    }
}

/// Returns the names of the label rules, the default first.
#[pyfunction]
pub(crate) fn capture_rules() -> Vec<&'static str> {
    let mut names = vec![Rules::default().name()];
    names.extend(Rules::ALL.into_iter().filter(|&r| r != Rules::default()).map(Rules::name));
    names
}

/// Returns the names of the labels: bit i of a row's `labels` is the i-th.
#[pyfunction]
pub(crate) fn capture_labels() -> Vec<&'static str> {
    Label::ALL.into_iter().map(Label::name).collect()
}

/// Analyzes capture files, without holding the GIL.
///
/// `progress(file, bytes, size, frames)` is called periodically; an exception in it ends the analysis. `packets(tables)`
/// is called with a dict of tables (`packets`, `sacks`, `spurious`) for each chunk of segments. Raises CaptureError.
#[pyfunction]
#[pyo3(signature = (paths, *, rules = None, interval_ns = None, enter_tunnels = false, from_ns = None, to_ns = None,
    threads = 2, max_open = None, max_flows = None, max_rows = None, chunk = None, progress = None, packets = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    rules: Option<&str>,
    interval_ns: Option<u64>,
    enter_tunnels: bool,
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    threads: usize,
    max_open: Option<usize>,
    max_flows: Option<usize>,
    max_rows: Option<usize>,
    chunk: Option<usize>,
    progress: Option<Py<PyAny>>,
    packets: Option<Py<PyAny>>,
) -> PyResult<CaptureOutput> {
    let default = Options::default();
    let rules = match rules {
        None => Rules::default(),
        Some(name) => Rules::from_name(name).ok_or_else(|| {
            let known = Rules::ALL.map(Rules::name).join(", ");
            CaptureError::new_err(format!("unknown rules '{name}': {known} are known"))
        })?,
    };
    let options = Options {
        rules,
        interval: interval_ns.map(Dur),
        enter_tunnels,
        from: from_ns,
        to: to_ns,
        threads,
        max_open: max_open.unwrap_or(default.max_open),
        max_flows: max_flows.unwrap_or(default.max_flows),
        max_rows: max_rows.unwrap_or(default.max_rows),
        chunk: chunk.unwrap_or(default.chunk),
    };
    let (found, error) = py.detach(|| {
        let error: std::cell::RefCell<Option<PyErr>> = std::cell::RefCell::new(None);
        let files: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let keep = |result: PyResult<()>| {
            let failed = result.is_err();
            if let Err(e) = result {
                error.borrow_mut().get_or_insert(e);
            }
            !failed
        };
        let mut report = |now: Progress| {
            error.borrow().is_none()
                && keep(Python::attach(|py| {
                    py.check_signals()?;
                    if let Some(progress) = &progress {
                        progress.call1(py, (now.file, now.bytes, now.size, now.frames))?;
                    }
                    Ok(())
                }))
        };
        let mut on_chunk = |chunk: Chunk| {
            if let Some(packets) = &packets
                && error.borrow().is_none()
            {
                keep(Python::attach(|py| {
                    let dict = PyDict::new(py);
                    dict.set_item("packets", arrays(py, chunk.packets)?)?;
                    dict.set_item("sacks", arrays(py, chunk.sacks)?)?;
                    dict.set_item("spurious", arrays(py, chunk.spurious)?)?;
                    packets.call1(py, (dict,))?;
                    Ok(())
                }));
            }
        };
        let on_chunk: Option<&mut dyn FnMut(Chunk)> =
            if packets.is_some() { Some(&mut on_chunk) } else { None };
        let found = analysis::analyze(&files, &options, &mut report, on_chunk);
        (found, error.into_inner())
    });
    if let Some(error) = error {
        return Err(error);
    }
    let mut found = found.map_err(|e| CaptureError::new_err(e.to_string()))?;
    let mut take =
        |name, table: fn(&mut Analysis) -> &mut Table| (name, Some(std::mem::take(table(&mut found))));
    let tables = vec![
        take("flows", |f| &mut f.flows),
        take("udp", |f| &mut f.udp),
        take("quic", |f| &mut f.quic),
        take("series", |f| &mut f.series),
        take("phases", |f| &mut f.phases),
        take("classify", |f| &mut f.classes),
        take("rounds", |f| &mut f.rounds),
        take("total", |f| &mut f.total),
    ];
    Ok(CaptureOutput { found, tables })
}

/// Matches the packets of two captures of one path, without holding the GIL. Returns a dict of the tables `flows` and
/// `series`, and of `offset_ns`, `drift`, `both_ways`, `round_trip_ms`, `interval_ns`, `packets` (of a, of b, of both) and
/// `damage`. With `matches` it also has a table `matches` (frames, time and delay of each packet). Raises CaptureError.
#[pyfunction]
#[pyo3(signature = (a, b, *, interval_ns = None, same_clock = false, matches = false, progress = None))]
pub(crate) fn analyze_pair(
    py: Python<'_>,
    a: PathBuf,
    b: PathBuf,
    interval_ns: Option<u64>,
    same_clock: bool,
    matches: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let (found, rows, error) = py.detach(|| {
        let mut error: Option<PyErr> = None;
        let mut rows: Vec<Match> = Vec::new();
        let mut report = |bytes: u64| {
            let result = Python::attach(|py| {
                py.check_signals()?;
                if let Some(progress) = &progress {
                    progress.call1(py, (bytes,))?;
                }
                Ok(())
            });
            result.map_err(|e| error = Some(e)).is_ok()
        };
        let mut keep = |m: Match| rows.push(m);
        let keep: Option<&mut dyn FnMut(Match)> = if matches { Some(&mut keep) } else { None };
        let found = pair(&a, &b, interval_ns.map(Dur), same_clock, &mut report, keep);
        (found, rows, error)
    });
    if let Some(error) = error {
        return Err(error);
    }
    let found = found.map_err(|e| CaptureError::new_err(e.to_string()))?;
    let dict = PyDict::new(py);
    dict.set_item("flows", arrays(py, found.flows)?)?;
    dict.set_item("series", arrays(py, found.series)?)?;
    dict.set_item("offset_ns", found.clock.offset)?;
    dict.set_item("drift", found.clock.drift)?;
    dict.set_item("both_ways", found.clock.both_ways)?;
    dict.set_item("round_trip_ms", found.clock.round_trip / 1e6)?;
    dict.set_item("interval_ns", found.interval.0)?;
    dict.set_item("packets", found.packets.to_vec())?;
    dict.set_item("damage", found.damage.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    if matches {
        let table = Table::default()
            .with("frame_a", rows.iter().map(|m| m.frames[0]).collect::<Vec<_>>())
            .with("frame_b", rows.iter().map(|m| m.frames[1]).collect::<Vec<_>>())
            .with("time_ns", rows.iter().map(|m| m.time).collect::<Vec<_>>())
            .with("flow", rows.iter().map(|m| m.flow).collect::<Vec<_>>())
            .with("direction", rows.iter().map(|m| m.direction).collect::<Vec<_>>())
            .with("delay_ms", rows.iter().map(|m| m.delay / 1e6).collect::<Vec<_>>());
        dict.set_item("matches", arrays(py, table)?)?;
    }
    Ok(dict.unbind())
}
