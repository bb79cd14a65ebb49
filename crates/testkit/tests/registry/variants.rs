use crate::{any_given, check_specs};
use dumbbell_cc::{
    AckEvent, Congestion, CongestionEvent, Cx, Increase, Phase, RecoveryExit, SlowStart, Start, Variant,
    build, find, registry,
};
use dumbbell_units::param::Raw;
use dumbbell_units::{Dur, Time};
use proptest::prelude::*;

#[test]
fn rows_are_complete() {
    for row in registry() {
        for text in [row.name, row.title, row.source, row.on_loss, row.on_delay, row.on_ecn] {
            assert!(!text.is_empty(), "{row:?}");
        }
        assert!(row.year >= 1980, "{}", row.name);
        check_specs(row.name, row.params);
        assert_eq!(find(row.name).expect("it is there").name, row.name);
        let refused = find(&format!("{}x", row.name)).expect_err("no such name");
        assert!(refused.message.contains(row.name), "{refused}");
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Segments acknowledged, RTT, whether the window was used, whether in recovery.
    Ack(u64, Option<u64>, bool, bool),
    /// Kind, share of cwnd that was outstanding, age of the lost segment in ns, how often it was sent.
    Congestion(Congestion, f64, u64, u32),
    /// Recovery ends, bounded to so many segments.
    Exit(Option<u64>),
    Idle(u64),
    Wait(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let ns = || prop_oneof![0u64..1_000_000, 0u64..2_000_000_000];
    let kind = proptest::sample::select(vec![
        Congestion::Loss,
        Congestion::Collapse,
        Congestion::Timeout,
        Congestion::Ecn,
    ]);
    // 1 ns to 60 s.
    let rtt = prop_oneof![1u64..100_000_000, 1u64..60_000_000_000];
    let op = prop_oneof![
        20 => (0u64..40, proptest::option::of(rtt), any::<bool>(), proptest::bool::weighted(0.1))
            .prop_map(|(n, rtt, limited, recovery)| Op::Ack(n, rtt, limited, recovery)),
        2 => (kind, 0.0..1.5, ns(), 1u32..4).prop_map(|(k, share, age, n)| Op::Congestion(k, share, age, n)),
        1 => proptest::option::of(1u64..100).prop_map(Op::Exit),
        1 => ns().prop_map(Op::Idle),
        5 => ns().prop_map(Op::Wait),
    ];
    proptest::collection::vec(op, 0..400)
}

/// How a connection is set up: mss, initial window and ssthresh in segments, how an increase counts, timestamps.
type Setup = (f64, f64, f64, Increase, bool);

fn setup() -> impl Strategy<Value = Setup> {
    let increase = prop_oneof![Just(Increase::PerAck), Just(Increase::Bytes)];
    let ssthresh = prop_oneof![Just(f64::INFINITY), 2.0..100.0];
    (1u32..9000, 1u32..20, ssthresh, increase, any::<bool>())
        .prop_map(|(mss, iw, ss, inc, ts)| (f64::from(mss), f64::from(iw), ss, inc, ts))
}

fn run(
    row: &'static Variant,
    given: &[(String, Raw)],
    (mss, iw, ssthresh, increase, timestamps): Setup,
    ops: &[Op],
) {
    let start =
        Start { mss, initial_window: iw * mss, ssthresh: ssthresh * mss, slow_start: SlowStart::Standard };
    let Ok(mut law) = build(row.name, given, &start) else { return };
    let mut cx =
        Cx { now: Time(1_000_000_000), mss, initial_window: iw * mss, increase, whole_segments: false };
    let (mut una, mut backoffs) = (1u64, 0);
    for op in ops {
        let before = law.control();
        match *op {
            Op::Ack(segments, rtt, cwnd_limited, in_recovery) => {
                let acked = segments * mss as u64;
                let flight = acked.max(before.cwnd.min(1e9) as u64);
                una += acked;
                if acked > 0 {
                    backoffs = 0;
                }
                let ev = AckEvent {
                    acked,
                    delivered: acked,
                    rtt: rtt.map(Dur),
                    one_way: rtt.filter(|_| timestamps).map(|ns| ns as f64 * 0.4e-9 - 3.0), // another clock
                    flight,
                    snd_una: una,
                    snd_nxt: una - acked + flight,
                    cwnd_limited,
                    in_recovery,
                    in_loss: false,
                    inflight: flight - acked,
                    lost: 0,
                    marked: 0,
                    rate: None,
                };
                law.on_ack(&ev, &cx);
                let after = law.control().cwnd;
                if row.on_delay == "none" {
                    assert!(
                        after >= before.cwnd,
                        "{}: an ACK took cwnd from {} to {after}",
                        row.name,
                        before.cwnd
                    );
                }
            }
            Op::Congestion(kind, share, age, lost_transmissions) => {
                let ev = CongestionEvent {
                    kind,
                    window: before.cwnd * share,
                    lost_sent_at: Time(cx.now.0.saturating_sub(age)),
                    lost_transmissions,
                    backoffs,
                };
                law.on_congestion(&ev, &cx);
                let after = law.control();
                if row.on_loss == "none" {
                    assert_eq!(after, before, "{}: {ev:?} moved it", row.name);
                    continue;
                }
                assert!(
                    after.ssthresh >= 2.0 * mss,
                    "{}: ssthresh {} after {ev:?}",
                    row.name,
                    after.ssthresh
                );
                if matches!(kind, Congestion::Timeout | Congestion::Collapse) {
                    assert_eq!(after.cwnd, mss, "{}: the loss window is one segment", row.name);
                    assert_eq!(law.phase(), Phase::SlowStart, "{}", row.name);
                }
                if kind == Congestion::Timeout {
                    backoffs += 1;
                }
            }
            Op::Exit(bound) => {
                let bound = bound.map_or(f64::INFINITY, |n| n as f64 * mss);
                law.on_recovery_exit(&RecoveryExit { bound }, &cx);
                let bounded = law.control().cwnd <= bound || row.on_loss == "none";
                assert!(bounded, "{}: a burst after recovery", row.name);
            }
            Op::Idle(ns) => {
                cx.now += Dur(ns);
                law.on_restart(Dur(ns), &cx);
                assert!(law.control().cwnd <= before.cwnd.max(iw * mss), "{}", row.name);
            }
            Op::Wait(ns) => cx.now += Dur(ns),
        }
        let control = law.control();
        assert!(
            control.cwnd.is_finite() && control.cwnd >= mss,
            "{}: cwnd {} after {op:?}",
            row.name,
            control.cwnd
        );
        assert!(
            !control.ssthresh.is_nan() && control.ssthresh > 0.0,
            "{}: ssthresh {}",
            row.name,
            control.ssthresh
        );
        assert!(!matches!(law.phase(), Phase::Recovery | Phase::Loss), "{}", row.name);
        let mut columns = Vec::new();
        law.observe(&mut columns);
        assert_eq!(columns.len(), row.columns.len(), "{}", row.name);
        assert!(columns.iter().all(|c| !c.is_infinite()), "{}: {columns:?}", row.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// cwnd stays finite and at least one segment, ssthresh at least two after a loss, no window is NaN, columns match
    /// the row; laws that do not answer delay never shrink on an ACK, one that does not answer losses does not move.
    #[test]
    fn every_variant_keeps_a_sane_window(
        (row, given) in (0..registry().len()).prop_flat_map(|i| (Just(&registry()[i]), any_given(registry()[i].params))),
        setup in setup(),
        ops in ops(),
    ) {
        run(row, &given, setup, &ops);
    }
}
