//! The state of a sender over time, from samples of `TCP_INFO`: means and series.

use crate::meter::{Progress, SocketColumns, TcpSample, Window};
use crate::traffic::Counters;
use dumbbell_plan::{FlowResult, Optional};
use dumbbell_sim::meter::TimeAverages;
use dumbbell_trace::Table;
use dumbbell_units::Time;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct SenderSeries {
    window: Window,
    /// cwnd in segments, srtt in ms, segments in flight, over time.
    means: TimeAverages<3>,
    restarted: bool,
    mss: Option<u32>,
    /// Phase of the last sample, and the number of samples that found a new recovery.
    phase: u8,
    recoveries: u64,
    columns: Option<SocketColumns>,
}

impl SenderSeries {
    /// Counts within `window`; keeps series if `series`.
    pub(super) fn new(window: Window, series: bool) -> SenderSeries {
        SenderSeries {
            window,
            means: TimeAverages::new(),
            restarted: false,
            mss: None,
            phase: 0,
            recoveries: 0,
            columns: series.then(SocketColumns::default),
        }
    }

    /// The flow ends at `end`.
    pub(super) fn stop(&mut self, end: u64) {
        self.window.to = self.window.to.min(end);
    }

    /// A sample of the sender's socket; None: it has no connection.
    pub(super) fn sampled(&mut self, state: Option<&TcpSample>, counters: Counters, now: u64) {
        if now >= self.window.from && !self.restarted {
            self.restarted = true;
            self.means.restart(Time(self.window.from));
        }
        if now >= self.window.to {
            return;
        }
        let Some(s) = state else {
            self.means.set([f64::NAN; 3], Time(now));
            return;
        };
        self.mss = Some(s.mss);
        let recovery = dumbbell_cc::Phase::Recovery as u8;
        self.recoveries += u64::from(s.phase == recovery && self.phase != recovery && self.restarted);
        self.phase = s.phase;
        let srtt = s.srtt.unwrap_or(f64::NAN);
        let next = counters.bytes_sent.saturating_sub(counters.bytes_retransmitted);
        let inflight = next.saturating_sub(counters.bytes_acknowledged);
        let mss = f64::from(s.mss);
        self.means.set([s.cwnd, srtt * 1e-6, inflight as f64 / mss], Time(now));
        if let Some(columns) = &mut self.columns {
            let delivered = counters.bytes_acknowledged;
            let progress = Progress { snd_una: delivered, snd_nxt: next, delivered, delivered_in_order: delivered };
            columns.push(s, progress, now);
        }
    }

    /// Fills in the results.
    pub(super) fn finish(&mut self, r: &mut FlowResult) {
        let end = Time(self.window.to);
        let means = self.means.means(end).map(Optional::from);
        [r.cwnd_mean_packets, r.srtt_mean_ms, r.mean_inflight_packets] = means;
        r.snd_mss_bytes = self.mss.map(u64::from);
        r.fast_retransmits = self.recoveries;
    }

    /// Returns the series, if they are kept.
    pub(super) fn table(&mut self, name: &str) -> Option<Table> {
        self.columns.take()?.into_table(name)
    }
}
