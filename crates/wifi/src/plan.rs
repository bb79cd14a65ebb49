//! The parameters of a medium, in base units.

use crate::phy::channel::Receiver;
use crate::phy::mode::Modes;
use crate::phy::standard::Standard;
use crate::rate_control::RateControlPlan;
use schemars::JsonSchema;
use serde::Deserialize;

/// A medium.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WifiPlan {
    /// Standard.
    pub standard: Standard,
    /// Width of the channel, MHz.
    pub width_mhz: u32,
    /// Largest number of spatial streams.
    pub streams: u32,
    /// True for the short guard interval, 400 ns.
    pub short_guard: bool,
    /// Noise figure of the receivers, dB.
    pub noise_figure_db: f64,
    /// Implementation margin of the receivers, dB.
    pub margin_db: f64,
    /// Standard deviation of the slow fading, dB; 0: none.
    pub fading_db: f64,
    /// Correlation time of the slow fading, ns.
    pub fading_ns: u64,
    /// Rate control of all devices.
    pub rate_control: RateControlPlan,
    /// Longest duration of an A-MPDU, ns; 0: no aggregation.
    pub ampdu_ns: u64,
    /// Transmissions of a frame before it is dropped.
    pub retry_limit: u32,
    /// Smallest contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Slots after SIFS that the medium must be idle.
    pub aifsn: u32,
    /// True if the access point has a queue for each station and divides the airtime equally.
    pub airtime_fairness: bool,
    /// The stations with flows.
    pub stations: Vec<StationPlan>,
    /// Stations whose traffic the model makes.
    pub background: Vec<BackgroundPlan>,
}

/// A station.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationPlan {
    /// Its name.
    pub name: String,
    /// Signal of the access point at the station, dBm.
    pub signal_dbm: f64,
    /// Signal of the station at the access point, dBm.
    pub uplink_dbm: f64,
}

/// A station that always has packets to send, or packets of which always wait at the access point.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundPlan {
    /// Its name.
    pub name: String,
    /// Signal of the access point at the station, dBm.
    pub signal_dbm: f64,
    /// Signal of the station at the access point, dBm.
    pub uplink_dbm: f64,
    /// True if it sends.
    pub up: bool,
    /// True if it receives.
    pub down: bool,
    /// Size of the packets, IP bytes.
    pub packet_bytes: u32,
}

impl WifiPlan {
    /// The rates of the medium.
    #[must_use]
    pub fn modes(&self) -> Modes {
        Modes::new(self.standard, self.width_mhz, self.streams, self.short_guard)
    }

    pub(crate) fn receiver(&self) -> Receiver {
        Receiver { noise_figure: self.noise_figure_db, margin: self.margin_db }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// The field and the reason.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let refuse = |field, message: &str| Err((field, message.to_owned()));
        if !self.standard.widths().contains(&self.width_mhz) {
            let widths = self.standard.widths().iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(("width_mhz", format!("{} MHz given: {} has {widths} MHz", self.width_mhz, self.standard)));
        }
        let most = self.standard.most_streams();
        if !(1..=most).contains(&self.streams) {
            return Err(("streams", format!("{} given: {} has 1 to {most}", self.streams, self.standard)));
        }
        if self.short_guard && !self.standard.has_aggregation() {
            return refuse("short_guard", "'short' given: only 11n and 11ac have it");
        }
        if self.ampdu_ns > 0 && !self.standard.has_aggregation() {
            return refuse("ampdu_ns", "only 11n and 11ac aggregate frames");
        }
        if let RateControlPlan::Fixed { rate_bps } = self.rate_control
            && self.modes().find(rate_bps).is_none()
        {
            let rates = self.modes().all[..self.modes().data]
                .iter()
                .map(|m| (m.bps as f64 / 1e6).to_string())
                .collect::<Vec<_>>()
                .join(", ");
            let given = rate_bps as f64 / 1e6;
            return Err(("rate_control", format!("{given} Mbit/s given: must be one of {rates} Mbit/s")));
        }
        let signals = self.stations.iter().map(|s| (s.signal_dbm, s.uplink_dbm));
        let signals = signals.chain(self.background.iter().map(|s| (s.signal_dbm, s.uplink_dbm)));
        if signals.flat_map(|(a, b)| [a, b]).any(|dbm| !dbm.is_finite()) {
            return refuse("stations", "signals must be finite");
        }
        if !(self.noise_figure_db.is_finite() && self.margin_db.is_finite()) || self.fading_db < 0.0 {
            return refuse("noise_figure_db", "noise figure, margin and fading must be finite, fading not negative");
        }
        if self.retry_limit == 0 {
            return refuse("retry_limit", "must be above zero");
        }
        if self.aifsn < 2 {
            return refuse("aifsn", "must be at least 2");
        }
        for (field, value) in [("cw_min", self.cw_min), ("cw_max", self.cw_max)] {
            // [IEEE 802.11-2016 §9.4.2.29, ECWmin and ECWmax]
            if !(value + 1).is_power_of_two() || value > 32_767 {
                let message = format!("{value} given: must be a power of 2 less 1, such as 15 or 1023, at most 32767");
                return Err((field, message));
            }
        }
        if self.cw_max < self.cw_min {
            return Err(("cw_min", format!("{} given: at most {}, the value of cw_max", self.cw_min, self.cw_max)));
        }
        if self.stations.is_empty() {
            return refuse("stations", "at least one is needed");
        }
        if self.background.iter().any(|b| b.packet_bytes == 0 || b.packet_bytes > 2304 || !(b.up || b.down)) {
            return refuse("background", "packets of 1 to 2304 bytes in at least one direction are needed");
        }
        Ok(())
    }
}
