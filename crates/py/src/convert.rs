//! Conversion of serializable results to plain Python objects.
//!
//! The objects are those that Python's JSON reader makes of the same results: structures are dicts with their fields in
//! order, NaN and infinity are None.

use crate::errors::RunError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde::ser::{self, Serialize};
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::sync::{Mutex, PoisonError};

/// Returns each item as a dict of plain Python values.
pub(crate) fn dicts<T: Serialize>(py: Python<'_>, items: &[T]) -> PyResult<Py<PyList>> {
    let list = items.serialize(Plain(py)).map_err(|e| RunError::new_err(e.to_string()))?;
    Ok(list.cast_into::<PyList>()?.unbind())
}

/// Makes the Python object of a value.
#[derive(Clone, Copy)]
struct Plain<'py>(Python<'py>);

type Object<'py> = Bound<'py, PyAny>;

#[derive(Debug)]
struct Refused(String);

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Self {
        Self(error.to_string())
    }
}

/// A list that is being filled, with the variant's name around it for a variant of an enum.
struct Items<'py> {
    list: Bound<'py, PyList>,
    variant: Option<&'static str>,
}

/// A dict that is being filled, likewise.
struct Fields<'py> {
    dict: Bound<'py, PyDict>,
    key: Option<Object<'py>>,
    variant: Option<&'static str>,
}

impl<'py> Plain<'py> {
    fn items(self, variant: Option<&'static str>) -> Items<'py> {
        Items { list: PyList::empty(self.0), variant }
    }

    fn fields(self, variant: Option<&'static str>) -> Fields<'py> {
        Fields { dict: PyDict::new(self.0), key: None, variant }
    }
}

/// The names of fields that were converted before: they are constants of the program, and each row has dozens.
static NAMES: Mutex<Option<HashMap<&'static str, Py<PyString>>>> = Mutex::new(None);

fn name_object<'py>(py: Python<'py>, name: &'static str) -> Bound<'py, PyString> {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = names.get_or_insert_default().entry(name);
    found.or_insert_with(|| PyString::intern(py, name).unbind()).bind(py).clone()
}

fn within<'py>(variant: Option<&'static str>, object: Object<'py>) -> Result<Object<'py>, Refused> {
    let Some(name) = variant else { return Ok(object) };
    let dict = PyDict::new(object.py());
    dict.set_item(PyString::intern(object.py(), name), &object)?;
    Ok(dict.into_any())
}

macro_rules! integers {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method(self, v: $kind) -> Result<Object<'py>, Refused> {
            Ok(PyInt::new(self.0, v).into_any())
        }
    )*};
}

impl<'py> ser::Serializer for Plain<'py> {
    type Ok = Object<'py>;
    type Error = Refused;
    type SerializeSeq = Items<'py>;
    type SerializeTuple = Items<'py>;
    type SerializeTupleStruct = Items<'py>;
    type SerializeTupleVariant = Items<'py>;
    type SerializeMap = Fields<'py>;
    type SerializeStruct = Fields<'py>;
    type SerializeStructVariant = Fields<'py>;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    }

    fn serialize_bool(self, v: bool) -> Result<Object<'py>, Refused> {
        Ok(PyBool::new(self.0, v).to_owned().into_any())
    }

    fn serialize_f32(self, v: f32) -> Result<Object<'py>, Refused> {
        self.serialize_f64(f64::from(v))
    }

    fn serialize_f64(self, v: f64) -> Result<Object<'py>, Refused> {
        if v.is_finite() { Ok(PyFloat::new(self.0, v).into_any()) } else { self.serialize_none() }
    }

    fn serialize_char(self, v: char) -> Result<Object<'py>, Refused> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, v: &str) -> Result<Object<'py>, Refused> {
        Ok(PyString::new(self.0, v).into_any())
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<Object<'py>, Refused> {
        v.iter().collect::<Vec<_>>().serialize(self)
    }

    fn serialize_none(self) -> Result<Object<'py>, Refused> {
        Ok(self.0.None().into_bound(self.0))
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Object<'py>, Refused> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Object<'py>, Refused> {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Object<'py>, Refused> {
        self.serialize_none()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Object<'py>, Refused> {
        Ok(PyString::intern(self.0, variant).into_any())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Object<'py>, Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Object<'py>, Refused> {
        within(Some(variant), value.serialize(self)?)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'py>, Refused> {
        Ok(self.items(None))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'py>, Refused> {
        Ok(self.items(None))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'py>, Refused> {
        Ok(self.items(None))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'py>, Refused> {
        Ok(self.items(Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields<'py>, Refused> {
        Ok(self.fields(None))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'py>, Refused> {
        Ok(self.fields(None))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields<'py>, Refused> {
        Ok(self.fields(Some(variant)))
    }
}

impl<'py> Items<'py> {
    fn add<T: ?Sized + Serialize>(&self, value: &T) -> Result<(), Refused> {
        Ok(self.list.append(value.serialize(Plain(self.list.py()))?)?)
    }

    fn done(self) -> Result<Object<'py>, Refused> {
        within(self.variant, self.list.into_any())
    }
}

impl<'py> Fields<'py> {
    fn add<T: ?Sized + Serialize>(&self, key: &'static str, value: &T) -> Result<(), Refused> {
        let py = self.dict.py();
        Ok(self.dict.set_item(name_object(py, key), value.serialize(Plain(py))?)?)
    }

    fn done(self) -> Result<Object<'py>, Refused> {
        within(self.variant, self.dict.into_any())
    }
}

macro_rules! items {
    ($($kind:ident: $method:ident),*) => {$(
        impl<'py> ser::$kind for Items<'py> {
            type Ok = Object<'py>;
            type Error = Refused;

            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Refused> {
                self.add(value)
            }

            fn end(self) -> Result<Object<'py>, Refused> {
                self.done()
            }
        }
    )*};
}

items! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
}

macro_rules! fields {
    ($($kind:ident),*) => {$(
        impl<'py> ser::$kind for Fields<'py> {
            type Ok = Object<'py>;
            type Error = Refused;

            fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Refused> {
                self.add(key, value)
            }

            fn end(self) -> Result<Object<'py>, Refused> {
                self.done()
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant }

impl<'py> ser::SerializeMap for Fields<'py> {
    type Ok = Object<'py>;
    type Error = Refused;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Refused> {
        self.key = Some(key.serialize(Plain(self.dict.py()))?.str()?.into_any());
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Refused> {
        let key = self.key.take().ok_or_else(|| Refused("a value without a key".to_owned()))?;
        Ok(self.dict.set_item(key, value.serialize(Plain(self.dict.py()))?)?)
    }

    fn end(self) -> Result<Object<'py>, Refused> {
        self.done()
    }
}
