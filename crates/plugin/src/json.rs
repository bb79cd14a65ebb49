//! The JSON texts of the interface: the description of a variant, its parameters, and refused parameters.

use crate::abi::code;
use dumbbell_cc::{EcnUse, LossRecovery, Variant};
use dumbbell_units::param::{Raw, Spec};
use serde::{Deserialize, Serialize};

/// The registry row of a library's variant, without its `build`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    /// The version of dumbbell-plugin that the library was built with.
    pub(crate) built_with: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) year: u16,
    pub(crate) source: String,
    /// Index into [`LossRecovery::ALL`]; null leaves it to the stack.
    pub(crate) loss_recovery: Option<u8>,
    pub(crate) fine_timeouts: bool,
    pub(crate) own_recovery: bool,
    /// Index into [`EcnUse::ALL`].
    pub(crate) ecn: u8,
    pub(crate) on_loss: String,
    pub(crate) on_delay: String,
    pub(crate) on_ecn: String,
    /// Parameters as [name, kind, default, doc].
    pub(crate) params: Vec<[String; 4]>,
    pub(crate) columns: Vec<String>,
}

impl Description {
    pub(crate) fn of(row: &Variant) -> Description {
        let param = |s: &Spec| [s.name.to_owned(), s.kind.to_string(), s.default.to_owned(), s.doc.to_owned()];
        Description {
            built_with: env!("CARGO_PKG_VERSION").to_owned(),
            name: row.name.to_owned(),
            title: row.title.to_owned(),
            year: row.year,
            source: row.source.to_owned(),
            loss_recovery: row.loss_recovery.map(|r| code(&LossRecovery::ALL, &r)),
            fine_timeouts: row.fine_timeouts,
            own_recovery: row.own_recovery,
            ecn: code(&EcnUse::ALL, &row.ecn),
            on_loss: row.on_loss.to_owned(),
            on_delay: row.on_delay.to_owned(),
            on_ecn: row.on_ecn.to_owned(),
            params: row.params.iter().map(param).collect(),
            columns: row.columns.iter().map(|c| (*c).to_owned()).collect(),
        }
    }
}

/// The value of a parameter, as the scenario gives it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Bool(bool),
    Number(f64),
    Text(String),
    Table(Vec<(String, Value)>),
}

impl From<&Raw> for Value {
    fn from(raw: &Raw) -> Value {
        match raw {
            Raw::Number(n) => Value::Number(*n),
            Raw::Text(t) => Value::Text(t.clone()),
            Raw::Bool(b) => Value::Bool(*b),
            Raw::Table(entries) => Value::Table(entries.iter().map(|(k, v)| (k.clone(), v.into())).collect()),
        }
    }
}

impl From<Value> for Raw {
    fn from(value: Value) -> Raw {
        match value {
            Value::Number(n) => Raw::Number(n),
            Value::Text(t) => Raw::Text(t),
            Value::Bool(b) => Raw::Bool(b),
            Value::Table(entries) => Raw::Table(entries.into_iter().map(|(k, v)| (k, v.into())).collect()),
        }
    }
}

/// A parameter that the variant refuses, with the reason.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RefusedParameter {
    pub(crate) name: String,
    pub(crate) message: String,
}
