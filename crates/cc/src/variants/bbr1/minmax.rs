//! Windowed maximum with three samples of state, Kathleen Nichols' algorithm [Linux lib/win_minmax.c
//! minmax_running_max].
//!
//! The filter keeps the largest value, the largest value since that one, and the largest since the second. When the
//! first leaves the window, the others move up. After a quarter of the window without a larger value the latest value
//! becomes the second; after half of the window it becomes the third. The result may therefore be smaller than the
//! true maximum of the window, and is never larger.

/// The three samples, each with the round trip in which it was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinMax {
    s: [(u64, f64); 3],
}

impl MinMax {
    /// Returns the maximum; zero before the first value [Linux win_minmax.h minmax_get].
    pub(super) fn get(&self) -> f64 {
        self.s[0].1
    }

    /// Adds a value of round trip `t`, which never decreases [Linux win_minmax.c minmax_running_max].
    pub(super) fn running_max(&mut self, value: f64, t: u64, window: u64) {
        let new = (t, value);
        let s = &mut self.s;
        if value >= s[0].1 || t - s[2].0 > window {
            *s = [new; 3];
            return;
        }
        if value >= s[1].1 {
            (s[1], s[2]) = (new, new);
        } else if value >= s[2].1 {
            s[2] = new;
        }
        self.subwin_update(new, window);
    }

    /// Replaces samples that are too old [Linux win_minmax.c minmax_subwin_update].
    fn subwin_update(&mut self, new: (u64, f64), window: u64) {
        let s = &mut self.s;
        let age = new.0 - s[0].0;
        if age > window {
            *s = [s[1], s[2], new];
            if new.0 - s[0].0 > window {
                *s = [s[1], s[2], new];
            }
        } else if s[1].0 == s[0].0 && age > window / 4 {
            (s[1], s[2]) = (new, new);
        } else if s[2].0 == s[1].0 && age > window / 2 {
            s[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(values: &[f64], window: u64) -> f64 {
        let mut max = MinMax::default();
        for (at, value) in (0..).zip(values) {
            max.running_max(*value, at, window);
        }
        max.get()
    }

    #[test]
    fn the_largest_value_counts_until_it_leaves_the_window() {
        assert_eq!(after(&[], 10), 0.0);
        assert_eq!(after(&[5.0, 3.0, 4.0], 10), 5.0);
        // 9 counts for ten more round trips, and not in the eleventh.
        let mut values = vec![9.0];
        values.extend([4.0; 10]);
        assert_eq!(after(&values, 10), 9.0);
        values.push(4.0);
        assert_eq!(after(&values, 10), 4.0);
    }

    #[test]
    fn values_soon_after_the_largest_are_not_kept() {
        // A quarter of ten is 2: the value of round trip 3 is the first that becomes the second sample. It replaces 9
        // in the eleventh round trip, although 8 was larger.
        let mut values = vec![9.0, 8.0, 8.0];
        values.extend([7.0; 8]);
        assert_eq!(after(&values, 10), 9.0);
        values.push(6.0);
        assert_eq!(after(&values, 10), 7.0);
        // Half of the window is 5: after 7 in round trip 3, the value of round trip 6 becomes the third sample. It is
        // the maximum when 7 has left the window too.
        let values = [9.0, 8.0, 8.0, 7.0, 6.0, 6.0, 5.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0];
        assert_eq!(after(&values, 10), 7.0);
        assert_eq!(after(&values[..9], 3), 6.0);
    }
}
