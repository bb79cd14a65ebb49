//! Computes results and series from packets at taps and samples of `TCP_INFO`, with the simulator's definitions
//! (`dumbbell_sim::meter`; docs/reference lists the columns). TCP_INFO: [Linux tcp.c tcp_get_info].

mod connections;
mod flow;
mod link;
mod link_series;
pub(crate) mod packet;
mod ranges;
mod segments;
mod socket;
pub(crate) mod tap;
pub(crate) mod tcp_cc_info;
pub(crate) mod tcp_info;

pub(crate) use flow::FlowMeter;
pub(crate) use link::{LinkMeter, Lost};
pub(crate) use socket::{Progress, SocketColumns, TcpSample};

/// The measured interval [from, to), ns of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Window {
    pub(crate) fn holds(&self, time: u64) -> bool {
        (self.from..self.to).contains(&time)
    }

    /// Returns the length of its intersection with [a, b).
    pub(crate) fn overlap(&self, a: u64, b: u64) -> u64 {
        b.min(self.to).saturating_sub(a.max(self.from))
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.to.saturating_sub(self.from) as f64 * 1e-9
    }
}
