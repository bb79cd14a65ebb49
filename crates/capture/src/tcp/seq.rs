//! Sequence numbers: 32 bits, modular. `a` comes before `b` if the way from `a` up to `b` is the shorter one.

/// `a < b`.
#[inline]
pub(crate) fn lt(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// `a <= b`.
#[inline]
pub(crate) fn le(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) <= 0
}

/// `a > b`. At a distance of exactly 2^31 each number comes both before and after the other.
#[inline]
pub(crate) fn gt(a: u32, b: u32) -> bool {
    lt(b, a)
}

/// The later of two.
#[inline]
pub(crate) fn max(a: u32, b: u32) -> u32 {
    if lt(a, b) { b } else { a }
}

/// The earlier of two.
#[inline]
pub(crate) fn min(a: u32, b: u32) -> u32 {
    if lt(b, a) { b } else { a }
}
