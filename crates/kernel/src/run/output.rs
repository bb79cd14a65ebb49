//! Writes results as files: rows as JSON, series as one block of bytes with its table of contents in that JSON.

use crate::error::{KernelError, Step};
use crate::run::Measured;
use crate::sys;
use dumbbell_trace::{ColumnData, Table};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Result, Write};
use std::path::Path;

const NAME: &str = "tables.bin";

/// The file `tables.bin`. A table may be in it in several parts, in the order of its rows; parts may be written while
/// the run is in progress.
#[derive(Debug)]
pub(crate) struct TableFile {
    file: Counted<BufWriter<File>>,
    contents: Vec<Value>,
    part_bytes: usize,
}

impl TableFile {
    /// Makes the file in a folder. `part_bytes`: bytes of a table in memory from which they become a part.
    pub(crate) fn new(place: &Path, part_bytes: usize) -> std::result::Result<TableFile, KernelError> {
        let file = BufWriter::new(File::create(place.join(NAME)).step(|| NAME.into())?);
        Ok(TableFile { file: Counted { inner: file, bytes: 0 }, contents: Vec::new(), part_bytes })
    }

    pub(crate) fn part_bytes(&self) -> usize {
        self.part_bytes
    }

    /// Appends a part of a table while a run is in progress.
    pub(crate) fn append(&mut self, table: &Table) -> std::result::Result<(), KernelError> {
        self.contents.push(write_table(&mut self.file, table).step(|| NAME.into())?);
        self.file.inner.flush().step(|| NAME.into())?;
        free_memory(self.file.inner.get_ref()).step(|| NAME.into())
    }

    /// Writes the tables that are in memory, then `result.json`, whose key `tables` has the offset of each column.
    pub(crate) fn finish(mut self, place: &Path, measured: &Measured) -> std::result::Result<(), KernelError> {
        for table in &measured.tables {
            self.contents.push(write_table(&mut self.file, table).step(|| NAME.into())?);
        }
        self.file.inner.flush().step(|| NAME.into())?;
        let mut document = serde_json::to_value(measured).map_err(|e| KernelError::Invalid(e.to_string()))?;
        document["tables"] = Value::Array(self.contents);
        fs::write(place.join("result.json"), document.to_string()).step(|| "result.json".into())
    }
}

/// Writes the data of a file to its file system, and frees the guest's memory that they take, in its page cache
/// [Linux Documentation/admin-guide/sysctl/vm.rst drop_caches].
pub(super) fn free_memory(file: &File) -> Result<()> {
    sys::write_back(file)?;
    fs::write("/proc/sys/vm/drop_caches", "1")
}

/// Writes `tables.bin` and `result.json`.
pub(crate) fn write(place: &Path, measured: &Measured) -> std::result::Result<(), KernelError> {
    TableFile::new(place, usize::MAX)?.finish(place, measured)
}

/// Writes the columns of tables, each aligned to 8 bytes; returns their names, types and offsets.
pub(crate) fn write_tables(into: impl Write, tables: &[Table]) -> Result<Value> {
    let mut file = Counted { inner: into, bytes: 0 };
    let contents = tables.iter().map(|table| write_table(&mut file, table)).collect::<Result<_>>()?;
    file.inner.flush()?;
    Ok(Value::Array(contents))
}

fn write_table<W: Write>(file: &mut Counted<W>, table: &Table) -> Result<Value> {
    let mut columns = Vec::new();
    for column in &table.columns {
        let gap = file.bytes.next_multiple_of(8) - file.bytes;
        file.put(&[0; 8][..gap as usize])?;
        let offset = file.bytes;
        let kind = append(file, &column.data)?;
        columns.push(json!({
            "name": column.name, "offset": offset, "rows": column.data.len(), "type": kind,
        }));
    }
    Ok(json!({"name": table.name, "columns": columns}))
}

/// A sink that counts the bytes written.
#[derive(Debug)]
struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Counted<W> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.inner.write_all(bytes)
    }
}

/// Appends a column; returns NumPy's name of its type.
fn append<W: Write>(file: &mut Counted<W>, data: &ColumnData) -> Result<&'static str> {
    match data {
        ColumnData::U64(v) => v.iter().try_for_each(|x| file.put(&x.to_le_bytes())).map(|()| "<u8"),
        ColumnData::F64(v) => v.iter().try_for_each(|x| file.put(&x.to_le_bytes())).map(|()| "<f8"),
        ColumnData::U32(v) => v.iter().try_for_each(|x| file.put(&x.to_le_bytes())).map(|()| "<u4"),
        ColumnData::U8(v) => file.put(v).map(|()| "u1"),
    }
}
