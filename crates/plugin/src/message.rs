//! What both sides of the border write as text: parameters and descriptions, as JSON.

use dumbbell_units::param::Raw;
use serde::{Deserialize, Serialize};

/// A value of a parameter, as it stands in a scenario.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Given {
    Bool(bool),
    Number(f64),
    Text(String),
    Table(Vec<(String, Given)>),
}

impl From<&Raw> for Given {
    fn from(raw: &Raw) -> Given {
        match raw {
            Raw::Number(n) => Given::Number(*n),
            Raw::Text(t) => Given::Text(t.clone()),
            Raw::Bool(b) => Given::Bool(*b),
            Raw::Table(entries) => Given::Table(entries.iter().map(|(k, v)| (k.clone(), v.into())).collect()),
        }
    }
}

impl From<Given> for Raw {
    fn from(given: Given) -> Raw {
        match given {
            Given::Number(n) => Raw::Number(n),
            Given::Text(t) => Raw::Text(t),
            Given::Bool(b) => Raw::Bool(b),
            Given::Table(entries) => Raw::Table(entries.into_iter().map(|(k, v)| (k, v.into())).collect()),
        }
    }
}

/// A parameter that a law refuses.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) name: String,
    pub(crate) message: String,
}
