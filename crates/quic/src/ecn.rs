//! Validation of ECN by the sender [RFC 9000 §13.4.2, appendix A.4].
//!
//! ```text
//! Testing   packets are marked; the first ACK that covers one decides, or the loss of the first ten
//! Capable   packets are marked; each ACK is checked
//! Failed    packets are not marked: the path or the peer clears or doesn't report marks
//! ```

use crate::frame::EcnCounts;
use dumbbell_wire::Ecn;

/// Packets whose loss shows that the path drops marked packets [RFC 9000 appendix A.4].
const TEST_PACKETS: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Testing,
    Capable,
    Failed,
}

/// See the top of this file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnPath {
    state: State,
    /// True if packets carry ECT(1).
    ect1: bool,
    /// Packets declared lost in the test.
    lost: u32,
}

/// The counts of one packet number space.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EcnSpace {
    reported: EcnCounts,
    /// Packets sent as ECN-capable.
    sent: u64,
}

impl EcnPath {
    pub(crate) fn new(enabled: bool, ect1: bool) -> EcnPath {
        EcnPath { state: if enabled { State::Testing } else { State::Failed }, ect1, lost: 0 }
    }

    /// The ECN field of a packet that is sent now.
    pub(crate) fn codepoint(&self) -> Ecn {
        match self.state {
            State::Failed => Ecn::NOT_ECT,
            _ if self.ect1 => Ecn::ECT1,
            _ => Ecn::ECT0,
        }
    }

    /// A packet is sent as ECN-capable.
    pub(crate) fn on_sent(space: &mut EcnSpace) {
        space.sent += 1;
    }

    /// A packet that was sent as ECN-capable is lost.
    pub(crate) fn on_lost(&mut self) {
        self.lost += 1;
        if self.state == State::Testing && self.lost >= TEST_PACKETS {
            self.state = State::Failed;
        }
    }

    /// Checks the counts of an ACK that newly covers `newly_acked` ECN-capable packets; returns the new CE marks.
    pub(crate) fn on_ack(&mut self, space: &mut EcnSpace, counts: Option<EcnCounts>, newly_acked: u64) -> u64 {
        if self.state == State::Failed || newly_acked == 0 {
            return 0;
        }
        let old = space.reported;
        let new = counts.unwrap_or_default();
        let (own, other) = if self.ect1 { (new.ect1, new.ect0) } else { (new.ect0, new.ect1) };
        let own_before = if self.ect1 { old.ect1 } else { old.ect0 };
        // ACKs that were reordered on the path are not checked by the caller: counts never decrease here.
        let covered = (own + new.ce).saturating_sub(own_before + old.ce);
        if covered < newly_acked || own + new.ce > space.sent || other > 0 || new.ce < old.ce {
            self.state = State::Failed;
            return 0;
        }
        self.state = State::Capable;
        space.reported = new;
        new.ce - old.ce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> (EcnPath, EcnSpace) {
        let mut space = EcnSpace::default();
        (0..20).for_each(|_| EcnPath::on_sent(&mut space));
        (EcnPath::new(true, false), space)
    }

    fn counts(ect0: u64, ect1: u64, ce: u64) -> Option<EcnCounts> {
        Some(EcnCounts { ect0, ect1, ce })
    }

    #[test]
    fn new_ce_marks_are_returned_once() {
        let (mut ecn, mut space) = path();
        assert_eq!(ecn.on_ack(&mut space, counts(2, 0, 0), 2), 0);
        assert_eq!(ecn.on_ack(&mut space, counts(3, 0, 1), 2), 1);
        assert_eq!(ecn.on_ack(&mut space, counts(5, 0, 1), 2), 0);
        assert_eq!(ecn.codepoint(), Ecn::ECT0);
    }

    #[test]
    fn validation_fails_without_counts_with_too_few_too_many_or_foreign_ones() {
        for wrong in [None, counts(1, 0, 0), counts(21, 0, 0), counts(2, 1, 0)] {
            let (mut ecn, mut space) = path();
            assert_eq!(ecn.on_ack(&mut space, wrong, 2), 0);
            assert_eq!(ecn.codepoint(), Ecn::NOT_ECT, "{wrong:?}");
        }
    }

    #[test]
    fn a_path_that_drops_the_first_ten_marked_packets_ends_the_test() {
        let (mut ecn, _) = path();
        (0..9).for_each(|_| ecn.on_lost());
        assert_eq!(ecn.codepoint(), Ecn::ECT0);
        ecn.on_lost();
        assert_eq!(ecn.codepoint(), Ecn::NOT_ECT);
    }
}
