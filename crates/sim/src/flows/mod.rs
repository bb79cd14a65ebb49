//! Flows: a transport (TCP, QUIC, UDP) or ping, with an application, between two nodes. The network calls a flow for
//! its timers and arriving packets.

pub(crate) mod algorithms;
pub(crate) mod connection;
pub(crate) mod factories;
pub(crate) mod ping;
pub(crate) mod quic;
pub(crate) mod source;
pub(crate) mod tcp;
mod transfers;
pub(crate) mod udp;
pub(crate) mod web;
pub(crate) mod workload;

use crate::network::{Arrived, Network};
use crate::record::FlowRecorder;
use dumbbell_plan::{FlowResult, Plan};
use dumbbell_units::Time;
use dumbbell_wire::IpVersion;

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
    /// Version of IP.
    pub(crate) ip: IpVersion,
    /// Start time, including the start jitter.
    pub(crate) start: Time,
    /// Stop time; the end of the run, for a flow without one.
    pub(crate) stop: Time,
    pub(crate) measure_from: Time,
    /// True in the flow's measured time: from the start of the measurement to the flow's stop.
    pub(crate) is_measured: bool,
    /// Lane of the connection that sends next, for queue disciplines that separate flows.
    pub(crate) lane: u32,
    /// IP bytes that reached the receiver in the measured time, those of several copies of a packet once.
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
            ip: flow.ip,
            start,
            stop: Time(flow.stop_ns.unwrap_or(plan.duration_ns)),
            measure_from: Time(plan.measure_from_ns),
            is_measured: false,
            lane: 0,
            received_bytes: 0,
        }
    }

    /// The measurement begins. A flow that has stopped is not measured.
    pub(crate) fn begin_measurement(&mut self, now: Time) {
        self.is_measured = now < self.stop;
        self.received_bytes = 0;
    }

    /// Counts a packet that has reached the receiver; returns true in the measured time, for the first copy of a
    /// packet.
    pub(crate) fn counts(&mut self, packet: Arrived, now: Time) -> bool {
        let counts = self.is_measured && packet.is_first && now <= self.stop;
        self.received_bytes += if counts { u64::from(packet.bytes) } else { 0 };
        counts
    }

    /// Seconds from the flow's start, or from the start of the measurement if that is later, to `end`.
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
    /// Processes the n-th packet of [`Network::ahead`], which arrives after now, if nothing but its own timers happens
    /// to this endpoint before, and nothing else of this flow depends on it. Its slot in the pool is then free, or has
    /// another packet. Returns false if it must wait.
    fn on_packet_ahead(&mut self, _n: usize, _net: &mut Network) -> bool {
        false
    }
    /// Processes a packet of this flow; `forward`: at the data receiver.
    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network);
    /// Restarts the metrics, because the measurement begins.
    fn restart_meter(&mut self, net: &Network);
    /// The recorder of the flow's series, if they are recorded.
    fn recorder(&self) -> Option<&FlowRecorder> {
        None
    }
    /// Returns the same, for [`crate::Simulation::drain`].
    fn recorder_mut(&mut self) -> Option<&mut FlowRecorder> {
        None
    }
    /// Returns the results, without the values that [`crate::Simulation::finish`] fills in for every flow, and moves
    /// the flow's series to the network's trace.
    fn finish(&mut self, net: &mut Network) -> FlowResult;
}

/// The accessors of a [`Flow`] for the fields with these names.
macro_rules! common_parts {
    ($info:ident) => {
        fn info(&self) -> &$crate::flows::FlowInfo {
            &self.$info
        }

        fn info_mut(&mut self) -> &mut $crate::flows::FlowInfo {
            &mut self.$info
        }
    };
    ($info:ident, $recorder:ident) => {
        common_parts!($info);

        fn recorder(&self) -> Option<&$crate::record::FlowRecorder> {
            self.$recorder.as_deref()
        }

        fn recorder_mut(&mut self) -> Option<&mut $crate::record::FlowRecorder> {
            self.$recorder.as_deref_mut()
        }
    };
}

pub(crate) use common_parts;
