//! What several laws share.

mod round;
mod srtt;
mod window;

pub use round::Round;
pub use srtt::Srtt;
pub use window::Window;
