//! Properties under random traffic: no packet is lost without a reason, the airtime adds up, order is kept.

use crate::bench::{background, medium, packet, plan, station};
use dumbbell_qdisc::DropReason;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};
use dumbbell_wifi::phy::standard::Standard;
use dumbbell_wifi::rate_control::RateControlPlan;
use dumbbell_wifi::{Event, WifiPlan};
use proptest::prelude::*;

fn plans() -> impl Strategy<Value = WifiPlan> {
    let standard = prop::sample::select(vec![Standard::B, Standard::A, Standard::G, Standard::N, Standard::Ac]);
    let control = prop::sample::select(vec![RateControlPlan::Ideal {}, RateControlPlan::MinstrelHt {}]);
    let signals = prop::collection::vec(-92.0..-40.0f64, 1..5);
    let loads = prop::collection::vec((any::<bool>(), any::<bool>(), 40..1600u32), 0..4);
    (standard, control, signals, loads, any::<bool>(), prop::sample::select(vec![0.0, 3.0])).prop_map(
        |(standard, control, signals, loads, fair, fading)| {
            let mut plan = plan(standard);
            plan.rate_control = control;
            plan.airtime_fairness = fair;
            plan.fading_db = fading;
            plan.stations = signals.iter().enumerate().map(|(n, dbm)| station(&format!("s{n}"), *dbm)).collect();
            plan.background = background(loads.len(), true, 1500);
            for (b, (up, down, bytes)) in plan.background.iter_mut().zip(loads) {
                (b.up, b.down, b.packet_bytes) = (up || !down, down, bytes);
            }
            plan
        },
    )
}

/// Sends packets of random sizes at random times, and checks what comes of each.
fn check(plan: &WifiPlan, discipline: &str, seed: u64) -> Vec<(Time, u32)> {
    let end = Time(300_000_000);
    let mut random = Stream::new(seed, "traffic");
    let mut medium = medium(plan, discipline, "20 packets", (Time::ZERO, end), seed);
    let stations = plan.stations.len() as u64;
    // By packet: its flow, and its fate.
    let (mut flows, mut fates): (Vec<u32>, Vec<Option<DropReason>>) = (Vec::new(), Vec::new());
    let mut done = Vec::new();
    let mut taken = 0;
    let mut order = vec![0; 2 * stations as usize];
    let mut arrived = Vec::new();
    let mut next = Time::ZERO;
    loop {
        let now = medium.next_event().min(next);
        if now > end {
            break;
        }
        if next <= medium.next_event() {
            let flow = (random.next_u64() % (2 * stations)) as u32;
            let bytes = 40 + (random.next_u64() % 1461) as u32;
            medium.enqueue(flow % 2 == 1, packet(flow, bytes, flows.len() as u32), now);
            flows.push(flow);
            fates.push(None);
            done.push(false);
            next = now + Dur((random.exponential() * 300_000.0) as u64);
        } else {
            medium.process(now);
        }
        for event in medium.take_events() {
            let (packet, up, fate) = match event {
                Event::Taken { .. } => {
                    taken += 1;
                    continue;
                }
                Event::Delivered { packet, up, at } => {
                    assert!(at >= now);
                    arrived.push((at, packet.body));
                    // Droptail keeps the order of a flow, and so does the block ACK window.
                    assert!(discipline != "droptail" || packet.body >= order[packet.flow as usize]);
                    order[packet.flow as usize] = packet.body;
                    (packet, up, None)
                }
                Event::Dropped { packet, up, reason } => (packet, up, Some(reason)),
            };
            let n = packet.body as usize;
            assert_eq!((packet.flow, packet.flow % 2 == 1), (flows[n], up));
            assert!(!std::mem::replace(&mut done[n], true), "packet {n} twice");
            fates[n] = fate;
        }
    }
    let waiting = medium.backlog(false).packets + medium.backlog(true).packets;
    let in_mac = (medium.in_mac(false).count() + medium.in_mac(true).count()) as u64;
    assert_eq!(waiting + in_mac, done.iter().filter(|d| !**d).count() as u64);
    let lost = fates.iter().filter(|f| **f == Some(DropReason::Retries)).count();
    assert_eq!(taken, arrived.len() as u64 + lost as u64 + in_mac);
    // The time is the airtime of all, of collisions, and idle; each is a part of it.
    let (results, collided) = medium.results();
    let airtime = medium.airtime(false) + medium.airtime(true);
    assert_eq!(airtime, results.iter().fold(Dur::ZERO, |sum, r| sum + r.up.airtime + r.down.airtime));
    assert!(airtime + collided <= Dur(end.0));
    for r in results {
        for tally in [r.up, r.down] {
            assert_eq!(tally.frames, tally.delivered + tally.failed);
            assert!(tally.collisions <= tally.transmissions && tally.transmissions <= tally.frames);
        }
    }
    arrived
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_packet_arrives_once_or_is_dropped_for_a_reason(
        plan in plans(),
        discipline in prop::sample::select(vec!["droptail", "fq_codel", "codel"]),
        seed in 0..1000u64,
    ) {
        let first = check(&plan, discipline, seed);
        prop_assert_eq!(first, check(&plan, discipline, seed)); // and again, the same
    }
}

#[test]
fn busy_and_idle_time_add_up() {
    // One station alone, 11a at 54 Mbit/s: exchanges of 248 + 16 + 28 = 292 µs; between them DIFS and 0 to 15 slots.
    let mut plan = plan(Standard::A);
    plan.background = background(1, true, 1500);
    let end = Time(1_000_000_000);
    let mut medium = medium(&plan, "droptail", "10 packets", (Time::ZERO, end), 1);
    let (mut exchanges, mut idle, mut ended) = (0, Dur::ZERO, Time::ZERO);
    while medium.next_event() <= end {
        let begin = medium.next_event();
        idle += begin.since(ended);
        medium.process(begin);
        if medium.next_event() > end {
            ended = end;
            break;
        }
        ended = medium.next_event();
        assert_eq!(ended.since(begin), Dur::micros(292));
        medium.process(ended);
        exchanges += 1;
    }
    let (results, collided) = medium.results();
    assert_eq!((results[1].up.transmissions, collided), (exchanges, Dur::ZERO));
    assert_eq!(results[1].up.airtime, Dur::micros(292) * exchanges);
    assert!(end.since(ended) + idle + results[1].up.airtime >= Dur(end.0 - 292_000));
    assert!(idle >= Dur::micros(34) * exchanges && idle <= Dur::micros(34 + 135) * (exchanges + 1));
}
