//! Writes results as files: rows as JSON, series as one block of bytes with its table of contents in that JSON.

use crate::error::{KernelError, Step};
use crate::run::Measured;
use dumbbell_trace::ColumnData;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Result, Write as _};
use std::path::Path;

/// Writes `tables.bin`, then `result.json`, whose key `tables` has the offset of each column.
pub(crate) fn write(place: &Path, measured: &Measured) -> std::result::Result<(), KernelError> {
    let mut file = Counted {
        inner: BufWriter::new(File::create(place.join("tables.bin")).step(|| "tables.bin".into())?),
        bytes: 0,
    };
    let mut contents = Vec::new();
    for table in &measured.tables {
        let mut columns = Vec::new();
        for column in &table.columns {
            let gap = file.bytes.next_multiple_of(8) - file.bytes;
            file.put(&[0; 8][..gap as usize]).step(|| "tables.bin".into())?;
            let offset = file.bytes;
            let kind = append(&mut file, &column.data).step(|| "tables.bin".into())?;
            columns.push(json!({
                "name": column.name, "offset": offset, "rows": column.data.len(), "type": kind,
            }));
        }
        contents.push(json!({"name": table.name, "columns": columns}));
    }
    file.inner.flush().step(|| "tables.bin".into())?;
    let mut document = serde_json::to_value(measured).map_err(|e| KernelError::Invalid(e.to_string()))?;
    document["tables"] = Value::Array(contents);
    fs::write(place.join("result.json"), document.to_string()).step(|| "result.json".into())
}

/// A file that counts the bytes written.
struct Counted {
    inner: BufWriter<File>,
    bytes: u64,
}

impl Counted {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.inner.write_all(bytes)
    }
}

/// Appends a column; returns NumPy's name of its type.
fn append(file: &mut Counted, data: &ColumnData) -> Result<&'static str> {
    match data {
        ColumnData::U64(v) => v.iter().try_for_each(|x| file.put(&x.to_le_bytes())).map(|()| "<u8"),
        ColumnData::F64(v) => v.iter().try_for_each(|x| file.put(&x.to_le_bytes())).map(|()| "<f8"),
        ColumnData::U32(v) => v.iter().try_for_each(|x| file.put(&x.to_le_bytes())).map(|()| "<u4"),
        ColumnData::U8(v) => file.put(v).map(|()| "u1"),
    }
}
