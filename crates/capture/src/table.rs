//! Results as tables of typed columns, which data frames take over without conversion.

/// A missing value in a column of `i64`.
pub const MISSING: i64 = i64::MIN;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Counts.
    U64(Vec<u64>),
    /// Times, and counts that may be missing: [`MISSING`].
    I64(Vec<i64>),
    /// Sizes, small counts.
    U32(Vec<u32>),
    /// Bit sets.
    U16(Vec<u16>),
    /// Codes.
    U8(Vec<u8>),
    /// Small numbers; -1 if missing.
    I32(Vec<i32>),
    /// Quantities; NaN if missing.
    F64(Vec<f64>),
    /// Names; empty if missing.
    Text(Vec<String>),
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::U16(v) => v.len(),
            Self::U8(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    /// The values of these rows.
    fn at(&self, rows: &[usize]) -> Self {
        fn pick<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        match self {
            Self::U64(v) => Self::U64(pick(v, rows)),
            Self::I64(v) => Self::I64(pick(v, rows)),
            Self::U32(v) => Self::U32(pick(v, rows)),
            Self::U16(v) => Self::U16(pick(v, rows)),
            Self::U8(v) => Self::U8(pick(v, rows)),
            Self::I32(v) => Self::I32(pick(v, rows)),
            Self::F64(v) => Self::F64(pick(v, rows)),
            Self::Text(v) => Self::Text(pick(v, rows)),
        }
    }

    fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::U64(a), Self::U64(b)) => a.extend(b),
            (Self::I64(a), Self::I64(b)) => a.extend(b),
            (Self::U32(a), Self::U32(b)) => a.extend(b),
            (Self::U16(a), Self::U16(b)) => a.extend(b),
            (Self::U8(a), Self::U8(b)) => a.extend(b),
            (Self::I32(a), Self::I32(b)) => a.extend(b),
            (Self::F64(a), Self::F64(b)) => a.extend(b),
            (Self::Text(a), Self::Text(b)) => a.extend(b),
            // A column has the same type in every table of its kind.
            _ => {}
        }
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

macro_rules! from {
    ($($kind:ident $type:ty),*) => { $(
        impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Self {
                Self::$kind(values)
            }
        }
    )* };
}
from!(U64 u64, I64 i64, U32 u32, U16 u16, U8 u8, I32 i32, F64 f64, Text String);

/// A table: columns of one length, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its columns, in order.
    pub columns: Vec<(&'static str, Values)>,
}

impl Table {
    /// The table with another column.
    #[must_use]
    pub fn with(mut self, name: &'static str, values: impl Into<Values>) -> Self {
        self.columns.push((name, values.into()));
        self
    }

    /// The rows whose value in a column of `u64` is `value`; none if there is no such column.
    #[must_use]
    pub fn rows_with(&self, column: &str, value: u64) -> Self {
        let Some(Values::U64(keys)) = self.column(column) else { return Self::default() };
        let rows: Vec<usize> = (0..keys.len()).filter(|&row| keys[row] == value).collect();
        Self { columns: self.columns.iter().map(|(name, values)| (*name, values.at(&rows))).collect() }
    }

    /// Appends the rows of a table with the same columns.
    pub fn append(&mut self, more: Self) {
        if self.columns.is_empty() {
            *self = more;
            return;
        }
        for ((_, mine), (_, theirs)) in self.columns.iter_mut().zip(more.columns) {
            mine.append(theirs);
        }
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, v)| v.len())
    }
}

/// A count that may be missing, for a column of `i64`.
pub(crate) fn maybe(count: Option<impl TryInto<i64>>) -> i64 {
    count.and_then(|n| n.try_into().ok()).unwrap_or(MISSING)
}

/// A column with `value(row)` for each row.
pub(crate) fn column<R, T>(rows: &[R], value: impl FnMut(&R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}
