//! Makes the summary of an ACK: the data that it newly reports. The same pass updates the scoreboard and the delivery
//! rate [Linux tcp_input.c tcp_clean_rtx_queue, tcp_sacktag_write_queue].

use super::Sender;
use crate::ack::{AckSummary, IncomingAck};
use crate::delivery_rate::{DeliveryRate, TxState};
use crate::ecn::{Delivered, EcnMode};
use crate::recovery::Rack;
use crate::scoreboard::{DeliveredSegment, SegmentFate, SentSegment};
use crate::timestamp::sent_at;
use dumbbell_units::{Dur, Time};

/// Adds the segments that an ACK newly reports, one by one.
struct Collector<'a> {
    delivered: &'a mut Vec<DeliveredSegment>,
    delivery_rate: &'a mut DeliveryRate,
    /// True if more is needed than the time at which the newest segment was sent.
    detailed: bool,
    /// Bytes that a segment counts as; 0: as its payload.
    unit: u64,
    rack: Option<&'a mut Rack>,
    /// snd_max when the last recovery or timeout started.
    recover: u64,
    /// True if the echoed timestamp is older than a given time of sending.
    echo_precedes: &'a dyn Fn(Time) -> bool,
    min_rtt: Option<Dur>,
    now: Time,
    summary: &'a mut AckSummary,
}

impl Collector<'_> {
    #[inline]
    fn add(&mut self, s: &SentSegment, tx: Option<TxState>, fate: SegmentFate) {
        self.delivered.push(s.delivered(fate));
        if fate == SegmentFate::AcknowledgedAfterSack {
            self.summary.ambiguous |= s.transmissions > 1;
            return;
        }
        if let Some(tx) = tx {
            self.delivery_rate.on_delivered(tx, s.xmit_ts, s.end, s.counted(self.unit), self.now);
        } else {
            self.delivery_rate.count(s.counted(self.unit).into());
        }
        let sent_once = s.transmissions == 1;
        if sent_once {
            self.summary.newest_sent = self.summary.newest_sent.max(Some(s.xmit_ts));
        }
        if self.detailed {
            self.add_details(s, fate, sent_once);
        }
    }

    fn add_details(&mut self, s: &SentSegment, fate: SegmentFate, sent_once: bool) {
        if sent_once {
            self.summary.original_delivered |= s.end <= self.recover;
            let span = match fate {
                SegmentFate::Sacked => &mut self.summary.sacked_span,
                _ => &mut self.summary.acked_span,
            };
            *span = Some((span.map_or(s.xmit_ts, |(first, _)| first), s.xmit_ts));
        } else {
            self.summary.ambiguous |= fate == SegmentFate::Acknowledged;
        }
        let Some(rack) = &mut self.rack else { return };
        // An ACK too soon after a retransmission is one of the original [RFC 8985 §6.2 step 2].
        // DIVERGES [RFC 8985 §6.2 step 2]: the echo in a SACK is that of an earlier segment [RFC 7323 §4.3], so that it
        // isn't used for SACKed segments.
        let rtt = self.now.since(s.xmit_ts);
        let by_echo = fate == SegmentFate::Acknowledged && (self.echo_precedes)(s.xmit_ts);
        let of_original = !sent_once && (by_echo || self.min_rtt.is_some_and(|min_rtt| rtt < min_rtt));
        if !of_original {
            rack.update(s, rtt);
        }
        rack.detect_reordering(s, sent_once);
    }
}

impl Sender {
    /// Updates scoreboard, delivery rate and snd_una with an ACK, and takes round-trip samples; returns the summary.
    pub(super) fn process_ack(&mut self, ack: &IncomingAck<'_>, same_window: bool, now: Time) -> AckSummary {
        let mut summary = AckSummary::default();
        let delivered_before = self.delivery_rate.delivered();
        self.delivery_rate.begin_ack();
        self.recovery.rack.begin_ack();
        let tick = self.config.connection.timestamp_clock.0;
        let echo_precedes = |sent: Time| ack.echo.is_some_and(|echo| echo.0 / tick < sent.0 / tick);
        let uses_rack = self.config.uses_rack();
        let mut collector = Collector {
            delivered: &mut self.delivered,
            delivery_rate: &mut self.delivery_rate,
            detailed: uses_rack || self.config.rto.rtt_from_segments,
            unit: self.scoreboard.unit(),
            rack: uses_rack.then_some(&mut self.recovery.rack),
            recover: self.recovery.recover.unwrap_or(0),
            echo_precedes: &echo_precedes,
            min_rtt: self.min_rtt.get(),
            now,
            summary: &mut summary,
        };
        let mut sacked = false;
        for &(start, end) in ack.sack {
            sacked |= start >= self.snd.una
                && end <= self.snd.max
                && self.scoreboard.sack(start, end, |s, tx, fate| collector.add(s, tx, fate));
        }
        let acked = ack.ack - self.snd.una;
        if acked > 0 {
            self.scoreboard.acknowledge(ack.ack, |s, tx, fate| collector.add(s, tx, fate));
            self.snd.una = ack.ack;
            self.snd.nxt = self.snd.nxt.max(self.snd.una);
            self.timer.backoffs = 0;
        }
        self.buffer.note_ack();
        summary.acked = acked;
        summary.sacked = sacked;
        summary.delivered = self.delivery_rate.delivered() - delivered_before;
        // Before the first ACK of data the last window is that of the SYN-ACK, which isn't scaled [RFC 7323 §2.2].
        let comparable = self.snd.una > 1 || self.config.uses_rack();
        summary.duplicate =
            acked == 0 && !sacked && ack.may_be_duplicate && (same_window || !comparable) && ack.dsack.is_none();
        if self.ecn.mode != EcnMode::Off {
            let delivered = self.newly_delivered(summary.delivered);
            summary.marks = self.ecn.read(ack.flags, ack.accecn, &delivered, self.mss());
        }
        let echo = ack.echo.filter(|_| acked > 0);
        summary.echo_age = echo.map(|at| now.since(at).max(self.config.connection.timestamp_clock));
        self.take_rtt_samples(&summary, ack.echo, now);
        summary
    }

    /// The data that the ACK newly reports; `bytes`: as they count in the window.
    fn newly_delivered(&self, bytes: u64) -> Delivered {
        let new = self.delivered.iter().filter(|s| s.fate != SegmentFate::AcknowledgedAfterSack);
        let (segments, payload) = new.fold((0, 0), |(n, sum), s| (n + 1, sum + u64::from(s.payload)));
        Delivered { bytes, payload, segments, unit: self.scoreboard.unit() }
    }

    /// The same for an acknowledgment without SACK blocks of everything below `ack`, while the scoreboard is intact:
    /// each segment was sent once, in the order of its offset.
    #[inline(always)]
    pub(super) fn process_expected_ack(&mut self, ack: u64, echo: Option<u32>, now: Time) -> AckSummary {
        let delivered_before = self.delivery_rate.delivered();
        self.delivery_rate.begin_ack();
        let mut sent: Option<(Time, Time)> = None;
        let mut end = 0;
        let (delivered, rate) = (&mut self.delivered, &mut self.delivery_rate);
        let unit = self.scoreboard.unit();
        let acked = ack - self.snd.una;
        let mut uncounted = 0;
        let segments = self.scoreboard.acknowledge_intact(ack, acked, |s, tx| {
            delivered.push(s.delivered(SegmentFate::Acknowledged));
            if let Some(tx) = tx {
                rate.on_delivered(tx, s.xmit_ts, s.end, s.counted(unit), now);
            } else {
                uncounted += u64::from(s.payload());
            }
            sent = Some((sent.map_or(s.xmit_ts, |(first, _)| first), s.xmit_ts));
            end = s.end;
        });
        if !self.cc.wants_rates {
            rate.count(self.scoreboard.counted(uncounted, segments));
        }
        if let Some((_, last)) = sent.filter(|_| self.config.uses_rack()) {
            self.recovery.rack.on_in_order((last, end), now);
        }
        self.snd.una = ack;
        self.snd.nxt = self.snd.nxt.max(ack);
        self.timer.backoffs = 0;
        self.buffer.note_ack();
        // A stack that takes round trips from segments needs the echo only if none was acknowledged whole.
        let clock = self.config.connection.timestamp_clock;
        let echo =
            echo.filter(|_| sent.is_none() || !self.config.rto.rtt_from_segments).map(|echo| sent_at(echo, now, clock));
        let summary = AckSummary {
            acked,
            delivered: self.delivery_rate.delivered() - delivered_before,
            newest_sent: sent.map(|(_, last)| last),
            acked_span: sent,
            echo_age: echo.map(|at| now.since(at).max(self.config.connection.timestamp_clock)),
            ..AckSummary::default()
        };
        self.take_rtt_samples(&summary, echo, now);
        summary
    }
}
