//! Writes results as files: rows as JSON, series as one block of bytes with its table of contents in that JSON.

use crate::error::{KernelError, Step};
use crate::run::Measured;
use dumbbell_trace::{ColumnData, Table};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// Writes `tables.bin`, then `result.json`, whose key `tables` has the offset of each column.
pub(crate) fn write(place: &Path, measured: &Measured) -> std::result::Result<(), KernelError> {
    let file = BufWriter::new(File::create(place.join("tables.bin")).step(|| "tables.bin".into())?);
    let contents = write_tables(file, &measured.tables).step(|| "tables.bin".into())?;
    let mut document = serde_json::to_value(measured).map_err(|e| KernelError::Invalid(e.to_string()))?;
    document["tables"] = contents;
    fs::write(place.join("result.json"), document.to_string()).step(|| "result.json".into())
}

/// Writes the columns of tables, each aligned to 8 bytes; returns their names, types and offsets.
pub(crate) fn write_tables(into: impl Write, tables: &[Table]) -> Result<Value> {
    let mut file = Counted { inner: into, bytes: 0 };
    let mut contents = Vec::new();
    for table in tables {
        let mut columns = Vec::new();
        for column in &table.columns {
            let gap = file.bytes.next_multiple_of(8) - file.bytes;
            file.put(&[0; 8][..gap as usize])?;
            let offset = file.bytes;
            let kind = append(&mut file, &column.data)?;
            columns.push(json!({
                "name": column.name, "offset": offset, "rows": column.data.len(), "type": kind,
            }));
        }
        contents.push(json!({"name": table.name, "columns": columns}));
    }
    file.inner.flush()?;
    Ok(Value::Array(contents))
}

/// A sink that counts the bytes written.
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
