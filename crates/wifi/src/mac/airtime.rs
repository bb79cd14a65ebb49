//! Airtime fairness: the access point serves the stations by deficit round robin on the airtime that they use
//! [Linux net/mac80211/tx.c ieee80211_next_txq; net/mac80211/sta_info.c ieee80211_sta_register_airtime].
//!
//! ```text
//! next     the first station in the list. It stays first until its deficit is below zero; then it gets one weight (256
//!          µs) more and moves to the end [net/mac80211/tx.c __ieee80211_schedule_txq]
//! charge   the airtime of frames to the station, and of its own frames if it was active within 100 ms
//! ```
//! Not modeled: airtime queue limits (AQL); the MAC takes no frame before it can send it.

use dumbbell_units::{Dur, Time};
use std::collections::VecDeque;

/// Airtime per round, ns [Linux include/net/cfg80211.h IEEE80211_DEFAULT_AIRTIME_WEIGHT: 256 µs].
const WEIGHT: i64 = 256_000;
/// [Linux net/mac80211/sta_info.h AIRTIME_ACTIVE_DURATION: HZ/10]
const ACTIVE: Dur = Dur::millis(100);

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Airtime {
    list: VecDeque<usize>,
    listed: Vec<bool>,
    deficit: Vec<i64>,
    active: Vec<Option<Time>>,
}

impl Airtime {
    pub(crate) fn new(stations: usize) -> Airtime {
        Airtime {
            list: VecDeque::new(),
            listed: vec![false; stations],
            deficit: vec![WEIGHT; stations],
            active: vec![None; stations],
        }
    }

    /// The station has packets.
    pub(crate) fn wake(&mut self, station: usize) {
        if !self.listed[station] {
            self.listed[station] = true;
            self.list.push_back(station);
        }
    }

    /// The station to serve, of those with packets.
    pub(crate) fn next(&mut self, now: Time, has_packets: impl Fn(usize) -> bool) -> Option<usize> {
        loop {
            let station = *self.list.front()?;
            if !has_packets(station) {
                self.listed[station] = false;
                self.list.pop_front();
                continue;
            }
            if self.deficit[station] < 0 {
                self.deficit[station] += WEIGHT;
                self.list.rotate_left(1);
                continue;
            }
            self.active[station] = Some(now);
            return Some(station);
        }
    }

    /// Frames to the station took this airtime.
    pub(crate) fn charge(&mut self, station: usize, airtime: Dur) {
        self.deficit[station] -= airtime.0 as i64;
    }

    /// Frames of the station took this airtime.
    pub(crate) fn charge_received(&mut self, station: usize, airtime: Dur, now: Time) {
        if self.active[station].is_some_and(|at| now.since(at) <= ACTIVE) {
            self.charge(station, airtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_get_the_same_airtime() {
        // A turn of station 0 takes 3 ms, one of station 1 takes 0.3 ms: of 3.3 ms each has half after ten turns of
        // station 1 for one of station 0. 1000 turns: 91 and 909.
        let mut airtime = Airtime::new(2);
        airtime.wake(0);
        airtime.wake(1);
        let mut turns = [0; 2];
        for _ in 0..1000 {
            let station = airtime.next(Time::ZERO, |_| true).unwrap();
            turns[station] += 1;
            airtime.charge(station, Dur::micros(if station == 0 { 3_000 } else { 300 }));
        }
        assert!((90..=92).contains(&turns[0]), "{turns:?}");
    }

    #[test]
    fn a_station_without_packets_leaves_the_list() {
        let mut airtime = Airtime::new(2);
        airtime.wake(0);
        assert_eq!(airtime.next(Time::ZERO, |_| false), None);
        airtime.wake(1);
        assert_eq!(airtime.next(Time::ZERO, |_| true), Some(1));
        // Airtime of its own frames counts only while it is active.
        airtime.charge_received(0, Dur::millis(5), Time::ZERO);
        assert_eq!(airtime.deficit, [WEIGHT, WEIGHT]);
        airtime.charge_received(1, Dur::micros(256), Time(100_000_001));
        assert_eq!(airtime.deficit[1], WEIGHT);
        airtime.charge_received(1, Dur::micros(256), Time(100_000_000));
        assert_eq!(airtime.deficit[1], 0);
    }
}
