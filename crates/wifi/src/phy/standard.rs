//! The standards and their timing.
//!
//! ```text
//!        slot  SIFS  signal extension  CWmin  AIFSN
//! 11b    20    10    -                 31     2        [IEEE 802.11-2016 §16.3.4]
//! 11a     9    16    -                 15     2        [§17.4.4]
//! 11g     9    10    6                 15     2        stations with 11g only, short slots [§18.4.4]
//! 11n     9    16    -                 15     3        5 GHz [§19.4.4]
//! 11ac    9    16    -                 15     3        [§21.4.4]
//! ```
//! Times in µs. DIFS = SIFS + 2 slots, AIFS = SIFS + AIFSN slots; 3 is the AIFSN of best effort, which 11n and 11ac
//! use.

use dumbbell_units::{Dur, named};
use schemars::JsonSchema;
use serde::Deserialize;

named! {
    /// A standard.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
    pub enum Standard {
        /// 1 to 11 Mbit/s, 2.4 GHz.
        #[serde(rename = "11b")]
        B = "11b",
        /// 6 to 54 Mbit/s, 5 GHz.
        #[serde(rename = "11a")]
        A = "11a",
        /// 6 to 54 Mbit/s, 2.4 GHz, without 11b stations.
        #[serde(rename = "11g")]
        G = "11g",
        /// HT.
        #[serde(rename = "11n")]
        N = "11n",
        /// VHT.
        #[serde(rename = "11ac")]
        Ac = "11ac",
    }
}

/// Times of a standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Slot.
    pub slot: Dur,
    /// Short interframe space.
    pub sifs: Dur,
    /// Silence after each frame that counts as a part of it.
    pub signal_extension: Dur,
}

impl Standard {
    /// Times of this standard.
    #[must_use]
    pub fn timing(self) -> Timing {
        let of = |slot, sifs, extension| Timing {
            slot: Dur::micros(slot),
            sifs: Dur::micros(sifs),
            signal_extension: Dur::micros(extension),
        };
        match self {
            Standard::B => of(20, 10, 0),
            Standard::G => of(9, 10, 6),
            Standard::A | Standard::N | Standard::Ac => of(9, 16, 0),
        }
    }

    /// True if frames are QoS data frames, which may be aggregated.
    #[must_use]
    pub fn has_aggregation(self) -> bool {
        matches!(self, Standard::N | Standard::Ac)
    }

    /// Largest A-MPDU, bytes [IEEE 802.11-2016 §9.4.2.56.3, §9.4.2.158.2].
    #[must_use]
    pub fn longest_ampdu(self) -> u64 {
        if self == Standard::Ac { 1_048_575 } else { 65_535 }
    }

    /// Widths of the channel that the standard allows, MHz.
    #[must_use]
    pub fn widths(self) -> &'static [u32] {
        match self {
            Standard::B => &[22],
            Standard::A | Standard::G => &[20],
            Standard::N => &[20, 40],
            Standard::Ac => &[20, 40, 80, 160],
        }
    }

    /// Largest number of spatial streams.
    #[must_use]
    pub fn most_streams(self) -> u32 {
        match self {
            Standard::N => 4,
            Standard::Ac => 8,
            _ => 1,
        }
    }
}
