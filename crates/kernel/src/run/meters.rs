//! The meters of one direction of a flow: one for all packets, or one for each connection of a program.

use crate::meter::packet::Packet;
use crate::meter::{FlowMeter, Window};
use dumbbell_plan::FlowResult;
use dumbbell_sim::meter::VoiceMeter;
use dumbbell_trace::Table;
use dumbbell_units::Dur;
use std::collections::BTreeMap;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Meters {
    window: Window,
    /// Minimum time between two rows of a series, if series are kept.
    series: Option<Dur>,
    /// True for a program, which may have several connections.
    program: bool,
    /// Of all packets that belong to no connection of a program.
    others: FlowMeter,
    /// By port.
    connections: BTreeMap<u16, FlowMeter>,
}

impl Meters {
    pub(super) fn new(window: Window, series: Option<Dur>, program: bool) -> Meters {
        let others = FlowMeter::new(window, series);
        Meters { window, series, program, others, connections: BTreeMap::new() }
    }

    /// The flow is a voice call.
    pub(super) fn hear(&mut self, call: VoiceMeter) {
        self.others.hear(call);
    }

    /// The flow has several connections at a time, which are measured together.
    pub(super) fn join_connections(&mut self) {
        self.others.join_connections();
    }

    /// Returns the meter of a packet's connection.
    pub(super) fn of(&mut self, packet: &Packet) -> &mut FlowMeter {
        match packet.tcp.filter(|_| self.program) {
            Some(tcp) => {
                let new = || FlowMeter::new(self.window, self.series);
                self.connections.entry(tcp.connection).or_insert_with(new)
            }
            None => &mut self.others,
        }
    }

    pub(super) fn has_connections(&self) -> bool {
        !self.connections.is_empty()
    }

    /// Returns the bytes that were sent.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.others.sent_bytes() + self.connections.values().map(FlowMeter::sent_bytes).sum::<u64>()
    }

    fn main_port(&self) -> Option<u16> {
        self.connections.iter().max_by_key(|(_, m)| m.sent_bytes()).map(|(port, _)| *port)
    }

    /// Returns the meter of the connection that has sent most.
    pub(super) fn main(&mut self) -> &mut FlowMeter {
        match self.main_port().and_then(|port| self.connections.get_mut(&port)) {
            Some(meter) => meter,
            None => &mut self.others,
        }
    }

    /// Passes on the rows so far of each series that has at least so many bytes. Of a program, only the series of the
    /// connection that will have sent most are kept, so it is not known yet which ones.
    pub(super) fn drain(&mut self, least: usize, name: &str, sink: &mut dyn FnMut(Table)) {
        if !self.program {
            self.others.drain(least, name, sink);
        }
    }

    pub(super) fn each(&mut self, act: &impl Fn(&mut FlowMeter)) {
        act(&mut self.others);
        self.connections.values_mut().for_each(act);
    }

    /// Fills in the results. Those of several connections are merged by the rules of the columns.
    pub(super) fn fill(&mut self, tcp: bool, result: &mut FlowResult) {
        self.main().finish(tcp, result);
        let main = self.main_port();
        for (_, meter) in self.connections.iter_mut().filter(|(port, _)| Some(**port) != main) {
            let mut other = FlowResult::default();
            meter.finish(tcp, &mut other);
            result.add_connection(&other);
        }
    }
}
