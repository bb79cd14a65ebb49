//! Minstrel-HT, the rate control of Linux [Linux net/mac80211/rc80211_minstrel_ht.c].
//!
//! ```text
//! every 50 ms   success of each rate, through a low-pass filter
//!                                                            [minstrel_ht_calc_rate_stats, minstrel_filter_avg_add]
//!               throughput = success / time of a frame of 1200 bytes; 0 below 10 % success, success counts as 90 % at
//!               most                                                                         [minstrel_ht_get_tp_avg]
//!               the four rates with the most throughput; the one with the most success (above 75 %: the most
//!               throughput)           [minstrel_ht_sort_best_tp_rates, minstrel_ht_set_best_prob_rate]
//! a frame       tries the best three rates in turn, then the most reliable one            [minstrel_ht_update_rates]
//! every 20 ms   one transmission probes another rate: of six probes three the next faster one, two a random faster
//!               one, one between the fastest and the slowest rate in use  [minstrel_ht_get_rate, minstrel_sample_seq]
//! ```
//! A group of rates is a number of streams. The statistics have an interval of HZ/20, probes one of HZ/50. The tries of
//! a rate take at most 6 ms and are at most 7, as for a driver that states no limit [minstrel_ht_alloc,
//! MINSTREL_SAMPLE_INTERVAL]. Compared with the source of 6.12.117. Not modeled: groups by guard interval (the medium
//! has one), RTS for fallback rates, A-MSDU.

use crate::phy::mode::Modes;
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

/// Interval of the statistics.
const UPDATE_INTERVAL: Dur = Dur::millis(50);
/// Interval of probes.
const SAMPLE_INTERVAL: Dur = Dur::millis(20);
/// Rates with the most throughput that are kept [MAX_THR_RATES].
const MAX_THR_RATES: usize = 4;
/// Probes in store of each kind [MINSTREL_SAMPLE_RATES].
const SAMPLE_RATES: usize = 5;
/// Fixed point: 1 is 4096 [MINSTREL_SCALE].
const SCALE: u32 = 12;
const ONE: i64 = 1 << SCALE;
/// Coefficients of the filter [MINSTREL_AVG_COEFF2, MINSTREL_AVG_COEFF3].
const COEFF2: i64 = 0x1499;
const COEFF3: i64 = -0x092e;
/// Average packet, bytes, and A-MPDU, frames [AVG_PKT_SIZE, AVG_AMPDU_SIZE].
const AVG_PKT_SIZE: u64 = 1200;
const AVG_AMPDU_SIZE: u64 = 16;
/// Limits of the tries with one rate.
const SEGMENT_US: u64 = 6_000;
const MAX_RETRY: u32 = 7;

/// Kinds of probes.
#[derive(Clone, Copy, Debug)]
enum Sample {
    Inc,
    Jump,
    Slow,
}

/// Order of the kinds of probes [minstrel_sample_seq].
const SEQUENCE: [Sample; 6] = [Sample::Inc, Sample::Jump, Sample::Inc, Sample::Jump, Sample::Inc, Sample::Slow];

/// Statistics of a rate.
#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    attempts: u32,
    success: u32,
    has_history: bool,
    prob_avg: i64,
    prob_avg_1: i64,
    /// Time of an average packet, ns.
    duration: u64,
    group: usize,
    streams: u32,
}

/// See the top of this file.
#[derive(Debug)]
pub struct MinstrelHt {
    rates: Vec<Stats>,
    groups: usize,
    /// Times besides the data of a transmission, µs.
    overhead_us: u64,
    aggregates: bool,
    avg_ampdu_len: i64,
    ampdu_len: u32,
    ampdu_packets: u32,
    max_tp_rate: [usize; MAX_THR_RATES],
    max_prob_rate: usize,
    /// Tries of each stage of the retry chain.
    tries: [u32; 4],
    probes: [Vec<usize>; 3],
    sample_group: [usize; 2],
    sample_seq: usize,
    sample_time: Time,
    /// The probe of the frame in transmission: its first try.
    probing: bool,
    updated: Time,
    random: Stream,
}

impl MinstrelHt {
    /// Rate control for these rates.
    #[must_use]
    pub fn new(modes: &Modes, aggregates: bool, overhead: Dur, random: Stream) -> MinstrelHt {
        let rates = modes.all[..modes.data].iter().map(|mode| {
            let duration = if aggregates {
                mode.duration(AVG_PKT_SIZE * AVG_AMPDU_SIZE).saturating_sub(mode.duration(0)).0 / AVG_AMPDU_SIZE
            } else {
                mode.duration(AVG_PKT_SIZE + 4).0
            };
            Stats { duration, group: mode.streams as usize - 1, streams: mode.streams, ..Stats::default() }
        });
        let rates: Vec<Stats> = rates.collect();
        let groups = rates.iter().map(|r| r.group + 1).max().unwrap_or(1);
        let mut minstrel = MinstrelHt {
            rates,
            groups,
            overhead_us: overhead.0 / 1_000,
            aggregates,
            avg_ampdu_len: ONE,
            ampdu_len: 0,
            ampdu_packets: 0,
            max_tp_rate: [0; MAX_THR_RATES],
            max_prob_rate: 0,
            tries: [2; 4],
            probes: Default::default(),
            sample_group: [0; 2],
            sample_seq: 0,
            sample_time: Time::ZERO,
            probing: false,
            updated: Time::ZERO,
            random,
        };
        minstrel.update_stats(Time::ZERO);
        minstrel
    }

    /// The rate of a transmission whose first frame has failed `failures` times before, and true if it is a probe:
    /// probes are not aggregated [Linux drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr].
    pub fn choose(&mut self, now: Time, failures: u32) -> (usize, bool) {
        if failures == 0 {
            self.probing = false;
            if now >= self.sample_time {
                self.sample_time = now + SAMPLE_INTERVAL;
                if let Some(probe) = self.next_probe() {
                    self.probing = true;
                    return (probe, true);
                }
            }
        }
        // The chain of rates, each with its tries. A probe takes the place of the first rate, for one try.
        let chain = [self.max_tp_rate[0], self.max_tp_rate[1], self.max_tp_rate[2], self.max_prob_rate];
        let (mut before, first) = if self.probing { (1, 1) } else { (0, 0) };
        for (rate, tries) in chain.into_iter().zip(self.tries).skip(first) {
            before += tries;
            if failures < before {
                return (rate, false);
            }
        }
        (self.max_prob_rate, false)
    }

    /// Reports a transmission [Linux net/mac80211/rc80211_minstrel_ht.c minstrel_ht_tx_status].
    pub fn report(&mut self, now: Time, mode: usize, frames: u32, acked: u32) {
        self.ampdu_packets += 1;
        self.ampdu_len += frames;
        self.rates[mode].attempts += frames;
        self.rates[mode].success += acked;
        // Sudden death of spatial multiplexing.
        for place in 0..2 {
            let rate = self.rates[self.max_tp_rate[place]];
            if rate.attempts > 30 && rate.success < rate.attempts / 4 && rate.streams > 1 {
                self.max_tp_rate[place] = self.best_of_group(rate.group - 1, place);
                self.update_tries();
            }
        }
        if now.since(self.updated) > UPDATE_INTERVAL {
            self.update_stats(now);
        }
    }

    /// The rate of a group with the most throughput (`place` 0), or the second.
    fn best_of_group(&self, group: usize, place: usize) -> usize {
        let mut rates: Vec<usize> = (0..self.rates.len()).filter(|&r| self.rates[r].group == group).collect();
        rates.sort_by_key(|&r| std::cmp::Reverse(self.throughput(r)));
        rates[place.min(rates.len() - 1)]
    }

    /// Throughput of a rate with its success so far [minstrel_ht_get_tp_avg].
    fn throughput(&self, rate: usize) -> i64 {
        let Stats { prob_avg, duration, .. } = self.rates[rate];
        if prob_avg < ONE * 10 / 100 {
            return 0;
        }
        let ns = 1_000 * self.overhead_us / self.ampdu_frames() + duration;
        (100 * (prob_avg.min(ONE * 90 / 100) * 1_000_000 / ns as i64)) >> SCALE
    }

    fn ampdu_frames(&self) -> u64 {
        if self.aggregates { (self.avg_ampdu_len >> SCALE).max(1) as u64 } else { 1 }
    }

    /// [minstrel_ht_update_stats]
    fn update_stats(&mut self, now: Time) {
        if self.ampdu_packets > 0 {
            let length = i64::from(self.ampdu_len) * ONE / i64::from(self.ampdu_packets);
            self.avg_ampdu_len += (128 - 96) * (length - self.avg_ampdu_len) / 128; // EWMA_LEVEL, EWMA_DIV
            (self.ampdu_len, self.ampdu_packets) = (0, 0);
        }
        let mut best = [0; MAX_THR_RATES];
        for group in 0..self.groups {
            let mut last_prob = 0;
            for rate in (0..self.rates.len()).rev().filter(|&r| self.rates[r].group == group).collect::<Vec<_>>() {
                let stats = &mut self.rates[rate];
                stats.calculate();
                if stats.has_history {
                    last_prob = last_prob.max(stats.prob_avg);
                } else {
                    stats.prob_avg = last_prob.max(stats.prob_avg);
                }
                if self.throughput(rate) > 0 {
                    self.insert(rate, &mut best);
                }
            }
        }
        self.max_tp_rate = best;
        self.max_prob_rate = self.most_reliable();
        self.refill_probes();
        self.update_tries();
        self.updated = now;
        self.sample_time = now;
    }

    /// [minstrel_ht_sort_best_tp_rates]
    fn insert(&self, rate: usize, best: &mut [usize; MAX_THR_RATES]) {
        let key = |r: usize| (self.throughput(r), self.rates[r].prob_avg);
        let place = best.iter().position(|&other| key(rate) > key(other));
        if let Some(place) = place {
            best[place..].rotate_right(1);
            best[place] = rate;
        }
    }

    /// [minstrel_ht_set_best_prob_rate, minstrel_ht_prob_rate_reduce_streams]
    fn most_reliable(&self) -> usize {
        let best = self.max_tp_rate[0];
        let mut dest = 0;
        let mut of_group: Vec<usize> =
            (0..self.groups).map(|g| self.rates.iter().position(|r| r.group == g).unwrap_or(0)).collect();
        for rate in 0..self.rates.len() {
            let stats = &self.rates[rate];
            if self.rates[best].duration > stats.duration && stats.prob_avg < self.rates[best].prob_avg {
                continue;
            }
            let better = |than: usize| {
                if stats.prob_avg > ONE * 75 / 100 {
                    self.throughput(rate) > self.throughput(than)
                } else {
                    stats.prob_avg > self.rates[than].prob_avg
                }
            };
            if better(dest) {
                dest = rate;
            }
            if better(of_group[stats.group]) {
                of_group[stats.group] = rate;
            }
        }
        let mut most = 0;
        for rate in of_group {
            if self.throughput(rate) > most && self.rates[rate].streams < self.rates[best].streams {
                (dest, most) = (rate, self.throughput(rate));
            }
        }
        dest
    }

    /// [minstrel_ht_set_rate, minstrel_calc_retransmit]
    fn update_tries(&mut self) {
        let chain = [self.max_tp_rate[0], self.max_tp_rate[1], self.max_tp_rate[2], self.max_prob_rate];
        self.tries = chain.map(|rate| {
            let stats = &self.rates[rate];
            if stats.prob_avg < ONE * 20 / 100 {
                return 2;
            }
            let data = stats.duration * self.ampdu_frames() / 1_000;
            let mut cw = 15u64;
            let mut contention = || {
                let time = (9 * cw) >> 1;
                cw = (cw << 1 | 1).min(1023);
                time
            };
            let mut time = contention() + contention() + 2 * (self.overhead_us + data);
            let mut tries = 2;
            loop {
                time += contention() + self.overhead_us + data;
                if time >= SEGMENT_US {
                    return tries;
                }
                tries += 1;
                if tries >= MAX_RETRY {
                    return tries;
                }
            }
        });
    }

    fn next_probe(&mut self) -> Option<usize> {
        let kind = SEQUENCE[self.sample_seq] as usize;
        self.sample_seq = (self.sample_seq + 1) % SEQUENCE.len();
        if self.probes[kind].is_empty() { None } else { Some(self.probes[kind].remove(0)) }
    }

    /// [minstrel_ht_refill_sample_rates]
    fn refill_probes(&mut self) {
        let durations = [self.max_tp_rate[0], self.max_tp_rate[1], self.max_prob_rate].map(|r| self.rates[r].duration);
        let fast = durations.iter().copied().min().unwrap_or(0);
        let slow = durations.iter().copied().max().unwrap_or(0);
        let rates = &self.rates;
        let duration = |r: usize| rates[r].duration;
        self.probes[Sample::Inc as usize].retain(|&r| duration(r) < fast);
        self.probes[Sample::Jump as usize].retain(|&r| duration(r) < fast);
        self.probes[Sample::Slow as usize].retain(|&r| duration(r) > fast && duration(r) < slow);
        while self.probes[Sample::Inc as usize].len() < SAMPLE_RATES {
            let Some(rate) = self.next_inc(durations[0]) else { break };
            self.probes[Sample::Inc as usize].push(rate);
        }
        while self.probes[Sample::Jump as usize].len() < SAMPLE_RATES {
            let Some(rate) = self.next_jump(fast, slow) else { break };
            self.probes[Sample::Jump as usize].push(rate);
        }
    }

    /// The slowest rate of the next group that is faster than the best one [minstrel_ht_next_inc_rate].
    fn next_inc(&mut self, fast: u64) -> Option<usize> {
        for _ in 0..self.groups {
            self.sample_group[0] = (self.sample_group[0] + 1) % self.groups;
            let group = self.sample_group[0];
            let faster = |r: &usize| self.rates[*r].group == group && self.rates[*r].duration < fast;
            if let Some(rate) = (0..self.rates.len()).find(faster)
                && !self.probes[Sample::Inc as usize].contains(&rate)
            {
                return Some(rate);
            }
        }
        None
    }

    /// A random faster rate of the next group; a slower one goes to the store of slow probes
    /// [minstrel_ht_next_jump_rate].
    fn next_jump(&mut self, fast: u64, slow: u64) -> Option<usize> {
        for _ in 0..self.groups {
            self.sample_group[1] = (self.sample_group[1] + 1) % self.groups;
            let group = self.sample_group[1];
            let has_room = self.probes[Sample::Slow as usize].len() < SAMPLE_RATES;
            let limit = if has_room { slow } else { fast };
            let candidates: Vec<usize> = (0..self.rates.len())
                .filter(|&r| self.rates[r].group == group && self.rates[r].duration < limit)
                .collect();
            if candidates.is_empty() {
                continue;
            }
            let rate = candidates[(self.random.next_u64() % candidates.len() as u64) as usize];
            if self.rates[rate].duration < fast {
                if !self.probes[Sample::Jump as usize].contains(&rate) {
                    return Some(rate);
                }
            } else if has_room
                && self.rates[rate].prob_avg <= ONE * 95 / 100
                && !self.probes[Sample::Slow as usize].contains(&rate)
            {
                self.probes[Sample::Slow as usize].push(rate);
            }
        }
        None
    }
}

impl Stats {
    /// [minstrel_ht_calc_rate_stats, minstrel_filter_avg_add]
    fn calculate(&mut self) {
        if self.attempts > 0 {
            let input = (i64::from(self.success) * ONE / i64::from(self.attempts)).max(1);
            let (out_1, out_2) = (self.prob_avg, self.prob_avg_1);
            (self.prob_avg_1, self.prob_avg) = if out_1 == 0 {
                (input, input)
            } else {
                let value = ((ONE - COEFF2 - COEFF3) * input + COEFF2 * out_1 + COEFF3 * out_2) >> SCALE;
                (out_1, if value < 0 { 1 } else { value.min(ONE) })
            };
            self.has_history = true;
        }
        (self.attempts, self.success) = (0, 0);
    }
}
