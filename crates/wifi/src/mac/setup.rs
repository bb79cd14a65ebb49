//! A medium from its plan.

use crate::mac::airtime::Airtime;
use crate::mac::contention::Backoff;
use crate::mac::event::{DeviceResult, Marks, Queues, Tally};
use crate::mac::feed::{Feed, StationQueue};
use crate::mac::medium::{Device, Medium};
use crate::mac::window::Window;
use crate::phy::channel::Channel;
use crate::phy::mode::Mode;
use crate::plan::WifiPlan;
use crate::rate_control::RateControl;
use crate::rate_control::minstrel_ht::MinstrelHt;
use dumbbell_qdisc::{Backlog, DropReason, Packet, Qdisc, QdiscContext};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use std::collections::VecDeque;

/// ACK and block ACK with a compressed bitmap, bytes [IEEE 802.11-2016 §9.3.1.4, §9.3.1.9].
pub(super) const ACK: u64 = 14;
pub(super) const BLOCK_ACK: u64 = 32;
/// LLC and SNAP header, and FCS, bytes.
pub(super) const LLC_FCS: u32 = 8 + 4;
/// MAC header of a data frame and of a QoS data frame, bytes.
const HEADER: u32 = 24;
const QOS_HEADER: u32 = 26;
/// Packets that the MAC takes from one queue in advance, where it aggregates frames.
const RING: usize = 64;

impl Medium {
    /// A medium. `station_of`: by flow and direction, the number of its station. `path` names its random streams;
    /// `window` is the time of the measurement.
    #[must_use]
    pub fn new(
        plan: &WifiPlan,
        queues: Queues,
        station_of: Vec<usize>,
        (seed, path): (u64, &str),
        window: (Time, Time),
    ) -> Medium {
        let (modes, timing) = (plan.modes(), plan.standard.timing());
        let aggregates = plan.ampdu_ns > 0;
        let difs = timing.sifs + timing.slot * 2;
        let stream = |of: &str, what: &str| Stream::new(seed, &format!("{path}/{of}/{what}"));
        let overhead = timing.sifs + modes.slowest().duration(ACK) + modes.all[0].duration(0);
        let rate_control = |device: &str, to: &str| {
            let minstrel = || MinstrelHt::new(&modes, aggregates, overhead, stream(device, &format!("rates/{to}")));
            RateControl::new(plan.rate_control, &modes, minstrel)
        };
        let backoff = |of: &str| Backoff::new((plan.cw_min, plan.cw_max), stream(of, "backoff"));
        let flows = plan.stations.iter().map(|s| (&s.name, [s.signal_dbm, s.uplink_dbm], None));
        let background = plan.background.iter().map(|b| (&b.name, [b.signal_dbm, b.uplink_dbm], Some(b)));
        let stations: Vec<_> = flows.chain(background).collect();
        let fading = (plan.fading_db, Dur(plan.fading_ns));
        let channels = stations
            .iter()
            .map(|(name, signal, _)| Channel::new(plan.receiver(), *signal, fading, stream(name, "fading"), &modes))
            .collect();
        let ring = |queue| Feed::Shared { queue, ring: VecDeque::new(), places: if aggregates { RING } else { 1 } };

        let mut down = queues.down.into_iter();
        let mut shared = Vec::new();
        let feed = if plan.airtime_fairness {
            let mut airtime = Airtime::new(stations.len());
            let queues = stations.iter().enumerate().map(|(n, (_, _, b))| match b {
                Some(b) if b.down => {
                    airtime.wake(n);
                    StationQueue::Saturated { bytes: b.packet_bytes }
                }
                _ => StationQueue::Discipline(down.next().unwrap_or_else(|| Box::new(Nothing))),
            });
            let queues = queues.collect();
            Feed::PerStation { queues, airtime }
        } else {
            let receivers = stations.iter().enumerate().filter_map(|(n, (.., b))| b.map(|b| (n, b)));
            shared = receivers.filter(|(_, b)| b.down).map(|(n, b)| (n, b.packet_bytes, 0)).collect();
            ring(down.next().unwrap_or_else(|| Box::new(Nothing)))
        };
        let mut devices = vec![Device {
            feed,
            windows: stations.iter().map(|_| Window::default()).collect(),
            rates: stations.iter().map(|(name, ..)| rate_control("ap", name)).collect(),
            current: None,
            backoff: backoff("ap"),
        }];
        let mut up = queues.up.into_iter();
        devices.extend(stations.iter().map(|(name, _, b)| Device {
            feed: match b {
                Some(b) if b.up => Feed::Saturated { bytes: b.packet_bytes },
                Some(_) => ring(Box::new(Nothing)),
                None => ring(up.next().unwrap_or_else(|| Box::new(Nothing))),
            },
            windows: vec![Window::default()],
            rates: vec![rate_control(name, "ap")],
            current: None,
            backoff: backoff(name),
        }));
        let results = stations.iter().map(|(name, signal, b)| DeviceResult {
            name: (*name).clone(),
            background: b.is_some(),
            signal_dbm: signal[0],
            down: Tally::default(),
            up: Tally::default(),
        });
        let results = results.collect();
        let longest = |mode: &Mode| mode.bytes_within(Dur(plan.ampdu_ns)).min(plan.standard.longest_ampdu());
        let mut medium = Medium {
            aifs: timing.sifs + timing.slot * u64::from(plan.aifsn),
            // [IEEE 802.11-2016 §10.3.7], with AIFS in place of DIFS
            eifs: timing.sifs + modes.slowest().duration(ACK) + difs,
            header: if plan.standard.has_aggregation() { QOS_HEADER } else { HEADER },
            longest: if aggregates { modes.all[..modes.data].iter().map(longest).collect() } else { Vec::new() },
            modes,
            timing,
            retry_limit: plan.retry_limit,
            channels,
            devices,
            station_of,
            background: shared,
            on_air: Vec::new(),
            busy_until: None,
            idle_since: Time::ZERO,
            space: Dur::ZERO,
            next: Time::NEVER,
            cx: QdiscContext::default(),
            marks: Marks::default(),
            events: Vec::new(),
            window,
            results,
            collided: Dur::ZERO,
        };
        medium.eifs = medium.eifs + medium.aifs - difs;
        medium.space = medium.aifs;
        medium.refill(Time::ZERO);
        for device in 0..medium.devices.len() {
            medium.prepare(device, Time::ZERO);
        }
        medium.schedule();
        medium
    }
}

/// A discipline of a station that never gets a packet.
#[derive(Debug)]
struct Nothing;

impl Qdisc for Nothing {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        cx.drop_packet(packet, DropReason::Full);
    }

    fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> {
        None
    }

    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
}
