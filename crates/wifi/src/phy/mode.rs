//! Modulation and coding: the rates of each standard and the duration of a frame.
//!
//! ```text
//! DSSS, CCK   preamble 192 µs (long), then 8 L / rate                                 [IEEE 802.11-2016 §16.2.2]
//! OFDM        preamble and SIGNAL 20 µs, symbols of 4 µs with N_DBPS bits             [§17.3]
//! HT          mixed format: 20 + 8 (HT-SIG) + 4 (STF) + 4 per LTF; symbols of 4 or 3.6 µs    [§19.3]
//! VHT         20 + 8 (SIG-A) + 4 (STF) + 4 per LTF + 4 (SIG-B)                        [§21.3]
//! bits        16 service + 8 L + 6 tail
//! ```
//! With the short guard interval the end is rounded up to 4 µs [§19.4.3].

use crate::phy::standard::Standard;
use dumbbell_units::Dur;

/// A modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// Differential BPSK with Barker code, 1 Mbit/s.
    Dbpsk,
    /// Differential QPSK with Barker code, 2 Mbit/s.
    Dqpsk,
    /// CCK with 4 bits per symbol, 5.5 Mbit/s.
    Cck4,
    /// CCK with 8 bits per symbol, 11 Mbit/s.
    Cck8,
    /// OFDM with this number of coded bits per subcarrier and symbol.
    Qam(u32),
}

/// A rate of the convolutional code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// 1/2; DSSS and CCK are not coded and ignore it.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
    /// 5/6.
    FiveSixths,
}

impl Coding {
    fn ratio(self) -> (u32, u32) {
        match self {
            Coding::Half => (1, 2),
            Coding::TwoThirds => (2, 3),
            Coding::ThreeQuarters => (3, 4),
            Coding::FiveSixths => (5, 6),
        }
    }
}

/// A rate of the physical layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Modulation.
    pub modulation: Modulation,
    /// Rate of the code.
    pub coding: Coding,
    /// Spatial streams.
    pub streams: u32,
    /// Bit rate, bit/s.
    pub bps: u64,
    /// Width of the channel, MHz.
    pub width_mhz: u32,
    /// Preamble and headers before the data.
    preamble: Dur,
    /// Data bits of a symbol; 0 for DSSS and CCK.
    bits_per_symbol: u64,
    symbol: Dur,
    signal_extension: Dur,
}

/// Index of the modulation and coding scheme: modulation and code rate of MCS 0 to 9.
const MCS: [(u32, Coding); 10] = [
    (1, Coding::Half),
    (2, Coding::Half),
    (2, Coding::ThreeQuarters),
    (4, Coding::Half),
    (4, Coding::ThreeQuarters),
    (6, Coding::TwoThirds),
    (6, Coding::ThreeQuarters),
    (6, Coding::FiveSixths),
    (8, Coding::ThreeQuarters),
    (8, Coding::FiveSixths),
];

/// The eight rates of OFDM.
const OFDM: [(u32, Coding); 8] = [
    (1, Coding::Half),
    (1, Coding::ThreeQuarters),
    (2, Coding::Half),
    (2, Coding::ThreeQuarters),
    (4, Coding::Half),
    (4, Coding::ThreeQuarters),
    (6, Coding::TwoThirds),
    (6, Coding::ThreeQuarters),
];

impl Mode {
    fn dsss(modulation: Modulation, bps: u64) -> Mode {
        Mode {
            modulation,
            coding: Coding::Half,
            streams: 1,
            bps,
            width_mhz: 22,
            preamble: Dur::micros(192),
            bits_per_symbol: 0,
            symbol: Dur::ZERO,
            signal_extension: Dur::ZERO,
        }
    }

    fn ofdm((bits, coding): (u32, Coding), signal_extension: Dur) -> Mode {
        let (over, under) = coding.ratio();
        let bits_per_symbol = u64::from(48 * bits * over / under);
        Mode {
            modulation: Modulation::Qam(bits),
            coding,
            streams: 1,
            bps: bits_per_symbol * 250_000,
            width_mhz: 20,
            preamble: Dur::micros(20),
            bits_per_symbol,
            symbol: Dur::micros(4),
            signal_extension,
        }
    }

    /// A rate of HT or VHT; None for a combination that the standard excludes.
    fn high_throughput(mcs: usize, streams: u32, width_mhz: u32, short_guard: bool, vht: bool) -> Option<Mode> {
        // Combinations whose bits do not fill the symbols [IEEE 802.11-2016 §21.5; Linux rc80211_minstrel_ht.c
        // minstrel_get_valid_vht_rates].
        let excluded = match width_mhz {
            20 => mcs == 9 && !streams.is_multiple_of(3),
            80 => (mcs == 6 && (streams == 3 || streams == 7)) || (mcs == 9 && streams == 6),
            160 => mcs == 9 && streams == 3,
            _ => false,
        };
        if vht && excluded {
            return None;
        }
        let (bits, coding) = MCS[mcs];
        let subcarriers = match width_mhz {
            20 => 52,
            40 => 108,
            80 => 234,
            _ => 468,
        };
        let (over, under) = coding.ratio();
        let bits_per_symbol = u64::from(subcarriers * bits * streams * over / under);
        let symbol = if short_guard { Dur(3_600) } else { Dur(4_000) };
        let training = u64::from(if streams == 1 { 1 } else { streams.next_multiple_of(2) });
        Some(Mode {
            modulation: Modulation::Qam(bits),
            coding,
            streams,
            bps: bits_per_symbol * 1_000_000_000 / symbol.0,
            width_mhz,
            preamble: Dur::micros(20 + 8 + 4 + 4 * training + if vht { 4 } else { 0 }),
            bits_per_symbol,
            symbol,
            signal_extension: Dur::ZERO,
        })
    }

    /// Duration of a frame of `bytes`, MAC header to FCS (or of a whole A-MPDU).
    #[must_use]
    pub fn duration(&self, bytes: u64) -> Dur {
        if self.bits_per_symbol == 0 {
            let bits = bytes * 8;
            return self.preamble + Dur::micros((bits * 1_000_000).div_ceil(self.bps));
        }
        let symbols = (16 + 6 + 8 * bytes).div_ceil(self.bits_per_symbol);
        let data = (self.symbol.0 * symbols).next_multiple_of(4_000);
        self.preamble + Dur(data) + self.signal_extension
    }

    /// The most bytes whose duration is at most `limit`.
    #[must_use]
    pub fn bytes_within(&self, limit: Dur) -> u64 {
        if self.bits_per_symbol == 0 {
            let span = limit.saturating_sub(self.preamble);
            return span.0 / 1_000 * self.bps / 8_000_000;
        }
        let span = limit.saturating_sub(self.preamble + self.signal_extension).0 / 4_000 * 4_000;
        (span / self.symbol.0 * self.bits_per_symbol).saturating_sub(22) / 8
    }

    /// Bandwidth of the noise, Hz.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        f64::from(self.width_mhz) * 1e6
    }
}

/// The rates of a medium.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Rates of data frames from the slowest to the fastest of each number of streams; then those of ACKs only.
    pub all: Vec<Mode>,
    /// The number of rates for data.
    pub data: usize,
    /// By rate for data: the rate of its ACK.
    ack: Vec<usize>,
}

impl Modes {
    /// The rates of a standard with up to this number of streams.
    #[must_use]
    pub fn new(standard: Standard, width_mhz: u32, streams: u32, short_guard: bool) -> Modes {
        let extension = standard.timing().signal_extension;
        let mut all: Vec<Mode> = match standard {
            Standard::B => vec![
                Mode::dsss(Modulation::Dbpsk, 1_000_000),
                Mode::dsss(Modulation::Dqpsk, 2_000_000),
                Mode::dsss(Modulation::Cck4, 5_500_000),
                Mode::dsss(Modulation::Cck8, 11_000_000),
            ],
            Standard::A | Standard::G => OFDM.iter().map(|&m| Mode::ofdm(m, extension)).collect(),
            Standard::N | Standard::Ac => {
                let vht = standard == Standard::Ac;
                let schemes = if vht { 10 } else { 8 };
                (1..=streams)
                    .flat_map(|s| (0..schemes).map(move |mcs| (mcs, s)))
                    .filter_map(|(mcs, s)| Mode::high_throughput(mcs, s, width_mhz, short_guard, vht))
                    .collect()
            }
        };
        let data = all.len();
        let control: Vec<usize> = match standard {
            Standard::B => (0..data).collect(), // all four are basic rates
            Standard::A | Standard::G => vec![0, 2, 4],
            Standard::N | Standard::Ac => {
                all.extend([OFDM[0], OFDM[2], OFDM[4]].map(|m| Mode::ofdm(m, extension)));
                vec![data, data + 1, data + 2]
            }
        };
        // The highest basic rate that is not above the data rate; for HT and VHT, not above the OFDM rate with the same
        // modulation and code [IEEE 802.11-2016 §10.7.6.5].
        let ack = (0..data).map(|d| {
            let reference = reference_bps(&all[d]);
            control.iter().copied().rfind(|&c| all[c].bps <= reference).unwrap_or(control[0])
        });
        let ack = ack.collect();
        Modes { all, data, ack }
    }

    /// Index of the rate of the ACK for a data frame.
    #[must_use]
    pub fn ack_of(&self, data: usize) -> usize {
        self.ack[data]
    }

    /// The slowest rate of ACKs: that of 6 Mbit/s, or 1 Mbit/s.
    #[must_use]
    pub fn slowest(&self) -> &Mode {
        &self.all[if self.data == self.all.len() { 0 } else { self.data }]
    }

    /// Index of the data rate with this bit rate, to 1 in 1000; of those with equal bit rates, the one with the fewest
    /// streams.
    #[must_use]
    pub fn find(&self, bps: u64) -> Option<usize> {
        self.all[..self.data].iter().position(|m| m.bps.abs_diff(bps) * 1000 <= m.bps)
    }
}

fn reference_bps(mode: &Mode) -> u64 {
    match mode.modulation {
        Modulation::Qam(bits) if mode.bits_per_symbol > 0 => {
            let (over, under) = mode.coding.ratio();
            u64::from(48 * bits * over / under) * 250_000
        }
        _ => mode.bps,
    }
}
