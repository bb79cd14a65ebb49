//! The largest of the last so many round trips, as far as three values can tell.
//!
//! Kept are the largest value, the largest since that one, and the largest since the second. When the first is too old the
//! others move up; a quarter of the window without a larger one makes the latest value the second, a half the third. So what
//! is given may be less than the true maximum of the window, and is never more: Kathleen Nichols' filter, which Linux uses.

/// See the top of this file. Values with the round trip in which they were seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentMax {
    best: [(u64, f64); 3],
}

impl RecentMax {
    /// The maximum; zero before the first value.
    pub(super) fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Takes in a value of round trip `at`, which never goes back.
    pub(super) fn update(&mut self, value: f64, at: u64, window: u64) {
        let new = (at, value);
        let best = &mut self.best;
        if value >= best[0].1 || at - best[2].0 > window {
            *best = [new; 3];
            return;
        }
        if value >= best[1].1 {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].1 {
            best[2] = new;
        }
        let age = at - best[0].0;
        if age > window {
            *best = [best[1], best[2], new];
            if at - best[0].0 > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > window / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].0 == best[1].0 && age > window / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(values: &[f64], window: u64) -> f64 {
        let mut max = RecentMax::default();
        for (at, value) in (0..).zip(values) {
            max.update(*value, at, window);
        }
        max.get()
    }

    #[test]
    fn the_largest_until_it_is_too_old() {
        assert_eq!(after(&[], 10), 0.0);
        assert_eq!(after(&[5.0, 3.0, 4.0], 10), 5.0);
        // Ten round trips after it 9 still counts, in the eleventh not.
        let mut values = vec![9.0];
        values.extend([4.0; 10]);
        assert_eq!(after(&values, 10), 9.0);
        values.push(4.0);
        assert_eq!(after(&values, 10), 4.0);
    }

    #[test]
    fn what_came_soon_after_the_largest_is_not_kept() {
        // A quarter of ten is 2: the value of round trip 3 is the first that is kept beside 9, and takes its place in the
        // eleventh, though 8 was larger.
        let mut values = vec![9.0, 8.0, 8.0];
        values.extend([7.0; 8]);
        assert_eq!(after(&values, 10), 9.0);
        values.push(6.0);
        assert_eq!(after(&values, 10), 7.0);
        // Half a window is 5: after 7 at 3, the value of round trip 6 is kept as the third, and follows when 7 is too old too.
        let values = [9.0, 8.0, 8.0, 7.0, 6.0, 6.0, 5.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0];
        assert_eq!(after(&values, 10), 7.0);
        assert_eq!(after(&values[..9], 3), 6.0);
    }
}
