//! UDP flows [RFC 768]: CBR and on/off sources and voice calls, without congestion control. Sizes are those of IP
//! packets.

use super::source::Source;
use super::{APP, Flow, FlowInfo, common_parts};
use crate::meter::{DurationStats, VoiceMeter};
use crate::network::{Arrived, Network};
use dumbbell_plan::{AppPlan, FlowResult};

pub(crate) struct UdpFlow {
    info: FlowInfo,
    application: &'static str,
    source: Source,
    started: bool,
    number: u64,
    sent: u64,
    received: u64,
    delay: DurationStats,
    voice: Option<VoiceMeter>,
    /// True if series are recorded.
    trace: bool,
}

impl UdpFlow {
    pub(crate) fn new(info: FlowInfo, app: &AppPlan, source: Source, trace: bool) -> UdpFlow {
        let voice = if let AppPlan::Voice(plan) = app { Some(VoiceMeter::new(*plan)) } else { None };
        UdpFlow {
            info,
            application: app.kind(),
            source,
            started: false,
            number: 0,
            sent: 0,
            received: 0,
            delay: DurationStats::new(),
            voice,
            trace,
        }
    }
}

impl Flow for UdpFlow {
    common_parts!(info);

    fn on_timer(&mut self, _timer: usize, net: &mut Network) {
        let now = net.now;
        if !self.started {
            self.started = true;
            net.set_timer(self.info.index, APP, now + self.source.phase);
            return;
        }
        if now >= self.info.stop {
            return;
        }
        net.send_datagram(&self.info, true, self.source.packet_bytes, self.number, now);
        if let Some(voice) = &mut self.voice {
            voice.sent(now.0);
        }
        self.number += 1;
        self.sent += 1;
        let next = self.source.next(now);
        net.set_timer(self.info.index, APP, next);
    }

    fn on_packet_ahead(&mut self, n: usize, net: &mut Network) -> bool {
        let Some((packet, at)) = net.arrives_ahead(n) else { return false };
        net.begin_ahead(&packet, at);
        self.on_packet(packet, true, net);
        net.free(packet.body);
        true
    }

    fn on_packet(&mut self, packet: Arrived, forward: bool, net: &mut Network) {
        if !forward {
            return;
        }
        let sent_at = net.body(packet.body).sent_at;
        if let Some(voice) = self.voice.as_mut().filter(|_| packet.is_first) {
            voice.arrived(sent_at.0, net.now.0);
        }
        if self.info.counts(packet, net.now) {
            self.received += 1;
            self.delay.record(net.now.since(sent_at));
        }
    }

    fn restart_meter(&mut self, _net: &Network) {
        (self.sent, self.received) = (0, 0);
        self.delay.clear();
    }

    fn finish(&mut self, net: &mut Network) -> FlowResult {
        let end = self.info.stop.min(net.end);
        let seconds = self.info.seconds(end);
        let size = u64::from(self.source.packet_bytes);
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let mut result = FlowResult {
            variant: "udp".into(),
            application: self.application.into(),
            phase_s: self.source.phase.as_secs().into(),
            stop_s: end.as_secs(),
            goodput_bps: rate(self.info.received_bytes),
            throughput_bps: rate(self.info.received_bytes),
            sent_packets: self.sent,
            sent_bytes: self.sent * size,
            delivered_bytes: self.received * size,
            owd_mean_ms: self.delay.mean_ms().into(),
            owd_p99_ms: self.delay.percentile_ms(0.99).into(),
            ..FlowResult::default()
        };
        if let Some(voice) = &self.voice {
            voice.fill(self.info.measure_from.0, end.0, &mut result);
            if self.trace {
                net.trace.tables.push(voice.table(end.0, &self.info.name));
            }
        }
        result
    }
}
