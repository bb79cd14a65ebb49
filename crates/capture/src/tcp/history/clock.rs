//! RTT samples from timestamps [RFC 7323 §4].

use std::collections::VecDeque;

/// Most timestamp values without an echo.
const LIMIT: usize = 256;

/// The timestamp values of one direction, with the time of their first capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    waiting: VecDeque<(u32, i64, bool)>,
    /// The shortest time from a value to its echo, ns.
    pub(crate) shortest: Option<i64>,
}

impl Clock {
    /// Number of values without an echo.
    #[inline]
    pub(crate) fn unanswered(&self) -> usize {
        self.waiting.len()
    }

    /// Records a segment with the value `tsval`; `data`: it has data, so its echo is an RTT sample.
    #[inline]
    pub(crate) fn sent(&mut self, tsval: u32, now: i64, data: bool) {
        match self.waiting.back_mut() {
            // A later segment with the same value: the echo may be for either.
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

    /// Processes the echo `tsecr`. Returns the time since the value was sent, if this is its first echo and it was on
    /// data.
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

crate::pack::fields!(Clock { waiting, shortest });
