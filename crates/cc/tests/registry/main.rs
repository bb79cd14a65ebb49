//! Properties of every row of the registry under random operations. A new row is tested without a change here.

use dumbbell_cc::{
    AckEvent, Congestion, CongestionEvent, Control, Cx, EcnUse, Increase, LostEvent, Phase, RateSample, RecoveryExit,
    SentEvent, Setup, SlowStart, Variant, build, find, registry,
};
use dumbbell_testkit::{any_given, check_specs};
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
        for (stack, name, default) in row.stack_defaults {
            let known = row.params.iter().find(|spec| spec.name == *name);
            assert!(known.is_some_and(|spec| spec.default != *default), "{}: {stack} {name}", row.name);
            check_specs(row.name, &row.params_on(stack));
        }
        assert_eq!(find(row.name).expect("the registry has it").name, row.name);
        let refused = find(&format!("{}x", row.name)).expect_err("no such name");
        assert!(refused.message.contains(row.name), "{refused}");
    }
}

#[derive(Clone, Debug)]
enum Op {
    Ack(Ack),
    /// The number of segments sent, and true for retransmissions.
    Send(u64, bool),
    /// Kind, fraction of cwnd in flight, age of the lost segment in ns, its transmissions.
    Congestion(Congestion, f64, u64, u32),
    /// The last reductions were spurious.
    Undo,
    /// Recovery ends, with a bound on the window in segments.
    Exit(Option<u64>),
    Idle(u64),
    Wait(u64),
}

#[derive(Clone, Debug)]
struct Ack {
    segments: u64,
    rtt: Option<u64>,
    cwnd_limited: bool,
    in_recovery: bool,
    in_loss: bool,
    /// Fractions of the segments that were marked, and that were lost in addition.
    marked: f64,
    lost: f64,
    /// Interval of the rate sample in ns, and true if it is application-limited.
    rate: Option<(u64, bool)>,
}

fn ack() -> impl Strategy<Value = Ack> {
    // 1 ns to 60 s.
    let ns = || prop_oneof![1u64..100_000_000, 1u64..60_000_000_000];
    let rarely = || proptest::bool::weighted(0.1);
    let share = || prop_oneof![4 => Just(0.0), 1 => 0.0..=1.0];
    let times = (proptest::option::of(ns()), proptest::option::of((ns(), rarely())));
    (0u64..40, times, any::<bool>(), rarely(), rarely(), share(), share()).prop_map(
        |(segments, (rtt, rate), cwnd_limited, in_recovery, in_loss, marked, lost)| Ack {
            segments,
            rtt,
            cwnd_limited,
            in_recovery,
            in_loss,
            marked,
            lost,
            rate,
        },
    )
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let ns = || prop_oneof![0u64..1_000_000, 0u64..2_000_000_000];
    let kind =
        proptest::sample::select(vec![Congestion::Loss, Congestion::Collapse, Congestion::Timeout, Congestion::Ecn]);
    let op = prop_oneof![
        20 => ack().prop_map(Op::Ack),
        5 => (1u64..20, proptest::bool::weighted(0.1)).prop_map(|(n, again)| Op::Send(n, again)),
        1 => Just(Op::Undo),
        2 => (kind, 0.0..1.5, ns(), 1u32..4).prop_map(|(k, share, age, n)| Op::Congestion(k, share, age, n)),
        1 => proptest::option::of(1u64..100).prop_map(Op::Exit),
        1 => ns().prop_map(Op::Idle),
        5 => ns().prop_map(Op::Wait),
    ];
    proptest::collection::vec(op, 0..400)
}

/// Setup of the connection, counting of increases, and true with timestamps.
type StackUnderTest = (Setup, Increase, bool);

fn setup() -> impl Strategy<Value = StackUnderTest> {
    let increase = prop_oneof![Just(Increase::PerAck), Just(Increase::PerByte), Just(Increase::PerWindow)];
    let ssthresh = prop_oneof![Just(f64::INFINITY), 2.0..100.0];
    let slow_start =
        proptest::sample::select(vec![SlowStart::Standard, SlowStart::HyStart, SlowStart::HyStartPlusPlus]);
    let limit = proptest::sample::select(vec![1.0, 2.0, f64::INFINITY]);
    let start = (1u32..9000, 1u32..20, ssthresh, slow_start, limit, any::<bool>(), any::<u64>()).prop_map(
        |(mss, window, ssthresh, slow_start, slow_start_limit, paced, seed)| {
            let mss = f64::from(mss);
            let start = Setup::new(mss, f64::from(window) * mss, ssthresh * mss);
            Setup { slow_start, slow_start_limit, paced, seed, ..start }
        },
    );
    (start, increase, any::<bool>())
}

/// An endpoint with one variant, and the properties that must hold.
struct Connection {
    row: &'static Variant,
    cc: Box<dyn dumbbell_cc::CongestionControl>,
    cx: Cx,
    timestamps: bool,
    una: u64,
    nxt: u64,
    delivered: u64,
    backoffs: u32,
    /// The window before the first reduction of the last episode of congestion.
    before: Option<Control>,
    /// True after a mark, to which a variant with its own response may respond at the next ACK.
    echoed: bool,
    /// True while that episode lasts.
    episode: bool,
    /// True if the endpoint keeps delivery rates.
    keeps_rates: bool,
}

impl Connection {
    fn send(&mut self, segments: u64, retransmission: bool) {
        for _ in 0..segments {
            let bytes = self.cx.mss as u64;
            let flight = self.nxt - self.una;
            if !retransmission {
                self.nxt += bytes;
            }
            let ev = SentEvent { bytes, flight, snd_nxt: self.nxt, retransmission, app_limited: false };
            self.cc.on_sent(&ev, &self.cx);
        }
    }

    fn ack(&mut self, a: &Ack) {
        let before = self.cc.control();
        let (acked, flight) = (a.segments * self.cx.mss as u64, before.cwnd.min(1e9) as u64);
        self.nxt = self.nxt.max(self.una + acked.max(flight));
        let flight = self.nxt - self.una;
        self.una += acked;
        let prior_delivered = self.delivered;
        self.delivered += acked;
        if acked > 0 {
            self.backoffs = 0;
        }
        let lost = (acked as f64 * a.lost) as u64;
        if lost > 0 && self.keeps_rates {
            let ev = LostEvent {
                start: self.una - acked,
                bytes: lost,
                sent_in_flight: flight,
                lost_since: lost,
                prior_delivered,
                app_limited: false,
            };
            self.cc.on_lost(&ev, &self.cx);
        }
        let rate = a.rate.filter(|_| acked > 0 && self.keeps_rates).map(|(ns, app_limited)| RateSample {
            delivered: acked,
            interval: Dur(ns),
            prior_delivered,
            total_delivered: self.delivered,
            sent_in_flight: flight,
            lost,
            app_limited,
        });
        let ev = AckEvent {
            rtt: a.rtt.map(Dur),
            one_way: a.rtt.filter(|_| self.timestamps).map(|ns| ns as f64 * 0.4e-9 - 3.0), // another clock
            cwnd_limited: a.cwnd_limited,
            in_recovery: a.in_recovery,
            in_loss: a.in_loss,
            lost,
            marked: (acked as f64 * a.marked) as u64,
            rate,
            ..AckEvent::in_order(acked, self.una..self.nxt, self.cx.now)
        };
        self.cc.on_ack(&ev, &self.cx);
        if !a.in_recovery && !a.in_loss {
            self.episode = false;
        }
        let echoed = acked > 0 && std::mem::take(&mut self.echoed);
        if (a.marked > 0.0 || echoed) && self.row.ecn != EcnUse::Stack {
            self.before = None; // the response to a mark is not undone
        }
        let after = self.cc.control().cwnd;
        let may_shrink = self.row.on_delay != "none" || self.row.ecn != EcnUse::Stack;
        assert!(
            may_shrink || after >= before.cwnd,
            "{}: an ACK took cwnd from {} to {after}",
            self.row.name,
            before.cwnd
        );
    }

    fn congestion(&mut self, kind: Congestion, share: f64, age: u64, lost_transmissions: u32) {
        let (row, before) = (self.row, self.cc.control());
        if kind == Congestion::Ecn {
            // A response to a mark is not undone.
            self.before = self.before.filter(|_| row.on_ecn == "none");
            self.echoed = true;
        } else if !std::mem::replace(&mut self.episode, true) {
            self.before = Some(before);
        }
        let ev = CongestionEvent {
            kind,
            window: before.cwnd * share,
            lost_sent_at: Time(self.cx.now.0.saturating_sub(age)),
            lost_transmissions,
            backoffs: self.backoffs,
        };
        self.cc.on_congestion(&ev, &self.cx);
        let after = self.cc.control();
        if row.on_loss == "none" {
            assert_eq!(after, before, "{}: {ev:?} moved it", row.name);
            return;
        }
        assert!(after.ssthresh >= 2.0 * self.cx.mss, "{}: ssthresh {} after {ev:?}", row.name, after.ssthresh);
        if matches!(kind, Congestion::Timeout | Congestion::Collapse) && !row.own_recovery {
            assert_eq!(after.cwnd, self.cx.mss, "{}: the loss window is one segment", row.name);
            assert_eq!(self.cc.phase(), Phase::SlowStart, "{}", row.name);
        }
        if kind == Congestion::Timeout {
            self.backoffs += 1;
        }
    }

    fn undo(&mut self) {
        let reduced = self.cc.control();
        self.cc.on_undo(&self.cx);
        self.episode = false;
        let after = self.cc.control();
        match self.before.take() {
            // A variant with its own recovery may not have reduced the window.
            _ if self.row.own_recovery => assert!(after.cwnd >= reduced.cwnd, "{}: {after:?}", self.row.name),
            Some(before) => assert!(
                after.cwnd >= before.cwnd && after.ssthresh >= before.ssthresh,
                "{}: {before:?}, reduced to {reduced:?}, is {after:?} after an undo",
                self.row.name
            ),
            None if self.row.ecn != EcnUse::Stack => {} // a mark may have preceded the undo
            None => assert_eq!(after, reduced, "{}: nothing to undo", self.row.name),
        }
    }

    fn act(&mut self, op: &Op) {
        match op {
            Op::Ack(ack) => self.ack(ack),
            Op::Send(segments, again) => self.send(*segments, *again),
            Op::Congestion(kind, share, age, transmissions) => {
                self.congestion(*kind, *share, *age, *transmissions);
            }
            Op::Undo => self.undo(),
            Op::Exit(bound) => {
                let bound = bound.map_or(f64::INFINITY, |n| n as f64 * self.cx.mss);
                self.cc.on_recovery_exit(&RecoveryExit { bound }, &self.cx);
                self.episode = false;
                let free = self.row.on_loss == "none" || self.row.own_recovery;
                let Control { cwnd, ssthresh, .. } = self.cc.control();
                assert!(
                    // A stack that counts segments permits a burst up to ssthresh: common/loss_driven.rs.
                    free || cwnd <= bound || (self.cx.counts_segments() && cwnd <= ssthresh),
                    "{}: a burst after recovery",
                    self.row.name
                );
            }
            Op::Idle(ns) => {
                let before = self.cc.control().cwnd;
                self.cx.now += Dur(*ns);
                self.cc.on_restart(Dur(*ns), &self.cx);
                assert!(self.cc.control().cwnd <= before.max(self.cx.initial_window), "{}", self.row.name);
            }
            Op::Wait(ns) => self.cx.now += Dur(*ns),
        }
    }

    fn check(&self, op: &Op) {
        let (name, control) = (self.row.name, self.cc.control());
        assert!(control.cwnd.is_finite() && control.cwnd >= self.cx.mss, "{name}: cwnd {} after {op:?}", control.cwnd);
        assert!(!control.ssthresh.is_nan() && control.ssthresh > 0.0, "{name}: ssthresh {}", control.ssthresh);
        assert!(control.pacing.is_none_or(|rate| rate.0 > 0), "{name}: cannot send after {op:?}");
        assert!(control.quantum.is_none_or(|bytes| bytes > 0), "{name}: no burst may be sent after {op:?}");
        assert!(!matches!(self.cc.phase(), Phase::Recovery | Phase::Loss), "{name}");
        let mut columns = Vec::new();
        self.cc.observe(&mut columns);
        assert_eq!(columns.len(), self.row.columns.len(), "{name}");
        assert!(columns.iter().all(|c| !c.is_infinite()), "{name}: {columns:?}");
    }
}

/// Returns a connection with a variant; None if its parameters contradict each other.
fn connection(
    row: &'static Variant,
    given: &[(String, Raw)],
    (start, increase, timestamps): StackUnderTest,
) -> Option<Connection> {
    let cx = Cx {
        now: Time(1_000_000_000),
        mss: start.mss,
        initial_window: start.initial_window,
        increase,
        whole_segments: false,
    };
    Some(Connection {
        row,
        cc: build(row.name, given, &start).ok()?,
        cx,
        timestamps,
        una: 1,
        nxt: 1,
        delivered: 0,
        backoffs: 0,
        before: None,
        echoed: false,
        episode: false,
        keeps_rates: true,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// cwnd is finite and at least one segment, ssthresh is at least two segments after a loss, no window is NaN, and
    /// the columns match the row. A variant that responds neither to delay nor to marks never shrinks on an ACK; one
    /// that doesn't respond to losses doesn't change. An undo restores the window of before the episode.
    #[test]
    fn every_variant_keeps_a_sane_window(
        (row, given) in (0..registry().len()).prop_flat_map(|i| (Just(&registry()[i]), any_given(registry()[i].params))),
        setup in setup(),
        ops in ops(),
    ) {
        if let Some(mut connection) = connection(row, &given, setup) {
            for op in &ops {
                connection.act(op);
                connection.check(op);
            }
        }
    }

    /// A variant that doesn't want delivery rates has the same window without them.
    #[test]
    fn rates_are_kept_for_every_variant_that_uses_them(
        (row, given) in (0..registry().len()).prop_flat_map(|i| (Just(&registry()[i]), any_given(registry()[i].params))),
        setup in setup(),
        ops in ops(),
    ) {
        let Some(mut with) = connection(row, &given, setup) else { return Ok(()) };
        let Some(mut without) = connection(row, &given, setup) else { return Ok(()) };
        without.keeps_rates = with.cc.wants_rates();
        for op in &ops {
            with.act(op);
            without.act(op);
            prop_assert_eq!(with.cc.control(), without.cc.control(), "{}: {:?}", row.name, op);
        }
    }
}
