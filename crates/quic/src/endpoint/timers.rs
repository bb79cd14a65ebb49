//! Timers: loss detection and PTO, delayed ACKs, pacing, idle and closing time [RFC 9002 §6.2; RFC 9000 §10.1].

use super::{Endpoint, State};
use crate::packet::Space;
use dumbbell_units::Time;

impl Endpoint {
    /// Returns when [`Endpoint::on_timer`] must be called.
    #[must_use]
    pub fn next_timer(&self) -> Option<Time> {
        let at = match self.state {
            State::Idle | State::Closed => return None,
            State::Closing | State::Draining => self.closed_at,
            State::Handshaking | State::Established => {
                let acks = self.spaces.iter().filter_map(|s| s.received.timer);
                let others = [self.loss_timer, self.paced_until].into_iter().flatten();
                acks.chain(others).min().unwrap_or(Time::NEVER).min(self.idle_at())
            }
        };
        Some(at)
    }

    /// When the connection is closed because it is idle.
    fn idle_at(&self) -> Time {
        let least = (self.rtt.pto() + self.max_ack_delay()) * 3;
        self.idle_since + self.config.connection.idle_timeout.max(least)
    }

    /// Handles the timers that have expired.
    pub fn on_timer(&mut self, now: Time) {
        self.newly_delivered.clear();
        match self.state {
            State::Idle | State::Closed => return,
            State::Closing | State::Draining => {
                if self.closed_at <= now {
                    self.state = State::Closed;
                }
                return;
            }
            State::Handshaking | State::Established => {}
        }
        if self.idle_at() <= now {
            self.state = State::Closed;
            return;
        }
        self.spaces.iter_mut().for_each(|s| s.received.on_timer(now));
        if self.loss_timer.is_some_and(|at| at <= now) {
            self.on_loss_timer(now);
            self.set_loss_timer(now);
        }
    }

    /// The loss detection timer has expired [RFC 9002 appendix A.9 OnLossDetectionTimeout].
    fn on_loss_timer(&mut self, now: Time) {
        if let Some((_, space)) = self.earliest_loss_time() {
            self.detect_losses(space, now);
            return;
        }
        if let Some((_, space)) = self.earliest_pto(now) {
            self.probe(space);
        }
    }

    fn earliest_loss_time(&self) -> Option<(Time, Space)> {
        let times = Space::ALL.iter().filter_map(|s| self.spaces[*s as usize].loss_time.map(|at| (at, *s)));
        times.min_by_key(|(at, _)| *at)
    }

    /// When the next PTO expires, and in which space [RFC 9002 appendix A.8 GetPtoTimeAndSpace].
    fn earliest_pto(&self, now: Time) -> Option<(Time, Space)> {
        let backoff = 1u64 << self.pto_count.min(30);
        let pto = self.rtt.pto() * backoff;
        let mut earliest: Option<(Time, Space)> = None;
        for space in Space::ALL {
            let state = &self.spaces[space as usize];
            if state.eliciting_in_flight == 0 {
                continue;
            }
            let mut at = state.last_eliciting + pto;
            if space == Space::Application {
                if !self.handshake.confirmed {
                    break; // [RFC 9002 §6.2.1]
                }
                at += self.max_ack_delay() * backoff;
            }
            if earliest.is_none_or(|(time, _)| at < time) {
                earliest = Some((at, space));
            }
        }
        if earliest.is_some() || self.peer_validated() {
            return earliest;
        }
        // The client prevents a deadlock by the server's amplification limit [RFC 9002 §6.2.2.1].
        let has_keys = self.spaces[Space::Handshake as usize].can_send;
        let space = if has_keys { Space::Handshake } else { Space::Initial };
        Some((self.loss_timer.unwrap_or(now + pto), space))
    }

    /// Sets the loss detection timer [RFC 9002 appendix A.8 SetLossDetectionTimer].
    pub(super) fn set_loss_timer(&mut self, now: Time) {
        self.loss_timer = None;
        if let Some((at, _)) = self.earliest_loss_time() {
            self.loss_timer = Some(at);
        } else if self.amplification_credit() > 0 {
            self.loss_timer = self.earliest_pto(now).map(|(at, _)| at);
        }
    }

    /// Bytes that may be sent before the address is validated [RFC 9000 §8.1].
    pub(super) fn amplification_credit(&self) -> u64 {
        let a = &self.amplification;
        if self.is_client() || a.validated { u64::MAX } else { (3 * a.received).saturating_sub(a.sent) }
    }
}
