//! Voice: a G.711 stream in RTP packets, played by a receiver with a jitter buffer, and rated by the E-model.
//!
//! ```text
//! plan      packets of the codec, sizes and times
//! jitter    interarrival jitter of RTP
//! playout   when each packet is played: packets that arrive later are lost to the listener
//! emodel    delay and losses -> rating factor R -> mean opinion score (MOS)
//! ```
//! Not modeled: silence suppression, the clocks' skew, time scaling while the playout delay changes.

mod emodel;
mod jitter;
mod playout;

pub use emodel::{Transmission, mos};
pub use jitter::InterarrivalJitter;
pub use playout::{Playout, VoiceFate, VoiceMetrics, VoicePacket, rate};

use schemars::JsonSchema;
use serde::Deserialize;

/// Rate of G.711: 8000 samples of one byte a second [ITU-T G.711 §2, §3].
pub const G711_BPS: u64 = 64_000;
/// Headers of a packet within that of IP: RTP without contributing sources [RFC 3550 §5.1], UDP [RFC 768].
pub const HEADERS: u32 = 12 + 8;

/// A voice stream and its receiver.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoicePlan {
    /// Speech in one packet, ns: a multiple of 125,000.
    pub packetization_ns: u64,
    /// True if the decoder conceals lost packets [ITU-T G.711 Appendix I].
    pub concealment: bool,
    /// Time for which the first packet waits before it is played, ns; null: the playout delay adapts.
    pub jitter_buffer_ns: Option<u64>,
}

impl VoicePlan {
    /// IP bytes of a packet with an IP header of `ip_header` bytes.
    #[must_use]
    pub fn packet_bytes(&self, ip_header: u32) -> u32 {
        ip_header + HEADERS + (u128::from(G711_BPS) * u128::from(self.packetization_ns) / 8_000_000_000) as u32
    }

    /// Checks the amounts.
    ///
    /// # Errors
    /// The reason why the plan is invalid.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.packetization_ns == 0 || self.packetization_ns > 1_000_000_000 {
            return Err("packetization_ns must be above zero and at most one second");
        }
        if !self.packetization_ns.is_multiple_of(125_000) {
            return Err("packetization_ns must be a multiple of a sample's time, 125 us");
        }
        Ok(())
    }

    /// Robustness of the decoder against packet loss, Bpl [ITU-T G.113 Appendix I, table of Ie and Bpl].
    #[must_use]
    pub fn bpl(&self) -> f64 {
        if self.concealment { 25.1 } else { 4.3 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_milliseconds_make_packets_of_200_bytes() {
        let plan = VoicePlan { packetization_ns: 20_000_000, concealment: true, jitter_buffer_ns: None };
        // 160 samples of one byte, 12 + 8 + 20 bytes of headers: 80 kbit/s.
        assert_eq!(plan.packet_bytes(20), 200);
        assert_eq!(plan.packet_bytes(40), 220);
        assert!(plan.check().is_ok());
        assert!(VoicePlan { packetization_ns: 0, ..plan }.check().is_err());
        assert!(VoicePlan { packetization_ns: 20_000_001, ..plan }.check().is_err());
    }
}
