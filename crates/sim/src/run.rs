//! One run: builds the network and the flows of a plan, processes all events, collects the results.

use crate::error::SimError;
use crate::flows::ping::{PingConfig, PingFlow};
use crate::flows::source::Source;
use crate::flows::tcp::{ConnectionFactory, TcpFlow, VariantSource};
use crate::flows::udp::UdpFlow;
use crate::flows::{APP, Flow, FlowInfo, TIMERS};
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
/// The plan names an unknown variant, discipline or parameter, or holds an invalid value.
pub fn run(plan: &Plan) -> Result<Output, SimError> {
    run_with(plan, &ExternalVariants::new())
}

/// Variants that are not in the registry, by the name that plans use.
pub type ExternalVariants = BTreeMap<String, Arc<dyn External>>;

/// Runs a plan in which some variants are external.
///
/// # Errors
/// The errors of [`run`], and an external variant that fails during the run.
pub fn run_with(plan: &Plan, external: &ExternalVariants) -> Result<Output, SimError> {
    dumbbell_plan::check(plan)?;
    let failure = Failure::default();
    let may_fail = !external.is_empty();
    let mut net = Network::new(plan)?;
    let first_timer = 2 * net.links();
    let measure = first_timer + TIMERS * plan.flows.len();
    // Scheduled first, so that it precedes every other event of its time: a flow that starts then is measured.
    net.events.schedule(measure, Time(plan.measure_from_ns));
    let mut flows = Vec::with_capacity(plan.flows.len());
    for (i, flow) in plan.flows.iter().enumerate() {
        let flow = build(plan, i, flow, external, &failure)?;
        net.set_timer(i, APP, flow.info().start);
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
                flow.info_mut().received_bytes = 0;
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
        return Err(SimError::Variant { flow: flow.to_owned(), at: net.now, message: message.to_owned() });
    }
    net.now = net.end;
    let results = flows.iter_mut().map(|flow| {
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
    let captures = net.captures();
    Ok(Output { flows, queues, transfers: net.transfers, trace: net.trace, captures, events })
}

fn build(
    plan: &Plan,
    index: usize,
    flow: &FlowPlan,
    external: &ExternalVariants,
    failure: &Failure,
) -> Result<Box<dyn Flow>, SimError> {
    let path = |part: &str| format!("flow/{}/{part}", flow.name);
    let jitter = Stream::new(plan.seed, &path("start")).uniform();
    let start = Time(flow.start_ns) + Dur(plan.start_jitter_ns).scale(jitter);
    let info = FlowInfo::new(plan, index, start);
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
            Ok(Box::new(PingFlow::new(info, config, plan.trace.of_flow(&flow.name))))
        }
        (TransportPlan::Udp {}, _, Some(source)) => Ok(Box::new(UdpFlow::new(info, application, source))),
        (TransportPlan::Udp {}, _, None) => Err(SimError::invalid(
            format!("flows.{}.application", flow.name),
            format!("'{application}' needs TCP"),
        )),
        (TransportPlan::Tcp { variant, stack }, app, source) => {
            let at =
                |part: &str, source| SimError::Param { place: format!("flows.{}.{part}", flow.name), source };
            let from = match external.get(&variant.name) {
                Some(factory) => VariantSource::External(Arc::clone(factory), failure.of_flow(&flow.name)),
                None => {
                    VariantSource::Registry(dumbbell_cc::find(&variant.name).map_err(|e| at("variant", e))?)
                }
            };
            let row = from.variant();
            let config = Config::read(&stack.name, &stack.given(), row).map_err(|e| at("stack", e))?;
            let factory =
                ConnectionFactory::new(config, from, variant.clone()).map_err(|e| at("variant", e))?;
            let recorder = plan
                .trace
                .of_flow(&flow.name)
                .then(|| FlowRecorder::new(&flow.name, Dur(plan.trace.interval_ns), row.columns));
            let flow = TcpFlow::new(info, application, app.clone(), factory, source, plan.seed, recorder);
            Ok(Box::new(flow))
        }
    }
}
