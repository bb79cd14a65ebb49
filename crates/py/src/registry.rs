//! The registries as one JSON document, for the command line, the docs and the JSON Schema.

use dumbbell_cc::{EcnUse, Variant};
use dumbbell_tcp::Fact;
use dumbbell_trace::tables::ColumnSpec;
use dumbbell_units::param::Spec;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Returns every variant, discipline, stack and version of TLS with its parameters, and the names of phases and drop
/// reasons, as JSON.
#[pyfunction]
pub(crate) fn registry() -> String {
    let variants: Vec<Value> = dumbbell_cc::registry()
        .iter()
        .map(|v| {
            json!({
                "name": v.name, "aliases": v.aliases, "title": v.title, "year": v.year, "source": v.source,
                "requires": requirements(v),
                "loss_recovery": v.loss_recovery.map(|s| format!("{s:?}").to_lowercase()),
                "on_loss": v.on_loss, "on_delay": v.on_delay, "on_ecn": v.on_ecn,
                "needs_marks": v.ecn != EcnUse::Stack,
                "params": variant_specs(v), "columns": v.columns, "random": v.random,
            })
        })
        .collect();
    let disciplines: Vec<Value> = dumbbell_qdisc::registry()
        .iter()
        .map(|d| {
            json!({
                "name": d.name, "title": d.title, "year": d.year, "source": d.source, "doc": d.doc,
                "params": specs(d.params), "columns": d.columns, "random": d.random,
                "kernel": d.kernel.map_or(&[][..], |kernel| kernel.kinds),
            })
        })
        .collect();
    let stacks: Vec<Value> = dumbbell_tcp::PRESETS
        .iter()
        .map(|s| {
            let named = |v: &Variant| s.implied_recovery(v).is_some();
            stack("tcp", s.name, s.title, s.doc, &s.params(), &s.facts().list(), named)
        })
        .chain(
            dumbbell_quic::PRESETS
                .iter()
                .map(|s| stack("quic", s.name, s.title, s.doc, &s.params(), &[], dumbbell_quic::implies_recovery)),
        )
        .collect();
    let tls: Vec<Value> = dumbbell_tls::VERSIONS
        .iter()
        .map(|v| json!({"name": v.name(), "source": v.source(), "params": specs(v.params())}))
        .collect();
    let phases: Vec<&str> = dumbbell_cc::Phase::ALL.iter().map(|p| p.name()).collect();
    let reasons: Vec<&str> = dumbbell_qdisc::DropReason::ALL.iter().map(|r| r.name()).collect();
    let tables: Vec<Value> = dumbbell_trace::tables::TABLES
        .iter()
        .map(|t| json!({"kind": t.kind, "kernel_only": t.kernel_only, "columns": columns(t.columns)}))
        .collect();
    json!({
        "default_stack": dumbbell_tcp::DEFAULT_PRESET, "default_quic_stack": dumbbell_quic::PRESETS[0].name,
        "variants": variants, "disciplines": disciplines, "stacks": stacks, "tls": tls,
        "phases": phases, "drop_reasons": reasons, "tables": tables,
    })
    .to_string()
}

/// Returns a preset; `implies` is true of variants whose name implies their loss recovery on it.
fn stack(
    transport: &str,
    name: &str,
    title: &str,
    doc: &str,
    params: &[Spec],
    facts: &[Fact],
    implies: impl Fn(&Variant) -> bool,
) -> Value {
    let fact = |f: &Fact| json!({"name": f.name, "value": f.value, "doc": f.doc});
    json!({
        "name": name, "transport": transport, "title": title, "doc": doc, "params": specs(params),
        "facts": facts.iter().map(fact).collect::<Vec<_>>(),
        "implied_recovery": dumbbell_cc::registry().iter().filter(|v| implies(v)).map(|v| v.name).collect::<Vec<_>>(),
    })
}

/// Returns the features of the stack on which a variant relies.
fn requirements(variant: &Variant) -> Vec<Value> {
    variant
        .requires
        .iter()
        .map(|r| {
            let (feature, settings) = dumbbell_tcp::describe_feature(r.feature);
            json!({"feature": feature, "settings": settings, "source": r.source, "why": r.why})
        })
        .collect()
}

/// Returns the parameters of a variant, each with the stacks on which its default differs.
fn variant_specs(variant: &Variant) -> Vec<Value> {
    let mut params = specs(variant.params);
    for (stack, name, default) in variant.stack_defaults {
        for param in params.iter_mut().filter(|p| p["name"] == *name) {
            param["defaults"][*stack] = json!(default);
        }
    }
    params
}

fn columns(columns: &[ColumnSpec]) -> Vec<Value> {
    columns.iter().map(|c| json!({"name": c.name, "type": c.kind.name(), "unit": c.unit, "doc": c.doc})).collect()
}

fn specs(params: &[Spec]) -> Vec<Value> {
    params
        .iter()
        .map(|p| json!({"name": p.name, "kind": p.kind.to_string(), "default": p.default, "doc": p.doc}))
        .collect()
}
