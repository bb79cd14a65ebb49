//! The state of a sender's socket over time, from samples of `TCP_INFO` [Linux tcp.c tcp_get_info].

use super::tcp_cc_info::CcInfo;
use dumbbell_trace::Table;
use dumbbell_trace::tables::{FlowTable, KernelFlowColumns};

/// A sample of a sender's socket: fields of `tcp_info` and the state of its congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpSample {
    /// Segments.
    pub(crate) cwnd: f64,
    /// Segments; infinite before the first loss.
    pub(crate) ssthresh: f64,
    /// ns; None before the first.
    pub(crate) srtt: Option<f64>,
    /// ns.
    pub(crate) rttvar: f64,
    /// ns.
    pub(crate) rto: f64,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u32,
    /// Phase, as the trace numbers it.
    pub(crate) phase: u8,
    /// bit/s.
    pub(crate) pacing_rate: f64,
    /// bit/s.
    pub(crate) delivery_rate: f64,
    /// ns.
    pub(crate) min_rtt: f64,
    /// Segments marked lost and not yet acknowledged (`tcpi_lost`).
    pub(crate) lost: u32,
    /// Retransmitted segments so far (`tcpi_total_retrans`).
    pub(crate) retransmits: u32,
    /// Expiries of the retransmission timer so far (`tcpi_total_rto` [Linux include/uapi/linux/tcp.h
    /// struct tcp_info]; 0 before Linux 6.7).
    pub(crate) timeouts: u16,
    /// Reordering that the sender tolerates, segments (`tcpi_reordering`).
    pub(crate) reordering: u32,
    /// State of the congestion control.
    pub(crate) cc_info: CcInfo,
}

/// The sender's and the receiver's progress at a sample, bytes of payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) snd_una: u64,
    pub(crate) snd_nxt: u64,
    /// Each byte once.
    pub(crate) delivered: u64,
    pub(crate) delivered_in_order: u64,
}

/// The series of a socket.
#[derive(Debug, Default)]
pub(crate) struct SocketColumns {
    flow: FlowTable,
    kernel: KernelFlowColumns,
    cc_infos: Vec<CcInfo>,
    /// The columns of the congestion control: the most names so far.
    own: &'static [&'static str],
    /// True if rows were passed on before the end.
    drained: bool,
}

/// Bytes of a row in memory.
const ROW: usize = 18 * 8 + 1 + size_of::<CcInfo>();

impl SocketColumns {
    pub(crate) fn push(&mut self, s: &TcpSample, at: Progress, now: u64) {
        let mss = f64::from(s.mss);
        self.flow.t_ns.push(now);
        self.flow.cwnd.push(s.cwnd * mss);
        self.flow.ssthresh.push(s.ssthresh * mss);
        self.flow.srtt_ns.push(s.srtt.unwrap_or(f64::NAN));
        self.flow.rto_ns.push(s.rto);
        self.flow.inflight.push(at.snd_nxt.saturating_sub(at.snd_una));
        self.flow.snd_una.push(at.snd_una);
        self.flow.snd_nxt.push(at.snd_nxt);
        self.flow.delivered.push(at.delivered);
        self.flow.delivered_in_order.push(at.delivered_in_order);
        self.flow.phase.push(s.phase);
        self.flow.timeouts.push(u64::from(s.timeouts));
        self.kernel.pacing_rate.push(s.pacing_rate);
        self.kernel.delivery_rate.push(s.delivery_rate);
        self.kernel.min_rtt_ns.push(s.min_rtt);
        self.kernel.rttvar_ns.push(s.rttvar);
        self.kernel.lost.push(u64::from(s.lost));
        self.kernel.retransmits.push(u64::from(s.retransmits));
        self.kernel.reordering.push(u64::from(s.reordering));
        self.cc_infos.push(s.cc_info);
        if s.cc_info.columns.len() >= self.own.len() {
            self.own = s.cc_info.columns;
        }
    }

    /// Passes on the rows so far if they have at least so many bytes. A part before the first state of the congestion
    /// control lacks its columns.
    pub(crate) fn drain(&mut self, least: usize, name: &str, sink: &mut dyn FnMut(Table)) {
        if self.cc_infos.is_empty() || self.cc_infos.len() * ROW < least {
            return;
        }
        let rest = SocketColumns { own: self.own, drained: true, ..SocketColumns::default() };
        if let Some(table) = std::mem::replace(self, rest).into_table(name) {
            sink(table);
        }
    }

    /// Returns the table, if it ever had rows; the columns of the congestion control are those with the most names.
    pub(crate) fn into_table(self, name: &str) -> Option<Table> {
        if self.flow.t_ns.is_empty() && !self.drained {
            return None;
        }
        let table = self.kernel.append_to(self.flow.into_table(name));
        let column = |n: usize| {
            let value = |info: &CcInfo| if info.columns == self.own { info.values[n] } else { f64::NAN };
            self.cc_infos.iter().map(value).collect()
        };
        Some(table.with_private(self.own, (0..self.own.len()).map(column).collect()))
    }
}
