//! What several laws share.

mod base_delay;
mod bubble;
mod delivery_round;
mod hystart;
mod hystart_plus_plus;
mod loss_driven;
mod marks;
mod pacing;
mod rate;
mod round;
mod round_trips;
mod slow_start;
mod srtt;
mod ticks;
mod window;
mod windowed;
mod windowed_max;

pub use base_delay::BaseDelay;
pub use bubble::Bubble;
pub use delivery_round::DeliveryRound;
pub use hystart::HyStart;
pub use hystart_plus_plus::HyStartPlusPlus;
pub use loss_driven::LossDriven;
pub use marks::{Echo, Marks};
pub use pacing::pacing_rate;
pub use rate::DeliveryRate;
pub use round::Round;
pub use round_trips::{Measured, RoundTrips};
pub use srtt::Srtt;
pub use ticks::{TICK, last_tick, whole_ticks};
pub use window::Window;
pub use windowed::WindowedMin;
pub use windowed_max::WindowedMax;
