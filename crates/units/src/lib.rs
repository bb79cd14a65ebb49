//! Typed quantities, so that the compiler refuses a gain in place of a byte count, or milliseconds in place of seconds.
//!
//! | type | meaning | representation |
//! |---|---|---|
//! | [`Time`], [`Dur`] | time since the start of the run, duration | u64 nanoseconds |
//! | [`Rate`] | bit rate | u64 bit/s |
//! | [`Bytes`], [`Packets`] | amounts | u64 |
//! | [`Prob`] | probability | f64 in 0..=1 |
//!
//! This crate also has the other items that all crates need: declarations of parameters ([`param`]), the text form of
//! quantities ([`parse`]), named random streams ([`random`]), the flow numbers of packets ([`flow_number`]) and
//! histograms ([`histogram`]).

pub mod flow_number;
pub mod histogram;
pub mod param;
pub mod parse;
mod prob;
pub mod random;
mod rate;
mod size;
mod time;

/// Declares an enum whose values have names: `ALL` has the values in order and `NAMES` their names, `name` and
/// `Display` show that of a value, and `from_name` finds a value.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $enum:ident { $($(#[$of:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $enum {
            $($(#[$of])* $value,)+
        }

        #[allow(dead_code, reason = "not every enum needs all of them")]
        impl $enum {
            /// Every value, in the order of the declaration.
            pub const ALL: [$enum; [$($enum::$value),+].len()] = [$($enum::$value),+];
            /// The name of each.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The name of this value.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($enum::$value => $name,)+ }
            }

            /// The value of a name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<$enum> {
                $enum::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Declares methods of a struct that take `&self` alone: comment, name, type and value of each; `$this` is the name of
/// self in the values.
#[macro_export]
macro_rules! getters {
    ($this:ident: $owner:ident; $($(#[$doc:meta])+ $name:ident: $type:ty = $value:expr;)+) => {
        impl $owner {
            $($(#[$doc])+
            #[must_use]
            pub fn $name(&self) -> $type {
                let $this = self;
                $value
            })+
        }
    };
}

pub use prob::Prob;
pub use rate::Rate;
pub use size::{Bytes, Packets};
pub use time::{Dur, Time};
