//! A run in steps: random networks give the same output, byte for byte, as in one call, and the series that are read between the
//! steps are beginnings of the final ones.

use crate::one_by_one::{difference, network};
use crate::plans::{Row, text};
use dumbbell_sim::{Output, Simulation};
use dumbbell_trace::{ColumnSlice, TableSlice};
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
        let mut run = Simulation::new(&plan).unwrap();
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

#[test]
fn the_series_are_there_while_the_run_is_in_progress() {
    let row = Row::new(&[(8_000_000, 10_000_000)])
        .tcp(0, 1, "newreno", json!({}), json!({"kind": "bulk"}))
        .set("/trace/series", json!(true));
    let mut run = Simulation::new(&row.plan()).unwrap();
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
