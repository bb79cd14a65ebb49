//! Static routes: the next link at each node, for each direction of each flow. They are the shortest paths by number of
//! hops, found by breadth-first search, and don't change during a run.

use crate::error::PlanError;
use crate::plan::Plan;
use dumbbell_units::flow_number::direction_of;
use std::collections::VecDeque;

/// In place of a next link: local delivery, the packet has reached its destination.
pub const LOCAL: u32 = u32::MAX;
/// In place of a next link: the direction has no path through this node.
const NO_LINK: u32 = u32::MAX - 1;

/// Next links on the shortest paths by number of hops. Of equally short paths, the one over the link listed first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    rows: Vec<Row>,
    next: Vec<u32>,
    /// Senders into each link.
    feeders: Vec<Feeders>,
}

/// The next links of one node: `count` entries of `next` from `start` on, for the directions from `first` on. A host
/// has entries for the directions of its own flows only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    start: usize,
    first: u32,
    count: u32,
}

impl Row {
    /// Extends the directions so that they include this one.
    fn include(&mut self, direction: u32) {
        let first = if self.count == 0 { direction } else { self.first.min(direction) };
        let end = (self.first + self.count).max(direction + 1);
        (self.first, self.count) = (first, end - first);
    }
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
        let graph = Graph::new(plan);
        let ends = |direction: usize| {
            let flow = &plan.flows[direction / 2];
            if direction.is_multiple_of(2) { (flow.from, flow.to) } else { (flow.to, flow.from) }
        };
        // Directions with the same search follow each other.
        let mut order: Vec<usize> = (0..2 * plan.flows.len()).collect();
        order.sort_by_cached_key(|&direction| graph.search_from(ends(direction).1));
        let mut feeders = vec![Feeders::None; plan.links.len()];
        let mut hops = Vec::new();
        let mut search: Option<(usize, Vec<Option<usize>>)> = None;
        let mut unreachable: Option<usize> = None;
        for &direction in &order {
            let (from, to) = ends(direction);
            let root = graph.search_from(to);
            let next_links = match search.take() {
                Some((same, next_links)) if same == root => next_links,
                _ => graph.next_links_to(root),
            };
            let (mut node, mut before) = (from, None);
            while node != to {
                let Some(link) = graph.last_link(node, to).or(next_links[node]) else {
                    unreachable = Some(unreachable.map_or(direction, |first| first.min(direction)));
                    break;
                };
                hops.push((node, direction as u32, link as u32));
                feeders[link] = feeders[link].with(before);
                before = Some(link);
                node = plan.links[link].to;
            }
            hops.push((to, direction as u32, LOCAL));
            search = Some((root, next_links));
        }
        match unreachable {
            None => Ok(Routes::with(plan.nodes.len(), &hops, feeders)),
            Some(direction) => {
                let (from, to) = ends(direction);
                Err(PlanError::NoPath {
                    flow: plan.flows[direction / 2].name.clone(),
                    from: plan.nodes[from].clone(),
                    to: plan.nodes[to].clone(),
                })
            }
        }
    }

    /// Returns the routes with these hops: node, direction, next link.
    fn with(nodes: usize, hops: &[(usize, u32, u32)], feeders: Vec<Feeders>) -> Routes {
        let mut rows = vec![Row::default(); nodes];
        hops.iter().for_each(|&(node, direction, _)| rows[node].include(direction));
        let mut total = 0;
        for row in &mut rows {
            row.start = total;
            total += row.count as usize;
        }
        let mut next = vec![NO_LINK; total];
        for &(node, direction, link) in hops {
            let row = rows[node];
            next[row.start + (direction - row.first) as usize] = link;
        }
        Routes { rows, next, feeders }
    }

    /// Returns the only link that sends packets into `link`, if there is exactly one and no host does.
    #[must_use]
    pub fn only_feeder(&self, link: usize) -> Option<usize> {
        match self.feeders[link] {
            Feeders::Link(feeder) => Some(feeder),
            Feeders::None | Feeders::Others => None,
        }
    }

    /// Returns the next link of a direction's packets at a node, or [`LOCAL`]; `direction`: with or without a lane.
    #[must_use]
    #[inline]
    pub fn next(&self, node: usize, direction: u32) -> u32 {
        let row = self.rows[node];
        let entry = direction_of(direction).wrapping_sub(row.first);
        if entry < row.count { self.next[row.start + entry as usize] } else { NO_LINK }
    }
}

/// Nodes and links of a plan, for searches.
struct Graph<'a> {
    plan: &'a Plan,
    /// The links that end at each node.
    into: Vec<Vec<usize>>,
}

impl Graph<'_> {
    fn new(plan: &Plan) -> Graph<'_> {
        let mut into = vec![Vec::new(); plan.nodes.len()];
        plan.links.iter().enumerate().for_each(|(i, link)| into[link.to].push(i));
        Graph { plan, into }
    }

    /// Returns the node from which the search for paths to `target` starts: its only neighbor, if it has one. All hosts
    /// at a router share one search then.
    fn search_from(&self, target: usize) -> usize {
        let mut neighbors = self.into[target].iter().map(|&link| self.plan.links[link].from);
        match neighbors.next() {
            Some(neighbor) if neighbors.all(|n| n == neighbor) => neighbor,
            _ => target,
        }
    }

    /// Returns the link from `node` to `target`, if the search for paths to `target` starts at `node` instead.
    fn last_link(&self, node: usize, target: usize) -> Option<usize> {
        self.into[target].first().copied().filter(|_| node == self.search_from(target))
    }

    /// Returns the first link of a shortest path to `target` per node.
    fn next_links_to(&self, target: usize) -> Vec<Option<usize>> {
        let mut first = vec![None; self.into.len()];
        let mut seen = vec![false; self.into.len()];
        seen[target] = true;
        let mut frontier = VecDeque::from([target]);
        while let Some(node) = frontier.pop_front() {
            for &link in &self.into[node] {
                let from = self.plan.links[link].from;
                if !seen[from] {
                    seen[from] = true;
                    first[from] = Some(link);
                    frontier.push_back(from);
                }
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan with links `from -> to` and one flow for each pair of ends.
    fn plan(nodes: usize, links: &[(usize, usize)], flows: &[(usize, usize)]) -> Plan {
        let link = |i: usize, (from, to): (usize, usize)| {
            serde_json::json!({"name": format!("l{i}"), "from": from, "to": to, "rate_bps": 1, "delay_ns": 0,
                "overhead_bytes": 0, "base_rtt_ns": 0, "queue": {"name": "droptail", "params": {}}})
        };
        let flow = |i: usize, (from, to): (usize, usize)| {
            serde_json::json!({"name": format!("f{i}"), "from": from, "to": to, "start_ns": 0, "stop_ns": null,
                "class": 0, "application": {"kind": "bulk"}, "transport": {"kind": "udp"}})
        };
        let json = serde_json::json!({
            "seed": 1, "duration_ns": 1, "measure_from_ns": 0, "start_jitter_ns": 0,
            "nodes": (0..nodes).map(|n| format!("n{n}")).collect::<Vec<_>>(),
            "links": links.iter().enumerate().map(|(i, l)| link(i, *l)).collect::<Vec<_>>(),
            "flows": flows.iter().enumerate().map(|(i, f)| flow(i, *f)).collect::<Vec<_>>(),
            "trace": {"series": [], "only": null, "interval_ns": 0, "packets": false},
        });
        Plan::from_value(json).unwrap()
    }

    /// The links on the path of a direction.
    fn path(routes: &Routes, plan: &Plan, direction: u32) -> Vec<u32> {
        let flow = &plan.flows[direction as usize / 2];
        let mut node = if direction.is_multiple_of(2) { flow.from } else { flow.to };
        let mut links = Vec::new();
        loop {
            match routes.next(node, direction) {
                LOCAL => return links,
                link => {
                    links.push(link);
                    node = plan.links[link as usize].to;
                }
            }
        }
    }

    #[test]
    fn hosts_at_a_router_are_reached_over_it() {
        // Hosts 0 and 1 at router 2, hosts 4 and 5 at router 3.
        let pairs = [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)];
        let links: Vec<_> = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        let plan = plan(6, &links, &[(0, 4), (1, 5), (1, 5), (0, 1)]);
        let routes = Routes::new(&plan).unwrap();
        let expected: [&[u32]; 8] =
            [&[0, 4, 6], &[7, 5, 1], &[2, 4, 8], &[9, 5, 3], &[2, 4, 8], &[9, 5, 3], &[0, 3], &[2, 1]];
        for (direction, links) in (0..).zip(expected) {
            assert_eq!(path(&routes, &plan, direction), links, "{direction}");
        }
        // Nodes 0 to 5 have the directions 0 to 7, 2 to 7, 0 to 7, 0 to 5, 0 and 1, 2 to 5.
        assert_eq!(routes.next.len(), 8 + 6 + 8 + 6 + 2 + 4);
        assert_eq!((routes.only_feeder(6), routes.only_feeder(4)), (Some(4), None));
        assert_eq!(routes.next(5, 0), NO_LINK);
    }

    #[test]
    fn of_equally_short_paths_the_one_over_the_first_link_counts() {
        // A square 0-1-3, 0-2-3, with the links of the second way listed first; 0 -> 3 and two links 3 -> 4.
        let links = [(2, 3), (0, 2), (1, 3), (0, 1), (3, 4), (3, 4), (4, 0)];
        let plan = plan(5, &links, &[(0, 3), (0, 4)]);
        let routes = Routes::new(&plan).unwrap();
        assert_eq!(path(&routes, &plan, 0), [1, 0]);
        assert_eq!(path(&routes, &plan, 2), [1, 0, 4]);
        assert_eq!(path(&routes, &plan, 3), [6]);
    }

    #[test]
    fn two_hosts_on_one_link() {
        let plan = plan(2, &[(0, 1), (1, 0)], &[(0, 1)]);
        let routes = Routes::new(&plan).unwrap();
        assert_eq!((path(&routes, &plan, 0), path(&routes, &plan, 1)), (vec![0], vec![1]));
    }

    #[test]
    fn the_first_flow_without_a_path_is_reported() {
        let plan = plan(4, &[(0, 1), (1, 0), (2, 3)], &[(0, 1), (2, 3), (0, 3)]);
        let error = Routes::new(&plan).unwrap_err();
        let PlanError::NoPath { flow, from, to } = error else { panic!("{error}") };
        assert_eq!((&*flow, &*from, &*to), ("f1", "n3", "n2"));
    }
}
