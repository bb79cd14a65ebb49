//! A run in steps: random networks give the same output, byte for byte, as in one call, and the series that are read
//! between the steps are beginnings of the final ones. Rows that are taken out between the steps are these beginnings
//! too.

use crate::one_by_one::{difference, network};
use crate::plans::{Row, text};
use dumbbell_sim::{Output, Part, Simulation};
use dumbbell_trace::{ColumnSlice, Table, TableSlice};
use dumbbell_units::Time;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// The values of each column, as bits, so that NaN equals itself.
type Columns = BTreeMap<(String, String), Vec<u64>>;

fn columns<'a>(tables: impl Iterator<Item = TableSlice<'a>>) -> Columns {
    let bits = |values: ColumnSlice<'_>| match values {
        ColumnSlice::U64(v) => v.to_vec(),
        ColumnSlice::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
        ColumnSlice::U32(v) => v.iter().map(|&x| u64::from(x)).collect(),
        ColumnSlice::U8(v) => v.iter().map(|&x| u64::from(x)).collect(),
    };
    let of = |table: TableSlice<'a>| {
        let name = table.name;
        table.columns.into_iter().map(move |(column, v)| ((name.clone(), column.to_owned()), bits(v)))
    };
    tables.flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn steps_change_no_result(row in network(), mut stops in prop::collection::vec(0..330_000_000u64, 0..6)) {
        stops.sort_unstable();
        let plan = row.plan();
        let mut run = Simulation::new(plan.clone()).unwrap();
        let mut read: Vec<Columns> = Vec::new();
        for stop in stops {
            let more = run.advance(Time(stop)).unwrap();
            prop_assert_eq!(more, stop < plan.duration_ns);
            read.push(columns(run.series()));
        }
        let output = run.finish().unwrap();
        let all = |out: &Output| format!("{} {:?}", text(out), out.trace);
        let (steps, whole) = (all(&output), all(&row.run()));
        prop_assert!(steps == whole, "{}", difference(&steps, &whole));
        let last = columns(output.trace.tables.iter().map(|table| table.as_slice()));
        for (name, values) in read.iter().flatten() {
            prop_assert!(last[name].starts_with(values), "{name:?}");
        }
    }
}

/// The columns of parts of tables, each after the one before it.
#[derive(Default)]
struct Joined(Columns);

impl Joined {
    fn add(&mut self, table: &Table) {
        for ((name, column), values) in columns(std::iter::once(table.as_slice())) {
            self.0.entry((name, column)).or_default().extend(values);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn rows_that_are_taken_out_are_beginnings_of_their_tables(
        row in network(), mut stops in prop::collection::vec(0..330_000_000u64, 1..6), least in 0..40usize
    ) {
        stops.sort_unstable();
        let plan = row.plan();
        let mut run = Simulation::new(plan.clone()).unwrap();
        let mut joined = Joined::default();
        for stop in stops {
            run.advance(Time(stop)).unwrap();
            run.drain(least, &mut |table| joined.add(&table));
        }
        let output = run.finish().unwrap();
        output.trace.tables.iter().for_each(|table| joined.add(table));
        let whole = row.run();
        prop_assert!(joined.0 == columns(whole.trace.tables.iter().map(|table| table.as_slice())));
        prop_assert!(text(&output) == text(&whole));
    }
}

/// Five minutes with all series and the table of packets.
#[test]
fn a_long_run_passes_its_series_on_in_parts() {
    let row = Row::new(&[(8_000_000, 10_000_000)])
        .tcp(0, 1, "newreno", json!({}), json!({"kind": "bulk"}))
        .set("/duration_ns", json!(300_000_000_000u64))
        .set("/trace/series", json!(true))
        .set("/trace/packets", json!(true));
    let (mut joined, mut most, mut parts) = (Joined::default(), 0, 0);
    let mut sink = |part: Part| {
        let Part::Table(table) = part else { panic!("the run has no captures") };
        (most, parts) = (most.max(table.rows()), parts + 1);
        joined.add(&table);
        true
    };
    let output = Simulation::new(row.plan()).unwrap().finish_in_parts(&mut sink).unwrap().unwrap();
    assert!(parts > 5 && most < 80_000, "{parts} parts of at most {most} rows");
    assert!(output.trace.tables.iter().all(|table| table.rows() < 70_000));
    output.trace.tables.iter().for_each(|table| joined.add(table));
    let whole = row.run();
    assert!(joined.0 == columns(whole.trace.tables.iter().map(|table| table.as_slice())));
    let ended = Simulation::new(row.plan()).unwrap().finish_in_parts(&mut |_| false).unwrap();
    assert!(ended.is_none(), "the first part was refused");
}

#[test]
fn the_series_are_there_while_the_run_is_in_progress() {
    let row = Row::new(&[(8_000_000, 10_000_000)])
        .tcp(0, 1, "newreno", json!({}), json!({"kind": "bulk"}))
        .set("/trace/series", json!(true));
    let mut run = Simulation::new(row.plan()).unwrap();
    assert!(run.advance(Time(5_000_000_000)).unwrap());
    let half = columns(run.series());
    let names = |columns: &Columns| columns.keys().map(|(table, _)| table.clone()).collect::<Vec<_>>();
    let last = columns(run.finish().unwrap().trace.tables.iter().map(|table| table.as_slice()));
    assert_eq!(names(&half), names(&last), "the same tables");
    let rows = &half[&("flow/f0".to_owned(), "t_ns".to_owned())];
    let end = *rows.last().unwrap();
    // At most one RTT ahead or behind.
    assert!(end > 4_900_000_000 && end < 5_100_000_000, "{end}");
}
