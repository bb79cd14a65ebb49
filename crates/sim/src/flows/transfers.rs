//! The transfers of an application, `transfer` and `page`, and their progress.

use super::FlowInfo;
use crate::network::Network;
use crate::tcp_meter::TcpMeter;
use dumbbell_plan::{AppPlan, FlowResult, Transfer};
use dumbbell_units::{Dur, Time};

/// Transfers, each over its own connection.
pub(super) struct Transfers {
    /// Bytes of one.
    pub(super) bytes: u64,
    /// Number; 0: no limit.
    repeat: u64,
    /// Time from start to start.
    every: Dur,
    /// True if the data receiver requests each.
    pub(super) requested: bool,
    begun: u64,
    completed: u64,
    begun_at: Time,
    first_begun_at: Time,
    completed_at: Time,
    /// Index of the running transfer in the run's list.
    pub(super) running: Option<usize>,
}

impl Transfers {
    /// The transfers of an application; None for one that has no transfers.
    pub(super) fn of(app: &AppPlan) -> Option<Transfers> {
        let (bytes, repeat, every_ns, requested) = match *app {
            AppPlan::Transfer { bytes, repeat, every_ns } => (bytes, repeat, every_ns, false),
            AppPlan::Page { bytes, repeat, every_ns, .. } => (bytes, repeat, every_ns, true),
            _ => return None,
        };
        Some(Transfers {
            bytes,
            repeat,
            every: Dur(every_ns),
            requested,
            begun: 0,
            completed: 0,
            begun_at: Time::ZERO,
            first_begun_at: Time::ZERO,
            completed_at: Time::ZERO,
            running: None,
        })
    }

    /// Begins the next one.
    pub(super) fn begin(&mut self, info: &FlowInfo, net: &mut Network) {
        if self.begun == 0 {
            self.first_begun_at = net.now;
        }
        self.running = Some(net.transfers.len());
        net.transfers.push(Transfer {
            flow: info.name.clone(),
            number: self.begun,
            start_s: net.now.as_secs(),
            end_s: None,
            bytes: self.bytes,
            ..Transfer::default()
        });
        self.begun += 1;
        self.begun_at = net.now;
    }

    /// Ends the running one if this amount of it has arrived, and the averages of the flow with the last one.
    #[inline]
    pub(super) fn arrived(&mut self, bytes: u64, meter: &mut TcpMeter, net: &mut Network) {
        let Some(running) = self.running.filter(|_| bytes >= self.bytes) else { return };
        net.transfers[running].end_s = Some(net.now.as_secs());
        self.running = None;
        self.completed += 1;
        self.completed_at = net.now;
        if self.all_completed() {
            meter.close(net.now);
        }
    }

    /// When the next one begins at the earliest; None after the last.
    pub(super) fn next_start(&self) -> Option<Time> {
        (self.repeat == 0 || self.begun < self.repeat).then(|| self.begun_at + self.every)
    }

    /// True if none follows the running one.
    pub(super) fn is_last(&self) -> bool {
        self.repeat > 0 && self.completed + 1 == self.repeat
    }

    pub(super) fn all_completed(&self) -> bool {
        self.repeat > 0 && self.completed == self.repeat
    }

    /// Returns the end of a flow, its stop or the arrival of its last transfer, and the results that follow from it.
    pub(super) fn result(of: Option<&Transfers>, info: &FlowInfo, net: &Network) -> (Time, FlowResult) {
        let done = of.filter(|transfers| transfers.all_completed());
        let end = done.map_or(info.stop.min(net.end), |transfers| transfers.completed_at);
        let seconds = info.seconds(end);
        let result = FlowResult {
            stop_s: end.as_secs(),
            throughput_bps: if seconds > 0.0 { info.received_bytes as f64 * 8.0 / seconds } else { 0.0 },
            completion_time_s: done.map(|t| t.completed_at.since(t.first_begun_at).as_secs()).into(),
            transfers_started: of.map_or(0, |transfers| transfers.begun),
            transfers_completed: of.map_or(0, |transfers| transfers.completed),
            ..FlowResult::default()
        };
        (end, result)
    }
}
