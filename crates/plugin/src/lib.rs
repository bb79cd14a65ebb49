//! Window laws in libraries of their own.
//!
//! **Writing one.** A crate of type `cdylib` that depends on this one writes a law exactly as Dumbbell's own are
//! written, a type that implements [`CongestionControl`] and a [`Variant`] row that makes it, and exports the row:
//!
//! ```
//! use dumbbell_plugin::prelude::*;
//!
//! #[derive(Debug)]
//! struct Quarter(Window);
//!
//! impl LossDriven for Quarter {
//!     fn window(&self) -> &Window { &self.0 }
//!     fn window_mut(&mut self) -> &mut Window { &mut self.0 }
//!     fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) { self.0.additive_increase(1.0, ev.acked, cx); }
//!     fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 { 0.75 * ev.window }
//! }
//!
//! dumbbell_plugin::export_law!(Variant {
//!     name: "quarter",
//!     title: "Reno that gives up a quarter",
//!     build: |_params, setup| Ok(Box::new(Quarter(Window::new(setup)))),
//!     ..Variant::EMPTY
//! });
//! ```
//!
//! **Loading one** (feature `load`): [`load`] gives a [`cc::External`].
//!
//! **The border.** Two libraries that different compilers have built share nothing but C: [`abi`] holds the events and
//! answers in C's layout and one table of functions. Its number, [`abi::INTERFACE`], changes whenever anything of it
//! does; a library of another number is refused by name. A panic in a law ends the run with its place, not the process.

pub mod abi;
pub mod guest;
#[cfg(feature = "load")]
mod host;
mod message;

#[cfg(feature = "load")]
pub use host::{LoadError, Loaded, Parameter, load};

pub use dumbbell_cc as cc;
pub use dumbbell_cc::{CongestionControl, Variant};
pub use dumbbell_units as units;

/// What a law usually needs.
pub mod prelude {
    pub use dumbbell_cc::common::{LossDriven, Window};
    pub use dumbbell_cc::{
        AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, EcnUse,
        LossRecovery, LostEvent, Phase, RateSample, RecoveryExit, SentEvent, Setup, TxStart, Variant,
    };
    pub use dumbbell_units::param::{Kind, ParamError, Params, Spec};
    pub use dumbbell_units::{Bytes, Dur, Packets, Rate, Time};
}

/// Exports a law from a library of type `cdylib`: takes its [`Variant`] row, a constant expression.
#[macro_export]
macro_rules! export_law {
    ($row:expr) => {
        /// The law that this library holds.
        #[doc(hidden)]
        pub struct ExportedLaw;

        impl $crate::guest::Exported for ExportedLaw {
            const ROW: &'static $crate::Variant = &$row;
        }

        /// The interface that this library was built for.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn dumbbell_plugin_interface() -> u32 {
            $crate::abi::INTERFACE
        }

        /// Its functions.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn dumbbell_plugin_table() -> $crate::abi::Table {
            $crate::guest::table::<ExportedLaw>()
        }
    };
}
