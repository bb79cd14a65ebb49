//! The scoreboard compared with counters that are computed from scratch by the definitions of RFC 6675 §4.

use super::*;
use dumbbell_units::Dur;
use dumbbell_units::random::Stream;

fn counters(q: &Scoreboard) -> [u64; 6] {
    [q.pipe, q.sacked_bytes, q.sacked_out, q.retrans_out, q.needing_retransmission, q.lost_out]
}

fn from_scratch(q: &Scoreboard) -> [u64; 6] {
    let sum = |f: fn(&SentSegment) -> u64| q.segments.iter().map(f).sum();
    let copies = |s: &SentSegment| if s.sacked { 0 } else { u64::from(!s.lost) + u64::from(s.retransmitted) };
    let in_pipe = |s: &SentSegment| copies(s) * if q.unit > 0 { q.unit } else { s.len() };
    [
        q.segments.iter().map(in_pipe).sum(),
        sum(|s| if s.sacked { s.len() } else { 0 }),
        sum(|s| u64::from(s.sacked)),
        sum(|s| u64::from(s.retransmitted && !s.sacked)),
        sum(|s| u64::from(s.needs_retransmission())),
        sum(|s| u64::from(s.lost && !s.sacked)),
    ]
}

/// Returns a scoreboard of ten segments of 100 bytes. The given ones are SACKed in this order; losses are updated after
/// each.
fn scoreboard(sacked: &[u64]) -> Scoreboard {
    let mut q = Scoreboard::new(100, 0, false, true);
    (0..10).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, false, Time(i)));
    let mut delivered = Vec::new();
    for i in sacked {
        assert!(q.sack(1 + i * 100, 101 + i * 100, |s, _, _| delivered.push(s.start)));
        q.update(3, 100);
        assert_eq!(counters(&q), from_scratch(&q));
    }
    assert_eq!(delivered.len(), sacked.len());
    q
}

#[test]
fn three_sacked_segments_above_make_a_loss() {
    // More than DupThresh - 1 = 2 segments of bytes are needed.
    assert!(!scoreboard(&[1, 2]).is_head_lost());
    let q = scoreboard(&[1, 2, 3]);
    assert!(q.is_head_lost());
    assert_eq!(q.pipe(), 600); // ten, less three SACKed, less one lost
}

#[test]
fn three_ranges_make_a_loss_of_all_segments_below_the_lowest() {
    let mut q = scoreboard(&[9, 7, 5]);
    // 0..=4 have three ranges above; 6 has two, 8 one.
    assert_eq!(q.next_lost().map(|s| s.start), Some(1));
    assert_eq!(q.pipe(), 200);
}

#[test]
fn retransmissions_count_again_and_are_not_repeated() {
    let mut q = scoreboard(&[1, 2, 3, 5, 6, 7]);
    // Lost: 0 and 4. Pipe: 8, 9.
    assert_eq!(q.pipe(), 200);
    q.reset_high_rxt();
    for expected in [1, 401] {
        let start = q.next_lost().map(|s| s.start).unwrap();
        assert_eq!(start, expected);
        q.retransmit(start, Time(99));
    }
    assert!(q.next_lost().is_none());
    assert_eq!(q.pipe(), 400);
    assert_eq!(counters(&q), from_scratch(&q));
}

#[test]
fn acknowledging_part_of_a_segment_keeps_the_rest() {
    let mut q = scoreboard(&[]);
    let mut delivered = 0;
    q.acknowledge(151, |_, _, _| delivered += 1);
    assert_eq!((delivered, q.head().map(|s| s.start), q.pipe()), (1, Some(151), 850));
}

#[test]
fn a_timeout_empties_the_pipe() {
    let mut q = scoreboard(&[1, 2, 3]);
    q.mark_all_lost();
    assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (0, Some(1)));
    q.retransmit(1, Time(5));
    assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (100, Some(401)));
}

/// IsLost as defined in RFC 6675 §4, for each segment: DupThresh discontiguous SACKed ranges above it, or more than
/// (DupThresh - 1) * SMSS SACKed bytes. A segment that was marked as lost stays so.
#[test]
fn losses_agree_with_the_definition_of_is_lost() {
    let is_lost = |q: &Scoreboard, i: usize| {
        let above: Vec<&SentSegment> = q.segments.iter().skip(i + 1).collect();
        let ranges = (0..above.len()).filter(|j| above[*j].sacked && (*j == 0 || !above[*j - 1].sacked));
        let bytes: u64 = above.iter().filter(|s| s.sacked).map(|s| s.len()).sum();
        ranges.count() >= 3 || bytes > 200
    };
    let mut random = Stream::new(7, "lost");
    let mut q = Scoreboard::new(100, 0, false, true);
    let (mut end, mut found_lost) = (1, 0);
    for _ in 0..20_000 {
        let una = q.head().map_or(end, |s| s.start);
        let offset = una + random.next_u64() % (end - una).max(1);
        match random.next_u64() % 8 {
            0..=3 => {
                let len = [100, 100, 100, 40, 90][(random.next_u64() % 5) as usize];
                q.push(end, end + len, false, false, Time(0));
                end += len;
            }
            4 => q.acknowledge(una + (offset - una) / 6, |_, _, _| {}),
            5 => drop(q.sack(offset, offset + 300, |_, _, _| {})),
            6 => q.mark_head_lost(),
            _ => {
                let expected: Vec<bool> = (0..q.segment_count())
                    .map(|i| q.segments[i].lost || (!q.segments[i].sacked && is_lost(&q, i)))
                    .collect();
                q.newly_lost.clear();
                q.update(3, 100);
                let found: Vec<bool> = q.segments.iter().map(|s| s.lost).collect();
                assert_eq!(found, expected);
                found_lost += q.newly_lost.len();
            }
        }
        assert_eq!(counters(&q), from_scratch(&q));
    }
    assert!(found_lost > 500, "few were lost: {found_lost}");
}

/// A window of 50,000 segments: the first is lost, each of the others is SACKed by an ACK of its own. A search through
/// all SACKed segments with each ACK would take 1.25 billion steps.
#[test]
fn a_large_recovery_takes_no_more_steps_for_each_ack() {
    let mut q = Scoreboard::new(100, 0, false, true);
    (0..50_000).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, false, Time(i)));
    for i in 1..50_000 {
        let before = q.steps.get();
        q.sack(101, 101 + i * 100, |_, _, _| {});
        q.update(3, 100);
        if q.next_lost().is_some() {
            q.retransmit(1, Time(60_000));
        }
        let steps = q.steps.get() - before;
        assert!(steps <= 10, "ACK {i}: {steps} steps");
    }
    assert_eq!((q.pipe(), q.retrans_out()), (100, 1));
}

#[test]
fn each_search_agrees_with_a_linear_one() {
    searches_agree(0);
}

#[test]
fn each_search_agrees_where_segments_count() {
    searches_agree(100);
}

fn searches_agree(unit: u64) {
    // Segments of three lengths, so that the guess of an index is right only sometimes.
    let mut random = Stream::new(5, "sent");
    let mut q = Scoreboard::new(100, unit, true, true);
    let (mut end, mut now) = (1, 0);
    for _ in 0..20_000 {
        now += random.next_u64() % 3;
        let una = q.head().map_or(end, |s| s.start);
        let offset = una + random.next_u64() % (end - una).max(1);
        match random.next_u64() % 10 {
            0..=3 => {
                let len = [100, 100, 100, 37, 250][(random.next_u64() % 5) as usize];
                q.push(end, end + len, false, false, Time(now));
                end += len;
            }
            4 => q.acknowledge(una + (offset - una) / 8, |_, _, _| {}),
            5 | 6 => {
                let plain = |s: &&SentSegment| s.start >= offset && s.end <= offset + 700 && !s.sacked;
                let expected: Vec<u64> = q.segments.iter().filter(plain).map(|s| s.start).collect();
                let mut reported = Vec::new();
                let any_new = q.sack(offset, offset + 700, |s, _, _| reported.push(s.start));
                assert_eq!((any_new, &reported), (!expected.is_empty(), &expected));
            }
            7 => {
                let newest = (Time(now - now.min(20)), end + 1);
                let wait = Dur(random.next_u64() % 40);
                let in_flight =
                    |s: &&SentSegment| !s.sacked && !s.needs_retransmission() && (s.xmit_ts, s.end) < newest;
                let rest = q.segments.iter().filter(in_flight).map(|s| s.xmit_ts + wait).filter(|t| *t > Time(now));
                let expected = rest.max();
                assert_eq!(q.rack_detect_loss(newest, wait, Time(now)), expected);
            }
            8 => {
                let expected = q.segments.iter().find(|s| s.needs_retransmission()).map(|s| s.start);
                assert_eq!(q.next_retransmission().map(|s| s.start), expected);
                if let Some(start) = expected {
                    q.retransmit(start, Time(now));
                }
            }
            _ if now % 50 == 0 => q.unmark_losses(),
            _ if now % 50 == 1 => q.rack_mark_losses_on_rto(Dur(30), Time(now)),
            _ => {
                let expected = q.segments.iter().find(|s| s.end > offset && !s.sacked).map(|s| s.start);
                assert_eq!(q.unsacked_from(offset).map(|s| s.start), expected);
                assert_eq!(q.at(offset).map(|s| s.start), q.segments.iter().find(|s| s.end > offset).map(|s| s.start));
            }
        }
        assert_eq!(counters(&q), from_scratch(&q));
    }
    assert!(q.first > 1000, "few were acknowledged");
}

#[test]
fn segments_of_one_burst_are_retransmitted_together() {
    // Bursts of 0-2, 3-5 and 6-8, all lost but 4.
    let mut q = Scoreboard::new(100, 0, true, true);
    (0..9).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, i % 3 > 0, Time(i)));
    assert!(q.sack(401, 501, |_, _, _| {}));
    q.rack_detect_loss((Time(9), 1000), Dur::ZERO, Time(9));
    assert_eq!(q.take_burst(1, 10), 3);
    // A delivered segment divides a burst.
    assert_eq!(q.take_burst(301, 10), 1);
    assert_eq!(q.take_burst(501, 10), 1);
    // The segments beyond the limit are a burst of their own from then on.
    assert_eq!(q.take_burst(601, 2), 2);
    assert_eq!(q.take_burst(601, 10), 2);
    assert_eq!(q.take_burst(801, 10), 1);
}
