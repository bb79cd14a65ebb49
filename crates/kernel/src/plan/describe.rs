//! Descriptions of links and flows, printed by `dumbbell kernel plan`.

use dumbbell_link::{CorruptionPlan, JitterPlan, LossPlan, ProfilePlan};
use dumbbell_plan::{
    AppPlan, ArrivalsPlan, ConnectionsPlan, FlowPlan, LinkPlan, LinkSettings, Plan, Routes, TransportPlan, WorkloadPlan,
};
use dumbbell_units::{Dur, Rate};
use std::net::IpAddr;

/// Describes everything that an emulated link does to packets.
pub(crate) fn link(plan: &Plan, link: &LinkPlan) -> String {
    // Every field by name, so that a new one must be described here.
    let name = &link.name;
    let LinkSettings {
        rate_bps,
        rate_course,
        opportunities,
        delay_ns,
        delay_course,
        delay_reorders,
        outages,
        overhead_bytes,
        base_rtt_ns: _,
        queue,
        policer,
        loss,
        corruption,
        jitter,
        jitter_reorders,
        reordering,
        duplication,
        drops,
    } = &**link;
    let reorders = |yes: bool| if yes { ", which reorders" } else { "" };
    let rate = match (opportunities, rate_course) {
        (Some(trace), _) => {
            let opportunities: u64 = trace.counts.iter().map(|(_, count)| count).sum();
            format!("{opportunities} opportunities of 1500 bytes in {}, repeated", Dur::millis(trace.period_ms))
        }
        (None, Some(course)) => over_time(course, |bps| Rate(bps).to_string()),
        (None, None) => wifi(plan, link).unwrap_or_else(|| Rate(*rate_bps).to_string()),
    };
    let delay = match delay_course {
        Some(course) => over_time(course, |ns| Dur(ns).to_string()) + reorders(*delay_reorders),
        None => Dur(*delay_ns).to_string(),
    };
    let parameters = queue
        .params
        .iter()
        .map(|(key, value)| format!(" {key} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    let mut parts = vec![format!("link {name}: {rate}"), format!("delay {delay}")];
    parts.push(format!("queue {}{}", queue.name, parameters.collect::<String>()));
    if *overhead_bytes > 0 {
        parts.push(format!("{overhead_bytes} bytes of framing on each packet"));
    }
    for o in outages {
        let every = o.every_ns.map_or(String::new(), |ns| format!(" every {}", Dur(ns)));
        let what = if o.drops { "packets are dropped" } else { "packets wait" };
        parts.push(format!("outage at {} for {}{every}, {what}", Dur(o.at_ns), Dur(o.for_ns)));
    }
    if let Some(p) = policer {
        let what = if p.marks { "marked" } else { "dropped" };
        parts.push(format!("policer {} burst {} bytes, excess {what}", Rate(p.rate_bps), p.burst_bytes));
    }
    match loss {
        LossPlan::Independent(share) if *share == 0.0 => {}
        LossPlan::Independent(share) => parts.push(format!("loss {}", percent(*share))),
        LossPlan::GilbertElliott { p, r, loss_bad, loss_good } => parts.push(format!(
            "loss in bursts (Gilbert-Elliott): p {}, r {}, loss {} bad, {} good",
            percent(*p),
            percent(*r),
            percent(*loss_bad),
            percent(*loss_good)
        )),
    }
    match corruption {
        None => {}
        Some(CorruptionPlan::Packets(share)) => parts.push(format!("corrupts {} of packets", percent(*share))),
        Some(CorruptionPlan::Bits(share)) => parts.push(format!("corrupts a bit with probability {share:e}")),
    }
    if let Some(jitter) = jitter {
        let drawn = match *jitter {
            JitterPlan::Uniform { max_ns } => format!("uniform up to {}", Dur(max_ns)),
            JitterPlan::Normal { mean_ns, sd_ns } => format!("normal, {} ± {}", Dur(mean_ns), Dur(sd_ns)),
            JitterPlan::Exponential { mean_ns } => format!("exponential, mean {}", Dur(mean_ns)),
            JitterPlan::Pareto { mean_ns, shape } => format!("Pareto, mean {}, shape {shape}", Dur(mean_ns)),
        };
        parts.push(format!("jitter {drawn}{}", reorders(*jitter_reorders)));
    }
    if let Some(r) = reordering {
        let extent = r.extent.map_or(String::new(), |n| format!(" or {n} packets"));
        parts.push(format!("holds {} of packets back for {}{extent}", percent(r.share), Dur(r.delay_ns)));
    }
    if let Some(d) = duplication {
        parts.push(format!("duplicates {} of packets, {} later", percent(d.share), Dur(d.delay_ns)));
    }
    for d in drops {
        let flow = d.flow.map_or("all flows", |n| plan.flows[n].name.as_str());
        let spans = d.spans_ns.iter().map(|[a, b]| format!("all from {} to {}", Dur(*a), Dur(*b)));
        let which: Vec<String> = d.packets.iter().map(u64::to_string).chain(spans).collect();
        parts.push(format!("drops of {flow}: {}", which.join(", ")));
    }
    parts.join("; ")
}

/// Describes the Wi-Fi medium of a link, if it is one direction of it.
fn wifi(plan: &Plan, link: &LinkPlan) -> Option<String> {
    let is = |l: usize| plan.links[l].name == link.name;
    let medium = plan.media.iter().find(|m| is(m.down) || is(m.up))?;
    let wifi = &medium.wifi;
    let of = if is(medium.down) { "access point to stations" } else { "stations to access point" };
    let (stations, background) = (wifi.stations.len(), wifi.background.len());
    let standard = wifi.standard.name();
    let up_to = wifi.modes().all[..wifi.modes().data].iter().map(|m| m.bps).max().unwrap_or(0);
    Some(format!("Wi-Fi {standard} up to {}, {of}, {stations} stations, {background} of the model", Rate(up_to)))
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// Describes a value over time.
fn over_time(course: &ProfilePlan, value: impl Fn(u64) -> String) -> String {
    let steps = course.steps.iter().map(|s| {
        let how = if s.ramp { "linearly until" } else { "from" };
        format!("{} {how} {}", value(s.value), Dur(s.at_ns))
    });
    let mut parts = steps.collect::<Vec<_>>().join(", ");
    if course.start_ns > 0 {
        parts += &format!(", counted from {}", Dur(course.start_ns));
    }
    course.period_ns.map_or(parts.clone(), |ns| format!("{parts}, repeated every {}", Dur(ns)))
}

/// Describes a flow: application, links, congestion control, times.
pub(crate) fn flow(
    plan: &Plan,
    number: usize,
    addresses: [IpAddr; 2],
    variant: Option<&str>,
    routes: &Routes,
) -> String {
    let flow = &plan.flows[number];
    let [from, to] = addresses;
    let mut path = Vec::new();
    let mut node = flow.from;
    while let Some(link) = plan.links.get(routes.next(node, 2 * number as u32) as usize) {
        path.push(link.name.as_str());
        node = link.to;
    }
    let mut parts = format!("flow {}: {} from {from} to {to} by {}", flow.name, carries(flow), path.join(", "));
    if let Some(variant) = variant {
        parts += &format!(", TCP_CONGESTION {variant}");
    }
    parts += &format!(", starts at {}", Dur(flow.start_ns));
    let jitter_ns = flow.start_jitter_ns.unwrap_or(plan.start_jitter_ns);
    if jitter_ns > 0 {
        parts += &format!(" and up to {} more", Dur(jitter_ns));
    }
    flow.stop_ns.map_or(parts.clone(), |ns| format!("{parts}, stops at {}", Dur(ns)))
}

fn carries(flow: &FlowPlan) -> String {
    let often = |repeat: u64, every: u64| match repeat {
        1 => String::new(),
        0 => format!(", repeated every {}", Dur(every)),
        n => format!(", {n} times, one every {} at most", Dur(every)),
    };
    let datagrams = if matches!(flow.transport, TransportPlan::Udp {}) { " (UDP)" } else { "" };
    let details = match &flow.application {
        AppPlan::Bulk {} => String::new(),
        AppPlan::Transfer { bytes, repeat, every_ns } | AppPlan::Page { bytes, repeat, every_ns, .. } => {
            format!(" of {bytes} bytes{}", often(*repeat, *every_ns))
        }
        AppPlan::Cbr { rate_bps, packet_bytes, .. } => {
            format!(" of {} in packets of {packet_bytes} bytes", Rate(*rate_bps))
        }
        AppPlan::Onoff { rate_bps, packet_bytes, on_ns, off_ns, .. } => format!(
            " of {} in packets of {packet_bytes} bytes, {} on, {} off",
            Rate(*rate_bps),
            Dur(*on_ns),
            Dur(*off_ns)
        ),
        AppPlan::Ping { interval_ns, packet_bytes, .. } => {
            format!(" of {packet_bytes} bytes every {}", Dur(*interval_ns))
        }
        AppPlan::Workload(workload) => workload_of(workload),
        AppPlan::Voice(voice) => {
            format!(
                " in packets of {} bytes every {}",
                voice.packet_bytes(flow.ip.header_bytes()),
                Dur(voice.packetization_ns)
            )
        }
        AppPlan::Video(video) => format!(" of {}", Dur(video.length_ns)),
        AppPlan::Objects(page) => format!(" of {} objects", page.objects.len()),
        AppPlan::Program { server, client, .. } => {
            let commands = [("server", server.as_ref()), ("client", Some(client))];
            let each = commands.iter().filter_map(|(role, program)| {
                program.map(|p| {
                    format!("{role} '{}' at '{}.{}'", p.command.join(" "), flow.name, {
                        if p.at_receiver { "to" } else { "from" }
                    })
                })
            });
            format!(" ({})", each.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{}{details}{datagrams}", flow.application.kind())
}

fn workload_of(workload: &WorkloadPlan) -> String {
    let times = match &workload.arrivals {
        ArrivalsPlan::Poisson { per_s } => format!("by a Poisson process, {per_s:.6} per second"),
        ArrivalsPlan::Constant { per_s } => format!("at constant intervals, {per_s:.6} per second"),
        ArrivalsPlan::Listed { at_ns } => format!("at {} listed times", at_ns.len()),
    };
    let count = if workload.count > 0 { format!("{} ", workload.count) } else { String::new() };
    let connections = match workload.connections {
        ConnectionsPlan::New => "a connection for each",
        ConnectionsPlan::Reuse => "over idle connections",
    };
    format!(" of {count}transfers {times}, {connections}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_plan::SizesPlan;

    #[test]
    fn a_workload_is_described_by_its_times_and_connections() {
        let plan = |arrivals, count| WorkloadPlan {
            arrivals,
            arrivals_of: "w".into(),
            sizes: SizesPlan::Fixed { bytes: 1000 },
            count,
            connections: ConnectionsPlan::Reuse,
        };
        assert_eq!(
            workload_of(&plan(ArrivalsPlan::Poisson { per_s: 12.5 }, 30)),
            " of 30 transfers by a Poisson process, 12.500000 per second, over idle connections"
        );
        assert_eq!(
            workload_of(&plan(ArrivalsPlan::Listed { at_ns: vec![1, 2] }, 0)),
            " of transfers at 2 listed times, over idle connections"
        );
    }

    #[test]
    fn percentages_keep_all_digits_of_a_scenario() {
        assert_eq!([0.01, 0.001, 0.07, 1e-6].map(percent), ["1 %", "0.1 %", "7 %", "0.0001 %"]);
    }
}
