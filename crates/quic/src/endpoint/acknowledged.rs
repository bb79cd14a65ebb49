//! An ACK frame arrives [RFC 9002 appendix A.7].

use super::Endpoint;
use crate::cc_driver::SentAt;
use crate::frame::{EcnCounts, Frame};
use crate::notes::Note;
use crate::packet::Space;
use crate::sent::Fate;
use dumbbell_cc::{AckArrival, AckEvent, CaState, Congestion};
use dumbbell_tcp::{DeliveredSegment, SegmentFate};
use dumbbell_units::{Dur, Time};

/// The packets that an ACK newly acknowledges.
#[derive(Clone, Copy, Debug, Default)]
struct AckSummary {
    packets: u64,
    /// Bytes in flight.
    bytes: u64,
    /// The largest packet number, and when it was sent.
    largest: Option<(u64, SentAt)>,
    ack_eliciting: bool,
    /// Packets that were sent as ECN-capable.
    ect: u64,
    /// True if the ACK reports a packet that was never sent.
    invalid: bool,
}

impl Endpoint {
    pub(super) fn on_ack(
        &mut self,
        space: Space,
        ranges: &[(u64, u64)],
        delay: Dur,
        ecn: Option<EcnCounts>,
        now: Time,
    ) {
        let Some(reported) = ranges.first().map(|r| r.1 - 1) else { return };
        let (flight, lost_before) = (self.in_flight, self.delivery_rate.lost());
        self.delivery_rate.begin_ack();
        let summary = self.acknowledge(space, ranges, now);
        if summary.invalid {
            self.close(now); // PROTOCOL_VIOLATION [RFC 9000 §13.1]
            return;
        }
        let Some((largest, newest)) = summary.largest else { return };
        if space == Space::Handshake {
            self.handshake.handshake_acked = true;
        }
        let state = self.space(space);
        let advances = state.largest_acked.is_none_or(|acked| reported > acked);
        state.largest_acked = state.largest_acked.max(Some(reported));
        let mut rtt = None;
        if largest == reported && summary.ack_eliciting {
            let latest = now.since(newest.at);
            rtt = Some(latest);
            // The delay counts only for application data, limited once the handshake is confirmed [RFC 9002 §5.3].
            let delay = match space {
                Space::Application if self.handshake.confirmed => delay.min(self.max_ack_delay()),
                Space::Application => delay,
                _ => Dur::ZERO,
            };
            self.rtt.sample(latest, delay, now);
        }
        let marks = if advances {
            let counts = &mut self.spaces[space as usize].ecn;
            self.ecn.on_ack(counts, ecn, summary.ect)
        } else {
            0
        };
        let cx = self.cx(now);
        let disordered_before = self.is_disordered();
        if self.cc.wants_arrivals {
            let fast_path = ranges.len() == 1;
            let state = self.cc.ca_state(disordered_before);
            let ev = AckArrival { acked: summary.bytes, fast_path, rtt, state };
            self.cc.notify(|cc| cc.on_arrival(&ev, &cx));
        }
        self.cc.on_acked(newest, &cx);
        self.detect_losses(space, now);
        if marks > 0 && !self.config.growth.own_response {
            self.cc.on_congestion(Congestion::Ecn, newest, self.sent_bytes, &self.config, &cx);
        }
        if self.peer_validated() {
            self.pto_count = 0; // [RFC 9002 §6.2.1]
        }
        self.space(space).sent.forget_settled();
        if summary.bytes == 0 {
            return;
        }
        let state = self.cc.ca_state(self.is_disordered());
        let ev = AckEvent {
            rtt,
            flight,
            cwnd_limited: self.cwnd_limited,
            in_recovery: matches!(state, CaState::Recovery | CaState::Cwr),
            in_loss: state == CaState::Loss,
            disordered: state == CaState::Disorder,
            inflight: self.in_flight,
            departs: self.pacing_permits(self.mtu.current.into(), now).unwrap_or(now).max(now),
            lost: self.delivery_rate.lost() - lost_before,
            marked: marks * self.config.mss(),
            rate: self.delivery_rate.sample(self.rtt.min_rtt(), now),
            ..AckEvent::in_order(summary.bytes, self.snd_una()..self.sent_bytes, now)
        };
        self.cc.notify(|cc| cc.on_ack(&ev, &cx));
    }

    /// Marks the packets of the ranges as acknowledged.
    fn acknowledge(&mut self, space: Space, ranges: &[(u64, u64)], now: Time) -> AckSummary {
        let mut summary = AckSummary::default();
        let state = &mut self.spaces[space as usize];
        if ranges[0].1 > state.sent.next_number() {
            summary.invalid = true;
            return summary;
        }
        for &(start, end) in ranges {
            let known = state.sent.known_part(start, end);
            if end <= known.start {
                break; // older ranges are settled too
            }
            for number in known {
                match state.sent.fate(number) {
                    Fate::Outstanding => {}
                    Fate::Skipped => summary.invalid = true,
                    Fate::Acknowledged | Fate::Lost | Fate::Untracked => continue,
                }
                let Some(packet) = state.sent.acknowledge(number) else { continue };
                summary.packets += 1;
                if let Some(notes) = &mut self.notes {
                    notes.push(Note::Acknowledged(space, number));
                }
                if summary.largest.is_none_or(|(largest, _)| number > largest) {
                    let sent = SentAt { start: packet.start, at: packet.sent_at };
                    summary.largest = Some((number, sent));
                }
                summary.ack_eliciting |= packet.ack_eliciting;
                summary.ect += u64::from(packet.ect);
                if let Some(largest) = packet.acks {
                    state.received.on_ack_received(largest);
                }
                if !packet.ack_eliciting {
                    continue;
                }
                summary.bytes += u64::from(packet.bytes);
                state.eliciting_in_flight -= 1;
                self.in_flight -= u64::from(packet.bytes);
                let end = packet.end();
                self.delivery_rate.on_delivered(packet.tx, packet.sent_at, end, packet.bytes, now);
                self.newly_delivered.push(DeliveredSegment {
                    fate: SegmentFate::Acknowledged,
                    first_at: packet.sent_at,
                    transmissions: 1,
                    payload: packet.payload,
                });
                if packet.mtu_probe {
                    self.mtu.on_probe_acked();
                }
                if let Some(chunk) = &packet.chunk {
                    self.streams.on_acked(chunk);
                }
                for frame in packet.rest.drain(..) {
                    match frame {
                        Frame::Stream(chunk) => self.streams.on_acked(&chunk),
                        Frame::Crypto { offset, len } => state.crypto_send.on_acked(offset, len, false),
                        _ => {}
                    }
                }
            }
        }
        summary
    }

    /// The longest delay of the peer's ACKs.
    pub(super) fn max_ack_delay(&self) -> Dur {
        self.config.ack.max_delay
    }

    /// The first byte of the connection's packets that is neither acknowledged nor lost.
    fn snd_una(&self) -> u64 {
        let oldest = self.spaces.iter().filter_map(|s| s.sent.oldest()).map(|p| p.start).min();
        oldest.unwrap_or(self.sent_bytes)
    }

    /// True if packets before an acknowledged one are outstanding.
    fn is_disordered(&self) -> bool {
        let state = &self.spaces[Space::Application as usize];
        state.largest_acked.is_some_and(|acked| state.sent.first_known() < acked)
    }
}
