//! The JSON Schema of plans. It is derived from the types that read them: their doc comments are its descriptions.

use crate::Plan;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

/// A plan with every object and key of the schema.
const EXAMPLE: &str = include_str!("example.json");

/// Makes the schema (JSON Schema 2020-12), with an example of a plan.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(complete));
    let mut schema = settings.into_generator().into_root_schema_for::<Plan>();
    schema.insert("title".to_owned(), "Plan of a run".into());
    let example: Value = serde_json::from_str(EXAMPLE).unwrap_or_default();
    schema.insert("examples".to_owned(), Value::Array(vec![example]));
    schema.to_value()
}

/// Adds the maximum of `u32`, which schemars states for smaller integers only, and puts a description on one line.
fn complete(schema: &mut Schema) {
    if schema.get("format").is_some_and(|format| format == "uint32") {
        schema.insert("maximum".to_owned(), u32::MAX.into());
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}
