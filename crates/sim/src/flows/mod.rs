//! Flows: a transport (TCP, UDP) or ping, with an application, between two nodes. The network calls a flow for its timers
//! and arriving packets.

pub(crate) mod ping;
pub(crate) mod source;
pub(crate) mod tcp;
pub(crate) mod udp;

use crate::network::{Arrived, Network};
use dumbbell_plan::{FlowResult, Plan};
use dumbbell_units::Time;

/// Timers per flow; each has a slot in the event queue.
pub(crate) const TIMERS: usize = 3;
/// Timer: start, stop, application.
pub(crate) const APP: usize = 0;
/// Timer: the endpoint at the data sender.
pub(crate) const SENDER: usize = 1;
/// Timer: the endpoint at the data receiver.
pub(crate) const RECEIVER: usize = 2;

/// Data that every kind of flow has.
#[derive(Clone, Debug)]
pub(crate) struct FlowInfo {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) class: u16,
    /// Start time, including the start jitter.
    pub(crate) start: Time,
    /// Stop time; the end of the run, for a flow without one.
    pub(crate) stop: Time,
    pub(crate) measure_from: Time,
    /// IP bytes that reached the receiver since the measurement began.
    pub(crate) received_bytes: u64,
}

impl FlowInfo {
    /// The data of a plan's flow that starts at `start`.
    pub(crate) fn new(plan: &Plan, index: usize, start: Time) -> FlowInfo {
        let flow = &plan.flows[index];
        FlowInfo {
            index,
            name: flow.name.clone(),
            from: flow.from,
            to: flow.to,
            class: flow.class,
            start,
            stop: Time(flow.stop_ns.unwrap_or(plan.duration_ns)),
            measure_from: Time(plan.measure_from_ns),
            received_bytes: 0,
        }
    }

    /// Seconds from the flow's start, or from the begin of the measurement if that is later, to `end`.
    pub(crate) fn seconds(&self, end: Time) -> f64 {
        end.since(self.start.max(self.measure_from)).as_secs()
    }
}

/// A flow of any kind.
pub(crate) trait Flow: Send {
    fn info(&self) -> &FlowInfo;
    fn info_mut(&mut self) -> &mut FlowInfo;
    /// Processes a timer of this flow.
    fn on_timer(&mut self, timer: usize, net: &mut Network);
    /// Processes a packet of this flow; `forward`: at the data receiver.
    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network);
    /// Restarts the metrics, because the measurement begins.
    fn restart_meter(&mut self, now: Time);
    /// Returns the results and moves the flow's series to the network's trace.
    fn finish(&mut self, net: &mut Network) -> FlowResult;
}
