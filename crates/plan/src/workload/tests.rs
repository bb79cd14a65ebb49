//! Tests of the distributions and of the arrivals, with fixed seeds.

use super::*;

fn schedule(arrivals: ArrivalsPlan, sizes: SizesPlan, seed: u64) -> Schedule {
    let connections = ConnectionsPlan::New;
    let plan = WorkloadPlan { arrivals, arrivals_of: "a".into(), sizes, count: 0, connections };
    plan.check().unwrap();
    Schedule::new(&plan, "a", seed, Time(5))
}

fn poisson(per_s: f64) -> ArrivalsPlan {
    ArrivalsPlan::Poisson { per_s }
}

fn sizes(plan: SizesPlan, n: usize) -> Vec<f64> {
    let mut drawn: Vec<f64> = schedule(poisson(1.0), plan, 3).take(n).map(|a| a.bytes as f64).collect();
    drawn.sort_by(f64::total_cmp);
    drawn
}

/// The largest difference between the distribution of a sorted sample and `below`, P(S < s) [Kolmogorov 1933]. A sample
/// is rounded to whole bytes, so the function is compared half a byte beside the jumps.
fn kolmogorov(sample: &[f64], below: impl Fn(f64) -> f64) -> f64 {
    let n = sample.len() as f64;
    let mut largest: f64 = 0.0;
    for (i, s) in sample.iter().enumerate() {
        if i == 0 || sample[i - 1] < *s {
            largest = largest.max((below(s - 0.5) - i as f64 / n).abs());
        }
        if i + 1 == sample.len() || sample[i + 1] > *s {
            largest = largest.max((below(s + 0.5) - (i + 1) as f64 / n).abs());
        }
    }
    largest
}

/// The Kolmogorov-Smirnov test at the level of 1 %: sqrt(n) D <= 1.63.
fn assert_fits(plan: SizesPlan, below: impl Fn(f64) -> f64) {
    let sample = sizes(plan.clone(), 20_000);
    let scaled = kolmogorov(&sample, below) * (sample.len() as f64).sqrt();
    assert!(scaled < 1.63, "{plan:?}: {scaled}");
}

#[test]
fn sampled_sizes_have_the_stated_distribution() {
    assert_fits(SizesPlan::Exponential { mean: 3e5 }, |s| 1.0 - (-s / 3e5).exp());
    assert_fits(SizesPlan::Uniform { least: 1e3, most: 9e4 }, |s| ((s - 1e3) / 8.9e4).clamp(0.0, 1.0));
    let pareto = |s: f64| if s <= 2e3 { 0.0 } else { 1.0 - (2e3 / s).powf(1.2) };
    assert_fits(SizesPlan::Pareto { shape: 1.2, least: 2e3, most: None }, pareto);
    let most = 1e6;
    let bounded = move |s: f64| (pareto(s) / pareto(most)).min(1.0);
    assert_fits(SizesPlan::Pareto { shape: 1.2, least: 2e3, most: Some(most) }, bounded);
    // P(S < s) = Phi((ln s - mu) / sigma), with Phi from the complementary error function.
    let normal = |s: f64| 0.5 * libm::erfc(-(s.ln() - 9.0) / 1.5 / std::f64::consts::SQRT_2);
    assert_fits(SizesPlan::Lognormal { mu: 9.0, sigma: 1.5 }, normal);
    // A jump of 0.2 at 1000 bytes, then linear to 5000 bytes at 0.9 and to 1 MB.
    let points = SizesPlan::Empirical { bytes: vec![1e3, 1e3, 5e3, 1e6], share: vec![0.0, 0.2, 0.9, 1.0] };
    assert_fits(points, |s| match s {
        s if s < 1e3 => 0.0,
        s if s < 5e3 => 0.2 + 0.7 * (s - 1e3) / 4e3,
        s => (0.9 + 0.1 * (s - 5e3) / 9.95e5).min(1.0),
    });
}

#[test]
fn a_wrong_distribution_fails_the_test() {
    let sample = sizes(SizesPlan::Exponential { mean: 3.1e5 }, 20_000);
    assert!(kolmogorov(&sample, |s| 1.0 - (-s / 3e5).exp()) * (sample.len() as f64).sqrt() > 1.63);
}

#[test]
fn poisson_arrivals_have_the_stated_rate_and_independent_intervals() {
    let at: Vec<f64> =
        schedule(poisson(500.0), SizesPlan::Fixed { bytes: 1 }, 7).take(20_000).map(|a| a.at.as_secs()).collect();
    // The n-th arrival of a Poisson process is at n / rate with the relative standard deviation 1 / sqrt(n) = 0.7 %.
    assert!((at[19_999] / 40.0 - 1.0).abs() < 0.021, "{}", at[19_999]);
    let mut intervals: Vec<f64> = at.windows(2).map(|w| (w[1] - w[0]) * 1e6).collect();
    intervals.sort_by(f64::total_cmp);
    let scaled = kolmogorov(&intervals, |us| 1.0 - (-us / 2e3).exp()) * (intervals.len() as f64).sqrt();
    assert!(scaled < 1.63, "{scaled}");
}

/// The sizes of the web-search workload, in packets of 1460 bytes: mean 1140.98 packets.
#[test]
fn the_offered_load_is_the_mean_size_times_the_rate() {
    let packets = [6.0, 13.0, 19.0, 33.0, 53.0, 133.0, 667.0, 1333.0, 3333.0, 6667.0, 20_000.0];
    let share = vec![0.15, 0.2, 0.3, 0.4, 0.53, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0];
    let sizes = SizesPlan::Empirical { bytes: packets.iter().map(|p| p * 1460.0).collect(), share };
    let end = Time(100_000_000_000);
    let offered: u64 = schedule(poisson(10_000.0), sizes, 1).take_while(|a| a.at < end).map(|a| a.bytes).sum();
    // 10^6 transfers with a coefficient of variation of 2.1: the sum has a relative standard deviation of 0.23 %.
    let asked = 1_665_830.8 * 1e6;
    assert!((offered as f64 / asked - 1.0).abs() < 0.01, "{offered}");
}

#[test]
fn constant_and_listed_arrivals() {
    let constant: Vec<u64> = schedule(ArrivalsPlan::Constant { per_s: 1e3 }, SizesPlan::Fixed { bytes: 9 }, 1)
        .take(3)
        .map(|a| a.at.0)
        .collect();
    assert!((5..1_000_005).contains(&constant[0]));
    assert_eq!((constant[1] - constant[0], constant[2] - constant[1]), (1_000_000, 1_000_000));
    let listed = ArrivalsPlan::Listed { at_ns: vec![0, 10, 10] };
    let all: Vec<Arrival> = schedule(listed, SizesPlan::Listed { bytes: vec![7, 8] }, 1).collect();
    assert_eq!(all, [Arrival { at: Time(5), bytes: 7 }, Arrival { at: Time(15), bytes: 8 }]);
}

#[test]
fn flows_of_a_group_begin_together_with_their_own_sizes() {
    let plan = WorkloadPlan {
        arrivals: poisson(10.0),
        arrivals_of: "group".into(),
        sizes: SizesPlan::Exponential { mean: 1e6 },
        count: 5,
        connections: ConnectionsPlan::New,
    };
    let of = |name| Schedule::new(&plan, name, 2, Time::ZERO).collect::<Vec<_>>();
    let (a, b) = (of("a"), of("b"));
    assert_eq!(a.len(), 5);
    assert!(a.iter().zip(&b).all(|(a, b)| a.at == b.at && a.bytes != b.bytes));
    assert_eq!(a, of("a"));
}

#[test]
fn invalid_amounts_are_refused() {
    let refused = |arrivals: ArrivalsPlan, sizes: SizesPlan| {
        let connections = ConnectionsPlan::New;
        WorkloadPlan { arrivals, arrivals_of: String::new(), sizes, count: 0, connections }.check().is_err()
    };
    let one = SizesPlan::Fixed { bytes: 1 };
    assert!(!refused(poisson(1.0), one.clone()));
    assert!(refused(poisson(0.0), one.clone()) && refused(poisson(f64::NAN), one.clone()));
    assert!(refused(ArrivalsPlan::Listed { at_ns: vec![2, 1] }, one));
    for sizes in [
        SizesPlan::Fixed { bytes: 0 },
        SizesPlan::Pareto { shape: 0.0, least: 1.0, most: None },
        SizesPlan::Pareto { shape: 1.0, least: 9.0, most: Some(8.0) },
        SizesPlan::Empirical { bytes: vec![1.0, 2.0], share: vec![0.0, 0.9] },
        SizesPlan::Empirical { bytes: vec![], share: vec![] },
    ] {
        assert!(refused(poisson(1.0), sizes));
    }
}
