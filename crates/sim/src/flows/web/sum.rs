//! The connections of a web flow as one: sums over them.

use super::connection::{Connection, Wire};
use crate::tcp_meter::{Connected, Delivered, Metered};
use dumbbell_tcp::{Counters, DeliveredSegment, Snapshot};
use dumbbell_units::Dur;

/// All connections.
#[derive(Default)]
pub(in crate::flows) struct Sum {
    counters: Counters,
    arrived: (Delivered, u64),
    is_open: bool,
    unit: u64,
    cwnd: f64,
    inflight: u64,
    srtt: Option<Dur>,
}

impl Sum {
    pub(super) fn of(connections: &[Connection]) -> Sum {
        let mut sum = Sum::default();
        for connection in connections {
            match &connection.wire {
                Wire::Tcp { tcp, .. } => sum.add(tcp, tcp.sender()),
                Wire::Quic { ends, .. } => sum.add(ends, &ends.sender),
            }
        }
        sum
    }

    /// Adds a connection; `sender`: its data sender.
    pub(in crate::flows) fn add(&mut self, connection: &impl Connected, sender: &impl Metered) {
        let add = |a: u64, b: u64| a + b;
        self.counters = self.counters.combine(*connection.counters(), add);
        let (delivered, duplicate) = connection.arrived();
        self.arrived = (self.arrived.0.combine(delivered, add), self.arrived.1 + duplicate);
        self.unit = self.unit.max(sender.unit());
        if sender.is_open() {
            self.is_open = true;
            self.cwnd += sender.cwnd();
            self.inflight += sender.inflight();
            self.srtt = self.srtt.or(sender.srtt());
        }
    }
}

impl Connected for Sum {
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn arrived(&self) -> (Delivered, u64) {
        self.arrived
    }
}

impl Metered for Sum {
    fn is_open(&self) -> bool {
        self.is_open
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn inflight(&self) -> u64 {
        self.inflight
    }

    /// Of the first open connection.
    fn srtt(&self) -> Option<Dur> {
        self.srtt
    }

    fn newly_delivered(&self) -> &[DeliveredSegment] {
        &[]
    }
}

/// The state of all connections: sums of windows and bytes, the rest of the first one.
pub(super) fn snapshot(connections: &[Connection]) -> Option<Snapshot> {
    let (first, others) = connections.split_first()?;
    let mut sum = first.snapshot();
    for s in others.iter().map(Connection::snapshot) {
        sum.cwnd += s.cwnd;
        sum.inflight += s.inflight;
        sum.snd_una += s.snd_una;
        sum.snd_nxt += s.snd_nxt;
        sum.timeouts += s.timeouts;
    }
    Some(sum)
}
