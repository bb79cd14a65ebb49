//! A workload: transfers that arrive by a process, each over a TCP connection; many are open at a time.
//!
//! ```text
//! Schedule -> arrival -> a new connection, or an idle one (connections = "reuse") -> last byte at the receiver
//! ```
//! A connection has a slot while it is open, and the lane of the slot: queue disciplines that separate flows separate the
//! connections. The timers of all connections are in one heap; the flow has one event for the first of them.

mod timers;

use super::connection::{Connection, Side};
use super::tcp::ConnectionFactory;
use super::web::sum::Sum;
use super::{APP, Flow, FlowInfo, SENDER};
use crate::network::{Arrived, Network};
use crate::tcp_meter::TcpMeter;
use dumbbell_cc::Failure;
use dumbbell_plan::{Arrival, ConnectionsPlan, FlowResult, MOST_AT_ONCE, Schedule, Transfer, WorkloadPlan};
use dumbbell_tcp::State;
use dumbbell_units::Time;
use dumbbell_units::flow_number::LANES;
use dumbbell_units::random::Stream;
use timers::{Due, Timers};

/// In place of a slot: the connection is over.
const OVER: u32 = u32::MAX;

/// An open connection.
struct Open {
    connection: Connection,
    /// Number within the flow, from 1.
    number: u32,
    /// Scheduled times of the timers of both endpoints.
    timers: [Time; 2],
    /// Index of the running transfer in the run's list.
    running: Option<usize>,
    /// Payload of all transfers over this connection so far.
    written: u64,
}

/// See the top of this file.
pub(crate) struct WorkloadFlow {
    info: FlowInfo,
    schedule: Schedule,
    next: Option<Arrival>,
    reuses: bool,
    /// Number of transfers; 0: no limit.
    count: u64,
    factory: ConnectionFactory,
    isns: Stream,
    /// Seeds of the algorithms' random numbers.
    seeds: Stream,
    open: Vec<Option<Box<Open>>>,
    /// Slots without a connection.
    free: Vec<usize>,
    /// Slots of connections without a transfer; the last one was used last.
    idle: Vec<usize>,
    /// Slot of each connection, by its number less 1.
    slots: Vec<u32>,
    timers: Timers,
    begun: u64,
    completed: u64,
    first_begun_at: Time,
    completed_at: Time,
    meter: TcpMeter,
    failure: Failure,
    stopped: bool,
    /// Set when the flow stops.
    result: Option<Box<FlowResult>>,
}

impl WorkloadFlow {
    pub(crate) fn new(
        info: FlowInfo,
        plan: &WorkloadPlan,
        mut schedule: Schedule,
        factory: ConnectionFactory,
        seed: u64,
        failure: Failure,
    ) -> WorkloadFlow {
        let stream = |part: &str| Stream::new(seed, &format!("flow/{}/{part}", info.name));
        WorkloadFlow {
            isns: stream("isn"),
            seeds: stream("seeds"),
            next: schedule.next(),
            schedule,
            reuses: plan.connections == ConnectionsPlan::Reuse,
            count: plan.count,
            info,
            factory,
            open: Vec::new(),
            free: Vec::new(),
            idle: Vec::new(),
            slots: Vec::new(),
            timers: Timers::default(),
            begun: 0,
            completed: 0,
            first_begun_at: Time::ZERO,
            completed_at: Time::ZERO,
            meter: TcpMeter::new(),
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
        let idle = self.idle.pop();
        let slot = idle.unwrap_or_else(|| self.connect());
        let Some(open) = self.open[slot].as_deref_mut() else { return };
        open.running = Some(net.transfers.len());
        open.written += bytes;
        open.connection.write(Side::Sender, bytes);
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
            open.connection.close(Side::Sender);
        }
        if idle.is_none() {
            open.connection.open(self.factory.has_handshake());
        }
        self.serve(slot, Side::Sender, net);
        self.serve(slot, Side::Receiver, net);
    }

    /// Makes a connection; returns its slot.
    fn connect(&mut self) -> usize {
        let connection = self.factory.connection(Side::Sender, &mut self.isns, &mut self.seeds);
        let number = self.slots.len() as u32 + 1;
        let open = Open { connection, number, timers: [Time::NEVER; 2], running: None, written: 0 };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.open[slot] = Some(Box::new(open));
        self.slots.push(slot as u32);
        if self.open.len() > MOST_AT_ONCE {
            self.failure
                .fail(format!("more than {MOST_AT_ONCE} transfers at a time: the load exceeds the capacity"));
        }
        slot
    }

    /// Sends all that one end of a connection has ready, and completes its transfer if it can.
    fn serve(&mut self, slot: usize, side: Side, net: &mut Network) {
        let Some(open) = self.open[slot].as_deref_mut() else { return };
        let connection = &mut open.connection;
        if side == Side::Receiver
            && connection.receiver().peer_has_closed()
            && !connection.has_closed(Side::Receiver)
        {
            connection.close(Side::Receiver);
        }
        self.info.lane = slot as u32 % LANES;
        let endpoint = connection.end_mut(side);
        net.send_segments(&self.info, side == Side::Sender, endpoint, open.number);
        let timer = endpoint.next_timer(net.now);
        self.arm(slot, side, timer, net);
        self.check(slot, net);
    }

    /// Schedules a timer of an endpoint. A timer that moved to a later time expires once without effect; one that moved to an
    /// earlier time is rescheduled.
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

    /// Completes the transfer of a connection if everything has arrived, and frees the slot of one that is over.
    fn check(&mut self, slot: usize, net: &mut Network) {
        let Some(open) = self.open[slot].as_deref_mut() else { return };
        if open.running.is_some() && open.connection.delivered(Side::Receiver) >= open.written {
            if let Some(row) = open.running.take() {
                net.transfers[row].end_s = Some(net.now.as_secs());
            }
            self.completed += 1;
            self.completed_at = net.now;
            if self.reuses {
                self.idle.push(slot);
                if self.all_completed() {
                    self.close_idle(net);
                }
                return;
            }
        }
        let is_done = |side| open.connection.end(side).state() == State::Done;
        if open.running.is_none() && is_done(Side::Sender) && is_done(Side::Receiver) {
            self.meter.connection_ends(Some(&open.connection));
            self.slots[open.number as usize - 1] = OVER;
            self.open[slot] = None;
            self.free.push(slot);
        }
    }

    /// No transfer follows: closes the connections.
    fn close_idle(&mut self, net: &mut Network) {
        for slot in std::mem::take(&mut self.idle) {
            if let Some(open) = self.open[slot].as_deref_mut() {
                open.connection.close(Side::Sender);
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
                open.connection.end_mut(side).on_timer(net.now);
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
                open.running = None;
                open.connection.abandon();
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
            variant: self.factory.variant().name.into(),
            application: "workload".into(),
            stop_s: end.as_secs(),
            throughput_bps: if seconds > 0.0 { self.info.received_bytes as f64 * 8.0 / seconds } else { 0.0 },
            completion_time_s: all.then(|| self.completed_at.since(self.first_begun_at).as_secs()),
            transfers_started: self.begun,
            transfers_completed: self.completed,
            ..FlowResult::default()
        };
        let mss = self.factory.mss();
        let sum = self.sum();
        self.meter.finish(Some(&sum), mss, seconds, end.min(net.now), &mut result);
        result
    }
}

impl Flow for WorkloadFlow {
    fn info(&self) -> &FlowInfo {
        &self.info
    }

    fn info_mut(&mut self) -> &mut FlowInfo {
        &mut self.info
    }

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
        if !forward {
            open.connection.end_mut(Side::Sender).on_segment(&body.segment, packet.ecn, net.now);
            open.connection.read(Side::Sender);
            self.meter.acknowledged(open.connection.sender(), net.now);
            self.serve(slot, Side::Sender, net);
            return;
        }
        let receiver = open.connection.end_mut(Side::Receiver);
        let quiet = receiver.on_segment(&body.segment, packet.ecn, net.now);
        if quiet && !open.connection.has_tls() {
            self.info.lane = slot as u32 % LANES;
            let receiver = open.connection.end_mut(Side::Receiver);
            net.send_acks(&self.info, receiver, open.number);
            // No other timer of the endpoint has changed.
            let timer = receiver.ack_timer();
            self.arm(slot, Side::Receiver, timer, net);
            self.check(slot, net);
        } else {
            open.connection.read(Side::Receiver);
            self.serve(slot, Side::Receiver, net);
        }
    }

    fn restart_meter(&mut self, net: &Network) {
        let sum = self.sum();
        self.meter.restart(Some(&sum), net.now);
        // Of a flow that has stopped, nothing is measured.
        self.result = (self.info.stop <= net.now).then(|| Box::new(self.metrics(net)));
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        let mut result = match self.result.take() {
            Some(result) => *result,
            None => self.metrics(net),
        };
        // A packet that was sent before the flow stopped may be dropped later.
        result.dropped_packets = net.dropped(self.info.index);
        result.duplicated_packets = net.duplicated(self.info.index);
        result
    }
}
