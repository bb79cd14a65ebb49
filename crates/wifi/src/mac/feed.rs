//! The packets that wait before a device's MAC.
//!
//! | feed | device |
//! |---|---|
//! | `Saturated` | a station of the background: a packet is always there |
//! | `Shared` | one discipline for all packets of the device. The MAC takes up to a number of them into its ring, from which it aggregates frames to one station |
//! | `PerStation` | an access point with airtime fairness: a discipline for each station [Linux net/mac80211/tx.c ieee80211_txq_enqueue] |

use crate::mac::airtime::Airtime;
use dumbbell_qdisc::{Backlog, Packet, Qdisc, QdiscContext};
use dumbbell_units::{Dur, Time};
use std::collections::VecDeque;

/// See the top of this file.
#[derive(Debug)]
pub(crate) enum Feed {
    Saturated { bytes: u32 },
    Shared { queue: Box<dyn Qdisc>, ring: VecDeque<(usize, Packet)>, places: usize },
    PerStation { queues: Vec<StationQueue>, airtime: Airtime },
}

/// The queue of a station at the access point.
#[derive(Debug)]
pub(crate) enum StationQueue {
    Saturated { bytes: u32 },
    Discipline(Box<dyn Qdisc>),
}

/// A packet for the MAC: None for traffic that the model makes.
pub(crate) type Taken = (Option<Packet>, u32);

/// The receiver of a packet.
pub(crate) type StationOf<'a> = &'a dyn Fn(&Packet) -> usize;

impl Feed {
    pub(crate) fn enqueue(&mut self, station: usize, packet: Packet, cx: &mut QdiscContext) {
        match self {
            Feed::Saturated { .. } => {}
            Feed::Shared { queue, .. } => queue.enqueue(packet, cx),
            Feed::PerStation { queues, airtime } => {
                if let StationQueue::Discipline(queue) = &mut queues[station] {
                    queue.enqueue(packet, cx);
                    airtime.wake(station);
                }
            }
        }
    }

    /// The station that the MAC serves next. `open`: it has frames to send again. `blocked`: its discipline holds its
    /// packets back.
    pub(crate) fn next(
        &mut self,
        now: Time,
        station_of: StationOf<'_>,
        open: &dyn Fn(usize) -> bool,
        blocked: &[usize],
        cx: &mut QdiscContext,
        taken: &mut dyn FnMut(&mut Packet),
    ) -> Option<usize> {
        match self {
            Feed::Saturated { .. } => Some(0),
            Feed::Shared { .. } => {
                self.fill_ring(station_of, cx, taken);
                let Feed::Shared { ring, .. } = self else { return None };
                ring.front().map(|(station, _)| *station)
            }
            Feed::PerStation { queues, airtime } => {
                let has_packets = |s: usize| {
                    open(s)
                        || match &queues[s] {
                            StationQueue::Saturated { .. } => true,
                            StationQueue::Discipline(queue) => queue.backlog().packets > 0 && !blocked.contains(&s),
                        }
                };
                (0..queues.len()).filter(|s| has_packets(*s)).for_each(|s| airtime.wake(s));
                airtime.next(now, has_packets)
            }
        }
    }

    fn fill_ring(&mut self, station_of: StationOf<'_>, cx: &mut QdiscContext, taken: &mut dyn FnMut(&mut Packet)) {
        let Feed::Shared { queue, ring, places } = self else { return };
        while ring.len() < *places {
            let Some(mut packet) = queue.dequeue(cx) else { return };
            taken(&mut packet);
            ring.push_back((station_of(&packet), packet));
        }
    }

    /// Takes the next packet for a station.
    pub(crate) fn take(
        &mut self,
        station: usize,
        station_of: StationOf<'_>,
        cx: &mut QdiscContext,
        taken: &mut dyn FnMut(&mut Packet),
    ) -> Option<Taken> {
        self.fill_ring(station_of, cx, taken);
        match self {
            Feed::Saturated { bytes } => Some((None, *bytes)),
            Feed::Shared { ring, .. } => {
                let place = ring.iter().position(|(to, _)| *to == station)?;
                let (_, packet) = ring.remove(place)?;
                let bytes = packet.bytes;
                Some((Some(packet), bytes))
            }
            Feed::PerStation { queues, .. } => match &mut queues[station] {
                StationQueue::Saturated { bytes } => Some((None, *bytes)),
                StationQueue::Discipline(queue) => {
                    let mut packet = queue.dequeue(cx)?;
                    taken(&mut packet);
                    let bytes = packet.bytes;
                    Some((Some(packet), bytes))
                }
            },
        }
    }

    /// Frames to or from the station took airtime.
    pub(crate) fn charge(&mut self, station: usize, airtime: Dur, received: bool, now: Time) {
        if let Feed::PerStation { airtime: list, .. } = self {
            if received { list.charge_received(station, airtime, now) } else { list.charge(station, airtime) }
        }
    }

    /// Time at which a shaper has a packet again.
    pub(crate) fn next_ready(&self) -> Option<Time> {
        match self {
            Feed::Saturated { .. } => None,
            Feed::Shared { queue, .. } => queue.next_ready().filter(|_| queue.backlog().packets > 0),
            Feed::PerStation { queues, .. } => queues
                .iter()
                .filter_map(|q| match q {
                    StationQueue::Discipline(q) if q.backlog().packets > 0 => q.next_ready(),
                    _ => None,
                })
                .min(),
        }
    }

    /// Packets in the disciplines; those in the ring have left them.
    pub(crate) fn backlog(&self) -> Backlog {
        match self {
            Feed::Saturated { .. } => Backlog::default(),
            Feed::Shared { queue, .. } => queue.backlog(),
            Feed::PerStation { queues, .. } => queues.iter().fold(Backlog::default(), |sum, queue| match queue {
                StationQueue::Saturated { .. } => sum,
                StationQueue::Discipline(queue) => {
                    let Backlog { packets, bytes } = queue.backlog();
                    Backlog { packets: sum.packets + packets, bytes: sum.bytes + bytes }
                }
            }),
        }
    }

    /// Packets that the MAC has taken in advance.
    pub(crate) fn ring(&self) -> impl Iterator<Item = &Packet> {
        let ring = match self {
            Feed::Shared { ring, .. } => Some(ring),
            _ => None,
        };
        ring.into_iter().flatten().map(|(_, packet)| packet)
    }

    /// The run has ended.
    pub(crate) fn close(&mut self, end: Time) {
        match self {
            Feed::Saturated { .. } => {}
            Feed::Shared { queue, .. } => queue.close(end),
            Feed::PerStation { queues, .. } => {
                for queue in queues {
                    if let StationQueue::Discipline(queue) = queue {
                        queue.close(end);
                    }
                }
            }
        }
    }

    /// The only discipline, if it is one.
    pub(crate) fn discipline(&self) -> Option<&dyn Qdisc> {
        match self {
            Feed::Shared { queue, .. } => Some(queue.as_ref()),
            _ => None,
        }
    }
}
