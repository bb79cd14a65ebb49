//! The registries as one JSON document, for the command line, the docs and the JSON Schema.

use dumbbell_cc::Variant;
use dumbbell_trace::tables::ColumnSpec;
use dumbbell_units::param::Spec;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Returns every variant, discipline and stack with its parameters, and the names of phases and drop reasons, as JSON.
#[pyfunction]
pub(crate) fn registry() -> String {
    let variants: Vec<Value> = dumbbell_cc::registry()
        .iter()
        .map(|v| {
            json!({
                "name": v.name, "aliases": v.aliases, "title": v.title, "year": v.year, "source": v.source,
                "loss_recovery": v.loss_recovery.map(|s| format!("{s:?}").to_lowercase()),
                "on_loss": v.on_loss, "on_delay": v.on_delay, "on_ecn": v.on_ecn,
                "params": variant_specs(v), "columns": v.columns,
            })
        })
        .collect();
    let disciplines: Vec<Value> = dumbbell_qdisc::registry()
        .iter()
        .map(|d| {
            json!({
                "name": d.name, "title": d.title, "year": d.year, "source": d.source, "doc": d.doc,
                "params": specs(d.params), "columns": d.columns,
            })
        })
        .collect();
    let stacks: Vec<Value> = dumbbell_tcp::PRESETS
        .iter()
        .map(|s| json!({"name": s.name, "title": s.title, "doc": s.doc, "params": specs(&s.params())}))
        .collect();
    let phases: Vec<&str> = dumbbell_cc::Phase::ALL.iter().map(|p| p.name()).collect();
    let reasons: Vec<&str> = dumbbell_qdisc::DropReason::ALL.iter().map(|r| r.name()).collect();
    let tables: Vec<Value> = dumbbell_trace::tables::TABLES
        .iter()
        .map(|t| json!({"kind": t.kind, "kernel_only": t.kernel_only, "columns": columns(t.columns)}))
        .collect();
    json!({
        "variants": variants, "disciplines": disciplines, "stacks": stacks,
        "phases": phases, "drop_reasons": reasons, "tables": tables,
    })
    .to_string()
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
    columns
        .iter()
        .map(|c| json!({"name": c.name, "type": c.kind.name(), "unit": c.unit, "doc": c.doc}))
        .collect()
}

fn specs(params: &[Spec]) -> Vec<Value> {
    params
        .iter()
        .map(|p| json!({"name": p.name, "kind": p.kind.to_string(), "default": p.default, "doc": p.doc}))
        .collect()
}
