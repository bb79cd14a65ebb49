//! Ping: ICMP echo requests and replies [RFC 792].

use super::{APP, Flow, FlowInfo, common_parts};
use crate::meter::DurationStats;
use crate::network::{Arrived, Network};
use dumbbell_plan::FlowResult;
use dumbbell_trace::tables::PingTable;
use dumbbell_units::{Dur, Time};
use std::collections::VecDeque;

/// Parameters of a ping flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PingConfig {
    pub(crate) interval: Dur,
    pub(crate) packet_bytes: u32,
    /// Number of requests; 0: until the flow stops.
    pub(crate) count: u64,
    pub(crate) timeout: Dur,
}

pub(crate) struct PingFlow {
    info: FlowInfo,
    config: PingConfig,
    number: u64,
    sent: u64,
    answered: u64,
    lost: u64,
    /// Number of the first request of the measurement.
    first_measured: u64,
    /// Requests without a reply so far: sequence number and sending time.
    open: VecDeque<(u64, Time)>,
    rtt: DurationStats,
    series: Option<PingTable>,
}

impl PingFlow {
    pub(crate) fn new(info: FlowInfo, config: PingConfig, trace: bool) -> PingFlow {
        PingFlow {
            info,
            config,
            number: 0,
            sent: 0,
            answered: 0,
            lost: 0,
            first_measured: 0,
            open: VecDeque::new(),
            rtt: DurationStats::new(),
            series: trace.then(Default::default),
        }
    }

    fn record(&mut self, sent: Time, rtt: f64) {
        if let Some(table) = &mut self.series {
            table.t_ns.push(sent.0);
            table.rtt_ns.push(rtt);
        }
    }

    /// Counts requests whose timeout has expired as lost.
    fn expire(&mut self, now: Time) {
        while let Some((number, sent)) = self.open.front().copied() {
            if now.since(sent) < self.config.timeout {
                return;
            }
            self.open.pop_front();
            self.lost += u64::from(number >= self.first_measured);
            self.record(sent, f64::NAN);
        }
    }
}

impl Flow for PingFlow {
    common_parts!(info);

    fn on_timer(&mut self, _timer: usize, net: &mut Network) {
        let now = net.now;
        self.expire(now);
        let done = self.config.count > 0 && self.number == self.config.count;
        if done || now >= self.info.stop {
            return;
        }
        net.send_datagram(&self.info, true, self.config.packet_bytes, self.number, now);
        self.open.push_back((self.number, now));
        self.number += 1;
        self.sent += 1;
        net.set_timer(self.info.index, APP, now + self.config.interval);
    }

    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network) {
        let (number, sent_at) = (net.body(packet.body).number, net.body(packet.body).sent_at);
        if forward {
            self.info.counts(packet, net.now);
            net.send_datagram(&self.info, false, self.config.packet_bytes, number, sent_at);
            return;
        }
        self.expire(net.now);
        if let Some(i) = self.open.iter().position(|(open, _)| *open == number) {
            self.open.remove(i);
            self.answered += 1;
            let rtt = net.now.since(sent_at);
            self.rtt.record(rtt);
            self.record(sent_at, rtt.0 as f64);
        }
    }

    fn restart_meter(&mut self, _net: &Network) {
        (self.sent, self.answered, self.lost) = (0, 0, 0);
        self.first_measured = self.number;
        self.rtt.clear();
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        self.expire(net.end);
        if let Some(table) = self.series.take() {
            net.trace.tables.push(table.into_table(&self.info.name));
        }
        let end = self.info.stop.min(net.end);
        let seconds = self.info.seconds(end);
        let rate = if seconds > 0.0 { self.info.received_bytes as f64 * 8.0 / seconds } else { 0.0 };
        let size = u64::from(self.config.packet_bytes);
        FlowResult {
            variant: "ping".into(),
            application: "ping".into(),
            stop_s: end.as_secs(),
            goodput_bps: rate,
            throughput_bps: rate,
            sent_packets: self.sent,
            sent_bytes: self.sent * size,
            delivered_bytes: self.info.received_bytes,
            rtt_mean_ms: self.rtt.mean_ms().into(),
            rtt_min_ms: self.rtt.min_ms().into(),
            rtt_p50_ms: self.rtt.percentile_ms(0.5).into(),
            rtt_p95_ms: self.rtt.percentile_ms(0.95).into(),
            rtt_p99_ms: self.rtt.percentile_ms(0.99).into(),
            rtt_max_ms: self.rtt.max_ms().into(),
            pings_sent: self.sent,
            pings_lost: self.lost,
            ..FlowResult::default()
        }
    }
}
