//! Saturated stations against Bianchi's model and against the time of one exchange.

use crate::bench::{background, fixed, mbps, plan, run};
use dumbbell_units::Dur;
use dumbbell_wifi::phy::mode::Modes;
use dumbbell_wifi::phy::standard::Standard;

/// Saturation throughput of n stations with 1500-byte packets on 11a [Bianchi 2000, §IV, basic access], all devices
/// waiting EIFS after a collision, Mbit/s.
fn bianchi(n: u32, rate: usize) -> f64 {
    let modes = Modes::new(Standard::A, 20, 1, false);
    let (window, doublings) = (16.0f64, 6); // CWmin + 1, up to 1024
    // Probability of a collision p by bisection: the stations' tau(p) falls, p(tau) grows.
    let tau = |p: f64| {
        let sum: f64 = (0..doublings).map(|k| (2.0 * p).powi(k)).sum();
        2.0 / (1.0 + window + p * window * sum)
    };
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..60 {
        let p = f64::midpoint(low, high);
        if 1.0 - (1.0 - tau(p)).powi(n as i32 - 1) > p { low = p } else { high = p }
    }
    let tau = tau(low);
    let us = |d: Dur| d.as_secs() * 1e6;
    let data = us(modes.all[rate].duration(1500 + 36));
    let ack = us(modes.all[modes.ack_of(rate)].duration(14));
    let (slot, sifs, difs) = (9.0, 16.0, 34.0);
    let success = data + sifs + ack + difs;
    let collision = data + sifs + us(modes.all[0].duration(14)) + difs;
    let any = 1.0 - (1.0 - tau).powi(n as i32);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n as i32 - 1) / any;
    one * any * 1500.0 * 8.0 / ((1.0 - any) * slot + any * one * success + any * (1.0 - one) * collision)
}

#[test]
fn the_model_has_its_published_figures() {
    // Computed independently, with the same formula.
    let known = [(54, 7, [29.34, 27.19, 24.95, 21.80]), (6, 0, [4.66, 4.27, 3.90, 3.39])];
    for (mbit, rate, expected) in known {
        for (n, expected) in [5, 10, 20, 50].into_iter().zip(expected) {
            let ours = bianchi(n, rate);
            assert!((ours - expected).abs() < 0.006, "{mbit} Mbit/s, {n}: {ours}");
        }
    }
}

#[test]
fn saturation_agrees_with_bianchi() {
    for (mbit, rate) in [(54, 7), (6, 0)] {
        for (n, tolerance) in [(5, 0.05), (10, 0.05), (20, 0.05), (50, 0.08)] {
            let mut plan = plan(Standard::A);
            plan.rate_control = fixed(mbit);
            plan.background = background(n, true, 1500);
            let (results, _) = run(&plan);
            let (ours, model) = (mbps(&results), bianchi(n as u32, rate));
            println!("{mbit} Mbit/s, {n} stations: {ours:.2}, Bianchi {model:.2} Mbit/s");
            assert!((ours / model - 1.0).abs() < tolerance, "{mbit} Mbit/s, {n}: {ours}, {model}");
        }
    }
}

#[test]
fn stations_share_equally() {
    let mut plan = plan(Standard::A);
    plan.background = background(5, true, 1500);
    let (results, _) = run(&plan);
    let shares: Vec<f64> = results[1..].iter().map(|r| r.up.delivered as f64).collect();
    let mean = shares.iter().sum::<f64>() / 5.0;
    // About 10 000 frames each.
    assert!(shares.iter().all(|s| (s / mean - 1.0).abs() < 0.05), "{shares:?}");
}

/// UDP payload of one saturated station, Mbit/s.
fn udp_alone(standard: Standard, mbit: u64, edit: impl FnOnce(&mut dumbbell_wifi::WifiPlan)) -> f64 {
    let mut plan = plan(standard);
    plan.rate_control = fixed(mbit);
    edit(&mut plan);
    plan.background = background(1, true, 1500);
    mbps(&run(&plan).0) * 1472.0 / 1500.0
}

#[test]
fn one_station_alone_11g() {
    // DIFS 28 + 7.5 slots 67.5 + data + 6 + SIFS 10 + ACK + 6. 54 Mbit/s: 20 + 4 ceil((22 + 8 x 1536) / 216) = 248, ACK
    // at 24 20 + 4 ceil(134 / 96) = 28: 393.5 µs for 11776 bits.
    for (mbit, expected) in [(54, 29.93), (24, 17.28), (6, 5.27), (36, 23.11), (12, 9.83)] {
        let ours = udp_alone(Standard::G, mbit, |_| {});
        assert!((ours / expected - 1.0).abs() < 0.02, "{mbit}: {ours}");
    }
}

#[test]
fn one_station_alone_11b() {
    // DIFS 50 + 15.5 slots 310 + 192 + 12288 / 11 = 1117.1 -> 1118 + SIFS 10 + ACK at 11 Mbit/s 192 + 11: 1883 µs for
    // 11776 bits.
    let ours = udp_alone(Standard::B, 11, |_| {});
    assert!((ours / 6.25 - 1.0).abs() < 0.02, "{ours}");
}

#[test]
fn one_station_alone_with_aggregation() {
    // 65 Mbit/s: 20 subframes of 1544 bytes in 36 + 3804 µs; AIFS 43, backoff 67.5, SIFS 16, block ACK 32.
    let ours = udp_alone(Standard::N, 65, |_| {});
    assert!((ours / 58.9 - 1.0).abs() < 0.03, "{ours}");
    let mut wide = plan(Standard::N);
    wide.short_guard = true;
    wide.width_mhz = 40;
    wide.streams = 2;
    wide.rate_control = fixed(300);
    wide.background = background(1, true, 1500);
    let ours = mbps(&run(&wide).0) * 1472.0 / 1500.0;
    assert!((ours / 256.0 - 1.0).abs() < 0.03, "{ours}"); // 42 frames in 65535 bytes
    let without = udp_alone(Standard::N, 65, |plan| plan.ampdu_ns = 0);
    assert!(without < 35.0, "{without}");
    let ours = udp_alone(Standard::N, 26, |_| {});
    assert!((ours / 23.6 - 1.0).abs() < 0.03, "{ours}");
}

#[test]
fn the_access_point_gets_the_share_of_one_station() {
    // At 24 Mbit/s with 7 saturated stations: 1.90 Mbit/s of UDP payload, the speed of the lecture hall (1.89).
    let mut plan = plan(Standard::G);
    plan.rate_control = fixed(24);
    plan.background = background(7, true, 1500);
    let mut down = background(1, false, 1500);
    down[0].name = "down".into();
    plan.background.extend(down);
    let (results, _) = run(&plan);
    let ours = results[8].down.delivered_bytes as f64 * 8.0 / 20e6 * 1472.0 / 1500.0;
    assert!((ours / 1.9 - 1.0).abs() < 0.05, "{ours}");
}
