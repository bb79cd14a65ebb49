//! The parameters of an endpoint in groups, one file each: declaration, default on each preset, reader.

mod ack;
mod connection;
mod features;
mod growth;
mod presets;
mod recovery;
mod streams;

pub use ack::AckConfig;
pub use connection::{ConnectionConfig, Start};
pub use growth::GrowthConfig;
pub use presets::{PRESETS, Preset, find_preset};
pub use recovery::RecoveryConfig;
pub use streams::StreamsConfig;

pub(crate) use connection::MIN_DATAGRAM;

use dumbbell_cc::{Cx, Increase, LossRecovery, Setup, Variant};
use dumbbell_units::Time;
use dumbbell_units::param::{ParamError, Params, Raw, Spec};
use dumbbell_units::parse::Size;

/// Parameters whose default on a preset differs from that of `rfc9002`: name, default.
type Defaults = &'static [(&'static str, &'static str)];

/// Every parameter, group by group, with the default of the preset `rfc9002`.
const PARAMS: &[&[Spec]] = &[connection::PARAMS, streams::PARAMS, ack::PARAMS, recovery::PARAMS, growth::PARAMS];

/// An endpoint's parameters, resolved.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The preset's name.
    pub preset: &'static str,
    /// Datagram sizes, handshake, idle timeout.
    pub connection: ConnectionConfig,
    /// Streams and flow control.
    pub streams: StreamsConfig,
    /// When the receiver sends ACKs.
    pub ack: AckConfig,
    /// Round-trip time, loss detection, probe timeout.
    pub recovery: RecoveryConfig,
    /// The congestion window's start and bounds, pacing, ECN.
    pub growth: GrowthConfig,
}

/// Returns true if a variant's name implies its loss recovery with QUIC: only Tahoe's differs from RFC 9002's.
#[must_use]
pub fn implies_recovery(variant: &Variant) -> bool {
    variant.loss_recovery == Some(LossRecovery::Tahoe)
}

impl Config {
    /// Returns the parameters of a connection.
    ///
    /// # Errors
    /// An unknown preset or parameter, or a value out of range.
    pub fn read(preset: &str, given: &[(String, Raw)], variant: &Variant) -> Result<Config, ParamError> {
        let preset = find_preset(preset)?;
        let params = Params::read(&preset.params_for(variant.name), given)?;
        let mut p = Reading { params: &params, datagram: 0 };
        let connection = ConnectionConfig::read(&p)?;
        p.datagram = u64::from(connection.initial_datagram);
        Ok(Config {
            preset: preset.name,
            connection,
            streams: StreamsConfig::read(&p)?,
            ack: AckConfig::read(&p),
            recovery: RecoveryConfig::read(&p, implies_recovery(variant))?,
            growth: GrowthConfig::read(&p, variant)?,
        })
    }

    /// The unit of congestion control, bytes (max_datagram_size) [RFC 9002 §7.2]: the size that discovery reaches,
    /// because no link of ours has a smaller MTU, and an algorithm's unit is constant.
    #[must_use]
    pub fn mss(&self) -> u64 {
        u64::from(self.connection.max_datagram)
    }

    /// Returns the start values of congestion control.
    #[must_use]
    pub fn cc_setup(&self) -> Setup {
        Setup {
            slow_start: self.growth.slow_start,
            slow_start_limit: f64::INFINITY, // [RFC 9002 §7.3.1]
            paced: self.growth.paced,
            preset: self.preset,
            ..Setup::new(self.mss() as f64, self.growth.initial_window as f64, self.growth.initial_ssthresh as f64)
        }
    }

    /// Returns the context of an event of congestion control.
    pub(crate) fn cc_cx(&self, now: Time) -> Cx {
        Cx {
            now,
            mss: self.mss() as f64,
            initial_window: self.growth.initial_window as f64,
            increase: Increase::PerByte, // [RFC 9002 §7.3.3]
            whole_segments: false,
        }
    }
}

/// The parameters' values, for the readers of the groups.
struct Reading<'a> {
    params: &'a Params,
    /// Bytes of a datagram, the unit "packets" of sizes.
    datagram: u64,
}

impl Reading<'_> {
    fn int(&self, name: &str) -> u32 {
        u32::try_from(self.params.int(name)).unwrap_or(u32::MAX)
    }

    fn bytes(&self, name: &str) -> u64 {
        match self.params.size(name) {
            Size::Packets(n) => n.0.saturating_mul(self.datagram),
            Size::Bytes(n) => n.0,
        }
    }
}

fn invalid(name: &str, message: &str) -> ParamError {
    ParamError { name: name.into(), message: message.into() }
}
