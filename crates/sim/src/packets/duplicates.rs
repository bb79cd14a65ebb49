//! The copies of packets that links have duplicated.
//!
//! A packet has arrived when the first of its copies arrives [RFC 7680 §2.5], and is lost when all of them have been
//! dropped.

/// Names a packet of which several copies exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopiesId(u32);

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Copies on their path, the original included.
    on_path: u32,
    arrived: bool,
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

impl Copies {
    /// Notes one more copy of a packet; `of`: its entry, if it was duplicated before.
    pub(crate) fn add(&mut self, of: Option<CopiesId>) -> CopiesId {
        let id = of.unwrap_or_else(|| {
            let n = self.free.pop().unwrap_or_else(|| {
                self.entries.push(Entry::default());
                (self.entries.len() - 1) as u32
            });
            self.entries[n as usize] = Entry { on_path: 1, arrived: false };
            CopiesId(n)
        });
        self.entries[id.0 as usize].on_path += 1;
        id
    }

    /// Notes that a copy has arrived; returns true for the first one.
    pub(crate) fn arrives(&mut self, id: CopiesId) -> bool {
        let is_first = !std::mem::replace(&mut self.entries[id.0 as usize].arrived, true);
        self.leaves(id);
        is_first
    }

    /// Notes that a copy was dropped; returns true if this was the last one and none has arrived.
    pub(crate) fn dropped(&mut self, id: CopiesId) -> bool {
        let Entry { on_path, arrived } = self.entries[id.0 as usize];
        self.leaves(id);
        on_path == 1 && !arrived
    }

    fn leaves(&mut self, id: CopiesId) {
        let entry = &mut self.entries[id.0 as usize];
        entry.on_path -= 1;
        if entry.on_path == 0 {
            self.free.push(id.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_lost_if_every_copy_is_dropped() {
        let mut copies = Copies::default();
        let id = copies.add(None);
        assert_eq!(copies.add(Some(id)), id); // three in all
        assert_eq!([copies.dropped(id), copies.dropped(id), copies.dropped(id)], [false, false, true]);
    }

    #[test]
    fn a_packet_arrives_once() {
        let mut copies = Copies::default();
        let id = copies.add(None);
        assert_eq!((copies.arrives(id), copies.dropped(id)), (true, false));
        let id = copies.add(None);
        assert_eq!((copies.dropped(id), copies.arrives(id)), (false, true));
        let id = copies.add(None);
        assert_eq!((copies.arrives(id), copies.arrives(id)), (true, false));
        assert_eq!(copies.entries.len(), 1, "entries are reused");
    }
}
