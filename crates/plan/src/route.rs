//! Static routes: for each node and each direction of each flow, the link to take next.

use crate::error::PlanError;
use crate::plan::Plan;
use std::collections::VecDeque;

/// Delivered here instead of forwarded.
pub const HERE: u32 = u32::MAX;
const NOWHERE: u32 = u32::MAX - 1;

/// Next links, shortest paths by number of hops; of equal ones the one listed first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    next: Vec<u32>,
    directions: usize,
    /// Who sends packets into each link.
    feeders: Vec<Feeders>,
}

/// Who sends packets into a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeders {
    Nobody,
    /// One other link.
    Link(usize),
    /// A flow that starts there, or several links.
    Others,
}

impl Feeders {
    fn and(self, link: Option<usize>) -> Feeders {
        match (self, link) {
            (Feeders::Nobody, Some(l)) => Feeders::Link(l),
            (Feeders::Link(l), Some(m)) if l == m => self,
            _ => Feeders::Others,
        }
    }
}

impl Routes {
    /// Finds the ways of all flows of a plan.
    ///
    /// # Errors
    /// A flow whose ends aren't connected.
    pub fn new(plan: &Plan) -> Result<Routes, PlanError> {
        let nodes = plan.nodes.len();
        let directions = plan.flows.len() * 2;
        let mut routes = Routes {
            next: vec![NOWHERE; nodes * directions],
            directions,
            feeders: vec![Feeders::Nobody; plan.links.len()],
        };
        let mut into = vec![Vec::new(); nodes];
        plan.links.iter().enumerate().for_each(|(i, link)| into[link.to].push(i));
        for (i, flow) in plan.flows.iter().enumerate() {
            for (direction, from, to) in [(2 * i, flow.from, flow.to), (2 * i + 1, flow.to, flow.from)] {
                let towards = links_towards(plan, &into, to);
                let (mut node, mut hops, mut before) = (from, 0, None);
                while node != to {
                    let Some(link) = towards[node].filter(|_| hops < nodes) else {
                        return Err(PlanError::NoPath {
                            flow: flow.name.clone(),
                            from: plan.nodes[from].clone(),
                            to: plan.nodes[to].clone(),
                        });
                    };
                    routes.next[node * routes.directions + direction] = link as u32;
                    routes.feeders[link] = routes.feeders[link].and(before);
                    before = Some(link);
                    node = plan.links[link].to;
                    hops += 1;
                }
                routes.next[to * routes.directions + direction] = HERE;
            }
        }
        Ok(routes)
    }

    /// The link over which all packets that enter `link` come, if it is one.
    #[must_use]
    pub fn only_feeder(&self, link: usize) -> Option<usize> {
        match self.feeders[link] {
            Feeders::Link(feeder) => Some(feeder),
            Feeders::Nobody | Feeders::Others => None,
        }
    }

    /// The link that packets of this direction take at this node, or [`HERE`].
    #[must_use]
    pub fn next(&self, node: usize, direction: u32) -> u32 {
        self.next[node * self.directions + direction as usize]
    }
}

/// For each node the first link of a shortest path to `target`; `into` lists the links that enter each node.
fn links_towards(plan: &Plan, into: &[Vec<usize>], target: usize) -> Vec<Option<usize>> {
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
