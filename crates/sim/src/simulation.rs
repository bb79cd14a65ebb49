//! A run in steps: a caller that draws while the run is in progress advances it by some virtual time, and reads the
//! series so far. The steps change no result.

use crate::error::SimError;
use crate::events::Kind;
use crate::flows::factories::Factories;
use crate::flows::{APP, Flow, TIMERS};
use crate::network::{Arrived, Network, Pace};
use crate::output::Output;
use crate::run::{Externals, build};
use dumbbell_cc::Failure;
use dumbbell_plan::{AppPlan, Plan};
use dumbbell_trace::{Table, TableSlice};
use dumbbell_units::flow_number::direction_of;
use dumbbell_units::{Dur, Time};

/// Rows of a table, and packets of captures, from which [`Simulation::finish_in_parts`] passes them on: some MB.
const PART_ROWS: usize = 1 << 16;
/// Virtual time between two looks at the rows: some 100,000 rows per link at 10 Gbit/s.
const PART_TIME: Dur = Dur(100_000_000);

/// A part of the output that is complete while the run is in progress.
#[derive(Debug)]
pub enum Part {
    /// Rows of a table: those after the rows before.
    Table(Table),
    /// Bytes of a capture file: those after the bytes before.
    Capture {
        /// Name of the capture point.
        name: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// A run that has begun.
pub struct Simulation {
    net: Network,
    flows: Vec<Box<dyn Flow>>,
    /// Slot of the first timer of the first flow; those of the links come before.
    first_timer: usize,
    /// Slot of the start of the measurement.
    measure: usize,
    /// Events processed so far.
    events: u64,
    /// True if the run can fail: external code, or a workload with too many connections.
    may_fail: bool,
    failure: Failure,
}

impl Simulation {
    /// Begins the run of a plan. It takes the plan, because the descriptions of many links are as large as the links.
    ///
    /// # Errors
    /// The plan names an unknown variant, discipline or parameter, or holds an invalid value.
    pub fn new(plan: Plan) -> Result<Simulation, SimError> {
        Simulation::with_externals(plan, &Externals::default())
    }

    /// Begins the run of a plan in which some variants, rules or disciplines are external.
    ///
    /// # Errors
    /// Those of [`Simulation::new`], and external code that fails.
    pub fn with_externals(plan: Plan, external: &Externals) -> Result<Simulation, SimError> {
        Simulation::with(plan, external, Pace::Late)
    }

    pub(crate) fn with(mut plan: Plan, external: &Externals, pace: Pace) -> Result<Simulation, SimError> {
        dumbbell_plan::check(&plan)?;
        let failure = Failure::default();
        let holds = !(external.variants.is_empty() && external.rules.is_empty());
        let has_workload = plan.flows.iter().any(|f| matches!(f.application, AppPlan::Workload(_)));
        let may_fail = holds || has_workload || !external.disciplines.is_empty();
        let mut net = Network::new(&plan, pace, holds, &external.disciplines, &failure)?;
        plan.links = Vec::new();
        let (first_timer, measure) = (net.slots.first_timer(), net.slots.measurement());
        net.events.schedule(measure, Time(plan.measure_from_ns), Kind::Measurement);
        let mut flows = Vec::with_capacity(plan.flows.len());
        let mut factories = Factories::new(pace != Pace::OneByOne);
        for (i, flow) in plan.flows.iter().enumerate() {
            let flow = build(&plan, i, flow, &mut factories, external, &failure)?;
            net.set_timer(i, APP, flow.info().start);
            flows.push(flow);
        }
        Ok(Simulation { net, flows, first_timer, measure, events: 0, may_fail, failure })
    }

    /// Processes all events up to and including `until`, at most to the end of the run. Returns false at the end.
    ///
    /// # Errors
    /// External code that fails, or a workload with too many connections. The run is over.
    pub fn advance(&mut self, until: Time) -> Result<bool, SimError> {
        let Simulation { net, flows, events, .. } = self;
        let until = until.min(net.end);
        while let Some((time, slot)) = net.events.pop_by(until) {
            (net.now, net.clock) = (time, time);
            *events += 1;
            if slot < self.first_timer {
                if let Some(packet) = net.on_link_event(slot) {
                    flows[flow_of(&packet)].on_packet(packet, packet.flow % 2 == 0, net);
                    net.free(packet.body);
                }
            } else if slot == self.measure {
                for flow in &mut *flows {
                    flow.info_mut().begin_measurement(time);
                    flow.restart_meter(net);
                }
            } else {
                let timer = slot - self.first_timer;
                flows[timer / TIMERS].on_timer(timer % TIMERS, net);
            }
            process_ahead(net, flows);
            if self.may_fail && self.failure.is_set() {
                break;
            }
        }
        check(&self.failure, self.net.now)?;
        Ok(until < self.net.end)
    }

    /// The rows so far of the tables `flow`, `rtt`, `queue`, `departures` and `drops`. Rows are only added, and none
    /// changes later. A table can be ahead of the clock or behind it, by less than the delay of its path, because the
    /// engine processes packets together.
    pub fn series(&self) -> impl Iterator<Item = TableSlice<'_>> {
        let flows = self.flows.iter().filter_map(|flow| flow.recorder());
        let queues = self.net.links.iter().filter_map(|link| link.recorder.as_ref());
        flows.flat_map(|flow| flow.so_far()).chain(queues.flat_map(|queue| queue.so_far()))
    }

    /// Takes the rows so far out of each table of [`Simulation::series`], and of the table of packets, that has at
    /// least `least`, and passes them on, in the order of the table. The rows that [`Simulation::finish`] returns
    /// follow them.
    pub fn drain(&mut self, least: usize, sink: &mut dyn FnMut(Table)) {
        for recorder in self.flows.iter_mut().filter_map(|flow| flow.recorder_mut()) {
            recorder.drain(least, sink);
        }
        self.net.drain(least, sink);
    }

    /// Passes on the parts of capture files that are complete, if at least `least` packets of captures are in memory:
    /// the name of a capture and the bytes that follow those before. The fate of a packet is part of its comments, so a
    /// part ends before the first packet that is in the network. [`crate::Capture::write`] writes the rest.
    ///
    /// # Errors
    /// A packet doesn't fit into the format.
    pub fn drain_captures(&mut self, least: usize, sink: &mut dyn FnMut(&str, Vec<u8>)) -> Result<(), SimError> {
        self.net.drain_captures(least, sink).map_err(|e| SimError::invalid("capture".into(), e.to_string()))
    }

    /// Processes the remaining events and passes on the rows of long series and the parts of long captures while the
    /// run is in progress: the output has the rows and packets after them. The memory of series and captures then
    /// doesn't grow with the run. Returns None if `sink` has returned false.
    ///
    /// # Errors
    /// Those of [`Simulation::advance`] and [`Simulation::drain_captures`].
    pub fn finish_in_parts(mut self, sink: &mut dyn FnMut(Part) -> bool) -> Result<Option<Output>, SimError> {
        let (mut until, mut wanted) = (self.net.clock + PART_TIME, true);
        while wanted && self.advance(until)? {
            let mut pass_on = |part| wanted = wanted && sink(part);
            self.drain(PART_ROWS, &mut |table| pass_on(Part::Table(table)));
            self.drain_captures(PART_ROWS, &mut |name, bytes| {
                pass_on(Part::Capture { name: name.to_owned(), bytes });
            })?;
            until += PART_TIME;
        }
        if wanted { self.finish().map(Some) } else { Ok(None) }
    }

    /// Processes the remaining events and returns the results.
    ///
    /// # Errors
    /// Those of [`Simulation::advance`].
    pub fn finish(mut self) -> Result<Output, SimError> {
        self.advance(self.net.end)?;
        let Simulation { mut net, flows, events, may_fail, failure, .. } = self;
        (net.now, net.clock) = (net.end, net.end);
        net.catch_up();
        // Links and flows are dropped after their results are made: large runs need the memory for the results.
        let (queues, tables) = net.finish();
        let results = flows.into_iter().map(|mut flow| {
            let mut result = flow.finish(&mut net);
            let info = flow.info();
            result.name.clone_from(&info.name);
            result.start_s = info.start.as_secs();
            // A packet that was sent before the flow stopped may be dropped later.
            result.dropped_packets = net.dropped(info.index);
            result.duplicated_packets = net.duplicated(info.index);
            if result.sent_packets > 0 {
                result.drop_rate = (result.dropped_packets as f64 / result.sent_packets as f64).into();
            }
            result
        });
        let flows = results.collect();
        net.trace.tables.extend(tables);
        if may_fail {
            check(&failure, net.end)?;
        }
        let captures = net.captures();
        let (transfers, trace, qlogs) = (net.transfers, net.trace, net.qlogs);
        Ok(Output { flows, queues, transfers, trace, captures, qlogs, events })
    }
}

/// Returns the failure of external code as an error. `now`: the clock, for code that doesn't report the time.
fn check(failure: &Failure, now: Time) -> Result<(), SimError> {
    let Some((part, message)) = failure.get() else { return Ok(()) };
    let at = failure.time().unwrap_or(now);
    Err(SimError::External { place: part.to_owned(), at, message: message.to_owned() })
}

/// The number of a packet's flow.
#[inline]
fn flow_of(packet: &Arrived) -> usize {
    direction_of(packet.flow) as usize / 2
}

/// Lets endpoints process packets ahead of the clock. The others wait for their time.
fn process_ahead(net: &mut Network, flows: &mut [Box<dyn Flow>]) {
    let now = net.now;
    let mut n = 0;
    while n < net.ahead.len() {
        let flow = direction_of(net.ahead[n].packet.flow) as usize / 2;
        if flows[flow].on_packet_ahead(n, net) {
            net.now = now;
        } else {
            net.not_ahead(n);
        }
        n += 1;
    }
    net.ahead.clear();
}
