//! Ping: echo requests and replies as UDP datagrams [udp(7)], with the simulator's schedule and timeout.

use super::{Cx, Host, Traffic};
use crate::error::{KernelError, Step};
use crate::sys;
use dumbbell_plan::{FlowResult, Optional};
use dumbbell_sim::meter::DurationStats;
use dumbbell_trace::Table;
use dumbbell_trace::tables::PingTable;
use dumbbell_units::Dur;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

const REQUESTER: u32 = 1;
const REPLIER: u32 = 2;

/// How a ping flow sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PingConfig {
    pub(crate) interval_ns: u64,
    pub(crate) packet_bytes: u32,
    /// 0: until the flow stops.
    pub(crate) count: u64,
    pub(crate) timeout_ns: u64,
}

/// See the top of this file.
pub(crate) struct PingTraffic {
    hosts: [Host; 2],
    config: PingConfig,
    sockets: [Option<OwnedFd>; 2],
    number: u64,
    sent: u64,
    lost: u64,
    /// Number of the first request of the measurement.
    first_measured: u64,
    /// Requests without a reply: number and sending time.
    open: VecDeque<(u64, u64)>,
    rtt: DurationStats,
    series: Option<PingTable>,
    stopped: bool,
}

impl PingTraffic {
    pub(crate) fn new(hosts: [Host; 2], config: PingConfig, series: bool) -> PingTraffic {
        PingTraffic {
            hosts,
            config,
            sockets: [None, None],
            number: 0,
            sent: 0,
            lost: 0,
            first_measured: 0,
            open: VecDeque::new(),
            rtt: DurationStats::new(),
            series: series.then(Default::default),
            stopped: false,
        }
    }

    fn payload(&self) -> usize {
        self.config.packet_bytes.saturating_sub(self.hosts[0].datagram_headers()) as usize
    }

    fn note(&mut self, sent: u64, rtt: f64) {
        if let Some(table) = &mut self.series {
            table.t_ns.push(sent);
            table.rtt_ns.push(rtt);
        }
    }

    /// Counts requests without a reply within the timeout as lost.
    fn give_up(&mut self, now: u64) {
        while let Some((number, sent)) = self.open.front().copied() {
            if now.saturating_sub(sent) < self.config.timeout_ns {
                return;
            }
            self.open.pop_front();
            self.lost += u64::from(number >= self.first_measured);
            self.note(sent, f64::NAN);
        }
    }

    fn answered(&mut self, reply: &[u8], now: u64) {
        self.give_up(now);
        // A small packet has only the low bytes of the number.
        let known = reply.len().min(8);
        let at = self.open.iter().position(|(n, _)| n.to_le_bytes()[..known] == reply[..known]);
        if let Some((_, sent)) = at.and_then(|at| self.open.remove(at)) {
            self.rtt.record(Dur(now - sent));
            self.note(sent, (now - sent) as f64);
        }
    }
}

impl Traffic for PingTraffic {
    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        for (host, role) in self.hosts.iter().zip([REQUESTER, REPLIER]).filter(|(host, _)| host.local) {
            // Between machines the ports distinguish the directions.
            let own_port = role == REQUESTER && !self.hosts[1].local;
            let socket = host.socket(libc::SOCK_DGRAM, if own_port { 0 } else { host.port })?;
            if role == REQUESTER {
                sys::connect(&socket, self.hosts[1].at(self.hosts[1].port)).step(|| "connect".into())?;
            }
            cx.watch(&socket, role)?;
            self.sockets[usize::from(role == REPLIER)] = Some(socket);
        }
        if self.hosts[0].local { self.on_alarm(cx) } else { Ok(()) }
    }

    fn on_alarm(&mut self, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        self.give_up(cx.now);
        let done = self.config.count > 0 && self.number == self.config.count;
        if done || self.stopped {
            return Ok(());
        }
        let mut payload = vec![0; self.payload()];
        for (to, from) in payload.iter_mut().zip(self.number.to_le_bytes()) {
            *to = from;
        }
        if let Some(requester) = &self.sockets[0] {
            let _ = sys::send(requester, &payload);
        }
        self.open.push_back((self.number, cx.clock));
        self.number += 1;
        self.sent += 1;
        cx.alarm(cx.now + self.config.interval_ns);
        Ok(())
    }

    fn on_event(&mut self, role: u32, _over: bool, cx: &mut Cx<'_>) -> Result<(), KernelError> {
        let mut packet = vec![0; self.payload().max(8)];
        loop {
            let Some(socket) = &self.sockets[usize::from(role == REPLIER)] else { return Ok(()) };
            if role == REPLIER {
                let Some((n, from)) = sys::receive_from(socket, &mut packet).step(|| "ping".into())? else {
                    return Ok(());
                };
                let _ = sys::send_to(socket, &packet[..n], from);
            } else {
                // An ICMP error says that the other machine's socket isn't there yet: the request is lost.
                let received = sys::receive(socket, &mut packet);
                if received.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionRefused) {
                    continue;
                }
                let Some(n) = received.step(|| "ping".into())? else {
                    return Ok(());
                };
                if !self.stopped {
                    self.answered(&packet[..n], cx.now);
                }
            }
        }
    }

    fn restart(&mut self) {
        (self.sent, self.lost) = (0, 0);
        self.first_measured = self.number;
        self.rtt.clear();
    }

    fn stop(&mut self, now: u64) {
        self.give_up(now);
        self.stopped = true;
    }

    fn finish(&self, r: &mut FlowResult) {
        r.rtt_mean_ms = self.rtt.mean_ms().into();
        r.rtt_min_ms = self.rtt.min_ms().into();
        r.rtt_p50_ms = self.rtt.percentile_ms(0.5).into();
        r.rtt_p95_ms = self.rtt.percentile_ms(0.95).into();
        r.rtt_p99_ms = self.rtt.percentile_ms(0.99).into();
        r.rtt_max_ms = self.rtt.max_ms().into();
        (r.pings_sent, r.pings_lost) = (self.sent, self.lost);
        (r.owd_mean_ms, r.owd_p99_ms) = (Optional::NONE, Optional::NONE);
    }

    fn table(&mut self, name: &str) -> Option<Table> {
        Some(self.series.take()?.into_table(name))
    }
}
