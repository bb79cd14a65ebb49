//! The presets: named sets of parameter values, for the RFCs (`rfc9002`) and for three implementations.
//!
//! The default of each parameter on each preset is declared beside the parameter, in the file of its group.

use super::{Defaults, PARAMS, ack, connection, growth, recovery, streams};
use dumbbell_units::param::{ParamError, Spec, unknown_name, with_defaults};

/// A named set of parameter values.
#[derive(Debug)]
pub struct Preset {
    /// The name in a scenario.
    pub name: &'static str,
    /// A description in one line.
    pub title: &'static str,
    /// The model, its source, and its differences from the original.
    pub doc: &'static str,
    /// The parameters whose default differs, group by group.
    defaults: &'static [Defaults],
    /// The same for one variant: variant, parameter, default.
    for_variant: &'static [(&'static str, &'static str, &'static str)],
}

/// Every preset; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "rfc9002",
        title: "QUIC as RFC 9000, 9001 and 9002 recommend it",
        doc: "Initial window of 10 datagrams of 1200 bytes, discovery of datagrams up to 1452 bytes, pacing at 1.25 \
              cwnd/srtt, packet threshold 3, time threshold 9/8, ACK for every second packet or after 25 ms. Flow control \
              windows never limit. CUBIC has HyStart++, as RFC 9438 recommends.",
        defaults: &[],
        for_variant: &[("cubic", "slow_start", "hystart++")],
    },
    Preset {
        name: "quinn",
        title: "the Rust implementation quinn",
        doc: "quinn-proto 0.11: as rfc9002, with a stream window of 1.25 MB (TransportConfig::default), skipped packet \
              numbers (PacketNumberFilter), and a pacer that waits for the credit of a whole burst (Pacer). Its own CUBIC, \
              and bursts above 10 packets at more than 50 Mbit/s, are not modeled.",
        defaults: &[connection::QUINN, streams::QUINN, ack::QUINN, recovery::QUINN, growth::QUINN],
        for_variant: &[],
    },
    Preset {
        name: "aioquic",
        title: "the Python implementation aioquic",
        doc: "aioquic 1.7.2: datagrams of 1200 bytes without discovery, idle timeout 60 s, initial RTT 100 ms \
              (QuicConfiguration), one probe per PTO, pacing at cwnd/srtt with bursts of up to 16 packets (recovery.py), an \
              ACK 1 ms after the first packet (connection.py; its PTO adds the 25 ms that it announces, ours 1 ms). Its own \
              end of slow start by growing delay, and flow control windows that start at 1 MiB and double, are not \
              modeled.",
        defaults: &[connection::AIOQUIC, streams::AIOQUIC, ack::AIOQUIC, recovery::AIOQUIC, growth::AIOQUIC],
        for_variant: &[],
    },
    Preset {
        name: "chromium",
        title: "the implementation of Chromium and Google's servers (QUICHE)",
        doc: "QUICHE's quic_constants.h: datagrams of 1250 bytes, initial window of 32 packets, initial RTT 100 ms, two \
              rttvar in the PTO, receive windows of up to 24 MiB and 16 MiB for a stream, without their growth. Its fewer ACKs after 100 packets (ACK \
              decimation) and its own congestion control are not modeled.",
        defaults: &[connection::CHROMIUM, streams::CHROMIUM, ack::CHROMIUM, recovery::CHROMIUM, growth::CHROMIUM],
        for_variant: &[],
    },
];

/// Returns the preset of that name.
///
/// # Errors
/// An unknown name; the message lists the nearest or all names.
pub fn find_preset(name: &str) -> Result<&'static Preset, ParamError> {
    PRESETS.iter().find(|p| p.name == name).ok_or_else(|| {
        let message = unknown_name("QUIC stack preset", name, PRESETS.iter().map(|p| p.name));
        ParamError { name: "preset".into(), message }
    })
}

impl Preset {
    /// Returns every parameter with the default that this preset has for a variant.
    pub(super) fn params_for(&self, variant: &str) -> Vec<Spec> {
        let own = self.for_variant.iter().filter(|(v, ..)| *v == variant);
        with_defaults(self.params(), own.map(|(_, name, default)| (*name, *default)))
    }

    /// Returns every parameter with this preset's own default.
    #[must_use]
    pub fn params(&self) -> Vec<Spec> {
        with_defaults(PARAMS.concat(), self.defaults.iter().copied().flatten().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::param::Params;

    #[test]
    fn every_default_of_a_preset_names_a_parameter_and_is_valid() {
        for preset in PRESETS {
            let params = preset.params();
            assert!(Params::read(&params, &[]).is_ok(), "{}", preset.name);
            for (name, value) in preset.defaults.iter().copied().flatten() {
                assert!(params.iter().any(|p| p.name == *name && p.default == *value), "{name}");
            }
        }
    }
}
