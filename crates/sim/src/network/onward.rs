//! The step after each link: the next link of a packet, and how it receives it.
//!
//! Most links of hosts have one step for all their packets. The others, such as a bottleneck, have a row with the step
//! of each direction.

use crate::link::Link;
use dumbbell_plan::{LOCAL, Plan, Routes};

/// What happens to a packet that a link has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It depends on the direction.
    Various,
    /// A link with lookahead accepts it.
    Lookahead,
    /// It is put into the inbox of a link.
    Inbox,
    /// Its destination may process it ahead of the clock.
    Ahead,
    /// Its arrival is an event.
    Event,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Onward {
    pub(crate) step: Step,
    /// The next link, if there is one; with [`Step::Various`] the place at which the link's row would have direction 0,
    /// modulo 2^32.
    pub(crate) next: u32,
}

impl Onward {
    /// The step after a link without packets.
    pub(crate) const NONE: Onward = Onward { step: Step::Event, next: LOCAL };
}

/// The rows of links whose step depends on the direction.
#[derive(Debug, Default)]
pub(super) struct OnwardTable {
    rows: Vec<Onward>,
}

impl OnwardTable {
    /// Sets the step after each link. `runs_ahead`: for each direction, whether the endpoint at its end may be ahead of
    /// the clock.
    pub(super) fn new(plan: &Plan, links: &mut [Link], routes: &Routes, runs_ahead: &[bool]) -> OnwardTable {
        // For each link, its first and its last direction, and whether the step is the same for all.
        let mut seen: Vec<Option<(u32, u32, bool)>> = vec![None; links.len()];
        for_each_hop(plan, links, routes, runs_ahead, |link, direction, onward, links| {
            let (first, _, same) = seen[link].unwrap_or((direction, direction, true));
            let is_first = seen[link].is_none();
            seen[link] = Some((first, direction, same && (is_first || links[link].onward == onward)));
            links[link].onward = onward;
        });
        let mut rows = Vec::new();
        for (link, seen) in links.iter_mut().zip(&seen) {
            if let Some((first, last, false)) = *seen {
                link.onward = Onward { step: Step::Various, next: (rows.len() as u32).wrapping_sub(first) };
                rows.resize(rows.len() + (last - first) as usize + 1, Onward::NONE);
            }
        }
        for_each_hop(plan, links, routes, runs_ahead, |link, direction, onward, links| {
            if links[link].onward.step == Step::Various {
                rows[links[link].onward.next.wrapping_add(direction) as usize] = onward;
            }
        });
        OnwardTable { rows }
    }

    /// The step of a direction's packets, where `onward` is that of the link.
    #[inline(always)] // for each packet on each link
    pub(super) fn of(&self, onward: Onward, direction: u32) -> Onward {
        match onward.step {
            Step::Various => self.rows[onward.next.wrapping_add(direction) as usize],
            _ => onward,
        }
    }
}

/// Calls `each` with each link of each direction, in the order of directions, and the step after it.
fn for_each_hop(
    plan: &Plan,
    links: &mut [Link],
    routes: &Routes,
    runs_ahead: &[bool],
    mut each: impl FnMut(usize, u32, Onward, &mut [Link]),
) {
    let from = plan.flows.iter().flat_map(|flow| [flow.from, flow.to]);
    for ((direction, node), runs_ahead) in (0..).zip(from).zip(runs_ahead) {
        let mut link = routes.next(node, direction);
        while link != LOCAL {
            let place = link as usize;
            link = routes.next(links[place].to(), direction);
            let step = step(&links[place], links.get(link as usize), *runs_ahead);
            each(place, direction, Onward { step, next: link }, links);
        }
    }
}

/// The step from a link to the next one, or to the destination.
fn step(link: &Link, next: Option<&Link>, runs_ahead: bool) -> Step {
    match next {
        Some(next) if next.has_lookahead => Step::Lookahead,
        Some(next) if next.inbox.is_some() => Step::Inbox,
        None if runs_ahead && link.fifo.is_some() => Step::Ahead,
        _ => Step::Event,
    }
}
