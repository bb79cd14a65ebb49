//! A workload: transfers that arrive by a process, over connections of a transport; many are under way at a time.
//!
//! ```text
//! Schedule -> arrival -> a new connection, or one that is open (connections = "reuse") -> last byte at the receiver
//! ```
//! A connection has a slot while it is open, and the lane of the slot: queue disciplines that separate flows separate
//! the connections. The timers of all connections are in one heap; the flow has one event for the first of them.

mod carrier;
mod quic;
mod tcp;
mod timers;

pub(crate) use quic::QuicFactory;
pub(crate) use tcp::TcpFactory;

use super::connection::Side;
use super::web::sum::Sum;
use super::{APP, Flow, FlowInfo, SENDER, common_parts};
use crate::network::{Arrived, Network};
use crate::tcp_meter::TcpMeter;
use carrier::{Carrier, Factory};
use dumbbell_cc::Failure;
use dumbbell_plan::{Arrival, ConnectionsPlan, FlowResult, MOST_AT_ONCE, Schedule, Transfer, WorkloadPlan};
use dumbbell_units::Time;
use dumbbell_units::flow_number::LANES;
use quic::QuicCarrier;
use tcp::TcpCarrier;
use timers::{Due, Timers};

/// A workload over TCP.
pub(crate) type TcpWorkload = WorkloadFlow<TcpCarrier>;
/// A workload over QUIC.
pub(crate) type QuicWorkload = WorkloadFlow<QuicCarrier>;

/// In place of a slot: the connection is over.
const OVER: u32 = u32::MAX;

/// An open connection.
struct Open<C> {
    connection: C,
    /// Number within the flow, from 1.
    number: u32,
    /// Scheduled times of the timers of both endpoints.
    timers: [Time; 2],
}

/// See the top of this file.
pub(crate) struct WorkloadFlow<C: Carrier> {
    info: FlowInfo,
    schedule: Schedule,
    next: Option<Arrival>,
    reuses: bool,
    /// Number of transfers; 0: no limit.
    count: u64,
    factory: C::Factory,
    open: Vec<Option<Box<Open<C>>>>,
    /// Slots without a connection.
    free: Vec<usize>,
    /// Slots of connections that can take a transfer; the last one was used last.
    usable: Vec<usize>,
    /// Slot of each connection, by its number less 1.
    slots: Vec<u32>,
    timers: Timers,
    begun: u64,
    completed: u64,
    first_begun_at: Time,
    completed_at: Time,
    meter: TcpMeter,
    /// Payload of a full packet of the connections so far, bytes.
    payload: u64,
    failure: Failure,
    stopped: bool,
    /// Set when the flow stops.
    result: Option<Box<FlowResult>>,
}

impl<C: Carrier> WorkloadFlow<C> {
    pub(crate) fn new(
        info: FlowInfo,
        plan: &WorkloadPlan,
        mut schedule: Schedule,
        factory: C::Factory,
        failure: Failure,
    ) -> WorkloadFlow<C> {
        WorkloadFlow {
            next: schedule.next(),
            schedule,
            reuses: plan.connections == ConnectionsPlan::Reuse,
            count: plan.count,
            info,
            open: Vec::new(),
            free: Vec::new(),
            usable: Vec::new(),
            slots: Vec::new(),
            timers: Timers::default(),
            begun: 0,
            completed: 0,
            first_begun_at: Time::ZERO,
            completed_at: Time::ZERO,
            meter: TcpMeter::new(),
            payload: factory.full_payload(),
            factory,
            failure,
            stopped: false,
            result: None,
        }
    }

    /// Begins the transfers that are due, and schedules the next one.
    fn arrive(&mut self, net: &mut Network) {
        while let Some(Arrival { bytes, .. }) = self.next.filter(|next| next.at <= net.now) {
            self.begin(bytes, net);
            self.next = self.schedule.next();
        }
        let at = self.next.map_or(self.info.stop, |next| next.at.min(self.info.stop));
        net.set_timer(self.info.index, APP, at);
    }

    fn begin(&mut self, bytes: u64, net: &mut Network) {
        if self.begun == 0 {
            self.first_begun_at = net.now;
        }
        let usable = if C::SHARED { self.usable.last().copied() } else { self.usable.pop() };
        let slot = usable.unwrap_or_else(|| self.connect());
        let Some(open) = self.open[slot].as_deref_mut() else { return };
        open.connection.begin(bytes, net.transfers.len());
        net.transfers.push(Transfer {
            flow: self.info.name.clone(),
            number: self.begun,
            start_s: net.now.as_secs(),
            end_s: None,
            bytes,
            connection: Some(u64::from(open.number)),
            ..Transfer::default()
        });
        self.begun += 1;
        if !self.reuses {
            open.connection.close();
        }
        if usable.is_none() {
            open.connection.open(&self.factory, net.now);
        }
        if self.begun - self.completed > MOST_AT_ONCE as u64 {
            self.fail();
        }
        self.serve(slot, Side::Sender, net);
        self.serve(slot, Side::Receiver, net);
    }

    /// Makes a connection; returns its slot.
    fn connect(&mut self) -> usize {
        let number = self.slots.len() as u32 + 1;
        let open = Open { connection: self.factory.connection(), number, timers: [Time::NEVER; 2] };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.open[slot] = Some(Box::new(open));
        self.slots.push(slot as u32);
        if C::SHARED && self.reuses {
            self.usable.push(slot);
        }
        if self.open.len() > MOST_AT_ONCE {
            self.fail();
        }
        slot
    }

    fn fail(&self) {
        let message = format!("more than {MOST_AT_ONCE} transfers at a time: the load exceeds the capacity");
        self.failure.fail(message);
    }

    /// Sends all that one end of a connection has ready, and completes its transfer if it can.
    fn serve(&mut self, slot: usize, side: Side, net: &mut Network) {
        let Some(open) = self.open[slot].as_deref_mut() else { return };
        self.info.lane = slot as u32 % LANES;
        let timer = open.connection.send(side, &self.info, open.number, net);
        self.arm(slot, side, timer, net);
        self.check(slot, net);
    }

    /// Schedules a timer of an endpoint. A timer that moved to a later time expires once without effect; one that moved
    /// to an earlier time is rescheduled.
    fn arm(&mut self, slot: usize, side: Side, at: Option<Time>, net: &mut Network) {
        let (Some(open), Some(at)) = (self.open[slot].as_deref_mut(), at) else { return };
        let timer = &mut open.timers[side as usize];
        if at < *timer {
            *timer = at;
            let due = Due { at, slot: slot as u32, side: side as u8, connection: open.number };
            if let Some(first) = self.timers.add(due) {
                net.set_timer(self.info.index, SENDER, first);
            }
        }
    }

    /// Completes the transfers of a connection that have arrived, and frees the slot of one that is over.
    fn check(&mut self, slot: usize, net: &mut Network) {
        let Some(open) = self.open[slot].as_deref_mut() else { return };
        let mut has_completed = false;
        while let Some(row) = open.connection.take_completed() {
            net.transfers[row].end_s = Some(net.now.as_secs());
            self.completed += 1;
            self.completed_at = net.now;
            has_completed = true;
        }
        if has_completed && self.reuses {
            if !C::SHARED {
                self.usable.push(slot);
            }
            if self.all_completed() {
                self.close_usable(net);
            }
            return;
        }
        let Some(open) = self.open[slot].as_deref_mut() else { return };
        if C::SHARED && self.usable.last() == Some(&slot) && !open.connection.is_usable() {
            self.usable.pop();
        }
        if open.connection.is_over() {
            self.meter.connection_ends(Some(&open.connection));
            self.payload = self.payload.max(open.connection.full_payload());
            self.slots[open.number as usize - 1] = OVER;
            self.open[slot] = None;
            self.free.push(slot);
        }
    }

    /// No transfer follows: closes the connections.
    fn close_usable(&mut self, net: &mut Network) {
        for slot in std::mem::take(&mut self.usable) {
            if let Some(open) = self.open[slot].as_deref_mut() {
                open.connection.close();
            }
            self.serve(slot, Side::Sender, net);
        }
    }

    fn all_completed(&self) -> bool {
        self.count > 0 && self.completed == self.count
    }

    fn expire(&mut self, net: &mut Network) {
        while let Some(due) = self.timers.pop(net.now) {
            let slot = due.slot as usize;
            let side = if due.side == Side::Sender as u8 { Side::Sender } else { Side::Receiver };
            let Some(open) = self.open[slot].as_deref_mut() else { continue };
            if open.number == due.connection && open.timers[side as usize] == due.at {
                open.timers[side as usize] = Time::NEVER;
                open.connection.on_timer(side, net.now);
                self.serve(slot, side, net);
            }
        }
        if let Some(first) = self.timers.first() {
            net.set_timer(self.info.index, SENDER, first);
        }
    }

    fn stop(&mut self, net: &mut Network) {
        self.stopped = true;
        if self.result.is_none() {
            self.result = Some(Box::new(self.metrics(net)));
        }
        self.info.is_measured = false;
        for slot in 0..self.open.len() {
            if let Some(open) = self.open[slot].as_deref_mut() {
                open.connection.abandon(net.now);
            }
            self.serve(slot, Side::Sender, net);
            self.serve(slot, Side::Receiver, net);
        }
    }

    /// The open connections as one.
    fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        for open in self.open.iter().flatten() {
            sum.add(&open.connection, open.connection.sender());
        }
        sum
    }

    fn metrics(&mut self, net: &Network) -> FlowResult {
        let all = self.all_completed();
        let end = if all { self.completed_at } else { self.info.stop.min(net.end) };
        let seconds = self.info.seconds(end);
        let mut result = FlowResult {
            variant: self.factory.variant().into(),
            application: "workload".into(),
            stop_s: end.as_secs(),
            throughput_bps: if seconds > 0.0 { self.info.received_bytes as f64 * 8.0 / seconds } else { 0.0 },
            completion_time_s: all.then(|| self.completed_at.since(self.first_begun_at).as_secs()).into(),
            transfers_started: self.begun,
            transfers_completed: self.completed,
            ..FlowResult::default()
        };
        let payloads = self.open.iter().flatten().map(|open| open.connection.full_payload());
        let payload = payloads.fold(self.payload, u64::max);
        let sum = self.sum();
        self.meter.finish(Some(&sum), payload, seconds, end.min(net.now), &mut result);
        result
    }
}

impl<C: Carrier> Flow for WorkloadFlow<C> {
    common_parts!(info);

    fn on_timer(&mut self, timer: usize, net: &mut Network) {
        match timer {
            APP if net.now >= self.info.stop => {
                if !self.stopped {
                    self.stop(net);
                }
            }
            APP => self.arrive(net),
            _ => self.expire(net),
        }
    }

    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network) {
        if forward && !self.all_completed() {
            self.info.counts(packet, net.now);
        }
        let body = net.body(packet.body);
        let slot = self.slots.get(body.connection as usize - 1).copied().unwrap_or(OVER);
        let Some(open) = self.open.get_mut(slot as usize).and_then(Option::as_deref_mut) else { return };
        let slot = slot as usize;
        let side = if forward { Side::Receiver } else { Side::Sender };
        let owes_acks_only = open.connection.on_packet(packet, side, net);
        if !forward {
            self.meter.acknowledged(open.connection.sender(), net.now);
        }
        if forward && owes_acks_only {
            self.info.lane = slot as u32 % LANES;
            let timer = open.connection.send_acks(&self.info, open.number, net);
            self.arm(slot, side, timer, net);
            self.check(slot, net);
        } else {
            self.serve(slot, side, net);
        }
    }

    fn restart_meter(&mut self, net: &Network) {
        let sum = self.sum();
        self.meter.restart(Some(&sum), net.now);
        // Of a flow that has stopped, nothing is measured.
        self.result = (self.info.stop <= net.now).then(|| Box::new(self.metrics(net)));
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        self.result.take().map_or_else(|| self.metrics(net), |result| *result)
    }
}
