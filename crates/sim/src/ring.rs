//! A queue in a ring of slots, of which the empty ones are None: one look at a slot finds out whether there is a value.

/// See the top of this file. The number of slots is a power of two, or zero.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    slots: Vec<Option<T>>,
    /// Numbers of the first value and of the slot after the last one; their places are modulo the number of slots.
    first: usize,
    next: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { slots: Vec::new(), first: 0, next: 0 }
    }
}

impl<T> Ring<T> {
    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.slots.len().wrapping_sub(1)
    }

    /// Number of values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.next.wrapping_sub(self.first)
    }

    /// True if the next value needs more slots.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() == self.slots.len()
    }

    /// The first value.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.slots.get(self.place(self.first))?.as_ref()
    }

    /// The last value.
    pub(crate) fn back(&self) -> Option<&T> {
        self.slots.get(self.place(self.next.wrapping_sub(1)))?.as_ref()
    }

    /// The values from the first to the last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let (after, before) = self.slots.split_at(self.place(self.first).min(self.slots.len()));
        before.iter().chain(after).flatten()
    }

    /// Takes the first value, if `wanted` returns true for it.
    #[inline]
    pub(crate) fn pop_if(&mut self, wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let place = self.place(self.first);
        let slot = self.slots.get_mut(place)?;
        if !slot.as_ref().is_some_and(wanted) {
            return None;
        }
        self.first = self.first.wrapping_add(1);
        slot.take()
    }

    /// Adds a value.
    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        let place = self.place(self.next);
        match self.slots.get_mut(place) {
            Some(slot) if slot.is_none() => *slot = Some(value),
            _ => self.grow(value),
        }
        self.next = self.next.wrapping_add(1);
    }

    /// Doubles the number of slots and adds a value.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, value: T) {
        let first = self.place(self.first).min(self.slots.len());
        self.slots.rotate_left(first);
        (self.first, self.next) = (0, self.len());
        let slots = (2 * self.slots.len()).max(4);
        self.slots.push(Some(value));
        self.slots.resize_with(slots, || None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_units::random::Stream;
    use std::collections::VecDeque;

    #[test]
    fn values_come_out_in_the_order_in_which_they_went_in() {
        let mut random = Stream::new(7, "ring");
        let (mut ring, mut model) = (Ring::default(), VecDeque::new());
        for n in 0..20_000u32 {
            // Long phases in which it grows, and in which it shrinks.
            if random.uniform() < if n / 500 % 2 == 0 { 0.7 } else { 0.3 } {
                ring.push(n);
                model.push_back(n);
            } else {
                let wanted = n % 5 != 0;
                assert_eq!(ring.pop_if(|_| wanted), if wanted { model.pop_front() } else { None });
            }
            assert_eq!((ring.len(), ring.front(), ring.back()), (model.len(), model.front(), model.back()));
            assert!(n % 100 != 0 || ring.iter().eq(&model));
        }
    }
}
