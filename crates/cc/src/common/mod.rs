//! What several laws share.

mod window;

pub use window::Window;
