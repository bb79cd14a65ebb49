//! The frames on their way from one device to another: the window of the block ACK [IEEE 802.11-2016 §10.24].
//!
//! A frame leaves the window when it was delivered and acknowledged, or dropped. The receiver passes packets on in
//! their order: those behind a missing one wait until that has arrived or is given up. (The sender then moves the
//! receiver's window with a block ACK request; its airtime is not modeled.) A frame whose ACK was lost is
//! retransmitted, but delivered once.

use dumbbell_qdisc::Packet;
use std::collections::VecDeque;

/// Frames that a window spans at most.
pub(crate) const SPAN: usize = 64;

/// A frame with one packet.
#[derive(Debug)]
pub(crate) struct Frame {
    /// None for traffic that the model makes, and after the delivery.
    pub(crate) packet: Option<Packet>,
    /// MAC header to FCS.
    pub(crate) bytes: u32,
    /// Transmissions that failed.
    pub(crate) failures: u32,
    /// True while it is in transmission.
    pub(crate) on_air: bool,
    pub(crate) received: bool,
    pub(crate) acked: bool,
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(crate) frames: VecDeque<Frame>,
    /// Frames that are not acknowledged.
    pub(crate) open: usize,
}

impl Window {
    pub(crate) fn push(&mut self, packet: Option<Packet>, bytes: u32) {
        self.frames.push_back(Frame { packet, bytes, failures: 0, on_air: false, received: false, acked: false });
        self.open += 1;
    }

    /// The first frame that is not acknowledged.
    pub(crate) fn first_open(&self) -> Option<&Frame> {
        self.frames.iter().find(|f| !f.acked)
    }

    /// Passes on the packets that the receiver has in order.
    pub(crate) fn release(&mut self, mut deliver: impl FnMut(Packet)) {
        for frame in self.frames.iter_mut().take_while(|f| f.received) {
            frame.packet.take().into_iter().for_each(&mut deliver);
        }
        while self.frames.front().is_some_and(|f| f.received && f.acked) {
            self.frames.pop_front();
        }
    }

    /// Gives up the frames that have failed too often. Those that were not received are lost: `lose` gets their
    /// packets.
    pub(crate) fn give_up(&mut self, limit: u32, mut lose: impl FnMut(Option<Packet>)) {
        let open = &mut self.open;
        self.frames.retain_mut(|f| {
            if f.acked || f.failures < limit {
                return true;
            }
            *open -= 1;
            f.acked = true;
            if !f.received {
                lose(f.packet.take());
            }
            f.received
        });
    }
}
