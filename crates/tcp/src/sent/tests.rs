//! The board beside counts from scratch.

use super::*;
use dumbbell_units::Dur;
use dumbbell_units::random::Stream;

fn counted(q: &SentQueue) -> [u64; 6] {
    [q.pipe, q.sacked_bytes, q.sacked_segments, q.resent_segments, q.waiting_segments, q.lost_segments]
}

fn from_scratch(q: &SentQueue) -> [u64; 6] {
    let sum = |f: fn(&Sent) -> u64| q.segments.iter().map(f).sum();
    [
        sum(Sent::in_pipe),
        sum(|s| if s.sacked { s.len() } else { 0 }),
        sum(|s| u64::from(s.sacked)),
        sum(|s| u64::from(s.resent && !s.sacked)),
        sum(|s| u64::from(s.waits())),
        sum(|s| u64::from(s.lost && !s.sacked)),
    ]
}

/// Ten segments of 100 bytes, the given ones SACKed in turn, losses looked for after each.
fn board(sacked: &[u64]) -> SentQueue {
    let mut q = SentQueue::new(100, false);
    (0..10).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, false, Time(i)));
    let mut delivered = Vec::new();
    for i in sacked {
        assert!(q.sack(1 + i * 100, 101 + i * 100, |s, _| delivered.push(s.start)));
        q.find_lost(3, 100);
        assert_eq!(counted(&q), from_scratch(&q));
    }
    assert_eq!(delivered.len(), sacked.len());
    q
}

#[test]
fn three_sacked_segments_above_make_a_loss() {
    // DupThresh - 1 = 2 segments of bytes must be exceeded.
    assert!(!board(&[1, 2]).front_is_lost());
    let q = board(&[1, 2, 3]);
    assert!(q.front_is_lost());
    assert_eq!(q.pipe(), 600); // ten, less three SACKed, less one lost
}

#[test]
fn three_ranges_make_a_loss_of_what_lies_below_the_lowest() {
    let mut q = board(&[9, 7, 5]);
    // 0..=4 have three ranges above; 6 has two, 8 one.
    assert_eq!(q.next_lost().map(|s| s.start), Some(1));
    assert_eq!(q.pipe(), 200);
}

#[test]
fn retransmissions_count_again_and_are_not_repeated() {
    let mut q = board(&[1, 2, 3, 5, 6, 7]);
    // Lost: 0 and 4. Pipe: 8, 9.
    assert_eq!(q.pipe(), 200);
    q.start_episode();
    for expected in [1, 401] {
        let start = q.next_lost().map(|s| s.start).unwrap();
        assert_eq!(start, expected);
        q.resend(start, Time(99));
    }
    assert!(q.next_lost().is_none());
    assert_eq!(q.pipe(), 400);
    assert_eq!(counted(&q), from_scratch(&q));
}

#[test]
fn acknowledging_part_of_a_segment_keeps_the_rest() {
    let mut q = board(&[]);
    let mut delivered = 0;
    q.acknowledge(151, |_, _| delivered += 1);
    assert_eq!((delivered, q.front().map(|s| s.start), q.pipe()), (1, Some(151), 850));
}

#[test]
fn a_timeout_empties_the_pipe() {
    let mut q = board(&[1, 2, 3]);
    q.lose_all();
    assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (0, Some(1)));
    q.resend(1, Time(5));
    assert_eq!((q.pipe(), q.next_lost().map(|s| s.start)), (100, Some(401)));
}

/// IsLost as RFC 6675 §4 puts it, for each segment: DupThresh discontiguous SACKed ranges above it, or more than
/// (DupThresh - 1) * SMSS SACKed bytes. Nothing that was found lost is taken back.
#[test]
fn losses_are_found_where_the_rule_finds_them() {
    let is_lost = |q: &SentQueue, i: usize| {
        let above: Vec<&Sent> = q.segments.iter().skip(i + 1).collect();
        let ranges = (0..above.len()).filter(|j| above[*j].sacked && (*j == 0 || !above[*j - 1].sacked));
        let bytes: u64 = above.iter().filter(|s| s.sacked).map(|s| s.len()).sum();
        ranges.count() >= 3 || bytes > 200
    };
    let mut random = Stream::new(7, "lost");
    let mut q = SentQueue::new(100, false);
    let (mut end, mut told) = (1, 0);
    for _ in 0..20_000 {
        let una = q.front().map_or(end, |s| s.start);
        let offset = una + random.next_u64() % (end - una).max(1);
        match random.next_u64() % 8 {
            0..=3 => {
                let len = [100, 100, 100, 40, 90][(random.next_u64() % 5) as usize];
                q.push(end, end + len, false, false, Time(0));
                end += len;
            }
            4 => q.acknowledge(una + (offset - una) / 6, |_, _| {}),
            5 => drop(q.sack(offset, offset + 300, |_, _| {})),
            6 => q.lose_front(),
            _ => {
                let expected: Vec<bool> = (0..q.count())
                    .map(|i| q.segments[i].lost || (!q.segments[i].sacked && is_lost(&q, i)))
                    .collect();
                q.newly_lost.clear();
                q.find_lost(3, 100);
                let found: Vec<bool> = q.segments.iter().map(|s| s.lost).collect();
                assert_eq!(found, expected);
                told += q.newly_lost.len();
            }
        }
        assert_eq!(counted(&q), from_scratch(&q));
    }
    assert!(told > 500, "few were lost: {told}");
}

/// A window of 50,000 segments whose first is lost, and each of the others SACKed by an ACK of its own. Going over
/// what is SACKed with each ACK would take 1.25 thousand million steps, in this build some ten seconds.
#[test]
fn a_large_recovery_takes_no_longer_for_each_ack() {
    let begun = std::time::Instant::now();
    let mut q = SentQueue::new(100, false);
    (0..50_000).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, false, Time(i)));
    for i in 1..50_000 {
        q.sack(101, 101 + i * 100, |_, _| {});
        q.find_lost(3, 100);
        if q.next_lost().is_some() {
            q.resend(1, Time(60_000));
        }
    }
    assert_eq!((q.pipe(), q.resent_segments()), (100, 1));
    assert!(begun.elapsed().as_secs() < 3, "{:?}", begun.elapsed());
}

#[test]
fn everything_is_found_where_a_plain_search_finds_it() {
    // Segments of three lengths, so that the guess of a place is right only sometimes.
    let mut random = Stream::new(5, "sent");
    let mut q = SentQueue::new(100, true);
    let (mut end, mut now) = (1, 0);
    for _ in 0..20_000 {
        now += random.next_u64() % 3;
        let una = q.front().map_or(end, |s| s.start);
        let offset = una + random.next_u64() % (end - una).max(1);
        match random.next_u64() % 10 {
            0..=3 => {
                let len = [100, 100, 100, 37, 250][(random.next_u64() % 5) as usize];
                q.push(end, end + len, false, false, Time(now));
                end += len;
            }
            4 => q.acknowledge(una + (offset - una) / 8, |_, _| {}),
            5 | 6 => {
                let plain = |s: &&Sent| s.start >= offset && s.end <= offset + 700 && !s.sacked;
                let expected: Vec<u64> = q.segments.iter().filter(plain).map(|s| s.start).collect();
                let mut told = Vec::new();
                let news = q.sack(offset, offset + 700, |s, _| told.push(s.start));
                assert_eq!((news, &told), (!expected.is_empty(), &expected));
            }
            7 => {
                let edge = (Time(now - now.min(20)), end + 1);
                let wait = Dur(random.next_u64() % 40);
                let under_way = |s: &&Sent| !s.sacked && !s.waits() && (s.last_at, s.end) < edge;
                let rest =
                    q.segments.iter().filter(under_way).map(|s| s.last_at + wait).filter(|t| *t > Time(now));
                let expected = rest.max();
                assert_eq!(q.lose_overdue(edge, wait, Time(now)), expected);
            }
            8 => {
                let expected = q.segments.iter().find(|s| s.waits()).map(|s| s.start);
                assert_eq!(q.next_waiting().map(|s| s.start), expected);
                if let Some(start) = expected {
                    q.resend(start, Time(now));
                }
            }
            _ if now % 50 == 0 => q.forget_losses(),
            _ if now % 50 == 1 => q.lose_old(Dur(30), Time(now)),
            _ => {
                let expected = q.segments.iter().find(|s| s.end > offset && !s.sacked).map(|s| s.start);
                assert_eq!(q.unsacked_from(offset).map(|s| s.start), expected);
                assert_eq!(
                    q.at(offset).map(|s| s.start),
                    q.segments.iter().find(|s| s.end > offset).map(|s| s.start)
                );
            }
        }
        assert_eq!(counted(&q), from_scratch(&q));
    }
    assert!(q.first > 1000, "few were acknowledged");
}

#[test]
fn what_left_in_one_burst_goes_again_in_one() {
    // Bursts of 0-2, 3-5 and 6-8, all lost but 4.
    let mut q = SentQueue::new(100, true);
    (0..9).for_each(|i| q.push(1 + i * 100, 101 + i * 100, false, i % 3 > 0, Time(i)));
    assert!(q.sack(401, 501, |_, _| {}));
    q.lose_overdue((Time(9), 1000), Dur::ZERO, Time(9));
    assert_eq!(q.take_burst(1, 10), 3);
    // What was delivered parts a burst.
    assert_eq!(q.take_burst(301, 10), 1);
    assert_eq!(q.take_burst(501, 10), 1);
    // What has no room is a burst of its own from then on.
    assert_eq!(q.take_burst(601, 2), 2);
    assert_eq!(q.take_burst(601, 10), 2);
    assert_eq!(q.take_burst(801, 10), 1);
}
