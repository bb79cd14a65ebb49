//! What several laws share.

mod loss_driven;
mod round;
mod srtt;
mod window;

pub(crate) use loss_driven::LossDriven;
pub use round::Round;
pub use srtt::Srtt;
pub use window::Window;
