//! The flow number that a packet carries: direction and lane.
//!
//! ```text
//! bit   0       1 .. 19           20 .. 30    31
//!       reverse number of a flow  lane        reserved
//! ```
//! A flow that has several connections at a time gives each a lane: queue disciplines that separate flows then separate
//! its connections, as a real one does by ports. Routes and results know the direction only.

/// Bits below the lane.
pub const LANE_SHIFT: u32 = 20;
/// Number of lanes; two connections may share one.
pub const LANES: u32 = 1 << 11;
/// Most flows of a run.
pub const MOST_FLOWS: usize = 1 << (LANE_SHIFT - 1);

/// The direction of a flow number: twice the number of the flow, and 1 for the reverse direction.
#[inline]
#[must_use]
pub fn direction_of(flow: u32) -> u32 {
    flow & ((1 << LANE_SHIFT) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_changes_no_direction() {
        let last = 2 * MOST_FLOWS as u32 - 1;
        assert_eq!([direction_of(5 | 3 << LANE_SHIFT), direction_of(last)], [5, last]);
        const { assert!((LANES - 1) << LANE_SHIFT < 1 << 31) };
    }
}
