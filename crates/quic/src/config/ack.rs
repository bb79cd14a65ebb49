//! When a receiver sends ACKs [RFC 9000 §13.2; draft-ietf-quic-ack-frequency].

use super::{Defaults, Reading};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Spec, settings, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// ack-eliciting packets after which the receiver sends an ACK [RFC 9000 §13.2.2]
    ack_every = "2", Kind::Int { min: 1, max: 1000 };
    /// longest time for which the receiver holds an ACK back [RFC 9000 §13.2.1, §18.2]
    max_ack_delay = "25 ms", Kind::Duration;
    /// ack-eliciting packets per ACK that the sender asks for with the ACK frequency extension
    /// [draft-ietf-quic-ack-frequency §4]; 0: it does not ask
    ack_frequency = "0", Kind::Int { min: 0, max: 1000 };
};

pub(super) const QUINN: Defaults = &[];

// A timer of 1 ms from the first packet, however many follow [aioquic 1.7.2 connection.py ack_at, K_GRANULARITY].
pub(super) const AIOQUIC: Defaults = &[("ack_every", "1000"), ("max_ack_delay", "1 ms")];

pub(super) const CHROMIUM: Defaults = &[];

settings! {
    /// When a receiver sends ACKs.
    #[derive(Clone, Copy, Debug)]
    pub struct AckConfig;
    pub(super) fn read(p: &Reading<'_>);
    /// Ack-eliciting packets per ACK.
    pub every: u64 = p.params.int("ack_every");
    /// Longest delay of an ACK.
    pub max_delay: Dur = p.params.duration("max_ack_delay");
    /// Packets per ACK that the sender asks for; 0: none.
    pub frequency: u64 = p.params.int("ack_frequency");
}
