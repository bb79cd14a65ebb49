//! Descriptions of sections and interfaces in a capture file [draft-ietf-opsawg-pcapng §4.1, §4.2].

use crate::LinkType;

/// A section of a pcapng file: the hardware and software that captured it. A pcap file has an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// `shb_hardware`.
    pub hardware: Option<String>,
    /// `shb_os`.
    pub os: Option<String>,
    /// `shb_userappl`.
    pub application: Option<String>,
    /// Comments on the section.
    pub comments: Vec<String>,
    /// Index of its first interface.
    pub first_interface: u32,
}

/// One interface of a capture; a pcap file has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its link type.
    pub link: LinkType,
    /// Snap length, bytes; 0: none.
    pub snaplen: u32,
    /// `if_name`.
    pub name: Option<String>,
    /// `if_description`.
    pub description: Option<String>,
    /// `if_filter`, if it is a filter expression.
    pub filter: Option<String>,
    /// Number of instructions of an `if_filter` that is BPF bytecode.
    pub filter_program: Option<u32>,
    /// `if_os`.
    pub os: Option<String>,
    /// `if_hardware`.
    pub hardware: Option<String>,
    /// `if_speed`, bit/s.
    pub speed: Option<u64>,
    /// `if_fcslen`: bytes of frame check sequence in each frame.
    pub fcs_len: Option<u8>,
    /// Bytes of frame check sequence, from `if_fcslen` or the link type field of pcap.
    pub(super) fcs: u8,
    /// Bytes of a pseudo-header before each frame, such as a direction.
    pub(super) pseudo_header: u32,
    /// Comments on the interface.
    pub comments: Vec<String>,
    /// Unit of its time stamps.
    pub resolution: Resolution,
    /// The `if_tsresol` byte of the file.
    pub tsresol: Option<u8>,
    /// `if_tsoffset`: seconds that are added to each time stamp.
    pub time_offset: i64,
    /// Frames of this interface so far.
    pub frames: u64,
    /// Number of statistics blocks.
    pub statistics: u32,
    /// `isb_ifrecv` of the last statistics block that has it: frames received.
    pub received: Option<u64>,
    /// `isb_ifdrop` of the last statistics block that has it: frames dropped.
    pub dropped: Option<u64>,
    /// `isb_osdrop` of the last statistics block that has it: frames dropped by the operating system.
    pub dropped_by_os: Option<u64>,
}

impl Interface {
    pub(super) fn new(link: LinkType, resolution: Resolution) -> Self {
        Self {
            link,
            snaplen: 0,
            name: None,
            description: None,
            filter: None,
            filter_program: None,
            os: None,
            hardware: None,
            speed: None,
            fcs_len: None,
            fcs: 0,
            pseudo_header: super::limits::pseudo_header(link),
            comments: Vec::new(),
            resolution,
            tsresol: None,
            time_offset: 0,
            frames: 0,
            statistics: 0,
            received: None,
            dropped: None,
            dropped_by_os: None,
        }
    }
}

/// The unit of an interface's time stamps: a second divided by a power of 10 or of 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resolution {
    base: u8,
    exponent: u8,
    /// Nanoseconds in a unit, if that is a whole number.
    pub(super) nanoseconds: Option<u32>,
}

impl Resolution {
    /// Microseconds: pcapng's default.
    pub const MICRO: Self = Self::decimal(6);
    /// Nanoseconds.
    pub const NANO: Self = Self::decimal(9);

    const fn decimal(exponent: u8) -> Self {
        let nanoseconds = if exponent <= 9 { Some(10_u32.pow(9 - exponent as u32)) } else { None };
        Self { base: 10, exponent, nanoseconds }
    }

    /// From the value of `if_tsresol`.
    pub(super) fn from_option(value: u8) -> Self {
        if value & 0x80 == 0 {
            return Self::decimal(value);
        }
        let exponent = value & 0x7f;
        // 10^9 has nine factors 2, so a unit of 2^-9 s or coarser is a whole number of nanoseconds.
        let nanoseconds = (exponent <= 9).then(|| 1_000_000_000 >> exponent);
        Self { base: 2, exponent, nanoseconds }
    }

    /// Units in a second; `u64::MAX` if there are more.
    pub fn per_second(self) -> u64 {
        u64::from(self.base).checked_pow(self.exponent.into()).unwrap_or(u64::MAX)
    }

    /// Decimal digits with which Wireshark shows such time stamps: 0, 1, 2, 3, 6 or 9.
    pub fn digits(self) -> u8 {
        match self.per_second().ilog10() {
            n @ 0..=3 => n as u8,
            4..=5 => 3,
            6..=8 => 6,
            _ => 9,
        }
    }

    /// Nanoseconds of `units`, rounded down. `None` beyond the range of an `i64`.
    #[inline]
    pub(super) fn to_nanoseconds(self, units: u64) -> Option<i64> {
        match self.nanoseconds {
            Some(each) => i64::try_from(units.checked_mul(each.into())?).ok(),
            None => self.divide(units),
        }
    }

    // DIVERGES [Wireshark 4.0]: it multiplies in 64 bits, so times in units finer than 2^-34 s are wrong there.
    fn divide(self, units: u64) -> Option<i64> {
        let wide = u128::from(units);
        let ns = match self.base {
            2 => (wide * 1_000_000_000) >> self.exponent,
            _ => wide / 10_u128.checked_pow(u32::from(self.exponent) - 9).unwrap_or(u128::MAX),
        };
        i64::try_from(ns).ok()
    }
}
