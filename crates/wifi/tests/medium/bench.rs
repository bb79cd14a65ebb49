//! A medium with traffic, for the tests.

use dumbbell_qdisc::{DropReason, Ecn, LinkInfo, Packet, Qdisc};
use dumbbell_units::{Dur, Rate, Time};
use dumbbell_wifi::phy::standard::Standard;
use dumbbell_wifi::rate_control::RateControlPlan;
use dumbbell_wifi::{BackgroundPlan, DeviceResult, Event, Medium, Queues, StationPlan, WifiPlan};

pub const END: Time = Time(20_000_000_000);

/// A medium of 20 MHz without noise; rate control is ideal, so that the fastest rate is used.
pub fn plan(standard: Standard) -> WifiPlan {
    let aggregates = standard.has_aggregation();
    WifiPlan {
        standard,
        width_mhz: standard.widths()[0],
        streams: 1,
        short_guard: false,
        noise_figure_db: 7.0,
        margin_db: 0.0,
        fading_db: 0.0,
        fading_ns: 1_000_000_000,
        rate_control: RateControlPlan::Ideal {},
        ampdu_ns: if aggregates { 4_000_000 } else { 0 },
        retry_limit: 7,
        cw_min: if standard == Standard::B { 31 } else { 15 },
        cw_max: 1023,
        aifsn: if aggregates { 3 } else { 2 },
        airtime_fairness: false,
        stations: vec![station("a", -40.0)],
        background: Vec::new(),
    }
}

pub fn station(name: &str, dbm: f64) -> StationPlan {
    StationPlan { name: name.into(), signal_dbm: dbm, uplink_dbm: dbm }
}

pub fn background(n: usize, up: bool, packet_bytes: u32) -> Vec<BackgroundPlan> {
    (0..n)
        .map(|i| BackgroundPlan {
            name: format!("background-{i}"),
            signal_dbm: -40.0,
            uplink_dbm: -40.0,
            up,
            down: !up,
            packet_bytes,
        })
        .collect()
}

pub fn fixed(mbps: u64) -> RateControlPlan {
    RateControlPlan::Fixed { rate_bps: mbps * 1_000_000 }
}

pub fn queue(name: &str, limit: &str) -> Box<dyn Qdisc> {
    let link = LinkInfo::new(Rate(54_000_000), Dur::millis(40));
    let facts = LinkInfo { seed: 1, path: "queue".into(), ..link };
    let limit = dumbbell_units::param::Raw::Text(limit.into());
    match dumbbell_qdisc::build(name, &[("limit".into(), limit)], &facts) {
        Ok(queue) => queue,
        Err(e) => panic!("{e}"),
    }
}

/// A medium; flow s goes to station s (direction 2 s) and back (2 s + 1).
pub fn medium(plan: &WifiPlan, name: &str, limit: &str, window: (Time, Time), seed: u64) -> Medium {
    assert_eq!(plan.check(), Ok(()));
    let stations = plan.stations.len();
    let down = if plan.airtime_fairness { stations } else { 1 };
    let queues = Queues {
        down: (0..down).map(|_| queue(name, limit)).collect(),
        up: (0..stations).map(|_| queue(name, limit)).collect(),
    };
    Medium::new(plan, queues, (0..2 * stations).map(|d| d / 2).collect(), (seed, "wifi"), window)
}

pub fn packet(flow: u32, bytes: u32, body: u32) -> Packet {
    Packet { bytes, flow, body, class: 0, ecn: Ecn::NOT_ECT, enqueued: Time::ZERO }
}

/// The results of traffic that the model makes.
pub fn run(plan: &WifiPlan) -> (Vec<DeviceResult>, Dur) {
    let mut medium = medium(plan, "droptail", "100 packets", (Time::ZERO, END), 1);
    while medium.next_event() <= END {
        medium.process(medium.next_event());
        assert!(medium.take_events().is_empty());
    }
    let (results, collided) = medium.results();
    (results.to_vec(), collided)
}

/// IP bytes acknowledged, Mbit/s.
pub fn mbps(results: &[DeviceResult]) -> f64 {
    let bytes: u64 = results.iter().map(|r| r.up.delivered_bytes + r.down.delivered_bytes).sum();
    (bytes * 8) as f64 / END.as_secs() / 1e6
}

/// Packets of flows that are always waiting: each flow keeps this many in the medium.
pub struct Fed {
    pub medium: Medium,
    pub delivered: Vec<u64>,
    pub lost: Vec<(u32, DropReason)>,
    sent: u32,
}

impl Fed {
    pub fn new(medium: Medium, directions: &[u32], bytes: u32, packets: u32) -> Fed {
        let most = directions.iter().max().map_or(0, |d| *d as usize + 1);
        let mut fed = Fed { medium, delivered: vec![0; most], lost: Vec::new(), sent: 0 };
        for &direction in directions {
            for _ in 0..packets {
                fed.send(direction, bytes, Time::ZERO);
            }
        }
        fed
    }

    fn send(&mut self, direction: u32, bytes: u32, now: Time) {
        self.sent += 1;
        self.medium.enqueue(direction % 2 == 1, packet(direction, bytes, self.sent), now);
    }

    pub fn run(&mut self, until: Time) {
        while self.medium.next_event() <= until {
            let now = self.medium.next_event();
            self.medium.process(now);
            for event in self.medium.take_events() {
                match event {
                    Event::Delivered { packet, .. } => {
                        self.delivered[packet.flow as usize] += u64::from(packet.bytes);
                        self.send(packet.flow, packet.bytes, now);
                    }
                    Event::Dropped { packet, reason, .. } => {
                        self.lost.push((packet.flow, reason));
                        self.send(packet.flow, packet.bytes, now);
                    }
                    Event::Taken { .. } => {}
                }
            }
        }
    }

    /// Mbit/s of a direction.
    pub fn mbps(&self, direction: usize, until: Time) -> f64 {
        (self.delivered[direction] * 8) as f64 / until.as_secs() / 1e6
    }
}
