//! A number of a result, or none. It takes half the memory of an `Option<f64>`: large plans have many results, and most
//! of their numbers are none.

use serde::{Serialize, Serializer};
use std::fmt;

/// See the top of this file. No result is NaN, which stands for none.
#[derive(Clone, Copy)]
pub struct Optional(f64);

impl Optional {
    /// No number.
    pub const NONE: Optional = Optional(f64::NAN);

    /// Returns the number, if there is one.
    #[must_use]
    pub fn get(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl Default for Optional {
    fn default() -> Optional {
        Optional::NONE
    }
}

impl From<f64> for Optional {
    fn from(number: f64) -> Optional {
        Optional(number)
    }
}

impl From<Option<f64>> for Optional {
    fn from(number: Option<f64>) -> Optional {
        number.map_or(Optional::NONE, Optional)
    }
}

impl PartialEq for Optional {
    fn eq(&self, other: &Optional) -> bool {
        self.get() == other.get()
    }
}

impl PartialEq<Option<f64>> for Optional {
    fn eq(&self, other: &Option<f64>) -> bool {
        self.get() == *other
    }
}

impl fmt::Debug for Optional {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for Optional {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_null() {
        let text = |number: Optional| serde_json::to_string(&number).unwrap();
        assert_eq!((text(Optional::NONE), text(0.5.into())), ("null".to_owned(), "0.5".to_owned()));
        assert_eq!((Optional::from(None), Optional::from(Some(2.0)).get()), (Optional::NONE, Some(2.0)));
        assert_eq!(size_of::<Optional>(), 8);
    }
}
