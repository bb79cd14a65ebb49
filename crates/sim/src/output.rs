//! What a run gives back.

use crate::capture::Capture;
use dumbbell_plan::{FlowResult, QueueResult, Transfer};
use dumbbell_trace::Trace;

/// Everything of one run.
#[derive(Clone, Debug)]
pub struct Output {
    /// A row for each flow.
    pub flows: Vec<FlowResult>,
    /// A row for each direction of each link.
    pub queues: Vec<QueueResult>,
    /// A row for each transfer and download begun.
    pub transfers: Vec<Transfer>,
    /// Series, where asked for.
    pub trace: Trace,
    /// What was captured, where asked for.
    pub captures: Vec<Capture>,
    /// Events that the engine handled.
    pub events: u64,
}
