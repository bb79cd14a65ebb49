//! Flows: a transport and an application between two nodes.

pub(crate) mod ping;
pub(crate) mod source;
pub(crate) mod tcp;
pub(crate) mod udp;

use crate::network::{Arrived, Network};
use dumbbell_plan::FlowResult;
use dumbbell_units::Time;

/// The timers of a flow; each is a slot of the event queue.
pub(crate) const TIMERS: usize = 3;
/// Timer: start, stop, application.
pub(crate) const APP: usize = 0;
/// Timer: the endpoint at the data sender.
pub(crate) const SENDER: usize = 1;
/// Timer: the endpoint at the data receiver.
pub(crate) const RECEIVER: usize = 2;

/// What every flow has.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) class: u16,
    /// Jitter included.
    pub(crate) start: Time,
    /// Its stop, or the end of the run.
    pub(crate) stop: Time,
    pub(crate) measure_from: Time,
    /// IP bytes that reached the receiver, since measurement began.
    pub(crate) received_bytes: u64,
}

impl Common {
    /// Seconds of the flow's own time within the measurement, if it ended at `end`.
    pub(crate) fn seconds(&self, end: Time) -> f64 {
        end.since(self.start.max(self.measure_from)).as_secs()
    }
}

/// A flow of any kind.
pub(crate) trait Flow: Send {
    fn common(&self) -> &Common;
    fn common_mut(&mut self) -> &mut Common;
    /// A timer of this flow is due.
    fn on_timer(&mut self, timer: usize, net: &mut Network);
    /// A packet of this flow has reached its end; `forward`: at the data receiver.
    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network);
    /// Measurement begins.
    fn restart_meter(&mut self, now: Time);
    /// The figures, and whatever was traced goes to the network's trace.
    fn finish(&mut self, net: &mut Network) -> FlowResult;
}
