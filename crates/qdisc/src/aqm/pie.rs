//! The PIE algorithm: a PI controller sets the probability with which arrivals are dropped or marked [RFC 8033].
//!
//! ```text
//! update     each tupdate:  drop_prob += (alpha (qdelay - target) + beta (qdelay - qdelay_old)) / scale     [§4.2]
//!            scale          2048, 512, 128, 32, 8, 2 for drop_prob below 1e-6, 1e-5, ... 1e-1; else 1       [§4.2]
//!            drop_prob >= 10 %     each step is at most 2 %                                                 [§5.5]
//!            qdelay > 250 ms       2 % more                              [Linux sch_pie.c pie_calculate_probability]
//!            qdelay and qdelay_old both zero: drop_prob x 0.98                                              [§4.2]
//! burst      no drops while burst_allowance > 0: 150 ms from the end of congestion, which is drop_prob = 0 and
//!            qdelay and qdelay_old below target / 2                                                         [§4.4]
//! arrival    accepted without a draw if qdelay_old < target / 2 and drop_prob < 20 %, or if at most two full packets
//!            are in the queue                                                                               [§4.1]
//! derandomization  accu_prob adds up drop_prob since the last drop: below 0.85 no drop, from 8.5 on always a drop,
//!            in between a drop with probability drop_prob                                                   [§5.4]
//! estimator  with dq_rate_estimator qdelay is the backlog divided by the departure rate, measured over 16 KiB; a new
//!            measurement has a weight of 1/4 in the average                                                 [§5.2]
//! ```
//! Where Linux is followed, it differs:
//!
//! ```text
//! timer      tupdate is rounded up to whole ticks of 4 ms, and the timer wheel adds one: 20 ms instead of 15
//!                                                         [Linux sch_pie.c pie_change, kernel/time/timer.c calc_index]
//! burst      the allowance shrinks at each departure by the time since the one before, and is renewed, with the
//!            estimator's state, by the update that finds no congestion
//!                                                                   [pie_process_dequeue, pie_calculate_probability]
//! arrival    accepted without a draw if qdelay < target / 2 and drop_prob < 20 %, or below two full packets with their
//!            Ethernet headers, of which the backlog has none: two packets of 1500 bytes are fewer than 2 x 1514
//!                                                       [pie_drop_early; include/net/pkt_sched.h psched_mtu]
//! marks      leave accu_prob as it is                                             [pie_drop_early, pie_qdisc_enqueue]
//! overload   drop_prob may exceed 1, and needs as long to fall again              [pie_calculate_probability]
//! no delay   drop_prob x 63/64, unless qdelay is zero while packets wait                   [pie_calculate_probability]
//! estimator  a new measurement of the rate has a weight of 1/8                                   [pie_process_dequeue]
//! ```
//! The names are those of RFC 8033 and of struct pie_vars [Linux include/net/pie.h pie_vars].

use dumbbell_units::{Dur, Time};

/// Time without drops at the beginning of congestion [RFC 8033 §4.4].
pub const MAX_BURST: Dur = Dur::millis(150);
/// Bytes of one measurement of the departure rate [RFC 8033 §5.2, DQ_THRESHOLD].
pub const DQ_THRESHOLD: u64 = 1 << 14;
/// Weight of a new measurement in the average: 16 KiB / 64 KiB [RFC 8033 §5.2].
const MEASUREMENT_WEIGHT: f64 = 0.25;
/// The same with Linux's rules [Linux sch_pie.c pie_process_dequeue].
const LINUX_WEIGHT: f64 = 0.125;
/// The time between two ticks of a kernel with 250 of them per second [Linux kernel/Kconfig.hz HZ_250].
const TICK: Dur = Dur::millis(4);
/// Above this delay the probability rises, independently of the controller
/// [Linux sch_pie.c pie_calculate_probability].
const HIGH_DELAY: Dur = Dur::millis(250);
/// Ethernet header, bytes: a part of a device's full packet [Linux include/net/pkt_sched.h psched_mtu].
const ETHERNET: u64 = 14;
/// The largest drop_prob with Linux's rules: its 64 bits have eight above the point [Linux include/net/pie.h MAX_PROB].
const LINUX_MAX_PROB: f64 = 256.0;
/// The additional rise, and the largest step at a probability of 10 % or more [RFC 8033 §5.5].
const MAX_STEP: f64 = 0.02;

/// The parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieParams {
    /// Target queue delay.
    pub target: Dur,
    /// Time between two updates of the probability.
    pub tupdate: Dur,
    /// Weight of the deviation from the target, 1/s.
    pub alpha: f64,
    /// Weight of the change of the delay, 1/s.
    pub beta: f64,
    /// True if the delay is estimated from the departure rate; otherwise it is the sojourn time of the last packet.
    pub dq_rate_estimator: bool,
    /// True if Linux is followed where it differs from RFC 8033.
    pub linux: bool,
    /// Bytes of framing in the length of each packet, in place of the Ethernet header [Linux include/net/pkt_sched.h
    /// psched_mtu].
    pub overhead: u32,
}

impl PieParams {
    /// Returns the time between two updates: Linux counts it in ticks, and a timer that is set at a tick expires one
    /// later than asked for [Linux sch_pie.c pie_change, kernel/time/timer.c calc_index].
    #[must_use]
    pub fn period(&self) -> Dur {
        if self.linux { TICK * (self.tupdate.0.div_ceil(TICK.0) + 1) } else { self.tupdate }
    }

    /// True if the backlog is too short for drops [RFC 8033 §4.1; Linux sch_pie.c pie_drop_early]; both in bytes.
    #[must_use]
    pub fn is_short(&self, backlog: u64, full_packet: u32) -> bool {
        if self.linux {
            return backlog < 2 * self.psched_mtu(full_packet);
        }
        backlog <= 2 * u64::from(full_packet)
    }

    /// Returns the length of a full packet of an Ethernet device [Linux include/net/pkt_sched.h psched_mtu].
    fn psched_mtu(&self, full_packet: u32) -> u64 {
        u64::from(full_packet.saturating_sub(self.overhead)) + ETHERNET
    }

    /// True if an ECN-capable packet is marked at this probability, and not dropped: below `ecn_prob` [RFC 8033 §5.1],
    /// or up to it [Linux sch_pie.c pie_qdisc_enqueue].
    #[must_use]
    pub fn marks(&self, drop_prob: f64, ecn_prob: f64) -> bool {
        drop_prob < ecn_prob || (self.linux && drop_prob == ecn_prob)
    }
}

/// The state of PIE for one queue.
#[derive(Clone, Debug)]
pub struct Pie {
    drop_prob: f64,
    qdelay: Dur,
    /// Delay at the last update.
    qdelay_old: Dur,
    burst_allowance: Dur,
    /// Sum of the probabilities since the last drop.
    accu_prob: f64,
    /// Start of the running measurement (dq_tstamp) and the bytes dequeued since (dq_count).
    measurement: Option<(Time, u64)>,
    /// Average time in which [`DQ_THRESHOLD`] bytes leave, s.
    avg_dq_time: Option<f64>,
    /// Time of the last departure, since the last renewal (dq_tstamp without the estimator).
    departed: Option<Time>,
}

impl Default for Pie {
    /// The initial state, that of an empty queue.
    fn default() -> Pie {
        Pie {
            drop_prob: 0.0,
            qdelay: Dur::ZERO,
            qdelay_old: Dur::ZERO,
            burst_allowance: MAX_BURST,
            accu_prob: 0.0,
            measurement: None,
            avg_dq_time: None,
            departed: None,
        }
    }
}

impl Pie {
    /// Returns the drop probability.
    #[must_use]
    pub fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// Returns the current estimate of the queue delay.
    #[must_use]
    pub fn qdelay(&self) -> Dur {
        self.qdelay
    }

    /// Returns the remaining time without drops.
    #[must_use]
    pub fn burst_allowance(&self) -> Dur {
        self.burst_allowance
    }

    /// Returns true if this arrival is to be dropped or marked [RFC 8033 §4.1; Linux sch_pie.c pie_drop_early].
    /// `short_queue`: [`PieParams::is_short`]. `size_factor`: scales the probability in byte mode, else 1. `draw`
    /// returns a number uniform in 0..1.
    pub fn drop_early(
        &mut self,
        params: &PieParams,
        short_queue: bool,
        size_factor: f64,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        let half_target = params.target / 2;
        if !params.linux && self.is_without_congestion(params) {
            self.burst_allowance = MAX_BURST;
        }
        let delay = if params.linux { self.qdelay } else { self.qdelay_old };
        if self.burst_allowance > Dur::ZERO || short_queue || (delay < half_target && self.drop_prob < 0.2) {
            return false;
        }
        let local_prob = self.drop_prob * size_factor;
        self.accu_prob = if local_prob == 0.0 { 0.0 } else { self.accu_prob + local_prob };
        let (drop, certain) = match self.accu_prob {
            a if a < 0.85 => (false, false),
            a if a >= 8.5 => (true, true),
            _ => (draw() < local_prob, false),
        };
        if drop && !(certain && params.linux) {
            self.accu_prob = 0.0;
        }
        drop
    }

    fn is_without_congestion(&self, params: &PieParams) -> bool {
        let half_target = params.target / 2;
        self.drop_prob == 0.0 && self.qdelay < half_target && self.qdelay_old < half_target
    }

    /// An arrival was dropped, early or because the queue was full. This signals congestion, so accu_prob restarts
    /// [Linux sch_pie.c pie_qdisc_enqueue].
    pub fn on_drop(&mut self) {
        self.accu_prob = 0.0;
    }

    /// A packet leaves after `sojourn`, with `backlog` bytes left in the queue [Linux sch_pie.c pie_process_dequeue].
    pub fn on_dequeue(&mut self, params: &PieParams, now: Time, sojourn: Dur, bytes: u32, backlog: u64) {
        if !params.dq_rate_estimator {
            // An empty queue has no delay, whatever the sojourn time of its last packet [Linux sch_pie.c
            // pie_process_dequeue]. RFC 8033 leaves this open.
            self.qdelay = if backlog == 0 { Dur::ZERO } else { sojourn };
            let since = self.departed.replace(now).map_or(Dur::ZERO, |last| now.since(last));
            self.spend_allowance(params, since);
            return;
        }
        if let Some((dq_tstamp, dq_count)) = &mut self.measurement {
            *dq_count += u64::from(bytes);
            if *dq_count >= DQ_THRESHOLD {
                let (since, count) = (now.since(*dq_tstamp), *dq_count);
                self.measurement = None;
                self.average(params, since.as_secs() * DQ_THRESHOLD as f64 / count as f64);
                self.spend_allowance(params, since);
            }
        }
        if self.measurement.is_none() && backlog >= DQ_THRESHOLD {
            self.measurement = Some((now, 0));
        }
    }

    /// Includes a measurement: the time in which [`DQ_THRESHOLD`] bytes left, s. The average is of the times [RFC 8033
    /// §5.2] or of the rates [Linux sch_pie.c pie_process_dequeue].
    fn average(&mut self, params: &PieParams, sample: f64) {
        let average = self.avg_dq_time.unwrap_or(sample);
        self.avg_dq_time = Some(if params.linux {
            1.0 / (1.0 / average + LINUX_WEIGHT * (1.0 / sample - 1.0 / average))
        } else {
            average + MEASUREMENT_WEIGHT * (sample - average)
        });
    }

    /// Linux: the burst allowance shrinks by a time between departures [Linux sch_pie.c pie_process_dequeue].
    fn spend_allowance(&mut self, params: &PieParams, since: Dur) {
        if params.linux {
            self.burst_allowance = self.burst_allowance.saturating_sub(since);
        }
    }

    /// Updates the probability [RFC 8033 §4.2; Linux sch_pie.c pie_calculate_probability]; `backlog` is in bytes.
    /// Returns false once further updates of an idle queue would change nothing.
    pub fn calculate_probability(&mut self, params: &PieParams, backlog: u64) -> bool {
        if params.dq_rate_estimator {
            let seconds = backlog as f64 / DQ_THRESHOLD as f64 * self.avg_dq_time.unwrap_or(0.0);
            self.qdelay = Dur::from_secs_f64(seconds);
        }
        let (qdelay, qdelay_old) = (self.qdelay.as_secs(), self.qdelay_old.as_secs());
        let p = params.alpha * (qdelay - params.target.as_secs()) + params.beta * (qdelay - qdelay_old);
        let mut delta = p / scale(self.drop_prob);
        if self.drop_prob >= 0.1 {
            delta = delta.min(MAX_STEP);
        }
        // DIVERGES [RFC 8033 §4.2]: the RFC has no such term. Without it the response to an overload takes seconds
        // [Linux sch_pie.c pie_calculate_probability].
        if self.qdelay > HIGH_DELAY {
            delta += MAX_STEP;
        }
        self.drop_prob += delta;
        let no_delay = self.qdelay == Dur::ZERO && self.qdelay_old == Dur::ZERO;
        if no_delay && !params.linux {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, if params.linux { LINUX_MAX_PROB } else { 1.0 });
        if params.linux {
            if no_delay && backlog == 0 {
                self.drop_prob -= self.drop_prob / 64.0;
            }
            let measured = !params.dq_rate_estimator || self.avg_dq_time.is_some();
            if measured && self.is_without_congestion(params) {
                self.renew();
            }
        } else {
            self.burst_allowance = self.burst_allowance.saturating_sub(params.tupdate);
        }
        self.qdelay_old = self.qdelay;
        self.drop_prob > 0.0 || self.qdelay > Dur::ZERO || (self.burst_allowance > Dur::ZERO && !params.linux)
    }

    /// Congestion has ended: the next one begins with the full allowance [Linux include/net/pie.h pie_vars_init].
    fn renew(&mut self) {
        let Pie { drop_prob, qdelay, qdelay_old, .. } = *self;
        *self = Pie { drop_prob, qdelay, qdelay_old, ..Pie::default() };
    }
}

/// Returns the divisor of a step, which adapts the step to the size of the probability [RFC 8033 §4.2].
fn scale(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 1e-6 => 2048.0,
        p if p < 1e-5 => 512.0,
        p if p < 1e-4 => 128.0,
        p if p < 1e-3 => 32.0,
        p if p < 1e-2 => 8.0,
        p if p < 1e-1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Dur = Dur::millis(1);
    const PARAMS: PieParams = PieParams {
        target: Dur::millis(15),
        tupdate: Dur::millis(15),
        alpha: 0.125,
        beta: 1.25,
        dq_rate_estimator: false,
        linux: false,
        overhead: 0,
    };

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 + 1e-12 * b.abs(), "{a} {b}");
    }

    /// Updates after a packet has left with a sojourn time of `ms` (0: the queue is empty).
    fn update(pie: &mut Pie, ms: u64) -> f64 {
        pie.on_dequeue(&PARAMS, Time::ZERO, MS * ms, 1000, ms);
        pie.calculate_probability(&PARAMS, 0);
        pie.drop_prob()
    }

    fn at(drop_prob: f64, old_ms: u64) -> Pie {
        Pie { drop_prob, qdelay_old: MS * old_ms, burst_allowance: Dur::ZERO, ..Pie::default() }
    }

    #[test]
    fn steps_are_scaled_to_the_size_of_the_probability() {
        // Delay 35 ms, 25 ms before, target 15 ms: 0.125 x 0.020 + 1.25 x 0.010 = 0.015.
        for (p, scale) in [
            (0.0, 2048.0),
            (9.9e-7, 2048.0),
            (1e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (1e-2, 2.0),
            (0.099, 2.0),
            (0.1, 1.0),
            (0.5, 1.0),
        ] {
            near(update(&mut at(p, 25), 35), p + 0.015 / scale);
        }
        // Falling: delay 5 ms, 25 ms before: 0.125 x -0.010 - 1.25 x 0.020 = -0.02625.
        near(update(&mut at(0.5, 25), 5), 0.5 - 0.02625);
        near(update(&mut at(0.02, 25), 5), 0.02 - 0.02625 / 2.0);
        // Never below 0.
        near(update(&mut at(0.011, 25), 5), 0.0);
    }

    #[test]
    fn steps_are_capped_from_ten_percent_on_and_high_delays_add_two_percent() {
        // Delay 115 ms, 15 ms before: 0.125 x 0.1 + 1.25 x 0.1 = 0.1375.
        near(update(&mut at(0.2, 15), 115), 0.22);
        near(update(&mut at(0.05, 15), 115), 0.05 + 0.1375 / 2.0);
        // 260 ms, 260 ms before: 0.125 x 0.245 = 0.030625, capped to 0.02, plus 0.02.
        near(update(&mut at(0.2, 260), 260), 0.24);
        // At 250 ms nothing is added: 0.125 x 0.235 = 0.029375, capped.
        near(update(&mut at(0.2, 250), 250), 0.22);
        near(update(&mut at(0.99, 260), 260), 1.0);
    }

    #[test]
    fn without_delay_the_probability_decays() {
        // 0.125 x -0.015 = -0.001875, then x 0.98.
        near(update(&mut at(0.3, 0), 0), (0.3 - 0.001875) * 0.98);
        // Not at the first delay of zero: 0.125 x -0.015 + 1.25 x -0.001 = -0.003125.
        near(update(&mut at(0.3, 1), 0), 0.3 - 0.003125);
    }

    #[test]
    fn the_burst_allowance_runs_out_and_is_renewed() {
        let mut pie = Pie { drop_prob: 1.0, ..at(0.0, 100) };
        pie.burst_allowance = MAX_BURST;
        // 150 ms / 15 ms = 10 updates.
        for _ in 0..10 {
            assert!(!pie.drop_early(&PARAMS, false, 1.0, || 0.0));
            update(&mut pie, 100);
        }
        pie.accu_prob = 0.0;
        assert!(pie.drop_early(&PARAMS, false, 1.0, || 0.0)); // 0 + 1 is above 0.85
        // Congestion has ended once drop_prob is 0 and both delays are below 7.5 ms.
        let mut pie = at(0.0, 7);
        pie.qdelay = MS * 8;
        pie.drop_early(&PARAMS, false, 1.0, || 0.0);
        assert_eq!(pie.burst_allowance(), Dur::ZERO);
        pie.qdelay = MS * 7;
        pie.drop_early(&PARAMS, false, 1.0, || 0.0);
        assert_eq!(pie.burst_allowance(), MAX_BURST);
    }

    #[test]
    fn short_queues_and_short_delays_have_no_drops() {
        let drops = |p, old, short| at(p, old).drop_early(&PARAMS, short, 1.0, || 0.0);
        assert!(drops(0.9, 15, false));
        assert!(!drops(0.9, 15, true));
        // Below 7.5 ms no drops below 20 %.
        assert!(!drops(0.19, 7, false));
        assert!(drops(0.9, 7, false));
    }

    const LINUX: PieParams = PieParams { linux: true, ..PARAMS };

    #[test]
    fn linux_spends_the_burst_allowance_at_departures() {
        let mut pie = Pie::default();
        let at = |ms: u64| Time::ZERO + MS * ms;
        // The first departure has none before it; 149 ms later one is left.
        for (ms, left) in [(1000, 150), (1100, 50), (1149, 1), (1160, 0)] {
            pie.on_dequeue(&LINUX, at(ms), MS * 100, 1000, 5000);
            assert_eq!(pie.burst_allowance(), MS * left, "at {ms}");
            pie.calculate_probability(&LINUX, 5000);
        }
        // An arrival doesn't renew it; the update does that finds two delays below half of the target and no
        // probability.
        pie.drop_prob = 0.0;
        for (ms, left) in [(7, 0), (7, 150)] {
            pie.drop_early(&LINUX, false, 1.0, || 0.0);
            pie.on_dequeue(&LINUX, at(1161), MS * ms, 1000, 5000);
            pie.calculate_probability(&LINUX, 5000);
            assert_eq!(pie.burst_allowance(), MS * left);
        }
    }

    #[test]
    fn linux_looks_at_the_present_delay_and_at_less_than_two_packets() {
        let mut pie = Pie { drop_prob: 0.19, qdelay: MS * 8, ..at(0.0, 7) };
        pie.accu_prob = 0.85;
        assert!(pie.clone().drop_early(&LINUX, false, 1.0, || 0.0));
        assert!(!pie.clone().drop_early(&PARAMS, false, 1.0, || 0.0));
        pie.qdelay = MS * 7;
        assert!(!pie.drop_early(&LINUX, false, 1.0, || 0.0));
        // 2 x (1500 + 14), also with 38 bytes of framing in each packet: then two of 1538 bytes are enough.
        assert_eq!([3000, 3027, 3028].map(|bytes| LINUX.is_short(bytes, 1500)), [true, true, false]);
        let framed = PieParams { overhead: 38, ..LINUX };
        assert_eq!([3027, 3028, 3076].map(|bytes| framed.is_short(bytes, 1538)), [true, false, false]);
        assert_eq!([2999, 3000, 3001].map(|bytes| PARAMS.is_short(bytes, 1500)), [true, true, false]);
    }

    #[test]
    fn linux_lets_the_probability_decay_by_a_64th_unless_packets_wait() {
        let decayed = |backlog| {
            let mut pie = at(0.3, 0);
            pie.calculate_probability(&LINUX, backlog);
            pie.drop_prob()
        };
        near(decayed(0), (0.3 - 0.001875) * 63.0 / 64.0);
        near(decayed(1500), 0.3 - 0.001875);
        assert_eq!((LINUX.period(), PARAMS.period()), (MS * 20, MS * 15));
    }

    #[test]
    fn linux_lets_the_probability_exceed_one() {
        // 300 ms, 300 ms before: each update adds 2 %, and 2 % for the high delay. From 0.99 on: 1.03, 1.07.
        let mut pie = Pie { qdelay: MS * 300, ..at(0.99, 300) };
        for p in [1.03, 1.07] {
            pie.calculate_probability(&LINUX, 100_000);
            near(pie.drop_prob(), p);
        }
    }

    #[test]
    fn linux_marks_up_to_the_threshold_and_keeps_the_sum_after_a_certain_mark() {
        assert_eq!([0.099, 0.1, 0.101].map(|p| LINUX.marks(p, 0.1)), [true, true, false]);
        assert_eq!([0.099, 0.1, 0.101].map(|p| PARAMS.marks(p, 0.1)), [true, false, false]);
        // 0.0625 each: the sum is 8.5 at the 136th arrival. If the packet is marked, the next arrivals are, too.
        let mut pie = Pie { qdelay: MS * 15, ..at(0.0625, 15) };
        let early: Vec<u32> = (1..=138).filter(|_| pie.drop_early(&LINUX, false, 1.0, || 0.999)).collect();
        assert_eq!(early, [136, 137, 138]);
        pie.on_drop();
        assert!(!pie.drop_early(&LINUX, false, 1.0, || 0.999));
    }

    #[test]
    fn linux_averages_rates() {
        let params = PieParams { dq_rate_estimator: true, ..LINUX };
        let mut pie = Pie::default();
        // 20 ms for 16 KiB, then 60 ms: 1/20 + (1/60 - 1/20) / 8 = 11/240 per ms.
        pie.average(&params, 0.020);
        pie.average(&params, 0.060);
        near(pie.avg_dq_time.unwrap_or(0.0), 0.240 / 11.0);
    }

    #[test]
    fn drops_are_derandomized() {
        // p = 0.25: accu_prob is 0.25, 0.5, 0.75, 1.0: at the earliest the fourth arrival is dropped, and so on after
        // each drop.
        let numbers = |p: f64, size_factor: f64, draw: f64, arrivals: u32| {
            let mut pie = at(p, 15);
            (1..=arrivals).filter(|_| pie.drop_early(&PARAMS, false, size_factor, || draw)).collect::<Vec<u32>>()
        };
        assert_eq!(numbers(0.25, 1.0, 0.0, 12), [4, 8, 12]);
        // If no draw decides for a drop, accu_prob does: 8.5 / 0.25 = 34.
        assert_eq!(numbers(0.25, 1.0, 0.999, 70), [34, 68]);
        // Half-size packets in byte mode: 0.125 each; the seventh exceeds 0.85.
        assert_eq!(numbers(0.25, 0.5, 0.0, 14), [7, 14]);
        // A tail drop restarts the sum.
        let mut pie = at(0.25, 15);
        (0..3).for_each(|_| assert!(!pie.drop_early(&PARAMS, false, 1.0, || 0.0)));
        pie.on_drop();
        assert!(!pie.drop_early(&PARAMS, false, 1.0, || 0.0));
    }

    #[test]
    fn the_departure_rate_is_measured_over_16_kib() {
        let params = PieParams { dq_rate_estimator: true, ..PARAMS };
        let mut pie = Pie::default();
        // With a backlog below 16 384 bytes nothing is measured, and the delay is zero.
        let depart = |pie: &mut Pie, ms: u64, backlog: u64| {
            pie.on_dequeue(&params, Time::ZERO + MS * ms, Dur::ZERO, 2048, backlog);
        };
        depart(&mut pie, 0, 16_383);
        pie.calculate_probability(&params, 16_383);
        assert_eq!(pie.qdelay(), Dur::ZERO);
        // From 10 ms on, 8 packets of 2048 bytes in 20 ms: 16 384 bytes take 20 ms; a backlog of 32 768 takes 40 ms.
        depart(&mut pie, 10, 30_000);
        (0..8).for_each(|n| depart(&mut pie, 16 + 2 * n, 30_000));
        pie.calculate_probability(&params, 32_768);
        assert_eq!(pie.qdelay(), MS * 40);
        // The next measurement begins at 30 ms; 8 packets until 90 ms: 60 ms. 20 + (60 - 20) / 4 = 30.
        (1..=8).for_each(|n| depart(&mut pie, 50 + 5 * n, 1000));
        pie.calculate_probability(&params, 16_384);
        assert_eq!(pie.qdelay(), MS * 30);
    }
}
