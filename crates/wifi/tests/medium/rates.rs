//! Rates, durations and rate control.

use crate::bench::{END, Fed, background, medium, plan, run, station};
use dumbbell_units::{Dur, Time};
use dumbbell_wifi::phy::mode::Modes;
use dumbbell_wifi::phy::standard::Standard;
use dumbbell_wifi::rate_control::RateControlPlan;

fn mbit(modes: &Modes) -> Vec<f64> {
    modes.all[..modes.data].iter().map(|m| (m.bps as f64 / 1e5).round() / 10.0).collect()
}

#[test]
fn rates_are_those_of_the_standard() {
    let of = |standard, width, streams, short| mbit(&Modes::new(standard, width, streams, short));
    assert_eq!(of(Standard::B, 22, 1, false), [1.0, 2.0, 5.5, 11.0]);
    assert_eq!(of(Standard::G, 20, 1, false), [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0]);
    assert_eq!(of(Standard::N, 20, 1, false), [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]);
    assert_eq!(of(Standard::N, 20, 2, true)[7..], [72.2, 14.4, 28.9, 43.3, 57.8, 86.7, 115.6, 130.0, 144.4]);
    assert_eq!(of(Standard::N, 40, 2, true)[15], 300.0);
    // VHT: MCS 9 does not exist at 20 MHz with one stream; 866.7 Mbit/s with two streams of 80 MHz.
    assert_eq!(of(Standard::Ac, 20, 1, false), [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0, 78.0]);
    assert_eq!(of(Standard::Ac, 80, 2, true)[19], 866.7);
}

#[test]
fn durations() {
    let a = Modes::new(Standard::A, 20, 1, false);
    // 1536 bytes at 54 Mbit/s: 57 symbols of 216 bits for 12 310 bits; the ACK at 24: 2 symbols of 96.
    assert_eq!(a.all[7].duration(1536), Dur::micros(20 + 4 * 57));
    assert_eq!((a.ack_of(7), a.all[4].duration(14)), (4, Dur::micros(28)));
    assert_eq!([0, 1, 2, 3].map(|m| a.ack_of(m)), [0, 0, 2, 2]);
    let n = Modes::new(Standard::N, 20, 2, true);
    // MCS 15: 520 bits in 3.6 µs; 1540 bytes: 24 symbols = 86.4 µs, rounded up to 88; preamble 20 + 8 + 4 + 2 x 4.
    assert_eq!(n.all[15].duration(1540), Dur::micros(40 + 88));
    let limit = Dur::millis(4);
    for mode in &n.all {
        let most = mode.bytes_within(limit);
        assert!(mode.duration(most) <= limit && mode.duration(most + 66) > limit);
    }
    let b = Modes::new(Standard::B, 22, 1, false);
    assert_eq!(b.all[3].duration(1536), Dur::micros(192 + 1118));
}

/// Mean rate and throughput of one station at a signal, Mbit/s.
fn at(control: RateControlPlan, standard: Standard, dbm: f64) -> (f64, f64) {
    let mut plan = plan(standard);
    plan.rate_control = control;
    plan.background = background(1, true, 1500);
    plan.background[0].uplink_dbm = dbm;
    plan.background[0].signal_dbm = dbm;
    let (results, _) = run(&plan);
    let up = results[1].up;
    (up.rate_sum / up.frames.max(1) as f64 / 1e6, up.delivered_bytes as f64 * 8.0 / END.as_secs() / 1e6)
}

#[test]
fn ideal_uses_the_best_rate_of_the_signal() {
    let ideal = RateControlPlan::Ideal {};
    // A good receiver at -80 dBm: 24 Mbit/s, at -45 dBm: 54 Mbit/s; each with the throughput of one station alone.
    let (rate, weak) = at(ideal, Standard::G, -80.0);
    assert!((rate - 24.0).abs() < 1e-9 && (weak / 17.5 - 1.0).abs() < 0.02, "{rate}, {weak}");
    let (rate, strong) = at(ideal, Standard::G, -45.0);
    assert!((rate - 54.0).abs() < 1e-9 && (strong / 30.49 - 1.0).abs() < 0.02, "{rate}, {strong}");
    let (_, none) = at(ideal, Standard::G, -100.0);
    assert!(none == 0.0, "{none}");
}

#[test]
fn minstrel_finds_the_rate() {
    // On a channel that does not change it stays within a tenth of the ideal: one transmission in 20 ms is a probe.
    let near =
        [(Standard::G, -80.0), (Standard::G, -70.0), (Standard::N, -65.0), (Standard::N, -76.0), (Standard::N, -82.0)];
    for (standard, dbm) in near {
        let (_, ideal) = at(RateControlPlan::Ideal {}, standard, dbm);
        let (_, minstrel) = at(RateControlPlan::MinstrelHt {}, standard, dbm);
        println!("{standard:?} {dbm} dBm: ideal {ideal:.1}, Minstrel-HT {minstrel:.1} Mbit/s");
        assert!(minstrel > 0.9 * ideal && minstrel < 1.02 * ideal, "{standard:?} {dbm}: {minstrel} {ideal}");
    }
    // At -78 dBm 39 Mbit/s has a success of about 0.6, and 26 Mbit/s never fails. Because success counts as 90 % at
    // most, both have the same throughput for Minstrel-HT: 0.6 x 39 = 0.9 x 26.
    let (rate, _) = at(RateControlPlan::MinstrelHt {}, Standard::N, -78.0);
    assert!(rate > 29.0 && rate < 36.0, "{rate}");
}

#[test]
fn a_slow_station_slows_all_down_unless_airtime_is_fair() {
    // The performance anomaly [Heusse et al. 2003]: with one queue a station at -90 dBm and one at -40 dBm have the
    // same throughput. With airtime fairness the fast one has about half of its throughput alone.
    let mut plan = plan(Standard::N);
    plan.stations = vec![station("fast", -40.0), station("slow", -85.0)];
    let until = Time(5_000_000_000);
    let both = |plan: &dumbbell_wifi::WifiPlan, directions: &[u32]| {
        let medium = medium(plan, "droptail", "1000 packets", (Time::ZERO, until), 3);
        let mut fed = Fed::new(medium, directions, 1500, 200);
        fed.run(until);
        (fed.mbps(0, until), if directions.len() > 1 { fed.mbps(2, until) } else { 0.0 })
    };
    let (alone, _) = both(&plan, &[0]);
    let (fast, slow) = both(&plan, &[0, 2]);
    println!("alone {alone:.1}; one queue: fast {fast:.1}, slow {slow:.1} Mbit/s");
    assert!((fast / slow - 1.0).abs() < 0.1 && fast < 0.35 * alone, "{alone} {fast} {slow}");
    plan.airtime_fairness = true;
    let (fair_fast, fair_slow) = both(&plan, &[0, 2]);
    println!("airtime fairness: fast {fair_fast:.1}, slow {fair_slow:.1} Mbit/s");
    assert!((fair_fast / alone - 0.5).abs() < 0.06 && fair_slow < 0.75 * slow, "{alone} {fair_fast} {fair_slow}");
}
