//! `plan.schema.json` and the types of the plan agree: the schema's example is a valid plan, every object of it refuses
//! unknown keys, and a key can be left out if and only if the schema does not require it.
//!
//! `tests/plan/test_plan_schema.py` checks the other side: the plans that Python writes are valid by the same schema.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a schema that cannot be read fails its test")]

use dumbbell_plan::{Plan, check};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

fn schema() -> Value {
    serde_json::from_str(include_str!("../plan.schema.json")).unwrap()
}

/// An object of the example and the schema that describes it.
struct Described<'a> {
    pointer: String,
    schema: &'a Map<String, Value>,
}

/// Reads the part of JSON Schema that `plan.schema.json` uses.
struct Reader<'a> {
    root: &'a Value,
}

impl<'a> Reader<'a> {
    /// Follows `$ref`, and selects the alternative of `oneOf` that has the type and the constants of the value.
    fn resolve(&self, schema: &'a Value, value: &Value) -> &'a Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.root.pointer(reference.trim_start_matches('#')).expect("a definition");
            return self.resolve(target, value);
        }
        let Some(alternatives) = schema["oneOf"].as_array() else { return schema };
        let resolved = alternatives.iter().map(|a| self.resolve(a, value));
        let mut fitting = resolved.filter(|a| has_type(a, value) && has_constants(a, value));
        let first = fitting.next().unwrap_or_else(|| panic!("no alternative of {schema} fits {value}"));
        assert!(fitting.next().is_none(), "two alternatives of {schema} fit {value}");
        first
    }

    /// Collects the objects in `value` that the schema describes key by key.
    fn walk(&self, schema: &'a Value, value: &Value, pointer: &str, found: &mut Vec<Described<'a>>) {
        let schema = self.resolve(schema, value);
        assert!(has_type(schema, value), "{pointer}: {value} is not {}", schema["type"]);
        match value {
            Value::Object(entries) => {
                let Some(properties) = schema["properties"].as_object() else { return };
                let schema = schema.as_object().expect("an object schema");
                found.push(Described { pointer: pointer.to_owned(), schema });
                for (key, entry) in entries {
                    self.walk(&properties[key], entry, &format!("{pointer}/{key}"), found);
                }
            }
            Value::Array(items) if schema["items"].is_object() => {
                for (n, item) in items.iter().enumerate() {
                    self.walk(&schema["items"], item, &format!("{pointer}/{n}"), found);
                }
            }
            _ => {}
        }
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64(),
        "null" => value.is_null(),
        other => panic!("type {other} is not used in the schema"),
    };
    match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

/// True if an object has the constants of the schema, and its keys if the alternatives have no constants.
fn has_constants(schema: &Value, value: &Value) -> bool {
    let Some(properties) = schema["properties"].as_object().filter(|_| value.is_object()) else {
        return true;
    };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    properties.iter().all(|(key, p)| p["const"].is_null() || p["const"] == value[key])
        && required.into_iter().all(|key| value.get(key).is_some())
}

fn objects<'a>(schema: &'a Value, example: &Value) -> Vec<Described<'a>> {
    let mut found = Vec::new();
    Reader { root: schema }.walk(schema, example, "", &mut found);
    found
}

fn accepts(plan: &Value) -> bool {
    serde_json::from_value::<Plan>(plan.clone()).is_ok()
}

fn required(object: &Map<String, Value>) -> BTreeSet<&str> {
    object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn the_example_is_a_valid_plan() {
    let schema = schema();
    let plan: Plan = serde_json::from_value(schema["examples"][0].clone()).unwrap();
    check(&plan).unwrap();
}

#[test]
fn the_example_has_every_object_and_key_of_the_schema() {
    let schema = schema();
    let mut used: BTreeSet<(String, String)> = BTreeSet::new();
    for object in objects(&schema, &schema["examples"][0]) {
        let place = schema["examples"][0].pointer(&object.pointer).expect("an object of the example");
        let description = object.schema["description"].to_string();
        used.extend(
            place.as_object().into_iter().flat_map(Map::keys).map(|k| (description.clone(), k.clone())),
        );
    }
    let definitions = schema["$defs"].as_object().expect("definitions").values();
    let alternatives = definitions.clone().filter_map(|d| d["oneOf"].as_array()).flatten();
    for object in definitions.chain(alternatives) {
        for key in object["properties"].as_object().into_iter().flat_map(Map::keys) {
            let entry = (object["description"].to_string(), key.clone());
            assert!(used.contains(&entry), "the example lacks {entry:?}");
        }
    }
}

#[test]
fn unknown_keys_are_refused_and_the_types_have_no_other_keys() {
    let schema = schema();
    let mut listed = 0;
    let example = &schema["examples"][0];
    for object in objects(&schema, example) {
        assert_eq!(object.schema.get("additionalProperties"), Some(&json!(false)), "{}", object.pointer);
        let mut plan = example.clone();
        plan.pointer_mut(&object.pointer).expect("an object")["unknown"] = json!(1);
        let error = serde_json::from_value::<Plan>(plan).expect_err("an unknown key").to_string();
        // Serde lists the keys of the type, so that a key which only the type has is found too.
        let known =
            error.split_once(", expected ").map_or("", |(_, list)| list).split('`').skip(1).step_by(2);
        for key in known {
            assert!(object.schema["properties"].get(key).is_some(), "the schema lacks '{key}': {error}");
            listed += 1;
        }
    }
    assert!(listed > 150, "{listed} keys");
}

#[test]
fn exactly_the_required_keys_are_required() {
    let schema = schema();
    let example = &schema["examples"][0];
    let mut removed = 0;
    for object in objects(&schema, example) {
        let required = required(object.schema);
        let keys: Vec<String> = match example.pointer(&object.pointer) {
            Some(Value::Object(entries)) => entries.keys().cloned().collect(),
            other => panic!("{other:?} is not an object"),
        };
        for key in keys {
            let mut plan = example.clone();
            plan.pointer_mut(&object.pointer).and_then(Value::as_object_mut).expect("an object").remove(&key);
            let place = format!("'{key}' at '{}'", object.pointer);
            assert_eq!(accepts(&plan), !required.contains(key.as_str()), "{place}");
            removed += 1;
        }
    }
    assert!(removed > 150, "{removed} keys");
}
