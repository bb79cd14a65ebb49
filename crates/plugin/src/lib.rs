//! Congestion control variants and queue disciplines in libraries: the crate that their authors build against, and the
//! loader.
//!
//! **Writing a variant.** A crate of type `cdylib` that depends on this one implements a variant as the built-in ones
//! are implemented: a type that implements [`CongestionControl`] and a [`Variant`] row that builds it. It exports the
//! row:
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
//! dumbbell_plugin::export_variant!(Variant {
//!     name: "quarter",
//!     title: "Reno that reduces its window by a quarter",
//!     build: |_params, setup| Ok(Box::new(Quarter(Window::new(setup)))),
//!     ..Variant::EMPTY
//! });
//! ```
//!
//! **Writing a queue discipline.** Likewise: a type that implements [`Qdisc`], and a [`Discipline`] row that builds it.
//!
//! ```
//! use dumbbell_plugin::prelude::*;
//!
//! #[derive(Debug)]
//! struct Ten(Fifo);
//!
//! impl Qdisc for Ten {
//!     fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
//!         if self.0.packets() < 10 { self.0.push(packet) } else { cx.drop_packet(packet, DropReason::Full) }
//!     }
//!     fn dequeue(&mut self, _cx: &mut QdiscContext) -> Option<Packet> { self.0.pop() }
//!     fn backlog(&self) -> Backlog { self.0.backlog() }
//! }
//!
//! dumbbell_plugin::export_discipline!(Discipline {
//!     name: "ten",
//!     title: "ten packets",
//!     build: |_params, _link| Ok(Box::new(Ten(Fifo::default()))),
//!     ..Discipline::EMPTY
//! });
//! ```
//!
//! **Loading** (feature `load`): [`load`] returns a [`cc::External`], [`load_discipline`] a
//! [`qdisc::external::External`].
//!
//! **The interface.** Two libraries built by different compilers share only C's calling convention and layout: [`abi`]
//! defines the events, the replies and one table of functions in them. Its number, [`abi::INTERFACE`], changes with
//! every change of these; a library with another number is refused. [`discipline`] has the same for disciplines, with a
//! number of its own. A panic ends the run with an error that has its source location; the process continues.

pub mod abi;
pub mod discipline;
pub mod exports;
mod json;
#[cfg(feature = "load")]
mod loader;
#[cfg(feature = "load")]
mod watch;

#[cfg(feature = "load")]
pub use discipline::{LoadedDiscipline, load_discipline};
#[cfg(feature = "load")]
pub use loader::{LoadError, LoadedVariant, ParameterInfo, load};
#[cfg(feature = "load")]
pub use watch::{CallInProgress, calls_in_progress};

pub use dumbbell_cc as cc;
pub use dumbbell_cc::{CongestionControl, Variant};
pub use dumbbell_qdisc as qdisc;
pub use dumbbell_qdisc::{Discipline, Qdisc};
pub use dumbbell_units as units;

/// The types that a variant or a queue discipline usually needs.
pub mod prelude {
    pub use dumbbell_cc::common::{LossDriven, Window};
    pub use dumbbell_cc::{
        AckEvent, Congestion, CongestionControl, CongestionEvent, Control, CwndValidation, Cx, EcnUse, LossRecovery,
        LostEvent, Phase, RateSample, RecoveryExit, SentEvent, Setup, TxStart, Variant,
    };
    pub use dumbbell_qdisc::{
        Backlog, Discipline, DropReason, Ecn, Fifo, Limit, LinkInfo, Packet, Qdisc, QdiscContext, aqm,
    };
    pub use dumbbell_units::param::{Kind, ParamError, Params, Spec};
    pub use dumbbell_units::random::Stream;
    pub use dumbbell_units::{Bytes, Dur, Packets, Rate, Time};
}

/// Exports a variant from a library of type `cdylib`. The argument is its [`Variant`] row, a constant expression.
#[macro_export]
macro_rules! export_variant {
    ($row:expr) => {
        /// The variant of this library.
        #[doc(hidden)]
        pub struct ExportedVariant;

        impl $crate::exports::Exported for ExportedVariant {
            const ROW: &'static $crate::Variant = &$row;
        }

        /// The interface that this library was built for.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn dumbbell_plugin_interface() -> u32 {
            $crate::abi::INTERFACE
        }

        /// The functions of its variant.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn dumbbell_plugin_table() -> $crate::abi::VTable {
            $crate::exports::vtable::<ExportedVariant>()
        }
    };
}

/// Exports a queue discipline from a library of type `cdylib`. The argument is its [`Discipline`] row, a constant
/// expression.
#[macro_export]
macro_rules! export_discipline {
    ($row:expr) => {
        /// The discipline of this library.
        #[doc(hidden)]
        pub struct ExportedDiscipline;

        impl $crate::discipline::Exported for ExportedDiscipline {
            const ROW: &'static $crate::Discipline = &$row;
        }

        /// The interface that this library was built for.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn dumbbell_discipline_interface() -> u32 {
            $crate::discipline::INTERFACE
        }

        /// The functions of its discipline.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn dumbbell_discipline_table() -> $crate::discipline::VTable {
            $crate::discipline::vtable::<ExportedDiscipline>()
        }
    };
}
