//! A compact form of the state of a connection, for the many that are idle or have ended.
//!
//! A state is a tree of integers, most of which are small or 0. Each integer is written in as few bytes as it needs, a
//! run of zeros as its length, and a time as the difference from the time before it. The state of an idle connection,
//! about 5 KB with its tables, takes 200 to 600 bytes.
//!
//! A number `t` below 2^56 takes `len` bytes of seven bits each: little-endian, the lowest bits of the first byte are a
//! 1 after `len - 1` zeros. Numbers 0 to 2 begin a run of zeros: 1 and 2 are its length, after 0 the length follows.
//! The integer `n` is the number `n + 2`, or the byte 0 and its eight bytes. Zeros at the end are left out.
//!
//! A value is unpacked into an existing one, whose memory is used again: most of the time of a capture with many open
//! connections would be allocations. A type lists its fields with [`fields!`](crate::pack::fields), which does not
//! compile if one is missing.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

use dumbbell_wire::{SackBlock, SackBlocks, Seq};

/// Values above it are times since 1970 or differences of such: 13 days in ns.
const TIME: u64 = 1 << 50;
/// Numbers from here on take nine bytes.
const WIDE: u64 = 1 << 56;
/// Difference of an integer and its number: the lower numbers are runs of zeros.
const RUNS: u64 = 2;
/// Elements for which a list keeps its memory.
const SPARE: usize = 16;

/// Makes compact forms. Its memory is used again.
#[derive(Default)]
pub(crate) struct Packer {
    bytes: Vec<u8>,
}

impl Packer {
    /// The compact form of a value.
    pub(crate) fn pack(&mut self, value: &impl Pack) -> Box<[u8]> {
        let end = value.pack(self.begin(0)).at;
        self.bytes[..end].into()
    }

    /// The compact forms of two values, which are read separately, and the length of the first.
    pub(crate) fn pack_both(&mut self, first: &impl Pack, second: &impl Pack) -> (Box<[u8]>, u32) {
        let middle = first.pack(self.begin(0)).at;
        let end = second.pack(self.begin(middle)).at;
        (self.bytes[..end].into(), middle as u32)
    }

    fn begin(&mut self, at: usize) -> Packing<'_> {
        Packing { bytes: &mut self.bytes, at, zeros: 0, last: 0 }
    }
}

/// A compact form in progress. It is passed by value, so that its state stays in registers.
pub(crate) struct Packing<'a> {
    bytes: &'a mut Vec<u8>,
    /// End of the bytes that are written.
    at: usize,
    /// Zeros that are not written yet.
    zeros: u64,
    /// The last time.
    last: i64,
}

impl Packing<'_> {
    #[inline]
    pub(crate) fn put(self, n: u64) -> Self {
        if n == 0 {
            Self { zeros: self.zeros + 1, ..self }
        } else {
            Self { at: write(self.bytes, self.at, self.zeros, n), zeros: 0, ..self }
        }
    }

    #[inline]
    pub(crate) fn put_zeros(self, count: u64) -> Self {
        Self { zeros: self.zeros + count, ..self }
    }

    #[inline]
    fn signed(self, n: i64) -> Self {
        if n.unsigned_abs() < TIME {
            return self.put(zigzag(n) << 2);
        }
        let difference = zigzag(n.wrapping_sub(self.last));
        let now = Self { last: n, ..self };
        if difference < TIME { now.put(difference << 2 | 1) } else { now.put(2).put(n as u64) }
    }
}

/// Most bytes of a run of zeros and an integer.
const MOST: usize = 1 + 9 + 9;

/// Writes a run of zeros and an integer other than 0 at `at`. Returns their end.
#[inline(never)]
fn write(bytes: &mut Vec<u8>, at: usize, zeros: u64, n: u64) -> usize {
    if let Some(room) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<MOST>())
        && zeros < 128
        && n < WIDE - RUNS
    {
        // A run of less than 128 zeros takes two bytes at most.
        let run = zeros << 1 | 1;
        let (begin, before) = match zeros {
            0 => (0, 0),
            1..=RUNS => (run, 1),
            _ => (run << 8 | 1, 2),
        };
        let (code, len) = number(n + RUNS);
        room[..2].copy_from_slice(&(begin as u16).to_le_bytes());
        room[before..before + 8].copy_from_slice(&code.to_le_bytes());
        return at + before + len;
    }
    write_any(bytes, at, zeros, n)
}

/// [`write`] without conditions.
#[cold]
#[inline(never)]
fn write_any(bytes: &mut Vec<u8>, mut at: usize, zeros: u64, n: u64) -> usize {
    if bytes.len() < at + MOST {
        bytes.resize(2 * (at + MOST), 0);
    }
    let mut append = |t: u64| {
        let (code, len) = number(t);
        bytes[at..at + 8].copy_from_slice(&code.to_le_bytes());
        at += len;
    };
    if zeros > RUNS {
        append(0);
    }
    if zeros > 0 {
        append(zeros);
    }
    if n < WIDE - RUNS {
        append(n + RUNS);
        return at;
    }
    bytes[at] = 0;
    bytes[at + 1..at + 9].copy_from_slice(&n.to_le_bytes());
    at + 9
}

/// The code of a number below [`WIDE`], and its length.
#[inline]
fn number(t: u64) -> (u64, usize) {
    let len = (t | 1).ilog2() / 7 + 1;
    (t << len | 1 << (len - 1), len as usize)
}

#[inline]
fn zigzag(n: i64) -> u64 {
    ((n << 1) ^ (n >> 63)) as u64
}

#[inline]
fn unzigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

/// Reads a compact form. Beyond its end all integers are 0.
pub(crate) struct Unpacker<'a> {
    bytes: &'a [u8],
    zeros: u64,
    last: i64,
}

/// The value of a compact form.
pub(crate) fn unpack<T: Pack>(bytes: &[u8]) -> T {
    let mut value = T::blank();
    unpack_into(&mut value, bytes);
    value
}

/// Replaces `value` by that of a compact form.
pub(crate) fn unpack_into(value: &mut impl Pack, bytes: &[u8]) {
    value.unpack(&mut Unpacker { bytes, zeros: 0, last: 0 });
}

impl Unpacker<'_> {
    #[inline]
    pub(crate) fn get(&mut self) -> u64 {
        if self.zeros > 0 {
            self.zeros -= 1;
            return 0;
        }
        if let Some(bytes) = self.bytes.first_chunk::<8>() {
            let word = u64::from_le_bytes(*bytes);
            let len = word.trailing_zeros() + 1;
            if len <= 8 {
                self.bytes = &self.bytes[len as usize..];
                let t = word >> len & ((1 << (7 * len)) - 1);
                if t > RUNS {
                    return t - RUNS;
                }
                return self.run(t);
            }
        }
        self.get_any()
    }

    /// The first zero of a run that begins with the number `t`.
    #[inline]
    fn run(&mut self, t: u64) -> u64 {
        self.zeros = if t == 0 { self.number() } else { t } - 1;
        0
    }

    /// [`Self::get`] of nine bytes, or near the end.
    #[cold]
    #[inline(never)]
    fn get_any(&mut self) -> u64 {
        match self.bytes.first() {
            Some(0) => {
                self.bytes = &self.bytes[1..];
                let n = self.word();
                self.bytes = self.bytes.get(8..).unwrap_or_default();
                n
            }
            Some(_) => {
                let t = self.number();
                if t > RUNS { t - RUNS } else { self.run(t) }
            }
            None => 0,
        }
    }

    /// True, and they are skipped, if the next `count` integers are 0.
    #[inline]
    pub(crate) fn skip_zeros(&mut self, count: u64) -> bool {
        if self.zeros == 0 {
            match self.bytes.first() {
                // The codes of 0, 1 and 2.
                Some(1 | 3 | 5) => {
                    let t = self.number();
                    self.zeros = if t == 0 { self.number() } else { t };
                }
                Some(_) => return false,
                None => return true,
            }
        }
        let all = self.zeros >= count || self.bytes.is_empty();
        if all {
            self.zeros = self.zeros.saturating_sub(count);
        }
        all
    }

    #[inline]
    fn number(&mut self) -> u64 {
        let word = self.word();
        let len = word.trailing_zeros().min(7) + 1;
        self.bytes = self.bytes.get(len as usize..).unwrap_or_default();
        word >> len & ((1 << (7 * len)) - 1)
    }

    /// The next eight bytes; beyond the end they are 0.
    #[inline]
    fn word(&self) -> u64 {
        match self.bytes.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                let mut bytes = [0; 8];
                bytes[..self.bytes.len()].copy_from_slice(self.bytes);
                u64::from_le_bytes(bytes)
            }
        }
    }

    #[inline]
    fn signed(&mut self) -> i64 {
        let code = self.get();
        match code & 3 {
            0 => unzigzag(code >> 2),
            1 => {
                self.last = self.last.wrapping_add(unzigzag(code >> 2));
                self.last
            }
            _ => {
                self.last = self.get() as i64;
                self.last
            }
        }
    }
}

/// A value with a compact form.
pub(crate) trait Pack: Sized {
    /// The value whose integers are all 0.
    fn blank() -> Self;
    /// The number of integers of the blank value.
    fn zeros(&self) -> u64;
    /// True only for the blank value.
    fn is_blank(&self) -> bool;
    /// Makes the value blank.
    fn clear(&mut self);
    fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a>;
    /// Replaces the value.
    fn unpack(&mut self, from: &mut Unpacker<'_>);
}

/// Implements [`Pack`] for a type of plain values by their conversion to and from integers.
macro_rules! plain {
    ($type:ty, $zeros:expr, $blank:expr, |$is:ident| $is_blank:expr, |$value:ident, $to:ident| $pack:expr,
     |$from:ident| $unpack:expr) => {
        impl $crate::pack::Pack for $type {
            #[inline]
            fn blank() -> Self {
                $blank
            }
            #[inline]
            fn zeros(&self) -> u64 {
                $zeros
            }
            #[inline]
            fn is_blank(&self) -> bool {
                let $is = self;
                $is_blank
            }
            #[inline]
            fn clear(&mut self) {
                *self = $blank;
            }
            #[inline]
            fn pack<'a>(&self, $to: $crate::pack::Packing<'a>) -> $crate::pack::Packing<'a> {
                let $value = self;
                $pack
            }
            #[inline]
            fn unpack(&mut self, $from: &mut $crate::pack::Unpacker<'_>) {
                *self = $unpack;
            }
        }
    };
}

macro_rules! unsigned {
    ($($type:ty),*) => { $(
        plain!($type, 1, 0, |n| *n == 0, |n, to| to.put(*n as u64), |from| from.get() as $type);
    )* };
}
unsigned!(u8, u16, u32, u64, usize);
plain!(i64, 1, 0, |n| *n == 0, |n, to| to.signed(*n), |from| from.signed());
plain!(i8, 1, 0, |n| *n == 0, |n, to| to.put(u64::from(*n as u8)), |from| from.get() as u8 as Self);
plain!(bool, 1, false, |yes| !*yes, |yes, to| to.put(u64::from(*yes)), |from| from.get() != 0);
plain!(f64, 1, 0.0, |x| x.to_bits() == 0, |x, to| to.put(x.to_bits()), |from| Self::from_bits(from.get()));
plain!(u128, 2, 0, |n| *n == 0, |n, to| to.put(*n as u64).put((*n >> 64) as u64), |from| {
    let low = Self::from(from.get());
    low | Self::from(from.get()) << 64
});
plain!(
    IpAddr,
    2,
    Self::V4(Ipv4Addr::UNSPECIFIED),
    |address| *address == Self::V4(Ipv4Addr::UNSPECIFIED),
    |address, to| match address {
        Self::V4(a) => (0_u8, u32::from(*a)).pack(to),
        Self::V6(a) => (1_u8, u128::from(*a)).pack(to),
    },
    |from| match from.get() {
        0 => Self::V4((from.get() as u32).into()),
        _ => Self::V6((u128::from(from.get()) | u128::from(from.get()) << 64).into()),
    }
);

impl<T: Pack> Pack for Option<T> {
    #[inline]
    fn blank() -> Self {
        None
    }
    #[inline]
    fn zeros(&self) -> u64 {
        1
    }
    #[inline]
    fn is_blank(&self) -> bool {
        self.is_none()
    }
    #[inline]
    fn clear(&mut self) {
        *self = None;
    }
    #[inline]
    fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a> {
        match self {
            Some(value) => value.pack(to.put(1)),
            None => to.put(0),
        }
    }
    #[inline]
    fn unpack(&mut self, from: &mut Unpacker<'_>) {
        if from.get() == 0 {
            *self = None;
        } else {
            self.get_or_insert_with(T::blank).unpack(from);
        }
    }
}

impl<T: Pack> Pack for Box<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }
    #[inline]
    fn zeros(&self) -> u64 {
        (**self).zeros()
    }
    #[inline]
    fn is_blank(&self) -> bool {
        (**self).is_blank()
    }
    fn clear(&mut self) {
        (**self).clear();
    }
    fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a> {
        (**self).pack(to)
    }
    fn unpack(&mut self, from: &mut Unpacker<'_>) {
        (**self).unpack(from);
    }
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    fn blank() -> Self {
        std::array::from_fn(|_| T::blank())
    }
    #[inline]
    fn zeros(&self) -> u64 {
        self.iter().map(T::zeros).sum()
    }
    #[inline]
    fn is_blank(&self) -> bool {
        // Without a branch for each element.
        self.iter().fold(true, |all, value| all & value.is_blank())
    }
    fn clear(&mut self) {
        self.iter_mut().for_each(T::clear);
    }
    fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a> {
        // Structures look at their own fields.
        if self.zeros() == N as u64 && self.is_blank() {
            return to.put_zeros(self.zeros());
        }
        self.iter().fold(to, |to, value| value.pack(to))
    }
    fn unpack(&mut self, from: &mut Unpacker<'_>) {
        if from.skip_zeros(self.zeros()) {
            return self.clear();
        }
        self.iter_mut().for_each(|value| value.unpack(from));
    }
}

macro_rules! sequences {
    ($($type:ident $push:ident),*) => { $(
        impl<T: Pack> Pack for $type<T> {
            fn blank() -> Self {
                Self::new()
            }
            #[inline]
            fn zeros(&self) -> u64 {
                1
            }
            #[inline]
            fn is_blank(&self) -> bool {
                self.is_empty()
            }
            #[inline]
            fn clear(&mut self) {
                self.truncate(0);
                if self.capacity() > SPARE {
                    self.shrink_to_fit();
                }
            }
            fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a> {
                self.iter().fold(to.put(self.len() as u64), |to, value| value.pack(to))
            }
            fn unpack(&mut self, from: &mut Unpacker<'_>) {
                let count = from.get() as usize;
                if count == 0 || self.capacity() > SPARE {
                    Pack::clear(self);
                }
                // Elements are replaced where they are.
                self.truncate(count);
                self.reserve_exact(count - self.len());
                self.iter_mut().for_each(|value| value.unpack(from));
                for _ in self.len()..count {
                    let mut value = T::blank();
                    value.unpack(from);
                    self.$push(value);
                }
            }
        }
    )* };
}
sequences!(Vec push, VecDeque push_back);

macro_rules! tuples {
    ($(($($name:ident $at:tt),*)),*) => { $(
        impl<$($name: Pack),*> Pack for ($($name,)*) {
            fn blank() -> Self {
                ($($name::blank(),)*)
            }
            #[inline]
            fn zeros(&self) -> u64 {
                0 $(+ self.$at.zeros())*
            }
            #[inline]
            fn is_blank(&self) -> bool {
                true $(&& self.$at.is_blank())*
            }
            fn clear(&mut self) {
                $(self.$at.clear();)*
            }
            fn pack<'a>(&self, to: Packing<'a>) -> Packing<'a> {
                $(let to = self.$at.pack(to);)*
                to
            }
            fn unpack(&mut self, from: &mut Unpacker<'_>) {
                $(self.$at.unpack(from);)*
            }
        }
    )* };
}
tuples!((A 0, B 1), (A 0, B 1, C 2));

plain!(
    SackBlock,
    2,
    Self { left: Seq(0), right: Seq(0) },
    |block| block.left.0 | block.right.0 == 0,
    |block, to| (block.left.0, block.right.0).pack(to),
    |from| Self { left: Seq(from.get() as u32), right: Seq(from.get() as u32) }
);
plain!(
    SackBlocks,
    1,
    Self::default(),
    |blocks| blocks.as_slice().is_empty(),
    |blocks, to| {
        let blocks = blocks.as_slice();
        blocks.iter().fold(to.put(blocks.len() as u64), |to, block| block.pack(to))
    },
    |from| {
        let mut blocks = Self::default();
        for _ in 0..from.get() {
            blocks.push(Seq(from.get() as u32), Seq(from.get() as u32));
        }
        blocks
    }
);

/// Implements [`Pack`] for a structure by its fields, all of which must be listed. A semicolon separates groups of
/// fields: a group that is blank, such as the counts of a rare event, is written and read as a whole.
macro_rules! fields {
    ($type:ty { $($($field:ident),+ $(,)?);+ }) => {
        impl $crate::pack::Pack for $type {
            fn blank() -> Self {
                Self { $($($field: $crate::pack::Pack::blank()),+),+ }
            }
            #[inline]
            fn zeros(&self) -> u64 {
                0 $($(+ $crate::pack::Pack::zeros(&self.$field))+)+
            }
            #[inline]
            fn is_blank(&self) -> bool {
                true $($(&& $crate::pack::Pack::is_blank(&self.$field))+)+
            }
            fn clear(&mut self) {
                $($($crate::pack::Pack::clear(&mut self.$field);)+)+
            }
            fn pack<'a>(&self, to: $crate::pack::Packing<'a>) -> $crate::pack::Packing<'a> {
                let Self { $($($field),+),+ } = self;
                $(
                    let to = if true $(&& $crate::pack::Pack::is_blank($field))+ {
                        to.put_zeros(0 $(+ $crate::pack::Pack::zeros($field))+)
                    } else {
                        $(let to = $crate::pack::Pack::pack($field, to);)+
                        to
                    };
                )+
                to
            }
            fn unpack(&mut self, from: &mut $crate::pack::Unpacker<'_>) {
                $(
                    if from.skip_zeros(0 $(+ $crate::pack::Pack::zeros(&self.$field))+) {
                        $($crate::pack::Pack::clear(&mut self.$field);)+
                    } else {
                        $($crate::pack::Pack::unpack(&mut self.$field, from);)+
                    }
                )+
            }
        }
    };
}

/// Implements [`Pack`] for an enumeration without data by its variants, all of which must be listed.
macro_rules! variants {
    ($type:ty { $first:ident $(, $variant:ident)* $(,)? }) => {
        $crate::pack::plain!(
            $type,
            1,
            Self::$first,
            |value| matches!(value, Self::$first),
            |value, to| match value {
                Self::$first $(| Self::$variant)* => $crate::pack::Pack::pack(&(*value as u8), to),
            },
            |from| match from.get() {
                $(n if n == Self::$variant as u64 => Self::$variant,)*
                _ => Self::$first,
            }
        );
    };
}

pub(crate) use {fields, plain, variants};

#[cfg(test)]
mod tests {
    use super::*;

    fn same<T: Pack + PartialEq + std::fmt::Debug>(value: &T) -> usize {
        let mut packer = Packer::default();
        // The packer is used again: nothing of an earlier value remains.
        packer.pack(&(7_u64, i64::MAX));
        let bytes = packer.pack(value);
        let mut unpacked = unpack::<T>(&bytes);
        assert_eq!(&unpacked, value);
        // An existing value is replaced as a whole, by any value: also by a blank one.
        unpack_into(&mut unpacked, &packer.pack(&T::blank()));
        assert_eq!(unpacked, T::blank());
        unpack_into(&mut unpacked, &bytes);
        assert_eq!(&unpacked, value);
        bytes.len()
    }

    #[test]
    fn values_return_unchanged() {
        same(&vec![0_u64, 1, 127, 128, u64::MAX, 0, 0, 5, 0]);
        same(&vec![0_i64, -1, 1, i64::MIN, i64::MAX, 1 << 50, -(1 << 50), (1 << 50) - 1, 0, i64::MIN]);
        same(&vec![1_700_000_000_000_000_000_i64, 1_700_000_000_000_000_001, 3, 1_699_999_999_999_999_999]);
        same(&(Some(3_u32), None::<u32>, vec![Some(false), Some(true), None]));
        same(&([1.5_f64, f64::NEG_INFINITY, 0.0, -0.0], -5_i8));
        same(&(u128::MAX, 1_u128 << 64));
        same(&vec![IpAddr::from([10, 0, 0, 1]), IpAddr::from([1_u16, 2, 3, 4, 5, 6, 7, 8])]);
        same(&SackBlock { left: Seq(u32::MAX), right: Seq(0) });
    }

    #[test]
    fn zeros_and_near_times_are_short() {
        // The length 1000 takes two bytes; zeros at the end take none.
        assert_eq!(same(&vec![0_u64; 1000]), 2);
        // With a 1 behind them: a byte that begins the run, two for its length 999, one for the 1.
        assert_eq!(same(&[vec![0_u64; 999], vec![1]].concat()), 2 + 1 + 2 + 1);
        // One zero or two between other values take one byte.
        assert_eq!(same(&[1_u64, 0, 1, 0, 0, 1]), 5);
        // One byte for the length; 2 and nine bytes for the first time; 1 us later is 1000 * 2 * 4 + 1: two bytes.
        let t = 1_700_000_000_000_000_000_i64;
        assert_eq!(same(&vec![t, t + 1000]), 1 + 1 + 9 + 2);
        // Seven bits a byte: the number of 125 is 127, that of 126 is 128. From 2^56 - 2 on nine bytes.
        assert_eq!([same(&125_u64), same(&126_u64), same(&16_381_u64), same(&16_382_u64)], [1, 2, 2, 3]);
        assert_eq!([same(&((1_u64 << 56) - 3)), same(&((1_u64 << 56) - 2))], [8, 9]);
    }

    #[test]
    fn two_values_are_read_separately() {
        let (first, second) = (vec![5_u64, 0, 0], vec![1_700_000_000_000_000_000_i64, 7]);
        let (bytes, len) = Packer::default().pack_both(&first, &second);
        assert_eq!(unpack::<Vec<u64>>(&bytes[..len as usize]), first);
        assert_eq!(unpack::<Vec<i64>>(&bytes[len as usize..]), second);
    }
}
