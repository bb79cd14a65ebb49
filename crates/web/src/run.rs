//! One run: in progress, then finished.

use crate::Region;
use dumbbell_plan::{FlowResult, Plan, QueueResult, Transfer};
use dumbbell_sim::{Output, Simulation};
use dumbbell_trace::{ColumnSlice, Table, TableSlice};
use dumbbell_units::Time;
use serde::Serialize;

/// See the top of this file.
pub(crate) enum Run {
    Begun(Box<Simulation>),
    Finished(Box<Output>),
    /// It failed: its error has been reported.
    Failed,
}

#[derive(Serialize)]
struct ColumnHead<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct TableHead<'a> {
    name: &'a str,
    rows: usize,
    columns: Vec<ColumnHead<'a>>,
}

#[derive(Serialize)]
struct QlogFile<'a> {
    name: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct Results<'a> {
    flows: &'a [FlowResult],
    queues: &'a [QueueResult],
    transfers: &'a [Transfer],
    tables: Vec<TableHead<'a>>,
    captures: Vec<&'a str>,
    qlogs: Vec<QlogFile<'a>>,
    events: u64,
}

impl Run {
    /// Begins the run of a plan (JSON).
    pub(crate) fn start(plan: &[u8]) -> Result<Run, String> {
        let plan = str::from_utf8(plan).map_err(|e| e.to_string());
        let plan = plan.and_then(|text| Plan::from_json(text).map_err(|e| e.to_string()));
        let plan = plan.map_err(|e| format!("invalid plan: {e}"))?;
        let simulation = Simulation::new(plan).map_err(|e| e.to_string())?;
        Ok(Run::Begun(Box::new(simulation)))
    }

    /// Processes the events until a time. Returns false at the end.
    pub(crate) fn advance(&mut self, until: Time) -> Result<bool, String> {
        match self {
            Run::Begun(simulation) => {
                let result = simulation.advance(until);
                if result.is_err() {
                    *self = Run::Failed;
                }
                result.map_err(|e| e.to_string())
            }
            Run::Finished(_) => Ok(false),
            Run::Failed => Err(failed()),
        }
    }

    /// Processes the rest and returns the results; once more if they exist already.
    pub(crate) fn finish(&mut self) -> Result<String, String> {
        if let Run::Begun(_) = self
            && let Run::Begun(simulation) = std::mem::replace(self, Run::Failed)
        {
            *self = Run::Finished(Box::new(simulation.finish().map_err(|e| e.to_string())?));
        }
        let output = self.output()?;
        let tables: Vec<TableSlice<'_>> = output.trace.tables.iter().map(Table::as_slice).collect();
        json(&Results {
            flows: &output.flows,
            queues: &output.queues,
            transfers: &output.transfers,
            tables: tables.iter().map(head).collect(),
            captures: output.captures.iter().map(|capture| capture.name()).collect(),
            qlogs: output.qlogs.iter().map(|q| QlogFile { name: &q.name, text: &q.text }).collect(),
            events: output.events,
        })
    }

    /// The tables so far, or all tables after the end.
    pub(crate) fn tables(&self) -> Result<String, String> {
        let tables = self.series()?;
        json(&tables.iter().map(head).collect::<Vec<_>>())
    }

    /// Where the values of a column are.
    pub(crate) fn column(&self, table: usize, column: usize) -> Result<Region, String> {
        let tables = self.series()?;
        let (_, values) = tables
            .get(table)
            .and_then(|table| table.columns.get(column))
            .ok_or_else(|| format!("no column {column} of table {table}"))?;
        Ok(match values {
            ColumnSlice::U64(v) => region(v),
            ColumnSlice::F64(v) => region(v),
            ColumnSlice::U32(v) => region(v),
            ColumnSlice::U8(v) => region(v),
        })
    }

    /// A capture as a pcapng file.
    pub(crate) fn capture(&self, capture: usize) -> Result<Vec<u8>, String> {
        let captures = &self.output()?.captures;
        let capture = captures.get(capture).ok_or_else(|| format!("no capture {capture}"))?;
        let mut file = Vec::new();
        capture.write(&mut file).map_err(|e| e.to_string())?;
        Ok(file)
    }

    fn series(&self) -> Result<Vec<TableSlice<'_>>, String> {
        match self {
            Run::Begun(simulation) => Ok(simulation.series().collect()),
            Run::Finished(output) => Ok(output.trace.tables.iter().map(Table::as_slice).collect()),
            Run::Failed => Err(failed()),
        }
    }

    fn output(&self) -> Result<&Output, String> {
        match self {
            Run::Finished(output) => Ok(output),
            Run::Begun(_) => Err("the run is not finished".to_owned()),
            Run::Failed => Err(failed()),
        }
    }
}

fn failed() -> String {
    "the run has failed".to_owned()
}

/// Where the values are: address and bytes.
pub(crate) fn region<T>(values: &[T]) -> Region {
    (values.as_ptr() as usize, size_of_val(values))
}

fn head<'a>(table: &'a TableSlice<'_>) -> TableHead<'a> {
    let columns = table.columns.iter().map(|(name, v)| ColumnHead { name, kind: v.kind().name() });
    TableHead { name: &table.name, rows: table.rows(), columns: columns.collect() }
}

fn json<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|e| e.to_string())
}
