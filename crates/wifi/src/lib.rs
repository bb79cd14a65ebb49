//! A Wi-Fi medium: an access point and its stations share one channel by DCF or EDCA [IEEE 802.11-2016 §10.3, §10.22].
//!
//! ```text
//! packet -> queue discipline -> MAC (aggregation, retries) -> contention -> frame -> [collision, noise] -> delivery
//!           per AP or station   block ACK window             backoff in slots
//! ```
//! [`Medium`] has no clock and no I/O: the caller enters packets, asks for the time of the next event and processes it.
//! Times are integer nanoseconds; each device and each channel draws from a random stream of its own.
//!
//! | module | model |
//! |---|---|
//! | [`phy`] | timing, rates, durations, signal and noise, packet errors |
//! | [`rate_control`] | ideal, fixed, Minstrel-HT |
//! | `mac` | contention, aggregation, retries, queues, airtime fairness |
//!
//! Not modeled: hidden stations (every device hears every other), capture (of colliding frames none survives), RTS/CTS,
//! beacons and management frames, power saving, several access points, transmission opportunities of several frames.

mod mac;
pub mod phy;
mod plan;
pub mod rate_control;

pub use mac::event::{DeviceResult, Event, Marks, Queues, Tally};
pub use mac::medium::Medium;
pub use plan::{BackgroundPlan, StationPlan, WifiPlan};
