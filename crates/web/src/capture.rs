//! The analysis of a capture file. The page keeps the file and gives it in pieces: memory has one window of it.

use std::io::{self, Read};

use dumbbell_capture::analyze::{Analysis, Chunk, Kind, Options, analyze_readers};
use dumbbell_capture::table::{Table, Values};
use dumbbell_capture::{Error, Properties, Reader};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Region;

/// A file of the page, or of a test.
pub(crate) type Source = Box<dyn Read + Send>;

/// The file as the page describes it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    /// Bytes.
    size: u64,
}

/// The rows that the page asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    table: String,
    /// TCP connections or UDP conversations; none for all.
    numbers: Option<Vec<u64>>,
}

/// An analyzed file.
pub(crate) struct Capture {
    file: File,
    found: Analysis,
    /// Segments of one connection, then its SACK blocks.
    segments: [Table; 2],
}

impl Capture {
    /// Analyzes a file: `about` is its name and size as JSON.
    pub(crate) fn open(about: &[u8], source: Source) -> Result<Self, String> {
        let file: File = serde_json::from_slice(about).map_err(|e| format!("invalid file: {e}"))?;
        let found = analyze(&file, source, &options(), None)?;
        Ok(Self { file, found, segments: Default::default() })
    }

    /// Everything but the tables of connections, as JSON. Names and values are those of `dumbbell analyze --json`;
    /// `rows` has the number of TCP connections and UDP conversations.
    pub(crate) fn summary(&self) -> String {
        let f = &self.found;
        let pairs = |all: Vec<(String, u64)>| all.into_iter().map(|(name, n)| json!([name, n])).collect::<Vec<_>>();
        json!({
            "interval_ns": f.interval.0,
            "origin_ns": f.origin,
            "contents": pairs(f.contents.iter().map(|(content, n)| (content.to_string(), *n)).collect()),
            "tunnels": pairs(f.tunnels.iter().map(|(tunnel, n)| (tunnel.name().to_owned(), *n)).collect()),
            "totals": {
                "connections": f.totals.connections,
                "data_packets": f.totals.data_packets,
                "retransmitted_packets": f.totals.retransmitted_packets,
                "timeouts": f.totals.timeouts,
            },
            "warnings": f.warnings.iter().map(|w| json!({"kind": w.kind, "flow": w.flow, "text": w.text})).collect::<Vec<_>>(),
            "damage": f.damage.iter().map(|d| json!({
                "file": d.file, "offset": d.offset, "frames": d.frames, "text": d.fault.to_string(),
            })).collect::<Vec<_>>(),
            "properties": f.properties.iter().map(properties).collect::<Vec<_>>(),
            "connections": f.numbers().len(),
            "conversations": f.conversations(),
        })
        .to_string()
    }

    /// The rows of a table as a JSON array; `wanted` names the table and the connections.
    pub(crate) fn rows(&self, wanted: &[u8]) -> Result<Vec<u8>, String> {
        let wanted: Wanted = serde_json::from_slice(wanted).map_err(|e| format!("invalid question: {e}"))?;
        let kind = Kind::from_name(&wanted.table).ok_or_else(|| format!("no table '{}'", wanted.table))?;
        let table = match wanted.numbers {
            None => self.found.table(kind),
            Some(numbers) => self.found.rows(kind, &numbers),
        };
        let mut text = vec![b'['];
        table.write_json(b',', &mut text);
        text.push(b']');
        Ok(text)
    }

    /// The numbers of the connections with the most payload, the largest first, as JSON.
    pub(crate) fn largest(&self, most: usize) -> String {
        json!(self.found.largest(most)).to_string()
    }

    /// Reads the file once more and keeps the segments of a TCP connection.
    pub(crate) fn read_segments(&mut self, flow: u64, source: Source) -> Result<(), String> {
        self.segments = Default::default();
        let [packets, sacks] = &mut self.segments;
        let mut keep = |chunk: Chunk| {
            packets.append(chunk.packets.rows_with("flow", flow));
            sacks.append(chunk.sacks.rows_with("flow", flow));
        };
        analyze(&self.file, source, &options(), Some(&mut keep)).map(drop)
    }

    /// Names, rows and columns of the tables of segments, as JSON.
    pub(crate) fn segment_tables(&self) -> String {
        let heads = ["packets", "sacks"].into_iter().zip(&self.segments).map(|(name, table)| {
            let columns = table.columns.iter().map(|(name, values)| json!({"name": name, "type": kind(values)}));
            json!({"name": name, "rows": table.rows(), "columns": columns.collect::<Vec<_>>()})
        });
        json!(heads.collect::<Vec<_>>()).to_string()
    }

    /// The place of the values of a column of segments.
    pub(crate) fn segment_column(&self, table: usize, column: usize) -> Result<Region, String> {
        let (_, values) = self
            .segments
            .get(table)
            .and_then(|table| table.columns.get(column))
            .ok_or_else(|| format!("no column {column} of table {table}"))?;
        Ok(match values {
            Values::U64(v) => crate::run::region(v),
            Values::I64(v) => crate::run::region(v),
            Values::U32(v) => crate::run::region(v),
            Values::U16(v) => crate::run::region(v),
            Values::U8(v) => crate::run::region(v),
            Values::I32(v) => crate::run::region(v),
            Values::F64(v) => crate::run::region(v),
            Values::Text(_) => return Err(format!("column {column} of table {table} has texts")),
        })
    }
}

/// WebAssembly has one thread.
fn options() -> Options {
    Options { threads: 1, ..Options::default() }
}

fn analyze(
    file: &File,
    source: Source,
    options: &Options,
    packets: Option<&mut dyn FnMut(Chunk)>,
) -> Result<Analysis, String> {
    let reader = Reader::from_read(&file.name, source).map(|reader| reader.with_size(file.size));
    let mut readers: std::iter::Once<Result<Reader, Error>> = std::iter::once(reader);
    analyze_readers(&mut readers, options, &mut |_| true, packets).map_err(|e| e.to_string())
}

fn kind(values: &Values) -> &'static str {
    match values {
        Values::U64(_) => "uint64",
        Values::I64(_) => "int64",
        Values::U32(_) => "uint32",
        Values::U16(_) => "uint16",
        Values::U8(_) => "uint8",
        Values::I32(_) => "int32",
        Values::F64(_) => "float64",
        Values::Text(_) => "text",
    }
}

/// Properties with the names of `CaptureOutput.properties` in the extension module.
fn properties(p: &Properties) -> Value {
    json!({
        "file": p.file,
        "format": p.kind.title(),
        "compression": p.compression.map(|c| format!("{c:?}").to_lowercase()),
        "encapsulations": p.encapsulations.iter().map(|(link, n)| json!([link.title(), n])).collect::<Vec<_>>(),
        "packets": p.packets,
        "file_size": p.file_size,
        "bytes": p.bytes,
        "captured_bytes": p.captured_bytes,
        "first_ns": p.first,
        "last_ns": p.last,
        "duration_ns": p.duration(),
        "byte_rate": p.byte_rate(),
        "bit_rate": p.bit_rate(),
        "packet_rate": p.packet_rate(),
        "mean_length": p.mean_length(),
    })
}

/// Reads with a function of the page that fills memory.
pub(crate) struct Pieces<F>(pub(crate) F);

impl<F: FnMut(&mut [u8]) -> i32> Read for Pieces<F> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        usize::try_from((self.0)(to)).map_err(|_| io::Error::other("the browser can't read the file"))
    }
}
