//! The parameters of an endpoint in groups, one file each: declaration, default on each preset, reader.
//!
//! [`Config::read`] resolves a preset, the parameters that a scenario sets, and the needs of the variant.

mod ack;
mod buffer;
mod connection;
mod ecn;
mod facts;
mod features;
mod growth;
mod pacing;
mod params;
mod presets;
mod recovery;
mod rto;

pub use ack::AckConfig;
pub use buffer::BufferConfig;
pub use connection::ConnectionConfig;
pub use ecn::{EcnConfig, EcnFeedback};
pub use facts::{Fact, Facts};
pub use features::describe as describe_feature;
pub use growth::{GrowthConfig, ReduceFrom, WindowValidation};
pub use pacing::PacingConfig;
pub use params::PARAMS;
pub use presets::{DEFAULT_PRESET, PRESETS, Preset, find_preset};
pub use recovery::{NewRenoExit, RackConfig, RecoveryConfig};
pub use rto::{RtoConfig, RtoEstimator};

use dumbbell_cc::{LossRecovery, Setup, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{ParamError, Params, Raw};
use dumbbell_units::parse::Size;
use dumbbell_wire::IpVersion;

/// Parameters whose default on a preset differs from that of `rfc`: name, default.
type Defaults = &'static [(&'static str, &'static str)];

/// An endpoint's parameters, resolved.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The preset whose defaults of a variant's own parameters apply.
    pub variants_as: &'static str,
    /// Segment size, options and handshake.
    pub connection: ConnectionConfig,
    /// Receive window, application writes and Nagle's algorithm.
    pub buffer: BufferConfig,
    /// The congestion window's start, growth, reduction and validation.
    pub growth: GrowthConfig,
    /// The receiver's acknowledgments.
    pub ack: AckConfig,
    /// Round-trip time samples and the retransmission timer.
    pub rto: RtoConfig,
    /// How losses are found and repaired.
    pub recovery: RecoveryConfig,
    /// Pacing and bursts.
    pub pacing: PacingConfig,
    /// Explicit congestion notification.
    pub ecn: EcnConfig,
    /// True if usual segments are handled in few steps. False only in the slow reference that tests compare with: the
    /// results are the same.
    pub shortcuts: bool,
}

impl Config {
    /// Returns the parameters of a connection.
    ///
    /// # Errors
    /// An unknown preset or parameter, a value out of range, or a recovery that contradicts the variant.
    pub fn read(preset: &str, given: &[(String, Raw)], variant: &Variant) -> Result<Config, ParamError> {
        Config::read_over(IpVersion::V4, preset, given, variant)
    }

    /// Returns the parameters of a connection over a version of IP. An IPv6 header is 20 bytes longer, so that the MSS
    /// is at most 1440 bytes where the scenario sets none [RFC 9293 §3.7.1].
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn read_over(
        ip: IpVersion,
        preset: &str,
        given: &[(String, Raw)],
        variant: &Variant,
    ) -> Result<Config, ParamError> {
        let preset = find_preset(preset)?;
        let params = preset.read(variant.name, given)?;
        let facts = preset.facts_for(variant.name);
        let mut p = Reading { params: &params, facts, given, ip, mss: 0 };
        let recovery = RecoveryConfig::read(&p, variant, preset.implied_recovery(variant))?;
        let connection = ConnectionConfig::read(&p)?;
        p.mss = connection.mss;
        let buffer = BufferConfig::read(&p)?;
        Ok(Config {
            variants_as: preset.variants_as,
            connection,
            buffer,
            growth: GrowthConfig::read(&p, buffer.window)?,
            ack: AckConfig::read(&p),
            rto: RtoConfig::read(&p)?,
            recovery,
            pacing: PacingConfig::read(&p),
            ecn: EcnConfig::read(&p, variant),
            shortcuts: true,
        })
    }

    /// Returns the start values of congestion control.
    #[must_use]
    pub fn cc_setup(&self) -> Setup {
        let growth = &self.growth;
        let (window, ssthresh) = (growth.initial_window as f64, growth.initial_ssthresh as f64);
        Setup {
            slow_start: growth.slow_start,
            slow_start_limit: f64::from(growth.slow_start_limit),
            paced: self.pacing.enabled,
            selective_acks: self.uses_sack(),
            preset: self.variants_as,
            ..Setup::new(f64::from(self.connection.mss), window, ssthresh)
        }
    }

    /// Payload bytes of a full segment (SMSS).
    #[must_use]
    pub fn mss(&self) -> u64 {
        u64::from(self.connection.mss)
    }

    /// Bytes that a segment of any length counts as, in the window and in what is delivered; 0: as its own bytes.
    pub(crate) fn unit(&self) -> u64 {
        if self.growth.count_segments && !self.goes_back() { self.mss() } else { 0 }
    }

    /// True if the endpoint negotiates and uses SACK.
    pub(crate) fn uses_sack(&self) -> bool {
        self.recovery.algorithm == LossRecovery::Sack
    }

    /// True if a timeout is followed by go-back-N: segments that the receiver may have are retransmitted.
    pub(crate) fn goes_back(&self) -> bool {
        !self.uses_sack() || self.recovery.sack_as_ns2
    }

    /// True if losses are found by RACK.
    pub(crate) fn uses_rack(&self) -> bool {
        self.recovery.rack.is_some()
    }
}

/// The parameters' values, for the readers of the groups.
struct Reading<'a> {
    params: &'a Params,
    /// What the preset fixes.
    facts: &'a Facts,
    /// The parameters that the scenario sets.
    given: &'a [(String, Raw)],
    ip: IpVersion,
    /// Payload bytes of a full segment, the unit "packets" of sizes; known once the connection's group is read.
    mss: u32,
}

impl Reading<'_> {
    fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|(n, _)| n == name)
    }

    fn bool(&self, name: &str) -> bool {
        self.params.bool(name)
    }

    fn choice(&self, name: &str) -> &'static str {
        self.params.choice(name)
    }

    fn duration(&self, name: &str) -> Dur {
        self.params.duration(name)
    }

    fn int(&self, name: &str) -> u32 {
        u32::try_from(self.params.int(name)).unwrap_or(u32::MAX)
    }

    fn bytes(&self, name: &str) -> u64 {
        match self.params.size(name) {
            Size::Packets(n) => n.0.saturating_mul(u64::from(self.mss)),
            Size::Bytes(n) => n.0,
        }
    }
}

fn too_small(name: &str, least: &str) -> ParamError {
    ParamError { name: name.into(), message: format!("at least {least} is needed") }
}
