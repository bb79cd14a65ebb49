//! Static routes: the next link at each node, for each direction of each flow. They are the shortest paths by number of
//! hops, found by breadth-first search, and don't change during a run.

use crate::error::PlanError;
use crate::plan::Plan;
use std::collections::VecDeque;

/// In place of a next link: local delivery, the packet has reached its destination.
pub const LOCAL: u32 = u32::MAX;
/// In place of a next link: the direction has no path through this node.
const NO_LINK: u32 = u32::MAX - 1;

/// Next links on the shortest paths by number of hops. Of equally short paths, the one over the link listed first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    next: Vec<u32>,
    directions: usize,
    /// Senders into each link.
    feeders: Vec<Feeders>,
}

/// Senders into a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeders {
    /// No flow uses the link.
    None,
    /// One other link only.
    Link(usize),
    /// A host, or several links.
    Others,
}

impl Feeders {
    fn with(self, link: Option<usize>) -> Feeders {
        match (self, link) {
            (Feeders::None, Some(l)) => Feeders::Link(l),
            (Feeders::Link(l), Some(m)) if l == m => self,
            _ => Feeders::Others,
        }
    }
}

impl Routes {
    /// Finds the paths of all flows of a plan.
    ///
    /// # Errors
    /// A flow whose ends aren't connected.
    pub fn new(plan: &Plan) -> Result<Routes, PlanError> {
        let nodes = plan.nodes.len();
        let directions = plan.flows.len() * 2;
        let mut routes = Routes {
            next: vec![NO_LINK; nodes * directions],
            directions,
            feeders: vec![Feeders::None; plan.links.len()],
        };
        let mut into = vec![Vec::new(); nodes];
        plan.links.iter().enumerate().for_each(|(i, link)| into[link.to].push(i));
        for (i, flow) in plan.flows.iter().enumerate() {
            for (direction, from, to) in [(2 * i, flow.from, flow.to), (2 * i + 1, flow.to, flow.from)] {
                let next_links = next_links_to(plan, &into, to);
                let (mut node, mut hops, mut before) = (from, 0, None);
                while node != to {
                    let Some(link) = next_links[node].filter(|_| hops < nodes) else {
                        return Err(PlanError::NoPath {
                            flow: flow.name.clone(),
                            from: plan.nodes[from].clone(),
                            to: plan.nodes[to].clone(),
                        });
                    };
                    routes.next[node * routes.directions + direction] = link as u32;
                    routes.feeders[link] = routes.feeders[link].with(before);
                    before = Some(link);
                    node = plan.links[link].to;
                    hops += 1;
                }
                routes.next[to * routes.directions + direction] = LOCAL;
            }
        }
        Ok(routes)
    }

    /// Returns the only link that sends packets into `link`, if there is exactly one and no host does.
    #[must_use]
    pub fn only_feeder(&self, link: usize) -> Option<usize> {
        match self.feeders[link] {
            Feeders::Link(feeder) => Some(feeder),
            Feeders::None | Feeders::Others => None,
        }
    }

    /// Returns the next link of a direction's packets at a node, or [`LOCAL`].
    #[must_use]
    pub fn next(&self, node: usize, direction: u32) -> u32 {
        self.next[node * self.directions + direction as usize]
    }
}

/// Returns the first link of a shortest path to `target` per node; `into`: the links that end at each node.
fn next_links_to(plan: &Plan, into: &[Vec<usize>], target: usize) -> Vec<Option<usize>> {
    let mut first = vec![None; plan.nodes.len()];
    let mut seen = vec![false; plan.nodes.len()];
    seen[target] = true;
    let mut frontier = VecDeque::from([target]);
    while let Some(node) = frontier.pop_front() {
        for &link in &into[node] {
            let from = plan.links[link].from;
            if !seen[from] {
                seen[from] = true;
                first[from] = Some(link);
                frontier.push_back(from);
            }
        }
    }
    first
}
