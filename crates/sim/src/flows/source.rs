//! Sending times of CBR and on/off sources and of voice calls; both TCP and UDP flows use them.

use dumbbell_plan::{AppPlan, FlowPlan};
use dumbbell_units::random::Stream;
use dumbbell_units::{Bytes, Dur, Rate, Time};

/// A source of packets of one size.
#[derive(Debug)]
pub struct Source {
    /// Size of each packet, bytes.
    pub packet_bytes: u32,
    interval: Dur,
    jitter: f64,
    /// Time from the flow's start to its first packet.
    pub phase: Dur,
    on_off: Option<OnOff>,
    random: Stream,
}

#[derive(Debug)]
struct OnOff {
    on: Dur,
    off: Dur,
    exponential: bool,
    on_until: Time,
}

impl Source {
    /// The source of a flow's application, if it is CBR, on/off or voice. The first on period begins at `start`.
    pub fn new(flow: &FlowPlan, start: Time, mut random: Stream) -> Option<Source> {
        let interval_at = |rate: u64, bytes: u32| Rate(rate).time_for(Bytes(u64::from(bytes)));
        match flow.application {
            AppPlan::Cbr { rate_bps, packet_bytes, jitter, phase_ns } => {
                let interval = interval_at(rate_bps, packet_bytes);
                let phase = phase_ns.map_or_else(|| interval.scale(random.uniform()), Dur);
                Some(Source { packet_bytes, interval, jitter, phase, on_off: None, random })
            }
            AppPlan::Voice(ref plan) => {
                // The phase is random: the calls of a run are not in step.
                let interval = Dur(plan.packetization_ns);
                let phase = interval.scale(random.uniform());
                let packet_bytes = plan.packet_bytes(flow.ip.header_bytes());
                Some(Source { packet_bytes, interval, jitter: 0.0, phase, on_off: None, random })
            }
            AppPlan::Onoff { rate_bps, packet_bytes, on_ns, off_ns, exponential } => {
                let mut source = Source {
                    packet_bytes,
                    interval: interval_at(rate_bps, packet_bytes),
                    jitter: 0.0,
                    phase: Dur::ZERO,
                    on_off: None,
                    random,
                };
                let mut periods = OnOff { on: Dur(on_ns), off: Dur(off_ns), exponential, on_until: start };
                periods.on_until = start + source.period(periods.on, exponential);
                source.on_off = Some(periods);
                Some(source)
            }
            _ => None,
        }
    }

    fn period(&mut self, mean: Dur, exponential: bool) -> Dur {
        if exponential { mean.scale(self.random.exponential()) } else { mean }
    }

    /// Sending time of the packet after the one sent now.
    pub fn next(&mut self, now: Time) -> Time {
        let spread = if self.jitter > 0.0 { 1.0 + self.jitter * (2.0 * self.random.uniform() - 1.0) } else { 1.0 };
        let next = now + self.interval.scale(spread).max(Dur(1));
        let Some(OnOff { on, off, exponential, on_until }) = self.on_off else { return next };
        if next < on_until {
            return next;
        }
        let resume = on_until + self.period(off, exponential);
        let until = resume + self.period(on, exponential);
        if let Some(periods) = &mut self.on_off {
            periods.on_until = until;
        }
        resume.max(now + Dur(1))
    }
}
