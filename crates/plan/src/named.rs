//! A choice of a registry, such as a variant of congestion control or a queue discipline.

use dumbbell_units::param::Raw;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A registry name with the parameters that the scenario sets.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Parameters as in the scenario.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Hash of an external variant's content: a changed variant makes a different plan.
    #[serde(default)]
    pub content: Option<String>,
}

impl Named {
    /// Returns the parameters in the form that registries read.
    #[must_use]
    pub fn given(&self) -> Vec<(String, Raw)> {
        entries(&self.params)
    }
}

fn entries(table: &Map<String, Value>) -> Vec<(String, Raw)> {
    table.iter().map(|(k, v)| (k.clone(), raw(v))).collect()
}

fn raw(value: &Value) -> Raw {
    match value {
        Value::Bool(b) => Raw::Bool(*b),
        Value::Number(n) => Raw::Number(n.as_f64().unwrap_or(f64::NAN)),
        Value::String(s) => Raw::Text(s.clone()),
        Value::Object(table) => Raw::Table(entries(table)),
        other => Raw::Text(other.to_string()),
    }
}
