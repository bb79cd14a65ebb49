//! Decisions of recovery without a sender: the next segment after each event [RFC 6675 §4, §5; RFC 3042].

use super::*;
use crate::cc_driver::CcDriver;
use crate::delivery_rate::DeliveryRate;
use crate::ecn::EcnSender;
use crate::rtt::RttEstimator;
use crate::send_sequence::Counters;
use crate::send_timer::SendTimer;
use dumbbell_testkit::cc_recorder::CcRecorder;
use dumbbell_units::Time;

const MSS: u64 = 1448;
const NOW: Time = Time(1_000_000_000);

/// The parts of a sender, with ten segments outstanding in a window of ten.
struct Parts {
    config: Config,
    snd: SendSequence,
    scoreboard: Scoreboard,
    timer: SendTimer,
    rtt: RttEstimator,
    cc: CcDriver,
    delivery_rate: DeliveryRate,
    ecn: EcnSender,
    counters: Counters,
    timed: Option<(u64, Time)>,
}

impl Parts {
    fn new(variant: &str) -> Parts {
        Parts::on("rfc", variant)
    }

    fn on(preset: &str, variant: &str) -> Parts {
        let mut config = Config::read(preset, &[], dumbbell_cc::find(variant).unwrap()).unwrap();
        config.connection.mss = MSS as u32;
        let mut scoreboard = Scoreboard::new(MSS as u32, config.unit(), false, true);
        (0..10).for_each(|i| scoreboard.push(at(i), at(i + 1), false, false, Time(i)));
        Parts {
            snd: SendSequence { una: at(0), nxt: at(10), max: at(10), wnd_end: at(100), sml: at(0) },
            scoreboard,
            timer: SendTimer::new(config.rto.timer_tick),
            rtt: RttEstimator::new(config.rto),
            cc: CcDriver::new(Box::new(CcRecorder::new(10.0 * MSS as f64)), &config),
            delivery_rate: DeliveryRate::default(),
            ecn: EcnSender::default(),
            counters: Counters::default(),
            timed: None,
            config,
        }
    }

    fn cx(&mut self) -> RecoveryCx<'_> {
        RecoveryCx {
            now: NOW,
            config: &self.config,
            snd: &mut self.snd,
            scoreboard: &mut self.scoreboard,
            timer: &mut self.timer,
            rtt: &self.rtt,
            fine_rtt: None,
            min_rtt: None,
            cc: &mut self.cc,
            delivery_rate: &mut self.delivery_rate,
            ecn: &mut self.ecn,
            counters: &mut self.counters,
            timed: &mut self.timed,
        }
    }
}

/// Offset of the start of a segment.
fn at(segment: u64) -> u64 {
    1 + segment * MSS
}

#[test]
fn sack_retransmits_lost_segments_then_sends_new_ones_then_rescues_the_last() {
    let mut parts = Parts::new("sack");
    let mut recovery = Recovery::new(&parts.config);
    for i in 1..4 {
        parts.scoreboard.sack(at(i), at(i + 1), |_, _, _| {});
    }
    let ack = AckSummary { sacked: true, ..AckSummary::default() };
    recovery.counting_on_ack(&[], &ack, false, &mut parts.cx());
    // Three SACKed segments above the first: it is lost, and recovery starts.
    assert_eq!(
        (recovery.state, recovery.recover, parts.counters.fast_retransmits),
        (CaState::Recovery, Some(at(10)), 1)
    );
    assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Retransmit(at(0)));
    parts.scoreboard.retransmit(at(0), NOW);
    // Pipe: ten segments, less three SACKed and one lost, plus one retransmitted, so that the window allows three more.
    let otherwise = Otherwise::RetransmitUnsacked;
    let new = NextSegment::New { limit: 3 * MSS, may_wait: false, otherwise };
    assert_eq!(recovery.next(&mut parts.cx()), new);
    // Without new data no segment below the highest SACKed one is left: the last one is retransmitted, once.
    assert_eq!(recovery.next_without_new(otherwise, &mut parts.cx()), NextSegment::Rescue(at(9)));
    assert_eq!(recovery.next_without_new(otherwise, &mut parts.cx()), NextSegment::Nothing);
}

#[test]
fn a_duplicate_ack_below_the_threshold_allows_one_segment_beyond_the_window() {
    let mut parts = Parts::new("newreno");
    let mut recovery = Recovery::new(&parts.config);
    let ack = AckSummary { duplicate: true, ..AckSummary::default() };
    let limit = |next| if let NextSegment::New { limit, .. } = next { limit } else { panic!("{next:?}") };
    assert_eq!(limit(recovery.next(&mut parts.cx())), 0);
    for segments in 1..3 {
        recovery.counting_on_ack(&[], &ack, false, &mut parts.cx());
        assert_eq!(limit(recovery.next(&mut parts.cx())), segments * MSS);
    }
    // The third starts recovery: the head is retransmitted. (The window of this congestion control is constant.)
    recovery.counting_on_ack(&[], &ack, false, &mut parts.cx());
    assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Retransmit(at(0)));
    assert_eq!((parts.timer.kind, parts.timer.expires.is_some()), (TimerKind::Rto, true));
}

#[test]
fn the_sack_of_ns2_repairs_any_hole_below_a_block_and_has_no_rescue() {
    let mut parts = Parts::on("ns2", "sack");
    let mut recovery = Recovery::new(&parts.config);
    let duplicate = AckSummary::default();
    // The first two duplicates allow a new segment each, beyond a window that is full; the third one starts recovery.
    // Blocks that report nothing new don't count.
    for n in 0..3 {
        let block = [(at(3 + n), at(4 + n))];
        recovery.counting_on_ack(&block, &duplicate, false, &mut parts.cx());
        recovery.counting_on_ack(&block, &duplicate, false, &mut parts.cx());
    }
    assert_eq!((recovery.state, parts.counters.fast_retransmits), (CaState::Recovery, 1));
    assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Retransmit(at(0)));
    // pipe: 10 outstanding - 3 = 7, less one for the repeated block that came after: 6 of a window of 10. Segments 1
    // and 2 are holes below a single range of blocks; then new data follow.
    assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Retransmit(at(1)));
    assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Retransmit(at(2)));
    let new = NextSegment::New { limit: MSS, may_wait: false, otherwise: Otherwise::Nothing };
    for _ in 0..2 {
        assert_eq!(recovery.next(&mut parts.cx()), new);
        recovery.on_new_segment(&parts.cx());
    }
    assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Blocked { by_cwnd: true });
    // A timeout: from the oldest segment on, also those in blocks, and duplicates have no effect.
    recovery.counting_on_timeout(&mut parts.cx());
    recovery.counting_on_ack(&[(at(8), at(9))], &duplicate, false, &mut parts.cx());
    assert_eq!((recovery.state, recovery.dupacks, parts.snd.nxt), (CaState::Loss, 0, at(0)));
    for n in 0..4 {
        assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Retransmit(at(n)));
    }
}

#[test]
fn partial_acks_reduce_the_window_itself_on_ns2() {
    let mut parts = Parts::on("ns2", "newreno");
    let mut recovery = Recovery::new(&parts.config);
    let ack = AckSummary { duplicate: true, ..AckSummary::default() };
    (0..3).for_each(|_| recovery.counting_on_ack(&[], &ack, false, &mut parts.cx()));
    assert_eq!(recovery.inflation(), 3.0 * MSS as f64);
    // A partial ACK of two segments, fewer than the inflation of three: 3 - 2 + 1 = 2.
    let mut partial = |segments: u64, una: u64, parts: &mut Parts| {
        parts.snd.una = at(una);
        let ack = AckSummary { acked: segments * MSS, ..AckSummary::default() };
        recovery.counting_on_ack(&[], &ack, true, &mut parts.cx());
        recovery.inflation() / MSS as f64
    };
    assert_eq!(partial(2, 2, &mut parts), 2.0);
    // One of four, more than the inflation: the window loses 4 - 2 = 2 and the inflation is 1, in sum -1.
    assert_eq!(partial(4, 6, &mut parts), -1.0);
    // The full ACK: 10 - 2 segments remain. (The window of this congestion control is constant.)
    assert_eq!(partial(4, 10, &mut parts), 0.0);
    assert_eq!(recovery.state, CaState::Open);
}

#[test]
fn a_recovery_that_begins_during_the_reduction_for_a_mark_ends_with_it() {
    for (state, expected) in [(CaState::Cwr, at(4)), (CaState::Open, at(10))] {
        let mut parts = Parts::on("linux", "cubic");
        let mut recovery = Recovery::new(&parts.config);
        (recovery.state, recovery.recover) = (state, Some(at(4)));
        recovery.enter_rack_recovery(0, &mut parts.cx());
        assert_eq!((recovery.state, recovery.recover), (CaState::Recovery, Some(expected)));
    }
}
