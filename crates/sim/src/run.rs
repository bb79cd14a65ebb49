//! One run: the plan becomes a network and flows, the event loop runs to the end, the figures come out.

use crate::error::SimError;
use crate::flows::ping::{PingConfig, PingFlow};
use crate::flows::source::Source;
use crate::flows::tcp::{LawSource, Recipe, TcpFlow};
use crate::flows::udp::UdpFlow;
use crate::flows::{APP, Common, Flow, TIMERS};
use crate::network::Network;
use crate::output::Output;
use crate::record::FlowRecorder;
use dumbbell_cc::{External, Failure};
use dumbbell_plan::{AppPlan, FlowPlan, Plan, TransportPlan};
use dumbbell_tcp::Config;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs a plan. The same plan gives the same output, bit for bit, on every machine.
///
/// # Errors
/// If the plan names what doesn't exist, or what can't be.
pub fn run(plan: &Plan) -> Result<Output, SimError> {
    run_with(plan, &Laws::new())
}

/// Laws from outside the registry, by the name that plans give them.
pub type Laws = BTreeMap<String, Arc<dyn External>>;

/// Runs a plan in which some variants are not the registry's.
///
/// # Errors
/// As [`run`]; also if one of these laws fails on the way.
pub fn run_with(plan: &Plan, laws: &Laws) -> Result<Output, SimError> {
    dumbbell_plan::check(plan)?;
    let failure = Failure::default();
    let may_fail = !laws.is_empty();
    let mut net = Network::new(plan)?;
    let first_timer = 2 * net.links();
    let measure = first_timer + TIMERS * plan.flows.len();
    // First of all events at its time: what starts then is measured.
    net.events.schedule(measure, Time(plan.measure_from_ns));
    let mut flows = Vec::with_capacity(plan.flows.len());
    for (i, flow) in plan.flows.iter().enumerate() {
        let flow = build(plan, i, flow, laws, &failure)?;
        net.set_timer(i, APP, flow.common().start);
        flows.push(flow);
    }
    let mut events = 0;
    while let Some((time, slot)) = net.events.pop() {
        if time > net.end {
            break;
        }
        net.now = time;
        events += 1;
        if slot < first_timer {
            if let Some(packet) = net.on_link_event(slot) {
                flows[packet.flow as usize / 2].on_packet(packet, packet.flow % 2 == 0, &mut net);
                net.free(packet.body);
            }
        } else if slot == measure {
            for flow in &mut flows {
                flow.common_mut().received_bytes = 0;
                flow.restart_meter(time);
            }
        } else {
            let timer = slot - first_timer;
            flows[timer / TIMERS].on_timer(timer % TIMERS, &mut net);
        }
        if may_fail && failure.is_set() {
            break;
        }
    }
    if let Some((flow, message)) = failure.get() {
        return Err(SimError::Law { flow: flow.to_owned(), at: net.now, message: message.to_owned() });
    }
    net.now = net.end;
    let results = flows.iter_mut().map(|flow| {
        let mut result = flow.finish(&mut net);
        let common = flow.common();
        result.name.clone_from(&common.name);
        result.start_s = common.start.as_secs();
        result.drop_rate =
            (result.sent_packets > 0).then(|| result.dropped_packets as f64 / result.sent_packets as f64);
        result
    });
    let flows = results.collect();
    let queues = net.finish();
    let captures = net.captures();
    Ok(Output { flows, queues, transfers: net.transfers, trace: net.trace, captures, events })
}

fn build(
    plan: &Plan,
    index: usize,
    flow: &FlowPlan,
    laws: &Laws,
    failure: &Failure,
) -> Result<Box<dyn Flow>, SimError> {
    let path = |part: &str| format!("flow/{}/{part}", flow.name);
    let jitter = Stream::new(plan.seed, &path("start")).uniform();
    let start = Time(flow.start_ns) + Dur(plan.start_jitter_ns).scale(jitter);
    let common = Common {
        index,
        name: flow.name.clone(),
        from: flow.from,
        to: flow.to,
        class: flow.class,
        start,
        stop: Time(flow.stop_ns.unwrap_or(plan.duration_ns)),
        measure_from: Time(plan.measure_from_ns),
        received_bytes: 0,
    };
    let source = Source::new(&flow.application, start, Stream::new(plan.seed, &path("source")));
    let application = flow.application.kind();
    match (&flow.transport, &flow.application, source) {
        (_, AppPlan::Program { .. }, _) => Err(SimError::invalid(
            format!("flows.{}.application", flow.name),
            format!("'{application}' is a real program: back end 'kernel' runs it"),
        )),
        (_, AppPlan::Ping { interval_ns, packet_bytes, count, timeout_ns }, _) => {
            let config = PingConfig {
                interval: Dur(*interval_ns),
                packet_bytes: *packet_bytes,
                count: *count,
                timeout: Dur(*timeout_ns),
            };
            Ok(Box::new(PingFlow::new(common, config, plan.trace.of_flow(&flow.name))))
        }
        (TransportPlan::Udp, _, Some(source)) => Ok(Box::new(UdpFlow::new(common, application, source))),
        (TransportPlan::Udp, _, None) => Err(SimError::invalid(
            format!("flows.{}.application", flow.name),
            format!("'{application}' needs TCP"),
        )),
        (TransportPlan::Tcp { variant, stack }, app, source) => {
            let at =
                |part: &str, source| SimError::Param { place: format!("flows.{}.{part}", flow.name), source };
            let from = match laws.get(&variant.name) {
                Some(law) => LawSource::External(Arc::clone(law), failure.of_flow(&flow.name)),
                None => LawSource::Registry(dumbbell_cc::find(&variant.name).map_err(|e| at("variant", e))?),
            };
            let row = from.variant();
            let config = Config::read(&stack.name, &stack.given(), row).map_err(|e| at("stack", e))?;
            let recipe = Recipe::new(config, from, variant.clone()).map_err(|e| at("variant", e))?;
            let recorder = plan
                .trace
                .of_flow(&flow.name)
                .then(|| FlowRecorder::new(&flow.name, Dur(plan.trace.interval_ns), row.columns));
            let flow = TcpFlow::new(common, application, app.clone(), recipe, source, plan.seed, recorder);
            Ok(Box::new(flow))
        }
    }
}
