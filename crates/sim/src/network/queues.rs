//! The queue disciplines of a plan: rows of the registry, or external ones.

use crate::error::SimError;
use dumbbell_cc::Failure;
use dumbbell_plan::{LinkPlan, Name, Plan};
use dumbbell_qdisc::external::{External, ExternalQdisc};
use dumbbell_qdisc::{LinkInfo, Qdisc};
use dumbbell_units::param::ParamError;
use dumbbell_units::{Dur, Rate};
use std::collections::BTreeMap;
use std::sync::Arc;

/// External disciplines by the names that plans use.
pub type Disciplines = BTreeMap<String, Arc<dyn External>>;

/// The names of the links' disciplines for results; those of the registry take no memory of their own. Each has the
/// number of links in sequence that have it.
pub(super) fn names(links: &[LinkPlan]) -> Vec<(Name, usize)> {
    let name = |name: &str| {
        let row = dumbbell_qdisc::find(name);
        row.map_or_else(|_| Name::Owned(name.to_owned()), |row| Name::Borrowed(row.name))
    };
    let same = links.chunk_by(|a, b| a.queue.name == b.queue.name);
    same.map(|links| (name(&links[0].queue.name), links.len())).collect()
}

/// Builds the discipline of a link and returns it with its columns. `part` names one of several queues of the link.
pub(crate) fn build(
    plan: &Plan,
    link: &LinkPlan,
    part: &str,
    external: &Disciplines,
    failure: &Failure,
) -> Result<(Box<dyn Qdisc>, &'static [&'static str]), SimError> {
    let facts = LinkInfo {
        rate: Rate(link.rate_bps),
        base_rtt: Dur(link.base_rtt_ns),
        seed: plan.seed,
        path: format!("link/{}/queue{part}", link.name),
        linux: plan.has_linux_tcp(),
        overhead: link.overhead_bytes,
    };
    let place = format!("links.{}.queue", link.name);
    let (name, given) = (&link.queue.name, link.queue.given());
    let built = match external.get(name) {
        Some(discipline) => {
            let failure = failure.of(&place);
            let fail = Arc::new(move |at, message| failure.fail_at(at, message));
            ExternalQdisc::new(discipline.as_ref(), &given, &facts, fail)
                .map(|queue| (Box::new(queue) as Box<dyn Qdisc>, discipline.columns()))
        }
        None if link.queue.content.is_some() => Err(ParamError {
            name: "discipline".into(),
            message: format!("'{name}' is an own discipline: back end 'sim' runs it, no other"),
        }),
        None => {
            dumbbell_qdisc::find(name).and_then(|row| Ok((dumbbell_qdisc::build(name, &given, &facts)?, row.columns)))
        }
    };
    built.map_err(|source| SimError::Param { place, source })
}
