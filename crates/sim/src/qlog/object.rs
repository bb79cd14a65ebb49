//! JSON objects whose fields stay in the order in which they are written.

use std::fmt::{Display, Write};

/// A JSON object under construction.
#[derive(Debug, Default)]
pub(super) struct Object {
    fields: String,
}

impl Object {
    /// Adds a value that is JSON already: a number, true, a list.
    pub(super) fn raw(&mut self, name: &str, value: &impl Display) -> &mut Object {
        if !self.fields.is_empty() {
            self.fields.push(',');
        }
        // Writing to a String doesn't fail.
        let _ = write!(self.fields, "\"{name}\":{value}");
        self
    }

    /// Adds a text.
    pub(super) fn text(&mut self, name: &str, value: &str) -> &mut Object {
        self.raw(name, &serde_json::Value::from(value))
    }

    /// Adds an object.
    pub(super) fn object(&mut self, name: &str, value: &Object) -> &mut Object {
        self.raw(name, &format_args!("{{{}}}", value.fields))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The whole object.
    pub(super) fn finish(&self) -> String {
        format!("{{{}}}", self.fields)
    }
}
