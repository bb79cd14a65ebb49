//! The results of a simulated run: rows, series, captures.

use crate::capture::Capture;
use crate::qlog::Qlog;
use dumbbell_plan::{FlowResult, QueueResult, Transfer};
use dumbbell_trace::Trace;

/// The results of one run.
#[derive(Clone, Debug)]
pub struct Output {
    /// One row per flow.
    pub flows: Vec<FlowResult>,
    /// One row per direction of each link.
    pub queues: Vec<QueueResult>,
    /// One row per transfer or download that started.
    pub transfers: Vec<Transfer>,
    /// Series that the plan requests.
    pub trace: Trace,
    /// Captures that the plan requests.
    pub captures: Vec<Capture>,
    /// qlog files that the plan requests.
    pub qlogs: Vec<Qlog>,
    /// Events that the engine processed.
    pub events: u64,
}
