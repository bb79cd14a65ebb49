//! Results as files: figures as JSON, series as one block of bytes with a table of contents.

use super::machine::Measured;
use crate::error::{EmuError, Step};
use dumbbell_trace::ColumnData;
use serde_json::{Value, json};
use std::fs;

/// Writes `/tables.bin` and then `/result.json`, whose key `tables` says where each column lies.
pub(super) fn write(measured: &Measured) -> Result<(), EmuError> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut contents = Vec::new();
    for table in &measured.tables {
        let mut columns = Vec::new();
        for column in &table.columns {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            columns.push(json!({
                "name": column.name, "offset": bytes.len(), "rows": column.data.len(),
                "type": append(&mut bytes, &column.data),
            }));
        }
        contents.push(json!({"name": table.name, "columns": columns}));
    }
    fs::write("/tables.bin", &bytes).step(|| "tables.bin".into())?;
    let mut document = serde_json::to_value(measured).map_err(|e| EmuError::Invalid(e.to_string()))?;
    document["tables"] = Value::Array(contents);
    let text = document.to_string();
    fs::write("/result.json", text).step(|| "result.json".into())
}

/// Appends a column; gives NumPy's name of its type.
fn append(bytes: &mut Vec<u8>, data: &ColumnData) -> &'static str {
    match data {
        ColumnData::U64(v) => {
            v.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            "<u8"
        }
        ColumnData::F64(v) => {
            v.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            "<f8"
        }
        ColumnData::U32(v) => {
            v.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            "<u4"
        }
        ColumnData::U8(v) => {
            bytes.extend(v);
            "u1"
        }
    }
}
