//! Quantities and parameters of a scenario, read and checked by the rules of the registries.

use crate::errors::refused;
use crate::external::ExternalVariant;
use dumbbell_cc::{Requirement, Setup, Variant};
use dumbbell_qdisc::LinkInfo;
use dumbbell_units::param::{self, ParamError, Params, Raw};
use dumbbell_units::parse as units;
use dumbbell_units::{Dur, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// Checks a registry name and its parameters.
///
/// `family` is "variant", "discipline", "stack" or "TLS version". With `beside`, a variant is checked together with the
/// stack of that name, or a stack with the variant of that name, which may be `external`: their parameters must not
/// contradict each other. Raises ParamError(parameter, message).
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
                let preset = Stack::find(stack)?.variants_as();
                // The windows make no difference to this check.
                let start = Setup { preset, ..Setup::new(1000.0, 10_000.0, f64::INFINITY) };
                dumbbell_cc::build(name, &given, &start).map_err(refused)?;
            }
        }
        "discipline" => {
            dumbbell_qdisc::find(name).and_then(|row| Params::read(row.params, &given)).map_err(refused)?;
        }
        "stack" => {
            let stack = Stack::find(name)?;
            stack.read(&given)?;
            let external = external.map(|variant| variant.get().variant());
            if let Some(variant) = beside {
                let row = external.map_or_else(|| dumbbell_cc::find(variant), Ok).map_err(refused)?;
                stack.check(&given, row)?;
            }
        }
        "TLS version" => {
            dumbbell_tls::Config::read(name, &given).map_err(refused)?;
        }
        other => return Err(PyValueError::new_err(format!("no family '{other}'"))),
    }
    Ok(())
}

/// Returns the names of the features on which a variant of the registry relies and which a stack lacks, in the order of
/// the registry. Raises ParamError(parameter, message).
#[pyfunction]
pub(crate) fn lacking(variant: &str, stack: &str, params: &Bound<'_, PyDict>) -> PyResult<Vec<&'static str>> {
    let row = dumbbell_cc::find(variant).map_err(refused)?;
    let given = entries(params)?;
    let lacking: Vec<&Requirement> = match Stack::find(stack)? {
        Stack::Tcp(preset) => {
            dumbbell_tcp::Config::read(preset.name, &given, row).map_err(refused)?.lacks(row).collect()
        }
        Stack::Quic(preset) => {
            dumbbell_quic::Config::read(preset.name, &given, row).map_err(refused)?.lacks(row).collect()
        }
    };
    Ok(lacking.iter().map(|r| dumbbell_tcp::describe_feature(r.feature).0).collect())
}

/// A stack preset of either transport.
#[derive(Clone, Copy)]
pub(crate) enum Stack {
    Tcp(&'static dumbbell_tcp::Preset),
    Quic(&'static dumbbell_quic::Preset),
}

impl Stack {
    pub(crate) fn find(name: &str) -> PyResult<Stack> {
        if let Ok(preset) = dumbbell_quic::find_preset(name) {
            return Ok(Stack::Quic(preset));
        }
        if let Ok(preset) = dumbbell_tcp::find_preset(name) {
            return Ok(Stack::Tcp(preset));
        }
        let tcp = dumbbell_tcp::PRESETS.iter().map(|p| p.name);
        let names = tcp.chain(dumbbell_quic::PRESETS.iter().map(|p| p.name));
        let message = param::unknown_name("stack preset", name, names);
        Err(refused(ParamError { name: "preset".into(), message }))
    }

    /// The preset whose defaults of a variant's own parameters apply.
    pub(crate) fn variants_as(self) -> &'static str {
        match self {
            Stack::Tcp(preset) => preset.variants_as,
            Stack::Quic(preset) => preset.name,
        }
    }

    /// Checks parameters alone.
    fn read(self, given: &[(String, Raw)]) -> PyResult<()> {
        let read = match self {
            Stack::Tcp(preset) => preset.read("", given),
            Stack::Quic(preset) => Params::read(&preset.params(), given),
        };
        read.map(|_| ()).map_err(refused)
    }

    /// Checks parameters together with a variant.
    fn check(self, given: &[(String, Raw)], variant: &Variant) -> PyResult<()> {
        match self {
            Stack::Tcp(preset) => {
                dumbbell_tcp::Config::read(preset.name, given, variant).map_err(refused)?;
            }
            Stack::Quic(preset) => {
                dumbbell_quic::Config::read(preset.name, given, variant).map_err(refused)?;
            }
        }
        Ok(())
    }
}

/// Checks the queue of a link with this rate (bit/s) and base round-trip time (ns): its parameters must not contradict
/// each other. Returns the number of its classes, None if it doesn't use the class of packets. Raises
/// ParamError(parameter, message).
#[pyfunction]
pub(crate) fn check_queue(
    name: &str,
    params: &Bound<'_, PyDict>,
    rate_bps: u64,
    base_rtt_ns: u64,
) -> PyResult<Option<u32>> {
    let link = LinkInfo::new(Rate(rate_bps), Dur(base_rtt_ns));
    let queue = dumbbell_qdisc::build(name, &entries(params)?, &link).map_err(refused)?;
    Ok(queue.classes())
}

/// Checks a Wi-Fi medium, the JSON of its part of a plan. Returns its fastest bit rate. Raises ParamError(key,
/// message).
#[pyfunction]
pub(crate) fn check_wifi(wifi_json: &str) -> PyResult<u64> {
    let refuse = |name: &str, message| refused(ParamError { name: name.into(), message });
    let plan: dumbbell_wifi::WifiPlan = serde_json::from_str(wifi_json).map_err(|e| refuse("", e.to_string()))?;
    plan.check().map_err(|(field, why)| refuse(field, why))?;
    let modes = plan.modes();
    Ok(modes.all[..modes.data].iter().map(|mode| mode.bps).max().unwrap_or(0))
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
        "megahertz" => whole(units::megahertz(text)),
        "dbm" => Ok(units::dbm(text).map_err(PyValueError::new_err)?.into_pyobject(py)?.into_any()),
        "db" => Ok(units::db(text).map_err(PyValueError::new_err)?.into_pyobject(py)?.into_any()),
        "mean packets" => {
            let n = units::mean_packets(text).map_err(PyValueError::new_err)?;
            Ok(n.into_pyobject(py)?.into_any())
        }
        "per second" => {
            let n = units::per_second(text).map_err(PyValueError::new_err)?;
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
