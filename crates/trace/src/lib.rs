//! The columns that a run leaves behind. Rows are appended while the run goes; afterwards each column is handed on
//! whole, without a copy.

use std::fmt;

/// The values of one column, all of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Counts, byte offsets, nanoseconds.
    U64(Vec<u64>),
    /// Quantities with fractions; NaN where there is no value.
    F64(Vec<f64>),
    /// Indices and sizes.
    U32(Vec<u32>),
    /// Codes of small enumerations.
    U8(Vec<u8>),
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, with the unit where it isn't evident (`t_ns`, `srtt_ns`, `cwnd`).
    pub name: String,
    /// Its values.
    pub data: ColumnData,
}

/// A named table; all columns have the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name, such as `flow/tcp` or `queue/r1->r2`.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
}

/// A set of tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The tables, in the order of the scenario.
    pub tables: Vec<Table>,
}

impl ColumnData {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            ColumnData::U64(v) => v.len(),
            ColumnData::F64(v) => v.len(),
            ColumnData::U32(v) => v.len(),
            ColumnData::U8(v) => v.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// A table without columns yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Table {
        Table { name: name.into(), columns: Vec::new() }
    }

    /// The same table with one more column.
    ///
    /// # Panics
    /// If its length differs from the other columns': a broken recorder.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, data: ColumnData) -> Table {
        if let Some(first) = self.columns.first() {
            assert_eq!(first.data.len(), data.len(), "columns of one table have one length");
        }
        self.columns.push(Column { name: name.into(), data });
        self
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.data.len())
    }

    /// The values of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnData> {
        self.columns.iter().find(|c| c.name == name).map(|c| &c.data)
    }
}

impl Trace {
    /// The table of that name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.name == name)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        write!(f, "{}: {} rows of {}", self.name, self.rows(), names.join(", "))
    }
}
