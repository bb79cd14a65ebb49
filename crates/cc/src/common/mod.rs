//! Parts that several variants share: the window, slow start, RTT and rate filters, rounds. Each file names its source.

mod app_limited;
mod base_delay;
mod delivery_round;
mod hystart;
mod hystart_plus_plus;
mod jiffies;
mod loss_driven;
mod marks;
mod pacing;
mod rate;
mod round;
mod rtt_per_round;
mod slow_start;
mod srtt;
mod window;
mod windowed_max;
mod windowed_min;

pub use app_limited::AppLimitedInterval;
pub use base_delay::BaseDelay;
pub use delivery_round::DeliveryRound;
pub use hystart::HyStart;
pub use hystart_plus_plus::HyStartPlusPlus;
pub use jiffies::{JIFFY, ceil_to_jiffies, floor_to_jiffy};
pub use loss_driven::LossDriven;
pub(crate) use loss_driven::window_is;
pub use marks::{EcnResponse, Marks};
pub use pacing::pacing_rate;
pub use rate::DeliveryRate;
pub use round::Round;
pub use rtt_per_round::{RoundRtt, RttPerRound};
pub use srtt::Srtt;
pub use window::Window;
pub use windowed_max::WindowedMax;
pub use windowed_min::WindowedMin;
