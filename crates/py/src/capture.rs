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
//! capture's first frame. Missing numbers are NaN in float columns, -1 in int32 columns and -2^63 in int64 columns.

use std::path::{Path, PathBuf};

use dumbbell_capture::analyze::{self as analysis, Analysis, Chunk, Kind, Options, Progress};
use dumbbell_capture::pair::{Match, pair};
use dumbbell_capture::table::{Table, Values};
use dumbbell_capture::tcp::label::{Label, Rules};
use dumbbell_units::Dur;
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList};

use crate::errors::CaptureError;

/// The results of an analysis.
#[pyclass(module = "dumbbell._core")]
pub(crate) struct CaptureOutput {
    found: Analysis,
}

impl CaptureOutput {
    /// The rows of a table, of all connections or of those with these numbers.
    fn rows(&self, name: &str, numbers: Option<&[u64]>) -> PyResult<Table> {
        let kind = Kind::from_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(match numbers {
            None => self.found.table(kind),
            Some(numbers) => self.found.rows(kind, numbers),
        })
    }
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
    #[staticmethod]
    fn tables() -> Vec<&'static str> {
        Kind::ALL.into_iter().map(Kind::name).collect()
    }

    /// A table: a dict of arrays of one length, by column name; with `numbers` only the rows of these TCP connections
    /// (or UDP conversations). Raises KeyError for an unknown table.
    #[pyo3(signature = (name, numbers = None))]
    fn table(&self, py: Python<'_>, name: &str, numbers: Option<Vec<u64>>) -> PyResult<Py<PyDict>> {
        arrays(py, py.detach(|| self.rows(name, numbers.as_deref()))?)
    }

    /// The same rows as JSON objects, separated by commas.
    #[pyo3(signature = (name, numbers = None))]
    fn json(&self, py: Python<'_>, name: &str, numbers: Option<Vec<u64>>) -> PyResult<Py<PyBytes>> {
        let bytes = py.detach(|| {
            let mut bytes = Vec::new();
            self.rows(name, numbers.as_deref())?.write_json(b',', &mut bytes);
            Ok::<_, PyErr>(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes).unbind())
    }

    /// The numbers of the TCP connections, in order.
    fn numbers(&self) -> Vec<u64> {
        self.found.numbers()
    }

    /// Number of UDP conversations, which are numbered from 0.
    #[getter]
    fn conversations(&self) -> usize {
        self.found.conversations()
    }

    /// Numbers of the TCP connections with the most payload in one direction, the largest first.
    fn largest(&self, most: usize) -> Vec<u64> {
        self.found.largest(most)
    }

    /// Pairs of content and number of frames; the numbers add up to all frames.
    #[getter]
    fn contents(&self) -> Vec<(String, u64)> {
        self.found.contents.iter().map(|(content, count)| (content.to_string(), *count)).collect()
    }

    /// Pairs of a decapsulated tunnel and the number of its frames.
    #[getter]
    fn tunnels(&self) -> Vec<(&'static str, u64)> {
        self.found.tunnels.iter().map(|(tunnel, count)| (tunnel.name(), *count)).collect()
    }

    /// Totals over all TCP connections: `connections`, `data_packets`, `retransmitted_packets`, `timeouts`.
    #[getter]
    fn totals(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let totals = self.found.totals;
        let dict = PyDict::new(py);
        dict.set_item("connections", totals.connections)?;
        dict.set_item("data_packets", totals.data_packets)?;
        dict.set_item("retransmitted_packets", totals.retransmitted_packets)?;
        dict.set_item("timeouts", totals.timeouts)?;
        Ok(dict.unbind())
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
/// `progress(file, bytes, size, frames)` is called periodically; an exception in it ends the analysis, and if it
/// returns False, the analysis ends as at the end of the files. `packets(tables)` is called with a dict of tables
/// (`packets`, `sacks`, `spurious`) for each chunk of segments; with `log` or `live` with `log` (JSON lines of
/// connections that have ended) or `live` (the flows of the last second) instead. Raises CaptureError.
#[pyfunction]
#[pyo3(signature = (paths, *, rules = None, interval_ns = None, enter_tunnels = true, from_ns = None, to_ns = None,
    log = false, live = false, threads = 2, max_open = None, max_ready = None, max_flows = None, max_rows = None, chunk = None, progress = None, packets = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    rules: Option<&str>,
    interval_ns: Option<u64>,
    enter_tunnels: bool,
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    log: bool,
    live: bool,
    threads: usize,
    max_open: Option<usize>,
    max_ready: Option<usize>,
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
        log,
        live,
        threads,
        max_open: max_open.unwrap_or(default.max_open),
        max_ready: max_ready.unwrap_or(default.max_ready),
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
        let stopped = std::cell::Cell::new(false);
        let mut report = |now: Progress| {
            error.borrow().is_none()
                && keep(Python::attach(|py| {
                    py.check_signals()?;
                    if let Some(progress) = &progress {
                        let go_on = progress.call1(py, (now.file, now.bytes, now.size, now.frames))?;
                        stopped.set(go_on.bind(py).is(PyBool::new(py, false)));
                    }
                    Ok(())
                }))
                && !stopped.get()
        };
        let mut on_chunk = |chunk: Chunk| {
            if let Some(packets) = &packets
                && error.borrow().is_none()
            {
                keep(Python::attach(|py| {
                    let dict = PyDict::new(py);
                    let mut lines = Vec::new();
                    chunk.log.write_json(b'\n', &mut lines);
                    dict.set_item("log", PyBytes::new(py, &lines))?;
                    dict.set_item("live", arrays(py, chunk.live)?)?;
                    dict.set_item("packets", arrays(py, chunk.packets)?)?;
                    dict.set_item("sacks", arrays(py, chunk.sacks)?)?;
                    dict.set_item("spurious", arrays(py, chunk.spurious)?)?;
                    packets.call1(py, (dict,))?;
                    Ok(())
                }));
            }
        };
        let on_chunk: Option<&mut dyn FnMut(Chunk)> = if packets.is_some() { Some(&mut on_chunk) } else { None };
        let found = analysis::analyze(&files, &options, &mut report, on_chunk);
        (found, error.into_inner())
    });
    if let Some(error) = error {
        return Err(error);
    }
    let found = found.map_err(|e| CaptureError::new_err(e.to_string()))?;
    Ok(CaptureOutput { found })
}

/// Matches the packets of two captures of one path, without holding the GIL. Returns a dict of the tables `flows` and
/// `series`, and of `offset_ns`, `drift`, `both_ways`, `round_trip_ms`, `interval_ns`, `packets` (of a, of b, of both)
/// and `damage`. With `matches` it also has a table `matches` (frames, time and delay of each packet). Raises
/// CaptureError.
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
