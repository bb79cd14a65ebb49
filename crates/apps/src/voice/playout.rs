//! The receiver of a voice stream: it plays each packet a playout delay after its sending time, and never one that
//! arrives later than that. The delay from mouth to ear is the packetization time plus the playout delay: the first
//! sample of a packet waits until the packet is full.
//!
//! A **fixed** jitter buffer holds the first packet that arrives for its length, and keeps this playout delay. An
//! **adaptive** one sets it at the start of each talkspurt to d + 4 v, with running estimates d of the delay and v of
//! its deviation [Ramjee, Kurose, Towsley, Schulzrinne, INFOCOM 1994, §2, algorithm 2]. Talkspurts begin at the mean
//! interval of ITU-T P.59.

use super::{InterarrivalJitter, Transmission, VoicePlan, mos};

/// Weights of the old estimate while the delay decreases and while it increases [Ramjee 1994, algorithm 2].
const ALPHA: f64 = 0.998_002;
const BETA: f64 = 0.75;
/// Deviations that the playout delay adds [Ramjee 1994, equation 1].
const DEVIATIONS: f64 = 4.0;
/// From the start of a talkspurt to the next one, ns: a mean talkspurt of 1.004 s and a mean pause of 1.587 s [ITU-T
/// P.59].
const TALKSPURT_NS: u64 = 2_591_000_000;
/// Largest burst ratio for which the E-model is defined [G.107 table 3].
const MOST_BURSTY: f64 = 8.0;

/// A packet: sending and arrival time, ns. None: it has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoicePacket {
    /// Sending time.
    pub sent: u64,
    /// Arrival time.
    pub arrived: Option<u64>,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VoiceFate {
    /// It was played.
    Played,
    /// It arrived after its playout time.
    Late,
    /// It did not arrive.
    Lost,
}

/// The playout delay of each packet of a stream.
#[derive(Clone, Debug)]
pub struct Playout {
    /// By packet: from its sending to its playout, ns.
    pub delays: Vec<u64>,
}

impl Playout {
    /// The playout delays of packets in the order of their sending. Before the first arrival the receiver has none:
    /// packets lost there have that of the first arrival.
    #[must_use]
    pub fn new(plan: &VoicePlan, packets: &[VoicePacket]) -> Playout {
        // Estimates follow the order of arrival.
        let mut arrivals: Vec<(u64, u64)> = packets.iter().filter_map(|p| p.arrived.map(|at| (at, p.sent))).collect();
        arrivals.sort_unstable();
        let Some(&(first_at, first_sent)) = arrivals.first() else {
            return Playout { delays: vec![plan.jitter_buffer_ns.unwrap_or(0); packets.len()] };
        };
        let first = first_at.saturating_sub(first_sent);
        if let Some(buffer) = plan.jitter_buffer_ns {
            return Playout { delays: vec![first + buffer; packets.len()] };
        }
        Playout { delays: adaptive(packets, &arrivals, first) }
    }
}

fn adaptive(packets: &[VoicePacket], arrivals: &[(u64, u64)], first: u64) -> Vec<u64> {
    let mut known = arrivals.iter().peekable();
    let (mut d, mut v) = (first as f64, 0.0);
    let (mut playout, mut talkspurt_at) = (first, None);
    let mut delays = Vec::with_capacity(packets.len());
    for packet in packets {
        let since = talkspurt_at.map_or(u64::MAX, |at| packet.sent - at);
        if since >= TALKSPURT_NS {
            // The first packet of a talkspurt is scheduled when it arrives; one that doesn't, when it was due.
            let by = packet.arrived.unwrap_or(packet.sent + playout);
            while let Some((at, sent)) = known.next_if(|(at, _)| *at <= by) {
                let n = at.saturating_sub(*sent) as f64;
                let weight = if n > d { BETA } else { ALPHA };
                d = weight * d + (1.0 - weight) * n;
                v = ALPHA * v + (1.0 - ALPHA) * (d - n).abs();
            }
            playout = (d + DEVIATIONS * v).round() as u64;
            // The packet itself is played when it arrives, at the earliest.
            playout = playout.max(packet.arrived.map_or(0, |at| at.saturating_sub(packet.sent)));
            talkspurt_at = Some(packet.sent);
        }
        delays.push(playout);
    }
    delays
}

/// What a listener hears.
#[derive(Clone, Copy, Debug, Default)]
pub struct VoiceMetrics {
    /// Packets whose playout time has passed.
    pub packets: u64,
    /// Packets that arrived too late.
    pub late: u64,
    /// Share of the packets that were not played.
    pub loss: f64,
    /// Mean length of loss bursts / their mean length if losses were random, 1 to 8.
    pub burst_ratio: f64,
    /// Mean delay from mouth to ear, ms.
    pub mouth_to_ear_ms: f64,
    /// Mean of the interarrival jitter over the arrivals, ms; None without one.
    pub jitter_ms: Option<f64>,
    /// Rating factor R.
    pub r: f64,
    /// Mean opinion score.
    pub mos: f64,
}

/// Rates the packets that were sent from `from` on and whose playout time is `end` at the latest, ns. Also returns the
/// fate and playout delay of each packet of the stream; None for packets that are due later. None as metrics: there is
/// no packet.
#[must_use]
pub fn rate(
    plan: &VoicePlan,
    packets: &[VoicePacket],
    from: u64,
    end: u64,
) -> (Option<VoiceMetrics>, Vec<(Option<VoiceFate>, u64)>) {
    let playout = Playout::new(plan, packets);
    let fates: Vec<(Option<VoiceFate>, u64)> = packets
        .iter()
        .zip(&playout.delays)
        .map(|(packet, &delay)| {
            let due = packet.sent + delay;
            let fate = match packet.arrived {
                _ if due > end => None,
                Some(at) if at <= due => Some(VoiceFate::Played),
                Some(_) => Some(VoiceFate::Late),
                None => Some(VoiceFate::Lost),
            };
            (fate, delay)
        })
        .collect();
    let heard: Vec<(VoiceFate, u64)> = packets
        .iter()
        .zip(&fates)
        .filter(|(packet, _)| packet.sent >= from)
        .filter_map(|(_, (fate, delay))| fate.map(|fate| (fate, *delay)))
        .collect();
    if heard.is_empty() {
        return (None, fates);
    }
    let n = heard.len() as f64;
    let missing = |fate: &VoiceFate| *fate != VoiceFate::Played;
    let lost = heard.iter().filter(|(fate, _)| missing(fate)).count();
    let begun = |i: usize| missing(&heard[i].0) && (i == 0 || !missing(&heard[i - 1].0));
    let bursts = (0..heard.len()).filter(|&i| begun(i)).count();
    let loss = lost as f64 / n;
    // Random losses make bursts of 1 / (1 - loss) packets [G.107 §7.5].
    let burst_ratio =
        if bursts == 0 { 1.0 } else { (lost as f64 / bursts as f64 * (1.0 - loss)).clamp(1.0, MOST_BURSTY) };
    let playout_ms = heard.iter().map(|(_, delay)| *delay as f64).sum::<f64>() / n * 1e-6;
    let mouth_to_ear_ms = plan.packetization_ns as f64 * 1e-6 + playout_ms;
    let r = Transmission { delay_ms: mouth_to_ear_ms, loss, burst_ratio, ..Transmission::g711(plan.bpl()) }.r();
    let metrics = VoiceMetrics {
        packets: heard.len() as u64,
        late: heard.iter().filter(|(fate, _)| *fate == VoiceFate::Late).count() as u64,
        loss,
        burst_ratio,
        mouth_to_ear_ms,
        jitter_ms: jitter(packets, from),
        r,
        mos: mos(r),
    };
    (Some(metrics), fates)
}

/// Returns the mean of the interarrival jitter over the arrivals of packets sent from `from` on, ms.
fn jitter(packets: &[VoicePacket], from: u64) -> Option<f64> {
    let mut arrivals: Vec<(u64, u64)> = packets.iter().filter_map(|p| p.arrived.map(|at| (at, p.sent))).collect();
    arrivals.sort_unstable();
    let mut estimate = InterarrivalJitter::default();
    let (mut sum, mut count) = (0.0, 0);
    for (at, sent) in arrivals {
        let j = estimate.arrived(sent, at);
        if sent >= from {
            (sum, count) = (sum + j, count + 1);
        }
    }
    (count > 0).then(|| sum / f64::from(count) * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn plan(jitter_buffer_ns: Option<u64>) -> VoicePlan {
        VoicePlan { packetization_ns: 20 * MS, concealment: false, jitter_buffer_ns }
    }

    /// Packets of 20 ms with these delays in ms; None: lost.
    fn packets(delays: &[Option<u64>]) -> Vec<VoicePacket> {
        let at = |n: usize| n as u64 * 20 * MS;
        let packet = |(n, d): (usize, &Option<u64>)| VoicePacket { sent: at(n), arrived: d.map(|d| at(n) + d * MS) };
        delays.iter().enumerate().map(packet).collect()
    }

    #[test]
    fn a_fixed_buffer_plays_all_that_arrives_in_time() {
        // The first packet takes 10 ms: packets are played 50 ms after their sending.
        let sent = packets(&[Some(10), Some(50), Some(51), None, Some(10), Some(12)]);
        let (metrics, fates) = rate(&plan(Some(40 * MS)), &sent, 0, 1000 * MS);
        let found: Vec<_> = fates.iter().map(|(fate, _)| fate.unwrap()).collect();
        use VoiceFate::{Late, Lost, Played};
        assert_eq!(found, [Played, Played, Late, Lost, Played, Played]);
        let m = metrics.unwrap();
        assert_eq!((m.packets, m.late, m.mouth_to_ear_ms), (6, 1, 70.0));
        // One burst of two losses in six packets: 2 x (1 - 1/3).
        assert!((m.loss - 1.0 / 3.0).abs() < 1e-12 && (m.burst_ratio - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(m.mos, mos(m.r));
        // From the fourth packet on, one of three is missing. At 90 ms the last two are not due.
        let (metrics, _) = rate(&plan(Some(40 * MS)), &sent, 60 * MS, 1000 * MS);
        assert_eq!(metrics.map(|m| (m.packets, m.late)), Some((3, 0)));
        let (metrics, fates) = rate(&plan(Some(40 * MS)), &sent, 0, 129 * MS);
        assert_eq!((metrics.unwrap().packets, fates[4].0), (4, None));
    }

    #[test]
    fn an_ideal_path_has_the_default_rating_less_the_echo_of_its_delay() {
        let (metrics, _) = rate(&plan(Some(40 * MS)), &packets(&[Some(20); 500]), 0, u64::MAX);
        let m = metrics.unwrap();
        // 20 ms of packetization, 20 of the path, 40 of the buffer.
        assert_eq!((m.loss, m.burst_ratio, m.mouth_to_ear_ms, m.jitter_ms), (0.0, 1.0, 80.0, Some(0.0)));
        let expected = Transmission { delay_ms: 80.0, ..Transmission::g711(4.3) }.r();
        assert!((m.r - expected).abs() < 1e-12 && m.mos > 4.3);
    }

    #[test]
    fn an_adaptive_buffer_follows_the_delay_at_the_next_talkspurt() {
        // 10 ms until packet 200 at 4 s, 60 ms from there on. Talkspurts begin at packets 0, 130 (2.6 s) and 260 (5.2
        // s).
        let delays: Vec<_> = (0..400).map(|n| Some(if n < 200 { 10 } else { 60 })).collect();
        let (metrics, fates) = rate(&plan(None), &packets(&delays), 0, u64::MAX);
        assert_eq!((fates[0].1, fates[259].1), (10 * MS, 10 * MS));
        let late = fates.iter().filter(|(fate, _)| *fate == Some(VoiceFate::Late)).count();
        assert_eq!((late, metrics.unwrap().late), (60, 60));
        // The estimate of the delay has nearly reached 60 ms after 60 packets; four deviations are added.
        assert!((60 * MS..70 * MS).contains(&fates[260].1), "{}", fates[260].1);
    }

    #[test]
    fn without_arrivals_nothing_is_heard() {
        let (metrics, _) = rate(&plan(None), &packets(&[None; 3]), 0, u64::MAX);
        let m = metrics.unwrap();
        assert_eq!((m.loss, m.burst_ratio, m.mos, m.jitter_ms), (1.0, 1.0, 1.0, None));
        assert!(rate(&plan(None), &[], 0, u64::MAX).0.is_none());
    }
}
