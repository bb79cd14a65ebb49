//! A run as its flows' ends on this machine make it: the event loop over their sockets. Listening ends begin when the
//! run is prepared, so that they are there before the first packet; all others at their times of the run.

use super::datagrams::{DatagramReceiver, DatagramSender};
use super::order::{FlowOrder, Order, server_of};
use super::reply::Reply;
use super::sender_series::SenderSeries;
use crate::bpf::LoadedVariants;
use crate::error::{KernelError, Step};
use crate::meter::Window;
use crate::plan::congestion_control::kernel_variant;
use crate::plan::sysctl::kernel_stack;
use crate::run::flow::{schedule, source};
use crate::sys::{self, Clock};
use crate::traffic::{Counters, Cx, Host, PingConfig, PingTraffic, TcpTraffic, Traffic};
use dumbbell_plan::{AppPlan, FlowPlan, FlowResult, Plan, Transfer, TransportPlan};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// epoll token of the timer; an end's token is its number x 2^32 + role.
const TIMER: u64 = u64::MAX;
/// Interval at which the run notices that it is to stop, ns.
const NOTICED_NS: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Restart(usize),
    Start(usize),
    Alarm(usize),
    Sample,
    Stop(usize),
    Notice,
    End,
}

/// One end of a flow.
struct End {
    /// The flow's number, and the end: 0 is the data sender.
    flow: usize,
    side: usize,
    traffic: Box<dyn Traffic>,
    begun: bool,
    start: u64,
    stop: u64,
    window: Window,
    before: Counters,
    /// Counters of the measured time, once the flow has stopped.
    counted: Option<Counters>,
    series: Option<SenderSeries>,
}

/// See the top of this file.
pub(super) struct Session {
    plan: Plan,
    sample_ns: u64,
    ends: Vec<End>,
    epoll: OwnedFd,
    timer: OwnedFd,
    zero: u64,
    tasks: BinaryHeap<Reverse<(u64, u64, Task)>>,
    order: u64,
    transfers: Vec<Transfer>,
    /// Time from the run's beginning to the first task, ns: the lateness of this machine.
    late: Option<u64>,
    /// They are registered as long as this value exists.
    _variants: LoadedVariants,
}

impl Session {
    pub(super) fn new(order: Order) -> Result<Session, KernelError> {
        let variants = LoadedVariants::load(&order.bpf)?;
        let epoll = sys::epoll().step(|| "epoll".into())?;
        let timer = sys::timer(Clock::Steady).step(|| "timer".into())?;
        sys::epoll_add(&epoll, timer.as_raw_fd(), libc::EPOLLIN, TIMER).step(|| "epoll".into())?;
        let mut ends = Vec::new();
        for (number, (flow, at)) in order.plan.flows.iter().zip(&order.flows).enumerate() {
            for side in (0..2).filter(|side| at.local[*side]) {
                ends.push(End::new(&order.plan, (number, flow), at, side, &variants)?);
            }
        }
        let mut session = Session {
            plan: order.plan,
            sample_ns: order.sample_ns.max(1),
            ends,
            epoll,
            timer,
            zero: 0,
            tasks: BinaryHeap::new(),
            order: 0,
            transfers: Vec::new(),
            late: None,
            _variants: variants,
        };
        for n in 0..session.ends.len() {
            let end = &session.ends[n];
            if end.side == server_of(&session.plan.flows[end.flow].application) {
                session.ends[n].begun = true;
                session.serve(n, 0, 0, |t, cx| t.start(cx))?;
            }
        }
        Ok(session)
    }

    fn schedule(&mut self, at: u64, task: Task) {
        self.order += 1;
        self.tasks.push(Reverse((at, self.order, task)));
    }

    fn now(&self) -> u64 {
        sys::now(Clock::Steady).saturating_sub(self.zero)
    }

    /// Makes the run, which begins at `zero` of the steady clock.
    pub(super) fn run(mut self, zero: u64, stop: &AtomicBool) -> Result<Reply, KernelError> {
        self.zero = zero;
        for n in 0..self.ends.len() {
            // Nothing precedes a flow's start. A restart there would lose what the other machine sent before a late
            // task.
            if self.ends[n].window.from > self.ends[n].start {
                self.schedule(self.ends[n].window.from, Task::Restart(n));
            }
            self.schedule(self.ends[n].stop, Task::Stop(n));
            if !self.ends[n].begun {
                self.schedule(self.ends[n].start, Task::Start(n));
            }
        }
        self.schedule(0, Task::Sample);
        self.schedule(0, Task::Notice);
        self.schedule(self.plan.duration_ns, Task::End);
        let mut events = Vec::new();
        while let Some(Reverse((at, ..))) = self.tasks.peek().copied() {
            sys::set_timer(&self.timer, self.zero + at).step(|| "timer".into())?;
            sys::epoll_wait(&self.epoll, &mut events).step(|| "epoll".into())?;
            let now = self.now();
            for (token, what) in events.drain(..).filter(|(token, _)| *token != TIMER) {
                let over = what & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32 != 0;
                self.serve((token >> 32) as usize, now, now, |t, cx| t.on_event(token as u32, over, cx))?;
            }
            while let Some(Reverse((at, _, task))) = self.tasks.peek().copied().filter(|Reverse((at, ..))| *at <= now) {
                self.tasks.pop();
                self.late.get_or_insert(now - at);
                if self.perform(task, at)? || stop.load(Ordering::Relaxed) {
                    return self.finish();
                }
            }
        }
        self.finish()
    }

    fn serve(
        &mut self,
        n: usize,
        now: u64,
        clock: u64,
        act: impl FnOnce(&mut dyn Traffic, &mut Cx<'_>) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let mut cx = Cx::new(now, clock, n, &self.epoll, &mut self.transfers);
        let before = cx.transfers.len();
        act(&mut *self.ends[n].traffic, &mut cx)?;
        for transfer in &mut cx.transfers[before..] {
            transfer.flow.clone_from(&self.plan.flows[self.ends[n].flow].name);
        }
        if let Some(at) = cx.take_alarm() {
            self.schedule(at.max(now + 1), Task::Alarm(n));
        }
        Ok(())
    }

    /// Executes a task that was due at `at`; returns true if the run is over.
    fn perform(&mut self, task: Task, at: u64) -> Result<bool, KernelError> {
        let clock = self.now().max(at);
        match task {
            Task::Restart(n) => {
                let end = &mut self.ends[n];
                end.traffic.restart();
                end.before = end.traffic.counters();
            }
            Task::Start(n) if at < self.ends[n].stop => {
                self.ends[n].begun = true;
                self.serve(n, at, clock, |t, cx| t.start(cx))?;
            }
            Task::Start(_) => {}
            Task::Alarm(n) if self.ends[n].counted.is_some() => {}
            Task::Alarm(n) => self.serve(n, at, clock, |t, cx| t.on_alarm(cx))?,
            Task::Sample => {
                for end in self.ends.iter_mut().filter(|end| end.begun && end.counted.is_none()) {
                    let Some(series) = &mut end.series else { continue };
                    let state = end.traffic.sample()?;
                    series.sampled(state.as_ref(), end.traffic.counters(), clock);
                }
                self.schedule(at + self.sample_ns, Task::Sample);
            }
            Task::Stop(n) => {
                self.ends[n].count(at);
                self.ends[n].traffic.stop(at);
            }
            Task::Notice => {
                let ended = |end: &End| end.counted.is_some() || end.traffic.ended().is_some();
                if at >= self.plan.measure_from_ns && !self.ends.is_empty() && self.ends.iter().all(ended) {
                    return Ok(true);
                }
                self.schedule(at + NOTICED_NS, Task::Notice);
            }
            Task::End => return Ok(true),
        }
        Ok(false)
    }

    fn finish(mut self) -> Result<Reply, KernelError> {
        let now = self.now().min(self.plan.duration_ns);
        let (mut ends, mut tables) = (Vec::new(), Vec::new());
        for end in &mut self.ends {
            end.count(now);
            let flow = &self.plan.flows[end.flow];
            ends.push(end.result(flow));
            tables.extend(end.series.as_mut().and_then(|series| series.table(&flow.name)));
            tables.extend(end.traffic.table(&flow.name).filter(|_| end.side == 0));
        }
        let late_ms = self.late.unwrap_or(0) as f64 * 1e-6;
        let document = json!({"ends": ends, "transfers": self.transfers, "late_ms": late_ms});
        Reply::results(document, &tables, Vec::new())
    }
}

impl End {
    fn new(
        plan: &Plan,
        (number, flow): (usize, &FlowPlan),
        at: &FlowOrder,
        side: usize,
        variants: &LoadedVariants,
    ) -> Result<End, KernelError> {
        let (start, stop) = schedule(plan, flow);
        let window = Window { from: plan.measure_from_ns.max(start), to: plan.duration_ns.min(stop) };
        let sends_tcp = side == 0 && matches!(flow.transport, TransportPlan::Tcp { .. });
        Ok(End {
            flow: number,
            side,
            traffic: traffic(plan, flow, at, side, variants)?,
            begun: false,
            start,
            stop,
            window,
            before: Counters::default(),
            counted: None,
            series: sends_tcp.then(|| SenderSeries::new(window, plan.trace.of_flow(&flow.name))),
        })
    }

    /// The measured time of this end is over.
    fn count(&mut self, at: u64) {
        if self.counted.is_none() {
            self.window.to = self.window.to.min(at).min(self.traffic.ended().unwrap_or(at));
            self.counted = Some(self.traffic.counters().since(self.before));
            if let Some(series) = &mut self.series {
                series.stop(self.window.to);
            }
        }
    }

    fn result(&mut self, flow: &FlowPlan) -> Value {
        let mut row = FlowResult {
            name: flow.name.clone(),
            start_s: self.start as f64 * 1e-9,
            stop_s: self.window.to as f64 * 1e-9,
            ..FlowResult::default()
        };
        if let Some(series) = &mut self.series {
            series.finish(&mut row);
        }
        self.traffic.finish(&mut row);
        json!({
            "flow": self.flow,
            "side": self.side,
            "row": row,
            "counters": self.counted.unwrap_or_default(),
            "from_s": self.window.from as f64 * 1e-9,
        })
    }
}

/// Returns the application of a flow's end on this machine.
fn traffic(
    plan: &Plan,
    flow: &FlowPlan,
    at: &FlowOrder,
    side: usize,
    variants: &LoadedVariants,
) -> Result<Box<dyn Traffic>, KernelError> {
    let host = |s: usize| Host { network: None, address: at.addresses[s].into(), port: at.port, local: s == side };
    let hosts = [host(0), host(1)];
    Ok(match (&flow.transport, &flow.application, source(plan, flow)) {
        (_, AppPlan::Workload(_), _) => {
            let message = "'workload' given: back end 'ssh' doesn't have it";
            return Err(KernelError::refused(&format!("flows.{}.application", flow.name), message));
        }
        (TransportPlan::Tcp { variant, stack, tls: None }, app, source) => {
            let settings = kernel_stack(&flow.name, &variant.name, stack)?;
            let name = kernel_variant(&flow.name, variant)?.name;
            let name = variants.name(name).to_owned();
            let (window, nodelay) = (settings.window, flow.sets_nodelay());
            let traffic = TcpTraffic::new(hosts, app.clone(), name, source, false, window, nodelay);
            Box::new(traffic.with_mss(settings.advmss))
        }
        (TransportPlan::Udp {}, _, Some(source)) if side == 0 => Box::new(DatagramSender::new(hosts, source)),
        (TransportPlan::Udp {}, _, Some(_)) => {
            let [_, host] = hosts;
            Box::new(DatagramReceiver::new(host))
        }
        (TransportPlan::Udp {}, AppPlan::Ping { interval_ns, packet_bytes, count, timeout_ns }, None) => {
            let config = PingConfig {
                interval_ns: *interval_ns,
                packet_bytes: *packet_bytes,
                count: *count,
                timeout_ns: *timeout_ns,
            };
            Box::new(PingTraffic::new(hosts, config, side == 0 && plan.trace.of_flow(&flow.name)))
        }
        (_, app, _) => {
            let message = format!("'{}' given: back end 'ssh' doesn't have it", app.kind());
            return Err(KernelError::refused(&format!("flows.{}.application", flow.name), message));
        }
    })
}
