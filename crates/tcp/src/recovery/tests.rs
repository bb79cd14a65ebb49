//! Decisions of recovery without a sender: the next segment after each event [RFC 6675 §4, §5; RFC 3042].

use super::*;
use crate::cc_driver::CcDriver;
use crate::delivery_rate::DeliveryRate;
use crate::ecn::EcnSender;
use crate::rtt::RttEstimator;
use crate::sender::{Counters, SendTimer};
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
}

impl Parts {
    fn new(variant: &str) -> Parts {
        let config = Config::read("rfc", &[], dumbbell_cc::find(variant).unwrap()).unwrap();
        let mut scoreboard = Scoreboard::new(MSS as u32, false, true);
        (0..10).for_each(|i| scoreboard.push(at(i), at(i + 1), false, false, Time(i)));
        Parts {
            snd: SendSequence { una: at(0), nxt: at(10), max: at(10), wnd_end: at(100) },
            scoreboard,
            timer: SendTimer::new(config.rto.timer_tick),
            rtt: RttEstimator::new(config.rto),
            cc: CcDriver::new(Box::new(CcRecorder::new(10.0 * MSS as f64)), &config),
            delivery_rate: DeliveryRate::default(),
            ecn: EcnSender::default(),
            counters: Counters::default(),
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
    let mut ack = AckSummary::default();
    ack.sacked = true;
    recovery.counting_on_ack(&ack, false, &mut parts.cx());
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
    // Without new data no segment below the highest SACKed one is left: the last one is sent again, once.
    assert_eq!(recovery.next_without_new(otherwise, &mut parts.cx()), NextSegment::Rescue(at(9)));
    assert_eq!(recovery.next_without_new(otherwise, &mut parts.cx()), NextSegment::Nothing);
}

#[test]
fn a_duplicate_ack_below_the_threshold_allows_one_segment_beyond_the_window() {
    let mut parts = Parts::new("newreno");
    let mut recovery = Recovery::new(&parts.config);
    let mut ack = AckSummary::default();
    ack.duplicate = true;
    let limit = |next| if let NextSegment::New { limit, .. } = next { limit } else { panic!("{next:?}") };
    assert_eq!(limit(recovery.next(&mut parts.cx())), 0);
    for segments in 1..3 {
        recovery.counting_on_ack(&ack, false, &mut parts.cx());
        assert_eq!(limit(recovery.next(&mut parts.cx())), segments * MSS);
    }
    // The third starts recovery: the head is retransmitted. (The window of this congestion control is constant.)
    recovery.counting_on_ack(&ack, false, &mut parts.cx());
    assert_eq!(recovery.next(&mut parts.cx()), NextSegment::Retransmit(at(0)));
    assert_eq!((parts.timer.kind, parts.timer.expires.is_some()), (TimerKind::Rto, true));
}
