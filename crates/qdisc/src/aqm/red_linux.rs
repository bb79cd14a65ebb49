//! The parts of RED in which Linux differs from Floyd and Jacobson [Linux include/net/red.h, sch_red.c].
//!
//! ```text
//! idle        from the moment in which the link asks an empty queue for a packet (red_dequeue), so during the
//!             transmission of the last packet too. The next arrival ends it, and the average decays instead of taking
//!             a sample
//! decay       by a table of halvings over steps of idle time; below half of a halving the average falls linearly, to
//!             zero after one step but never by more than a half (red_calc_qavg_from_idle_time). FJ: (1 - w_q)^m
//! distance    U, uniform in 0..1, is drawn once for each distance; the arrival with count p_b >= U is dropped or
//!             marked (red_mark_probability). The first arrival above min_th is never dropped or marked (red_action)
//! max_th      an average from max_th on drops every arrival (RED_HARD_MARK); gentle doesn't exist
//! full        checked after the decision, by the inner FIFO, and the count goes on (red_enqueue)
//! ```
//! An arrival at an idle link gets a decision as any other.

use dumbbell_units::{Dur, Time};

/// Most halvings of the table, and its entries [Linux pkt_sched.h; iproute2 tc/tc_red.c tc_red_eval_idle_damping].
const MOST_HALVINGS: f64 = 31.0;
const ENTRIES: usize = 256;

/// The decay of the average over idle time.
#[derive(Clone, Debug, PartialEq)]
pub struct IdleTable {
    /// log2 of the µs of one step (`Scell_log`).
    pub cell_log: u8,
    /// Halvings after so many steps (`Stab`).
    pub halvings: [u8; ENTRIES],
}

impl IdleTable {
    /// Returns the table for the weight `w_q` and the transmission time of a mean packet. Computed as `tc` does, with
    /// the natural logarithm.
    #[must_use]
    pub fn new(w_q: f64, packet: Dur) -> IdleTable {
        let per_us = -libm::log1p(-w_q) / (packet.0.max(1) as f64 * 1e-3);
        let log = (0..31).find(|l| MOST_HALVINGS / per_us / f64::from(1u32 << l) < 512.0).unwrap_or(31);
        let mut halvings = [0; ENTRIES];
        for (step, halvings) in halvings.iter_mut().enumerate() {
            *halvings = (step as f64 * f64::from(1u32 << log) * per_us).min(MOST_HALVINGS).round() as u8;
        }
        halvings[ENTRIES - 1] = MOST_HALVINGS as u8;
        IdleTable { cell_log: log as u8, halvings }
    }

    /// Returns the average after idle time [Linux include/net/red.h red_calc_qavg_from_idle_time].
    #[must_use]
    pub fn decayed(&self, avg: f64, idle: Dur) -> f64 {
        let last = (ENTRIES - 1) as u64;
        let micros = (idle.0 / 1000).min(last << self.cell_log); // Scell_max
        let halvings = self.halvings[(micros >> self.cell_log) as usize];
        if halvings > 0 {
            return avg * libm::exp2(-f64::from(halvings));
        }
        let lost = avg * micros as f64 / (1u64 << self.cell_log) as f64;
        avg - lost.min(avg / 2.0)
    }
}

/// The state that Linux has beside the average; names of `struct red_vars` [Linux include/net/red.h red_vars].
#[derive(Clone, Debug)]
pub struct LinuxRed {
    table: IdleTable,
    /// Start of the idle time; None: not idle.
    qidlestart: Option<Time>,
    /// Arrivals since the last drop or mark; -1: the average was below min_th or above max_th.
    qcount: i64,
    /// The random number of the current distance, in 0..1.
    q_r: f64,
}

impl LinuxRed {
    /// Returns the state of an empty queue, which is idle [Linux sch_red.c red_change].
    #[must_use]
    pub fn new(table: IdleTable) -> LinuxRed {
        LinuxRed { table, qidlestart: Some(Time::ZERO), qcount: -1, q_r: 0.0 }
    }

    /// The link has asked an empty queue for a packet [Linux sch_red.c red_dequeue].
    pub fn asked_while_empty(&mut self, now: Time) {
        self.qidlestart.get_or_insert(now);
    }

    /// An arrival ends the idle time. Returns the decayed average; None if the queue was not idle, so that the average
    /// takes a sample [Linux include/net/red.h red_calc_qavg].
    pub fn end_idle(&mut self, avg: f64, now: Time) -> Option<f64> {
        self.qidlestart.take().map(|since| self.table.decayed(avg, now.since(since)))
    }

    /// The average is below min_th, or from max_th on [Linux include/net/red.h red_action].
    pub fn outside_thresholds(&mut self) {
        self.qcount = -1;
    }

    /// Decides on an arrival while the average is between the thresholds: true if it is dropped or marked. `draw`
    /// returns a number uniform in 0..1 [Linux include/net/red.h red_action, red_mark_probability].
    pub fn selects(&mut self, p_b: f64, draw: impl FnOnce() -> f64) -> bool {
        self.qcount += 1;
        let selected = self.qcount > 0 && self.qcount as f64 * p_b >= self.q_r;
        if selected || self.qcount == 0 {
            self.qcount = 0;
            self.q_r = draw();
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_equals_values_computed_by_hand() {
        // 1000 bytes at 8 Mbit/s take 1000 µs; -ln(1 - 1/512) = 0.0019550; per µs 1.9550e-6. 31 / 1.9550e-6 =
        // 15,856,700 µs, which is below 512 steps of 2^15 = 32,768 µs (16,777,216) and not of 2^14.
        let table = IdleTable::new(1.0 / 512.0, Dur::millis(1));
        assert_eq!(table.cell_log, 15);
        // Step 100: 3,276,800 µs x 1.9550e-6 = 6.406.
        assert_eq!((table.halvings[0], table.halvings[100], table.halvings[255]), (0, 6, 31));
    }

    #[test]
    fn the_average_falls_linearly_at_first() {
        let table = IdleTable::new(1.0 / 512.0, Dur::millis(1));
        // 8,192 µs are a quarter of a step of 32,768 µs.
        assert_eq!(table.decayed(8.0, Dur::micros(8192)), 6.0);
        // Never by more than a half before the table has a halving: 1/2 at 7.8 steps (0.0641 x 7.8 = 0.5).
        assert_eq!(table.decayed(8.0, Dur::micros(32_768 * 7)), 4.0);
        assert_eq!(table.decayed(8.0, Dur::micros(32_768 * 100)), 8.0 / 64.0);
        // After the last entry: 31 halvings.
        assert_eq!(table.decayed(8.0, Dur::secs(100_000)), 8.0 / 2f64.powi(31));
    }

    #[test]
    fn the_distance_is_drawn_once() {
        // p_b = 1/4 and U = 0.6: count 1 and 2 reach 0.25 and 0.5, count 3 reaches 0.75. The first arrival only draws.
        let mut red = LinuxRed::new(IdleTable::new(0.5, Dur::millis(1)));
        let fates: Vec<bool> = (0..7).map(|_| red.selects(0.25, || 0.6)).collect();
        assert_eq!(fates, [false, false, false, true, false, false, true]);
        // Back between the thresholds, the first arrival is accepted again.
        red.outside_thresholds();
        assert!(!red.selects(1.0, || 0.0));
        assert!(red.selects(1.0, || 0.0));
    }

    #[test]
    fn the_first_arrival_ends_the_idle_time() {
        let mut red = LinuxRed::new(IdleTable::new(1.0 / 512.0, Dur::millis(1)));
        red.end_idle(0.0, Time::ZERO);
        assert_eq!(red.end_idle(8.0, Time::ZERO), None);
        red.asked_while_empty(Time::ZERO + Dur::millis(10));
        red.asked_while_empty(Time::ZERO + Dur::millis(15)); // the idle time goes on
        assert_eq!(red.end_idle(8.0, Time::ZERO + Dur::micros(18_192)), Some(6.0));
        assert_eq!(red.end_idle(6.0, Time::ZERO + Dur::millis(20)), None);
    }
}
