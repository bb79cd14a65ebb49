//! Loss detection, persistent congestion, and what the PTO sends [RFC 9002 §6, §7.6, appendix A.10].

use super::Endpoint;
use crate::cc_driver::SentAt;
use crate::frame::Frame;
use crate::notes::{LossTrigger, Note};
use crate::packet::Space;
use crate::sent::Fate;
use dumbbell_cc::{Congestion, LostEvent};
use dumbbell_units::Time;

/// The packets that are declared lost together.
#[derive(Debug, Default)]
struct LostPackets {
    /// Events for congestion control.
    events: Vec<LostEvent>,
    frames: Vec<Frame>,
    newest: Option<SentAt>,
    /// When the first of an unbroken series of lost packets was sent, after the first RTT sample.
    series_start: Option<Time>,
    /// The longest time between two ack-eliciting packets of such a series, ns.
    longest_series: u64,
}

impl Endpoint {
    /// Declares packets lost by the packet and the time threshold [RFC 9002 §6.1].
    pub(super) fn detect_losses(&mut self, space: Space, now: Time) {
        let loss_delay = self.rtt.loss_delay();
        let threshold = self.config.recovery.packet_threshold;
        let first_sample = self.rtt.first_sample;
        let state = &mut self.spaces[space as usize];
        state.loss_time = None;
        let Some(largest) = state.largest_acked else { return };
        let mut lost = LostPackets::default();
        for (number, packet) in state.sent.up_to(largest) {
            match packet.fate {
                Fate::Outstanding => {}
                Fate::Acknowledged => {
                    lost.series_start = None;
                    continue;
                }
                Fate::Lost | Fate::Untracked | Fate::Skipped => continue,
            }
            if number + threshold > largest && packet.sent_at + loss_delay > now {
                let at = packet.sent_at + loss_delay;
                state.loss_time = Some(state.loss_time.map_or(at, |earlier| earlier.min(at)));
                lost.series_start = None;
                continue;
            }
            packet.fate = Fate::Lost;
            if let Some(notes) = &mut self.notes {
                let by_number = number + threshold <= largest;
                let why = if by_number { LossTrigger::ReorderingThreshold } else { LossTrigger::TimeThreshold };
                notes.push(Note::Lost(space, number, why));
            }
            state.eliciting_in_flight -= 1;
            self.in_flight -= u64::from(packet.bytes);
            self.lost_packets += 1;
            lost.frames.extend(packet.chunk.take().map(Frame::Stream));
            lost.frames.append(&mut packet.rest);
            if packet.ect {
                self.ecn.on_lost();
            }
            if packet.mtu_probe {
                self.mtu.on_probe_lost(); // not congestion [RFC 9000 §14.4]
                continue;
            }
            lost.events.push(self.delivery_rate.on_lost(&packet.tx, packet.start, packet.bytes));
            lost.newest = lost.newest.max(Some(SentAt { start: packet.start, at: packet.sent_at }));
            if first_sample.is_some_and(|first| packet.sent_at > first) {
                let start = *lost.series_start.get_or_insert(packet.sent_at);
                lost.longest_series = lost.longest_series.max(packet.sent_at.since(start).0);
            }
        }
        state.sent.forget_settled();
        for frame in &lost.frames {
            self.repeat(space, frame);
        }
        if let Some(newest) = lost.newest {
            self.on_lost(&lost, newest, now);
        }
    }

    /// Reports losses to congestion control [RFC 9002 appendix B.8].
    fn on_lost(&mut self, lost: &LostPackets, newest: SentAt, now: Time) {
        let cx = self.cx(now);
        for event in &lost.events {
            self.cc.notify(|cc| cc.on_lost(event, &cx));
        }
        let pto = self.rtt.pto() + self.max_ack_delay();
        if lost.longest_series > (pto * self.config.recovery.persistent_congestion).0 {
            self.cc.on_congestion(Congestion::Timeout, newest, self.sent_bytes, &self.config, &cx);
            return;
        }
        let kind = if self.config.recovery.collapses { Congestion::Collapse } else { Congestion::Loss };
        let begins = self.cc.on_congestion(kind, newest, self.sent_bytes, &self.config, &cx);
        self.counters.fast_retransmits += u64::from(begins);
    }

    /// Queues the content of a lost frame for retransmission [RFC 9000 §13.3].
    fn repeat(&mut self, space: Space, frame: &Frame) {
        match frame {
            Frame::Stream(chunk) => self.streams.on_lost(chunk),
            Frame::Crypto { offset, len } => self.space(space).crypto_send.on_lost(*offset, *len, false),
            Frame::MaxData(_) | Frame::MaxStreamData { .. } => self.streams.repeat_update(frame),
            Frame::AckFrequency { .. } => self.ack_frequency_due = true,
            Frame::HandshakeDone => self.handshake.done_due = true,
            _ => {}
        }
    }

    /// The PTO of a space has expired: probes are sent, with new data or with that of the oldest packet [RFC 9002
    /// §6.2.4].
    pub(super) fn probe(&mut self, space: Space) {
        self.pto_count += 1;
        let state = &mut self.spaces[space as usize];
        state.probes = self.config.recovery.pto_probes;
        self.counters.timeouts += u64::from(state.eliciting_in_flight > 0);
        let has_new_data = space == Space::Application && self.streams.has_data();
        let oldest = state.sent.all_outstanding().find(|p| p.ack_eliciting);
        let Some(oldest) = oldest.filter(|_| !has_new_data) else { return };
        let mut frames = oldest.rest.clone();
        frames.extend(oldest.chunk.map(Frame::Stream));
        for frame in &frames {
            self.repeat(space, frame);
        }
    }
}
