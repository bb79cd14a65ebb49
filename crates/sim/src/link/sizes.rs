//! The last two packet sizes of a link: nearly all packets have one of two. Each has its transmission time, and numbers
//! of packets that the link's meter receives later.

use crate::link_meter::LinkMeter;
use dumbbell_units::{Bytes, Dur, Rate, Time};

/// A packet size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    bytes: u32,
    /// Its transmission time.
    pub(super) time: Dur,
    /// The part of the measurement in which a transmission can begin that ends within it.
    within: Dur,
    /// Packets that came and left within the measurement, not yet in the meter: without waiting, and after waiting.
    pub(super) passed: u64,
    waited: u64,
    /// The time for which these have waited, ns.
    waiting: u64,
}

/// See the top of this file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes([Size; 2]);

impl Sizes {
    /// Returns the size of a packet of `bytes` on a link with this rate.
    #[inline]
    pub(super) fn get(&mut self, bytes: u32, rate: Rate, meter: &mut LinkMeter) -> &mut Size {
        if self.0[0].bytes != bytes {
            self.find(bytes, rate, meter);
        }
        &mut self.0[0]
    }

    /// Brings a size to the first place.
    #[inline(never)]
    fn find(&mut self, bytes: u32, rate: Rate, meter: &mut LinkMeter) {
        self.0.swap(0, 1);
        if self.0[0].bytes != bytes {
            self.0[0].report(meter);
            let time = rate.time_for(Bytes(u64::from(bytes)));
            self.0[0] = Size { bytes, time, within: meter.room_for(time), passed: 0, waited: 0, waiting: 0 };
        }
    }

    /// Reports the packets to the meter.
    pub(super) fn report(&mut self, meter: &mut LinkMeter) {
        self.0.iter_mut().for_each(|size| size.report(meter));
    }
}

impl Size {
    /// True if a transmission that begins at `now` is within the measurement, as [`LinkMeter::contains`] returns.
    #[inline(always)]
    pub(super) fn is_measured(&self, now: Time, meter: &LinkMeter) -> bool {
        now.0.wrapping_sub(meter.from().0) < self.within.0 // before the measurement the difference is huge
    }

    /// Counts a packet that waits for `span`.
    #[inline(always)]
    pub(super) fn waits(&mut self, span: Dur, meter: &mut LinkMeter) {
        self.waited += 1;
        self.waiting += span.0;
        if self.waiting > u64::MAX / 2 {
            self.report(meter); // no span is longer than half of the largest number
        }
    }

    #[inline(never)]
    fn report(&mut self, meter: &mut LinkMeter) {
        meter.left(self.passed, self.waited, self.bytes, self.time);
        if self.waited > 0 {
            meter.have_waited(self.bytes, self.waiting);
        }
        (self.passed, self.waited, self.waiting) = (0, 0, 0);
    }
}
