//! The tables that a run leaves: named columns of numbers.
//!
//! [`tables`] declares each kind of table and its columns once. The recorders of the simulator and of the kernel back
//! ends append rows while the run is in progress; afterwards each column is passed on as a whole, without a copy.

pub mod tables;

use std::fmt;
use tables::ColumnType;

/// The values of one column, all of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Counts, byte offsets, nanoseconds.
    U64(Vec<u64>),
    /// Quantities with fractions; NaN for a missing value.
    F64(Vec<f64>),
    /// Indices and sizes.
    U32(Vec<u32>),
    /// Codes of small enumerations.
    U8(Vec<u8>),
}

/// The values of a column, borrowed: from a table, or from a recorder while the run is in progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnSlice<'a> {
    /// See [`ColumnData::U64`].
    U64(&'a [u64]),
    /// See [`ColumnData::F64`].
    F64(&'a [f64]),
    /// See [`ColumnData::U32`].
    U32(&'a [u32]),
    /// See [`ColumnData::U8`].
    U8(&'a [u8]),
}

/// A table, borrowed: its columns have the names and the order of [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub struct TableSlice<'a> {
    /// The name, such as `flow/tcp` or `queue/r1->r2`.
    pub name: String,
    /// Names and values of the columns.
    pub columns: Vec<(&'a str, ColumnSlice<'a>)>,
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name, with the unit if it is not evident (`t_ns`, `srtt_ns`, `cwnd`).
    pub name: String,
    /// The values.
    pub data: ColumnData,
}

/// A named table; all columns have the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name, such as `flow/tcp` or `queue/r1->r2`.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
}

/// A set of tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The tables, in the order of the scenario.
    pub tables: Vec<Table>,
}

impl ColumnData {
    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// True if the column has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the values.
    #[must_use]
    pub fn kind(&self) -> ColumnType {
        self.as_slice().kind()
    }

    /// Borrows the values.
    #[must_use]
    pub fn as_slice(&self) -> ColumnSlice<'_> {
        match self {
            ColumnData::U64(v) => ColumnSlice::U64(v),
            ColumnData::F64(v) => ColumnSlice::F64(v),
            ColumnData::U32(v) => ColumnSlice::U32(v),
            ColumnData::U8(v) => ColumnSlice::U8(v),
        }
    }
}

impl ColumnSlice<'_> {
    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            ColumnSlice::U64(v) => v.len(),
            ColumnSlice::F64(v) => v.len(),
            ColumnSlice::U32(v) => v.len(),
            ColumnSlice::U8(v) => v.len(),
        }
    }

    /// True if the column has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the values.
    #[must_use]
    pub fn kind(&self) -> ColumnType {
        match self {
            ColumnSlice::U64(_) => ColumnType::U64,
            ColumnSlice::F64(_) => ColumnType::F64,
            ColumnSlice::U32(_) => ColumnType::U32,
            ColumnSlice::U8(_) => ColumnType::U8,
        }
    }
}

impl TableSlice<'_> {
    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }
}

impl Table {
    /// Borrows the table.
    #[must_use]
    pub fn as_slice(&self) -> TableSlice<'_> {
        let columns = self.columns.iter().map(|column| (column.name.as_str(), column.data.as_slice()));
        TableSlice { name: self.name.clone(), columns: columns.collect() }
    }

    /// Returns a table without columns.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Table {
        Table { name: name.into(), columns: Vec::new() }
    }

    /// Appends a column.
    ///
    /// # Panics
    /// If its length differs from that of the other columns: an error in the recorder.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, data: ColumnData) -> Table {
        if let Some(first) = self.columns.first() {
            assert_eq!(first.data.len(), data.len(), "all columns of a table have the same length");
        }
        self.columns.push(Column { name: name.into(), data });
        self
    }

    /// Appends the private columns of a variant or a queue discipline.
    ///
    /// # Panics
    /// See [`Table::with`].
    #[must_use]
    pub fn with_private(self, names: &[&str], columns: Vec<Vec<f64>>) -> Table {
        names.iter().zip(columns).fold(self, |table, (name, values)| table.with(*name, ColumnData::F64(values)))
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.data.len())
    }

    /// Returns the values of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnData> {
        self.columns.iter().find(|c| c.name == name).map(|c| &c.data)
    }
}

impl Trace {
    /// Returns the table of that name.
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
