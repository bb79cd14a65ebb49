//! One run, from its plan to its results; the flows of a plan.

use crate::error::SimError;
use crate::flows::algorithms::{Algorithms, VariantSource};
use crate::flows::factories::Factories;
use crate::flows::ping::{PingConfig, PingFlow};
use crate::flows::quic::{QuicApplication, QuicFlow};
use crate::flows::source::Source;
use crate::flows::tcp::{ConnectionFactory, TcpFlow};
use crate::flows::udp::UdpFlow;
use crate::flows::web::{Dialer, VideoSeries, WebApp, WebFlow};
use crate::flows::workload::{QuicFactory, QuicWorkload, TcpFactory, TcpWorkload};
use crate::flows::{Flow, FlowInfo};
use crate::network::{Disciplines, Pace};
use crate::output::Output;
use crate::record::FlowRecorder;
use crate::simulation::Simulation;
use dumbbell_apps::abr::{self, ExternalAbr};
use dumbbell_apps::{AbrPlan, Http, Page, Player};
use dumbbell_cc::{External, Failure};
use dumbbell_plan::{AppPlan, FlowPlan, Named, Plan, Schedule, TransportPlan};
use dumbbell_tcp::Config;
use dumbbell_units::param::ParamError;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs a plan. The same plan gives the same output, bit for bit, on every machine.
///
/// # Errors
/// The plan names an unknown variant, discipline or parameter, or holds an invalid value.
pub fn run(plan: &Plan) -> Result<Output, SimError> {
    Simulation::new(plan.clone())?.finish()
}

/// Variants, rules for the bit rate and queue disciplines that the user has written, by the names that plans use.
#[derive(Debug, Default)]
pub struct Externals {
    /// Congestion control variants.
    pub variants: BTreeMap<String, Arc<dyn External>>,
    /// Rules for the bit rate of videos.
    pub rules: BTreeMap<String, Arc<dyn ExternalAbr>>,
    /// Queue disciplines.
    pub disciplines: Disciplines,
}

/// Runs a plan without shortcuts: every arrival of a packet is an event, in the order of the clock. Tests compare
/// [`run`] with it; the output is the same except for the number of events.
///
/// # Errors
/// The errors of [`run`].
#[doc(hidden)]
pub fn run_one_by_one(plan: &Plan) -> Result<Output, SimError> {
    Simulation::with(plan.clone(), &Externals::default(), Pace::OneByOne)?.finish()
}

pub(crate) fn build<'p>(
    plan: &Plan,
    index: usize,
    flow: &'p FlowPlan,
    factories: &mut Factories<'p>,
    external: &Externals,
    failure: &Failure,
) -> Result<Box<dyn Flow>, SimError> {
    let path = |part: &str| format!("flow/{}/{part}", flow.name);
    let start = plan.start_of(flow);
    let info = FlowInfo::new(plan, index, start);
    let source = Source::new(flow, start, Stream::new(plan.seed, &path("source")));
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
        (TransportPlan::Udp {}, _, Some(source)) => {
            let traced = plan.trace.of_flow(&flow.name);
            Ok(Box::new(UdpFlow::new(info, &flow.application, source, traced)))
        }
        (TransportPlan::Udp {}, _, None) => Err(SimError::invalid(
            format!("flows.{}.application", flow.name),
            format!("'{application}' needs TCP or QUIC"),
        )),
        (TransportPlan::Tcp { variant, stack, tls }, app, source) => {
            let shortcuts = factories.shortcuts;
            let factory = factories.tcp(flow, || {
                let algorithms = algorithms(flow, variant, external, failure)?;
                tcp_factory(flow, algorithms, stack, tls.as_deref(), shortcuts)
            })?;
            let recorder = recorder(plan, flow, factory.variant().columns);
            if let Some(app) = web_app(plan, flow, start, external, failure)? {
                let dialer = Dialer::Tcp { factory, isn: Stream::new(plan.seed, &path("isn")) };
                return Ok(Box::new(WebFlow::new(info, app, dialer, plan.seed, recorder)));
            }
            if let AppPlan::Workload(workload) = app {
                let schedule = Schedule::new(workload, &flow.name, plan.seed, start);
                let failure = failure.of(&format!("flows.{}.application", flow.name));
                let factory = TcpFactory::new(factory, &flow.name, plan.seed);
                return Ok(Box::new(TcpWorkload::new(info, workload, schedule, factory, failure)));
            }
            let flow = TcpFlow::new(info, application, app.clone(), factory, source, plan.seed, recorder);
            Ok(Box::new(flow))
        }
        (TransportPlan::Quic { variant, stack }, app, source) => {
            let algorithms = algorithms(flow, variant, external, failure)?;
            let row = algorithms.variant();
            let recorder = recorder(plan, flow, row.columns);
            let config = dumbbell_quic::Config::read(&stack.name, &stack.given(), row);
            let config = config.map_err(|e| param(flow, "stack", e))?;
            algorithms.check(&config.cc_setup()).map_err(|e| param(flow, "variant", e))?;
            if let Some(app) = web_app(plan, flow, start, external, failure)? {
                let dialer = Dialer::Quic { config: Box::new(config), algorithms };
                return Ok(Box::new(WebFlow::new(info, app, dialer, plan.seed, recorder)));
            }
            if let AppPlan::Workload(workload) = app {
                let schedule = Schedule::new(workload, &flow.name, plan.seed, start);
                let failure = failure.of(&format!("flows.{}.application", flow.name));
                let factory = QuicFactory::new(config, algorithms, &flow.name, plan.seed);
                return Ok(Box::new(QuicWorkload::new(info, workload, schedule, factory, failure)));
            }
            let app = QuicApplication { kind: application, plan: app.clone(), source };
            let qlog = plan.capture.qlog;
            Ok(Box::new(QuicFlow::new(info, app, config, algorithms, plan.seed, recorder, qlog)))
        }
    }
}

fn tcp_factory(
    flow: &FlowPlan,
    algorithms: Algorithms,
    stack: &Named,
    tls: Option<&Named>,
    shortcuts: bool,
) -> Result<ConnectionFactory, SimError> {
    let mut config = Config::read_over(flow.ip, &stack.name, &stack.given(), algorithms.variant())
        .map_err(|e| param(flow, "stack", e))?;
    config.shortcuts = shortcuts;
    config.buffer.nagle &= !flow.sets_nodelay();
    let tls = tls.map(|tls| dumbbell_tls::Config::read(&tls.name, &tls.given()));
    let tls = tls.transpose().map_err(|e| param(flow, "tls", e))?;
    ConnectionFactory::new(config, algorithms, tls).map_err(|e| param(flow, "variant", e))
}

/// The application of a web flow; None for others.
fn web_app(
    plan: &Plan,
    flow: &FlowPlan,
    start: Time,
    external: &Externals,
    failure: &Failure,
) -> Result<Option<WebApp>, SimError> {
    let refuse = |message: &str| Err(SimError::invalid(format!("flows.{}.application", flow.name), message.to_owned()));
    let (app, http) = match &flow.application {
        AppPlan::Video(video) => {
            let rule = match (&video.abr, abr::build(video)) {
                (_, Some(rule)) => rule,
                (AbrPlan::External { name, params, .. }, None) => {
                    let Some(source) = external.rules.get(name) else {
                        return refuse(&format!("rule '{name}' was not given"));
                    };
                    let failure = failure.of(&format!("flows.{}.application.abr", flow.name));
                    let made = source.make(params, Arc::new(move |message| failure.fail(message)));
                    made.map_err(|e| SimError::invalid(format!("flows.{}.application.abr", flow.name), e))?
                }
                (_, None) => return refuse("the rule is missing"),
            };
            let traced = plan.trace.of_flow(&flow.name);
            let series = traced.then(|| Box::new(VideoSeries::new(&flow.name, Dur(plan.trace.interval_ns))));
            (WebApp::Video(Box::new(Player::new((**video).clone(), rule, start)), series), video.http)
        }
        AppPlan::Objects(page) => (WebApp::Page(Box::new(Page::new((**page).clone(), start))), page.http),
        _ => return Ok(None),
    };
    let over_quic = matches!(flow.transport, TransportPlan::Quic { .. });
    if over_quic != (http.version == Http::H3) {
        return refuse("h1 and h2 need TCP, and h3 needs QUIC");
    }
    Ok(Some(app))
}

fn param(flow: &FlowPlan, part: &str, source: ParamError) -> SimError {
    SimError::Param { place: format!("flows.{}.{part}", flow.name), source }
}

/// The congestion control algorithms of a flow.
fn algorithms(
    flow: &FlowPlan,
    variant: &Named,
    external: &Externals,
    failure: &Failure,
) -> Result<Algorithms, SimError> {
    let source = match external.variants.get(&variant.name) {
        Some(factory) => {
            let failure = failure.of(&format!("flows.{}.variant", flow.name));
            VariantSource::External(Arc::clone(factory), failure)
        }
        None => {
            let row = dumbbell_cc::find(&variant.name).map_err(|e| param(flow, "variant", e))?;
            VariantSource::Registry(row)
        }
    };
    Ok(Algorithms::new(source, variant.clone()))
}

fn recorder(plan: &Plan, flow: &FlowPlan, columns: &'static [&'static str]) -> Option<Box<FlowRecorder>> {
    let traced = plan.trace.of_flow(&flow.name);
    traced.then(|| Box::new(FlowRecorder::new(&flow.name, Dur(plan.trace.interval_ns), columns)))
}
