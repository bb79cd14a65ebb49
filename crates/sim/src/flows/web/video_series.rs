//! The series of a player: its buffer and bit rate, a row at each change.

use crate::record::Gate;
use dumbbell_apps::Row;
use dumbbell_trace::Table;
use dumbbell_trace::tables::VideoTable;
use dumbbell_units::{Dur, Time};

/// See the top of this file.
pub(crate) struct VideoSeries {
    name: String,
    gate: Gate,
    last: Option<Row>,
    table: VideoTable,
}

impl VideoSeries {
    pub(crate) fn new(name: &str, interval: Dur) -> VideoSeries {
        VideoSeries { name: name.to_owned(), gate: Gate::new(interval), last: None, table: VideoTable::default() }
    }

    /// Adds a row if something other than the clock has changed. Changes of the state are always recorded.
    pub(super) fn add(&mut self, row: Row, now: Time) {
        let same = |a: &Row| (a.downloaded, a.bitrate, a.state) == (row.downloaded, row.bitrate, row.state);
        let new_state = self.last.is_none_or(|last| last.state != row.state);
        if self.last.as_ref().is_some_and(same) || !(self.gate.passes(now) || new_state) {
            return;
        }
        self.push(row, now);
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: Row, now: Time) {
        self.last = Some(row);
        let table = &mut self.table;
        table.t_ns.push(now.0);
        table.buffer_ns.push(row.buffer.0);
        table.bitrate.push(row.bitrate.map_or(f64::NAN, |bps| bps as f64));
        table.downloaded_ns.push(row.downloaded.0);
        table.played_ns.push(row.played.0);
        table.state.push(row.state as u8);
    }

    pub(super) fn finish(self) -> Table {
        self.table.into_table(&self.name)
    }
}
