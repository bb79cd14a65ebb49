//! Finds the slot of a connection by the hash of its endpoints: a table of hashes and slots with linear probing and
//! deletion by backward shift [Knuth, TAOCP vol. 3, §6.4, algorithms L and R]. The endpoints are only in the slots: an
//! entry has 8 bytes, and a connection needs at most 22 of them.

/// An entry: hash and slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    hash: u32,
    slot: u32,
}

const EMPTY: Entry = Entry { hash: 0, slot: u32::MAX };

/// The table. Its length is a power of two.
#[derive(Debug)]
pub(super) struct Index {
    entries: Vec<Entry>,
    used: usize,
}

impl Index {
    pub(super) fn new() -> Self {
        Self { entries: vec![EMPTY; 16], used: 0 }
    }

    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    /// The slot with this hash for which `is_it` returns true.
    #[inline]
    pub(super) fn find(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = hash as usize & self.mask();
        loop {
            let entry = self.entries[at];
            if entry == EMPTY {
                return None;
            }
            if entry.hash == hash && is_it(entry.slot) {
                return Some(entry.slot);
            }
            at = (at + 1) & self.mask();
        }
    }

    /// Adds a slot, which must be below `u32::MAX`.
    pub(super) fn insert(&mut self, hash: u32, slot: u32) {
        if self.used * 4 >= self.entries.len() * 3 {
            let larger = vec![EMPTY; 2 * self.entries.len()];
            for entry in std::mem::replace(&mut self.entries, larger) {
                if entry != EMPTY {
                    self.put(entry);
                }
            }
        }
        self.put(Entry { hash, slot });
        self.used += 1;
    }

    fn put(&mut self, entry: Entry) {
        let mut at = entry.hash as usize & self.mask();
        while self.entries[at] != EMPTY {
            at = (at + 1) & self.mask();
        }
        self.entries[at] = entry;
    }

    /// Removes a slot that was added with this hash.
    pub(super) fn remove(&mut self, hash: u32, slot: u32) {
        let mask = self.mask();
        let mut hole = hash as usize & mask;
        while self.entries[hole].slot != slot {
            if self.entries[hole] == EMPTY {
                return;
            }
            hole = (hole + 1) & mask;
        }
        self.used -= 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let entry = self.entries[at];
            if entry == EMPTY {
                break;
            }
            // An entry moves back unless its probing begins after the hole.
            let home = entry.hash as usize & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.entries[hole] = entry;
                hole = at;
            }
        }
        self.entries[hole] = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn slots_are_found_until_they_are_removed() {
        let (mut index, mut known) = (Index::new(), BTreeMap::new());
        let mut state = 1_u64;
        for slot in 0..3_000_u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Few different hashes, some of them at the end of the table: long runs that wrap around.
            let hash = if state >> 63 == 0 { (state >> 40) as u32 % 64 } else { u32::MAX - (state >> 40) as u32 % 64 };
            index.insert(hash, slot);
            known.insert(slot, hash);
            if slot % 3 == 2 {
                let gone = (state >> 33) as u32 % slot;
                if let Some(hash) = known.remove(&gone) {
                    index.remove(hash, gone);
                    assert_eq!(index.find(hash, |n| n == gone), None);
                }
            }
        }
        assert_eq!(index.used, known.len());
        for (&slot, &hash) in &known {
            assert_eq!(index.find(hash, |n| n == slot), Some(slot));
        }
        for (slot, hash) in known {
            index.remove(hash, slot);
        }
        assert!(index.entries.iter().all(|&entry| entry == EMPTY));
        index.remove(5, 5); // no such slot
    }
}
