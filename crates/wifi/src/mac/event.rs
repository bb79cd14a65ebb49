//! The queues that a medium takes, the events of packets and the results that it gives.

use dumbbell_qdisc::{DropReason, Packet, Qdisc};
use dumbbell_units::{Dur, Time};

/// The queue disciplines of a medium.
#[derive(Debug)]
pub struct Queues {
    /// The access point's: one, or one for each station with airtime fairness.
    pub down: Vec<Box<dyn Qdisc>>,
    /// One for each station.
    pub up: Vec<Box<dyn Qdisc>>,
}

/// Packets marked, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// At the access point.
    pub down: u64,
    /// At the stations.
    pub up: u64,
}

/// An event of a packet. `up`: it comes from a station.
#[derive(Debug)]
pub enum Event {
    /// The MAC has taken it from its queue.
    Taken {
        /// Direction.
        up: bool,
        /// Flow and direction.
        flow: u32,
        /// Size.
        bytes: u32,
        /// Time in the queue.
        sojourn: Dur,
    },
    /// It reaches the other side at `at`, which may be later than now. `enqueued` is the time at which the MAC took it.
    Delivered {
        /// Direction.
        up: bool,
        /// The packet.
        packet: Packet,
        /// Time.
        at: Time,
    },
    /// Its queue dropped it, or the MAC after the last retry ([`DropReason::Retries`]).
    Dropped {
        /// Direction.
        up: bool,
        /// The packet.
        packet: Packet,
        /// Reason.
        reason: DropReason,
    },
}

/// Counts of the frames between the access point and a station in one direction, during the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Transmissions: frames, or A-MPDUs.
    pub transmissions: u64,
    /// Transmissions that collided.
    pub collisions: u64,
    /// Frames sent; each frame of an A-MPDU counts.
    pub frames: u64,
    /// Those that were not acknowledged.
    pub failed: u64,
    /// Frames acknowledged.
    pub delivered: u64,
    /// Their IP bytes.
    pub delivered_bytes: u64,
    /// Frames given up after the last retry.
    pub lost: u64,
    /// Airtime of its exchanges, without collisions.
    pub airtime: Dur,
    /// Sum over the frames of their bit rate, bit/s.
    pub rate_sum: f64,
}

/// The results of a station.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceResult {
    /// Its name.
    pub name: String,
    /// True if the model makes its traffic.
    pub background: bool,
    /// Mean signal at the station, dBm.
    pub signal_dbm: f64,
    /// From the access point.
    pub down: Tally,
    /// To the access point.
    pub up: Tally,
}
