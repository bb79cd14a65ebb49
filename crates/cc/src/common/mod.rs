//! What several laws share.

mod loss_driven;
mod rate;
mod round;
mod round_trips;
mod srtt;
mod window;

pub(crate) use loss_driven::LossDriven;
pub use rate::DeliveryRate;
pub use round::Round;
pub use round_trips::{Measured, RoundTrips};
pub use srtt::Srtt;
pub use window::Window;
