//! Answers of an agent: a line of JSON, and the bytes that it announces.

use crate::error::{KernelError, Step};
use crate::run::output::write_tables;
use dumbbell_trace::Table;
use serde_json::Value;
use std::io::Write;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Reply {
    document: Value,
    payloads: Vec<Vec<u8>>,
}

impl Reply {
    /// An answer without further bytes.
    pub(super) fn of(document: Value) -> Reply {
        Reply { document, payloads: Vec::new() }
    }

    /// Results: the columns of the tables are the first payload, captures follow.
    pub(super) fn results(mut document: Value, tables: &[Table], captures: Vec<Vec<u8>>) -> Result<Reply, KernelError> {
        let mut columns = Vec::new();
        document["tables"] = write_tables(&mut columns, tables).step(|| "tables".into())?;
        let payloads: Vec<Vec<u8>> = std::iter::once(columns).chain(captures).collect();
        document["payloads"] = payloads.iter().map(Vec::len).collect::<Vec<_>>().into();
        Ok(Reply { document, payloads })
    }

    /// Writes the answer to the standard output. Nobody reads it only if the connection has ended; then this process
    /// ends too.
    pub(super) fn write(&self) {
        let mut out = std::io::stdout().lock();
        let write = |out: &mut std::io::StdoutLock<'_>| {
            writeln!(out, "{}", self.document)?;
            self.payloads.iter().try_for_each(|bytes| out.write_all(bytes))?;
            out.flush()
        };
        if write(&mut out).is_err() {
            std::process::exit(0);
        }
    }
}
