//! A run in steps: a caller that draws while the run is in progress advances it by some virtual time, and reads the series so
//! far. The steps change no result.

use crate::error::SimError;
use crate::events::Kind;
use crate::flows::factories::Factories;
use crate::flows::{APP, Flow, TIMERS};
use crate::network::{Arrived, Network, Pace};
use crate::output::Output;
use crate::run::{Externals, build};
use dumbbell_cc::Failure;
use dumbbell_plan::{AppPlan, Plan};
use dumbbell_trace::TableSlice;
use dumbbell_units::Time;
use dumbbell_units::flow_number::direction_of;

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
    /// Begins the run of a plan.
    ///
    /// # Errors
    /// The plan names an unknown variant, discipline or parameter, or holds an invalid value.
    pub fn new(plan: &Plan) -> Result<Simulation, SimError> {
        Simulation::with_externals(plan, &Externals::default())
    }

    /// Begins the run of a plan in which some variants, rules or disciplines are external. The plan isn't needed any longer.
    ///
    /// # Errors
    /// Those of [`Simulation::new`], and external code that fails.
    pub fn with_externals(plan: &Plan, external: &Externals) -> Result<Simulation, SimError> {
        Simulation::with(plan, external, Pace::Late)
    }

    pub(crate) fn with(plan: &Plan, external: &Externals, pace: Pace) -> Result<Simulation, SimError> {
        dumbbell_plan::check(plan)?;
        let failure = Failure::default();
        let holds = !(external.variants.is_empty() && external.rules.is_empty());
        let has_workload = plan.flows.iter().any(|f| matches!(f.application, AppPlan::Workload(_)));
        let may_fail = holds || has_workload || !external.disciplines.is_empty();
        let mut net = Network::new(plan, pace, &external.disciplines, &failure)?;
        if holds {
            net.hold_senders();
        }
        let first_timer = 2 * net.links();
        let measure = first_timer + TIMERS * plan.flows.len();
        net.events.schedule(measure, Time(plan.measure_from_ns), Kind::Measurement);
        let mut flows = Vec::with_capacity(plan.flows.len());
        let mut factories = Factories::default();
        for (i, flow) in plan.flows.iter().enumerate() {
            let flow = build(plan, i, flow, &mut factories, external, &failure)?;
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

    /// The rows so far of the tables `flow`, `rtt`, `queue`, `departures` and `drops`. Rows are only added, and none changes
    /// later. A table can be ahead of the clock or behind it, by less than the delay of its path, because the engine
    /// processes packets together.
    pub fn series(&self) -> impl Iterator<Item = TableSlice<'_>> {
        let flows = self.flows.iter().filter_map(|flow| flow.recorder());
        let queues = self.net.links.iter().filter_map(|link| link.recorder.as_ref());
        flows.flat_map(|flow| flow.so_far()).chain(queues.flat_map(|queue| queue.so_far()))
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
        // Each flow is dropped after its result is made: large runs need the memory for the results of the links.
        let results = flows.into_iter().map(|mut flow| {
            let mut result = flow.finish(&mut net);
            let info = flow.info();
            result.name.clone_from(&info.name);
            result.start_s = info.start.as_secs();
            result.drop_rate =
                (result.sent_packets > 0).then(|| result.dropped_packets as f64 / result.sent_packets as f64);
            result
        });
        let flows = results.collect();
        let queues = net.finish();
        if may_fail {
            net.close_queues();
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
        match net.arrives_ahead(n) {
            Some((packet, at)) if flows[flow_of(&packet)].on_packet_ahead(packet, at, net) => {
                net.now = now;
                net.free(packet.body);
            }
            _ => net.not_ahead(n),
        }
        n += 1;
    }
    net.ahead.clear();
}
