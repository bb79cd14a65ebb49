//! The senders of packets into each link.

use crate::link::Link;
use dumbbell_plan::{LOCAL, Plan, Routes};

/// The senders of packets into a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feeders {
    /// Directions of flows that begin at the link, and that come over other links.
    pub(super) hosts: usize,
    pub(super) links: usize,
    /// True if the packets of each other link come one after another.
    pub(super) keep_distance: bool,
}

impl Feeders {
    /// Returns the feeders of each link.
    pub(super) fn of_links(plan: &Plan, links: &[Link], routes: &Routes) -> Vec<Feeders> {
        let mut all = vec![Feeders { hosts: 0, links: 0, keep_distance: true }; links.len()];
        for (i, flow) in plan.flows.iter().enumerate() {
            for (direction, node) in [(2 * i, flow.from), (2 * i + 1, flow.to)] {
                let mut before: Option<&Link> = None;
                let mut next = routes.next(node, direction as u32);
                while next != LOCAL {
                    let (feeders, link) = (&mut all[next as usize], &links[next as usize]);
                    match before {
                        None => feeders.hosts += 1,
                        Some(before) => {
                            feeders.links += 1;
                            feeders.keep_distance &= before.keeps_distance();
                        }
                    }
                    before = Some(link);
                    next = routes.next(link.to(), direction as u32);
                }
            }
        }
        all
    }
}
