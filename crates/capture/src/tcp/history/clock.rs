//! Round trips from timestamps ([RFC 7323](https://www.rfc-editor.org/rfc/rfc7323)).

use std::collections::VecDeque;

/// Most timestamp values that wait for their echo.
const LIMIT: usize = 256;

/// The timestamps that one direction sent: when each value was first seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    waiting: VecDeque<(u32, i64, bool)>,
    /// The shortest time from a value to its echo, ns.
    pub(crate) shortest: Option<i64>,
}

impl Clock {
    /// Values that no echo has reached.
    #[inline]
    pub(crate) fn unanswered(&self) -> usize {
        self.waiting.len()
    }

    /// A segment with value `tsval` was seen; `data`: it must be answered at once.
    #[inline]
    pub(crate) fn sent(&mut self, tsval: u32, now: i64, data: bool) {
        match self.waiting.back_mut() {
            // A later segment with the same value: the value's echo may be to this one.
            Some(last) if last.0 == tsval => {
                last.2 &= data;
                return;
            }
            Some(last) if (tsval.wrapping_sub(last.0) as i32) < 0 => return,
            _ => {}
        }
        if self.waiting.len() == LIMIT {
            self.waiting.pop_front();
        }
        self.waiting.push_back((tsval, now, data));
    }

    /// The other side echoes `tsecr`: time since the value was sent, if this is its first echo and it was on data.
    #[inline]
    pub(crate) fn echoed(&mut self, tsecr: u32, now: i64) -> Option<i64> {
        while let Some(&(value, time, data)) = self.waiting.front() {
            let age = tsecr.wrapping_sub(value) as i32;
            if age < 0 {
                return None;
            }
            self.waiting.pop_front();
            if age == 0 {
                let rtt = now.wrapping_sub(time);
                if rtt < 0 {
                    return None;
                }
                self.shortest = Some(self.shortest.map_or(rtt, |s| s.min(rtt)));
                return data.then_some(rtt);
            }
        }
        None
    }
}
