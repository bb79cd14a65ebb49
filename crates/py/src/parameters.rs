//! Quantities and parameters of a scenario, read and checked by the rules of the registries.

use crate::errors::refused;
use crate::external::ExternalVariant;
use dumbbell_cc::Setup;
use dumbbell_qdisc::LinkInfo;
use dumbbell_units::param::{self, Params, Raw};
use dumbbell_units::parse as units;
use dumbbell_units::{Dur, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// Checks a registry name and its parameters.
///
/// `family` is "variant", "discipline" or "stack". With `beside`, a variant is checked together with the stack of that
/// name, or a stack with the variant of that name, which may be `external`: their parameters must not contradict each
/// other. Raises ParamError(parameter, message).
#[pyfunction]
#[pyo3(signature = (family, name, params, beside=None, external=None))]
pub(crate) fn check(
    family: &str,
    name: &str,
    params: &Bound<'_, PyDict>,
    beside: Option<&str>,
    external: Option<&Bound<'_, ExternalVariant>>,
) -> PyResult<()> {
    let given = entries(params)?;
    match family {
        "variant" => {
            let row = dumbbell_cc::find(name).map_err(refused)?;
            Params::read(row.params, &given).map_err(refused)?;
            if let Some(stack) = beside {
                let preset = dumbbell_tcp::find_preset(stack).map_err(refused)?.name;
                // The windows make no difference to this check.
                let start = Setup { preset, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
                dumbbell_cc::build(name, &given, &start).map_err(refused)?;
            }
        }
        "discipline" => {
            dumbbell_qdisc::find(name).and_then(|row| Params::read(row.params, &given)).map_err(refused)?;
        }
        "stack" => {
            let preset = dumbbell_tcp::find_preset(name).map_err(refused)?;
            Params::read(&preset.params(), &given).map_err(refused)?;
            let external = external.map(|variant| variant.get().variant());
            if let Some(variant) = beside {
                let row = external.map_or_else(|| dumbbell_cc::find(variant), Ok).map_err(refused)?;
                dumbbell_tcp::Config::read(name, &given, row).map_err(refused)?;
            }
        }
        other => return Err(PyValueError::new_err(format!("no family '{other}'"))),
    }
    Ok(())
}

/// Checks the queue of a link with this rate (bit/s) and base round-trip time (ns): its parameters must not contradict
/// each other. Returns the number of its classes, None unless it is fixed. Raises ParamError(parameter, message).
#[pyfunction]
pub(crate) fn check_queue(
    name: &str,
    params: &Bound<'_, PyDict>,
    rate_bps: u64,
    base_rtt_ns: u64,
) -> PyResult<Option<u16>> {
    let link = LinkInfo { rate: Rate(rate_bps), base_rtt: Dur(base_rtt_ns), seed: 0, path: String::new() };
    let queue = dumbbell_qdisc::build(name, &entries(params)?, &link).map_err(refused)?;
    Ok(queue.classes())
}

/// Converts a dict of parameters.
pub(crate) fn entries(table: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Raw)>> {
    table.iter().map(|(k, v)| Ok((k.extract()?, raw(&v)?))).collect()
}

/// Converts a Python value. Lists and dates become texts, which every parameter refuses.
fn raw(value: &Bound<'_, PyAny>) -> PyResult<Raw> {
    Ok(if value.is_instance_of::<PyBool>() {
        Raw::Bool(value.extract()?)
    } else if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        Raw::Number(value.extract()?)
    } else if value.is_instance_of::<PyString>() {
        Raw::Text(value.extract()?)
    } else if let Ok(table) = value.cast::<PyDict>() {
        Raw::Table(entries(table)?)
    } else {
        Raw::Text(value.str()?.extract()?)
    })
}

/// Reads a quantity with its unit. `kind` and the result: "duration" (ns, int), "rate" (bit/s, int), "bytes" (int),
/// "packets" (int), "mean packets" (float), "probability" (0 to 1, float). Raises ValueError with the allowed form.
#[pyfunction]
pub(crate) fn parse<'py>(py: Python<'py>, kind: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let whole = |n: Result<u64, String>| -> PyResult<Bound<'py, PyAny>> {
        Ok(n.map_err(PyValueError::new_err)?.into_pyobject(py)?.into_any())
    };
    match kind {
        "duration" => whole(units::duration(text).map(|d| d.0)),
        "rate" => whole(units::rate(text).map(|r| r.0)),
        "bytes" => whole(units::bytes(text).map(|b| b.0)),
        "packets" => whole(units::packets(text).map(|p| p.0)),
        "mean packets" => {
            let n = units::mean_packets(text).map_err(PyValueError::new_err)?;
            Ok(n.into_pyobject(py)?.into_any())
        }
        "probability" => {
            let p = units::probability(text).map_err(PyValueError::new_err)?;
            Ok(p.get().into_pyobject(py)?.into_any())
        }
        other => Err(PyValueError::new_err(format!("no kind '{other}'"))),
    }
}

/// Returns the name in `known` that is most similar to `given`, None if none is similar.
#[pyfunction]
pub(crate) fn nearest(given: &str, known: Vec<String>) -> Option<String> {
    param::nearest(given, known.iter().map(String::as_str)).map(str::to_owned)
}
