//! The round-trip samples of an ACK: for the timer, for the smallest RTT, and for congestion control.
//!
//! ```text
//! echo       timer: the echoed timestamp [RFC 7323 §4.1], or one timed segment a round trip [RFC 6298 §3];
//!            smallest RTT and congestion control: the newest segment that was sent once
//! segments   timer: the oldest segment that was sent once; congestion control: the newest. The echo is used if a
//!            retransmission makes the segments ambiguous   [Linux tcp_input.c tcp_clean_rtx_queue, tcp_ack_update_rtt]
//! ```

use super::Sender;
use crate::ack::AckSummary;
use dumbbell_units::{Dur, Time};

impl Sender {
    /// Takes the samples of an ACK for the timer and the smallest RTT.
    #[inline(always)]
    pub(super) fn take_rtt_samples(&mut self, ack: &AckSummary, echo: Option<Time>, now: Time) {
        if self.config.rto.rtt_from_segments {
            self.sample_from_segments(ack, now);
            return;
        }
        if let Some(sent) = ack.newest_sent {
            self.sample_min_rtt(now.since(sent), now);
            if let Some(fine_rtt) = &mut self.fine_rtt {
                fine_rtt.sample(sent, now, self.snd.una, self.snd.nxt);
            }
        }
        if ack.acked > 0 {
            if let Some(sent) = echo {
                self.sample_rtt(sent, now); // [RFC 7323 §4.1]
            } else if let Some((end, sent)) = self.timed.filter(|(end, _)| self.snd.una >= *end) {
                debug_assert!(end <= self.snd.una);
                self.timed = None;
                self.sample_rtt(sent, now);
            }
        }
    }

    /// Takes the samples from the times at which segments were sent [Linux tcp_input.c tcp_clean_rtx_queue,
    /// tcp_ack_update_rtt].
    #[inline(always)]
    fn sample_from_segments(&mut self, ack: &AckSummary, now: Time) {
        let acked = ack.acked_span.filter(|_| !ack.ambiguous);
        let sent = acked.or(ack.sacked_span).map(|(first, _)| first);
        if let Some(sent) = sent.or(ack.echo_age.map(|age| Time(now.0.saturating_sub(age.0)))) {
            self.sample_rtt(sent, now);
        }
        if let Some(rtt) = self.cc_rtt(ack, now) {
            self.sample_min_rtt(rtt, now);
        }
    }

    /// Returns the round-trip time for congestion control [Linux tcp_input.c tcp_clean_rtx_queue: ca_rtt_us].
    #[inline]
    pub(super) fn cc_rtt(&self, ack: &AckSummary, now: Time) -> Option<Dur> {
        if !self.config.rto.rtt_from_segments {
            return ack.newest_sent.map(|sent| now.since(sent));
        }
        let acked = ack.acked_span.filter(|_| !ack.ambiguous);
        let micros = |t: Time| t.0 / 1000;
        let rtt = |(_, last): (Time, Time)| Dur::micros(micros(now).saturating_sub(micros(last)));
        ack.sacked_span.or(acked).map(rtt).or(ack.echo_age)
    }
}
