//! What several laws share.

mod base_delay;
mod hystart;
mod hystart_plus_plus;
mod loss_driven;
mod marks;
mod rate;
mod round;
mod round_trips;
mod slow_start;
mod srtt;
mod window;
mod windowed;

pub use base_delay::BaseDelay;
pub use hystart::HyStart;
pub use hystart_plus_plus::HyStartPlusPlus;
pub(crate) use loss_driven::LossDriven;
pub use marks::{Echo, Marks};
pub use rate::DeliveryRate;
pub use round::Round;
pub use round_trips::{Measured, RoundTrips};
pub use srtt::Srtt;
pub use window::Window;
pub use windowed::WindowedMin;
