//! The state of a packet number space.

use crate::config::Config;
use crate::ecn::EcnSpace;
use crate::packet::Space;
use crate::received::Received;
use crate::sent::SentPackets;
use crate::streams::{ReceiveStream, SendStream};
use dumbbell_units::Time;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct SpaceState {
    pub(super) sent: SentPackets,
    pub(super) received: Received,
    /// The messages of the handshake.
    pub(super) crypto_send: SendStream,
    pub(super) crypto_receive: ReceiveStream,
    pub(super) largest_acked: Option<u64>,
    /// When the next packet is lost by the time threshold.
    pub(super) loss_time: Option<Time>,
    /// When the last ack-eliciting packet was sent.
    pub(super) last_eliciting: Time,
    pub(super) eliciting_in_flight: u32,
    /// Probes that the PTO allows to send now.
    pub(super) probes: u32,
    pub(super) ecn: EcnSpace,
    /// True if packets can be protected, or their protection removed.
    pub(super) can_send: bool,
    pub(super) can_receive: bool,
}

impl SpaceState {
    pub(super) fn new(space: Space, config: &Config) -> SpaceState {
        let initial = space == Space::Initial;
        SpaceState {
            sent: SentPackets::default(),
            received: Received::new(&config.ack, space != Space::Application),
            crypto_send: SendStream::new(u64::MAX),
            crypto_receive: ReceiveStream::new(u64::MAX),
            largest_acked: None,
            loss_time: None,
            last_eliciting: Time::ZERO,
            eliciting_in_flight: 0,
            probes: 0,
            ecn: EcnSpace::default(),
            can_send: initial,
            can_receive: initial,
        }
    }
}
