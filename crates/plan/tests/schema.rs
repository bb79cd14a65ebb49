//! The schema and the types of the plan agree. The schema is derived, but some types are read by code of their own. In
//! the example of the schema, which has every object and key, every value is removed and replaced by values of other
//! types and sizes: the types accept what the schema accepts, and the schema accepts what the types and `check` accept.
//!
//! `tests/plan/test_plan_schema.py` checks the other side: the plans that Python writes are valid by the same schema.

#![expect(clippy::expect_used, reason = "a schema that cannot be read fails its test")]

use dumbbell_plan::{FORMAT, Plan, check, schema};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A reader of the keywords of JSON Schema that the schema has.
struct Schema {
    root: Value,
}

/// An object of a plan and the schema that describes it.
struct Described<'a> {
    pointer: String,
    schema: &'a Value,
}

impl Schema {
    fn new() -> Schema {
        Schema { root: schema() }
    }

    fn example(&self) -> &Value {
        &self.root["examples"][0]
    }

    fn accepts(&self, plan: &Value) -> bool {
        self.fits(&self.root, plan)
    }

    fn target(&self, reference: &Value) -> &Value {
        let pointer = reference.as_str().expect("a reference").trim_start_matches('#');
        self.root.pointer(pointer).expect("a definition")
    }

    /// True if the value is valid by this schema.
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let keywords = schema.as_object().expect("a schema");
        let item_count = |limit: &Value| (value.as_array().map(Vec::len), limit.as_u64().expect("a limit"));
        let number = |limit: &Value| (value.as_f64(), limit.as_f64().expect("a limit"));
        keywords.iter().all(|(keyword, given)| match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "examples" | "default" | "format" => true,
            "$ref" => self.fits(self.target(given), value),
            "type" => has_type(given, value),
            "const" => value == given,
            "enum" => list(given).contains(value),
            "anyOf" | "oneOf" => list(given).iter().any(|alternative| self.fits(alternative, value)),
            "minimum" => matches!(number(given), (found, limit) if found.is_none_or(|v| v >= limit)),
            "maximum" => matches!(number(given), (found, limit) if found.is_none_or(|v| v <= limit)),
            "exclusiveMinimum" => matches!(number(given), (found, limit) if found.is_none_or(|v| v > limit)),
            "minItems" => {
                matches!(item_count(given), (found, limit) if found.is_none_or(|n| n as u64 >= limit))
            }
            "maxItems" => {
                matches!(item_count(given), (found, limit) if found.is_none_or(|n| n as u64 <= limit))
            }
            "items" => list(value).iter().all(|item| self.fits(given, item)),
            "prefixItems" => list(value).iter().zip(list(given)).all(|(item, schema)| self.fits(schema, item)),
            "required" => value.is_object().then(|| keys(value)).is_none_or(|has| names(given).is_subset(&has)),
            "properties" => {
                let entries = value.as_object().into_iter().flatten();
                entries.filter_map(|(k, v)| Some((given.get(k)?, v))).all(|(schema, v)| self.fits(schema, v))
            }
            "additionalProperties" => given == &json!(true) || keys(value).is_subset(&keys(&schema["properties"])),
            other => panic!("the keyword '{other}' is not read"),
        })
    }

    /// Follows references, and selects the alternative that fits the value.
    fn resolve<'a>(&'a self, schema: &'a Value, value: &Value) -> &'a Value {
        if let Some(reference) = schema.get("$ref") {
            return self.resolve(self.target(reference), value);
        }
        let Some(alternatives) = schema.get("oneOf").or(schema.get("anyOf")) else { return schema };
        let mut fitting = list(alternatives).iter().filter(|alternative| self.fits(alternative, value));
        let first = fitting.next().unwrap_or_else(|| panic!("no alternative of {schema} fits {value}"));
        assert!(fitting.next().is_none(), "two alternatives of {schema} fit {value}");
        self.resolve(first, value)
    }

    /// Collects the objects in `value` that the schema describes key by key.
    fn describe<'a>(&'a self, schema: &'a Value, value: &Value, at: &str, found: &mut Vec<Described<'a>>) {
        let schema = self.resolve(schema, value);
        match (value, schema.get("properties"), schema.get("items")) {
            (Value::Object(entries), Some(properties), _) => {
                found.push(Described { pointer: at.to_owned(), schema });
                for (key, entry) in entries {
                    self.describe(&properties[key], entry, &format!("{at}/{key}"), found);
                }
            }
            (Value::Array(items), _, Some(schema)) => {
                for (n, item) in items.iter().enumerate() {
                    self.describe(schema, item, &format!("{at}/{n}"), found);
                }
            }
            _ => {}
        }
    }

    fn objects(&self) -> Vec<Described<'_>> {
        let mut found = Vec::new();
        self.describe(&self.root, self.example(), "", &mut found);
        found
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn names(value: &Value) -> BTreeSet<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

fn has_type(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("the type '{other}' is not read"),
    };
    types.as_str().map_or_else(|| names(types).into_iter().any(is), is)
}

fn read(plan: &Value) -> Result<Plan, serde_json::Error> {
    Plan::from_value(plan.clone())
}

/// The places of one value of each key of the schema, and of the first item of each list.
fn places(schema: &Schema) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut places = Vec::new();
    for object in schema.objects() {
        let entries = schema.example().pointer(&object.pointer).and_then(Value::as_object);
        for (key, value) in entries.into_iter().flatten() {
            if seen.insert((std::ptr::from_ref(object.schema), key.as_str())) {
                let place = format!("{}/{key}", object.pointer);
                places.extend(list(value).first().map(|_| format!("{place}/0")));
                places.push(place);
            }
        }
    }
    places
}

#[test]
fn the_example_is_a_valid_plan() {
    let schema = Schema::new();
    check(&read(schema.example()).unwrap()).unwrap();
    assert!(schema.accepts(schema.example()));
}

#[test]
fn plans_of_a_newer_format_are_refused() {
    let schema = Schema::new();
    let mut plan = schema.example().clone();
    plan.as_object_mut().expect("an object").remove("format");
    assert_eq!(read(&plan).expect("a plan of the first format").format, 1);
    plan["format"] = json!(FORMAT + 1);
    let error = read(&plan).expect_err("a newer format").to_string();
    assert_eq!(error, "format: 2 given: this version of Dumbbell reads plans of format 1");
}

#[test]
fn the_example_has_every_object_and_key_of_the_schema() {
    let schema = Schema::new();
    let mut used: BTreeSet<(*const Value, &str)> = BTreeSet::new();
    for object in schema.objects() {
        let place = schema.example().pointer(&object.pointer).expect("an object of the example");
        used.extend(keys(place).into_iter().map(|key| (std::ptr::from_ref(object.schema), key)));
    }
    let definitions = schema.root["$defs"].as_object().expect("definitions").values();
    let alternatives = definitions.clone().flat_map(|d| [&d["oneOf"], &d["anyOf"]]).flat_map(list);
    let mut described = 0;
    for object in definitions.chain(alternatives).chain([&schema.root]) {
        for key in keys(&object["properties"]) {
            assert!(used.contains(&(std::ptr::from_ref(object), key)), "the example lacks '{key}' of {object}");
            described += 1;
        }
    }
    assert!(described > 150, "{described} keys");
}

#[test]
fn every_key_is_described() {
    let schema = Schema::new();
    for object in schema.objects() {
        let described = |entry: &Value| entry.get("description").or(entry.get("const")).is_some();
        for (key, entry) in object.schema["properties"].as_object().expect("properties") {
            assert!(described(entry) || described(object.schema), "'{key}' at '{}'", object.pointer);
        }
    }
}

#[test]
fn unknown_keys_are_refused_and_the_types_have_no_other_keys() {
    let schema = Schema::new();
    let mut listed = 0;
    for object in schema.objects() {
        let mut plan = schema.example().clone();
        plan.pointer_mut(&object.pointer).expect("an object")["unknown"] = json!(1);
        assert!(!schema.accepts(&plan), "{}", object.pointer);
        let error = read(&plan).expect_err("an unknown key").to_string();
        // Serde lists the keys of the type, so that a key which only the type has is found too.
        let known = error.split_once(", expected ").map_or("", |(_, list)| list).split('`').skip(1).step_by(2);
        for key in known {
            assert!(object.schema["properties"].get(key).is_some(), "the schema lacks '{key}': {error}");
            listed += 1;
        }
    }
    assert!(listed > 150, "{listed} keys");
}

#[test]
fn exactly_the_required_keys_are_required() {
    let schema = Schema::new();
    let mut removed = 0;
    for object in schema.objects() {
        let place = schema.example().pointer(&object.pointer).expect("an object of the example");
        for key in keys(place) {
            let mut plan = schema.example().clone();
            plan.pointer_mut(&object.pointer).and_then(Value::as_object_mut).expect("an object").remove(key);
            assert_eq!(read(&plan).is_ok(), schema.accepts(&plan), "'{key}' at '{}'", object.pointer);
            removed += 1;
        }
    }
    assert!(removed > 150, "{removed} keys");
}

#[test]
fn values_of_other_types_and_sizes_are_refused_alike() {
    let schema = Schema::new();
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(4_294_967_296_u64),
        json!("a"),
        json!([]),
        json!({}),
    ];
    let (mut accepted, mut refused) = (0, 0);
    for place in places(&schema) {
        for other in &others {
            let mut plan = schema.example().clone();
            *plan.pointer_mut(&place).expect("a value") = other.clone();
            let parsed = read(&plan);
            if schema.accepts(&plan) {
                assert!(parsed.is_ok(), "{place} = {other}: {:?}", parsed.err());
                accepted += 1;
            } else {
                // Serde reads the kind of an application, a size or a rule also by its number.
                let checked = parsed.is_ok_and(|plan| check(&plan).is_ok());
                assert!(!checked || place.ends_with("/kind"), "{place} = {other} is accepted");
                refused += 1;
            }
        }
    }
    assert!(accepted > 200 && refused > 1000, "{accepted} accepted, {refused} refused");
}
