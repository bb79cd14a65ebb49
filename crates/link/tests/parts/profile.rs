//! Rate and delay profiles against numbers worked by hand (the rules: src/profile.rs).

use dumbbell_link::{Piece, Profile, ProfilePlan, StepPlan, check};
use dumbbell_units::Time;

fn step(at_ns: u64, value: u64) -> StepPlan {
    StepPlan { at_ns, value, ramp: false }
}

fn ramp(at_ns: u64, value: u64) -> StepPlan {
    StepPlan { at_ns, value, ramp: true }
}

fn profile(steps: &[StepPlan], period_ns: Option<u64>, start_ns: u64) -> Profile {
    let plan = ProfilePlan { steps: steps.to_vec(), period_ns, start_ns };
    check::profile(&plan).unwrap();
    Profile::new(plan)
}

fn values(profile: &Profile, times: &[u64]) -> Vec<u64> {
    times.iter().map(|t| profile.at(Time(*t))).collect()
}

#[test]
fn a_step_holds_from_its_instant_on() {
    let c = profile(&[step(0, 100), step(20, 10), step(50, 70)], None, 0);
    assert_eq!(values(&c, &[0, 19, 20, 49, 50, 1_000_000]), [100, 100, 10, 10, 70, 70]);
    assert_eq!(c.piece(Time(30)), Piece { begin: Time(20), end: Time(50), from: 10, to: 10 });
    assert_eq!(c.piece(Time(60)), Piece { begin: Time(50), end: Time::NEVER, from: 70, to: 70 });
}

#[test]
fn a_period_repeats() {
    let c = profile(&[step(0, 100), step(20, 10)], Some(40), 0);
    assert_eq!(values(&c, &[0, 20, 39, 40, 59, 60, 79, 80]), [100, 10, 10, 100, 100, 10, 10, 100]);
    assert_eq!(c.piece(Time(125)), Piece { begin: Time(120), end: Time(140), from: 100, to: 100 });
}

#[test]
fn before_the_start_the_first_value_holds() {
    let c = profile(&[step(0, 100), step(20, 10)], Some(40), 7);
    assert_eq!(values(&c, &[0, 6, 7, 26, 27, 46, 47, 67]), [100, 100, 100, 100, 10, 10, 100, 10]);
    assert_eq!(c.piece(Time(3)).end, Time(7));
}

#[test]
fn a_ramp_is_a_straight_line() {
    // From 100 at 10 down to 40 at 40: 2 less per ns; then constant; then up to 50 at 60: 0.5 per ns, rounded down.
    let c = profile(&[step(0, 100), step(10, 100), ramp(40, 40), ramp(60, 50)], None, 0);
    assert_eq!(values(&c, &[9, 10, 11, 25, 39, 40, 43, 59, 60, 99]), [100, 100, 98, 70, 42, 40, 41, 49, 50, 50]);
}

#[test]
fn a_triangle_needs_a_ramp_at_the_end_of_its_period() {
    let c = profile(&[step(0, 0), ramp(10, 100), ramp(20, 0)], Some(20), 0);
    assert_eq!(values(&c, &[0, 5, 10, 15, 19, 20, 25, 35]), [0, 50, 100, 50, 10, 0, 50, 50]);
}

#[test]
fn large_values_do_not_overflow() {
    let c = profile(&[step(0, u64::MAX), ramp(u64::MAX / 2, 0)], None, 0);
    assert_eq!(c.at(Time(u64::MAX / 4)), u64::MAX / 2 + 1);
}

#[test]
fn invalid_profiles_are_refused() {
    let refused = |steps: &[StepPlan], period_ns| {
        check::profile(&ProfilePlan { steps: steps.to_vec(), period_ns, start_ns: 0 }).is_err()
    };
    assert!(refused(&[], None));
    assert!(refused(&[step(1, 1)], None));
    assert!(refused(&[ramp(0, 1)], None));
    assert!(refused(&[step(0, 1), step(5, 2), step(5, 3)], None));
    assert!(refused(&[step(0, 1), step(50, 2)], Some(40)));
    assert!(refused(&[step(0, 1)], Some(0)));
}
