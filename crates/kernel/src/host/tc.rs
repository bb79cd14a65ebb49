//! A run with the host kernel's own queue disciplines [tc(8)]: the veth topology, in real time.
//!
//! ```text
//! order -> namespaces, veth pairs, tbf, netem -> calibration -> traffic, taps -> results, captures
//! ```

use super::calibrate::{CalibratedNetwork, calibrate};
use super::{Calibration, Order, live};
use crate::bpf::{LoadedVariants, make_default};
use crate::error::{KernelError, Step};
use crate::plan::hosts::Namespace;
use crate::plan::target::{Kernel, Target};
use crate::run::taps::Taps;
use crate::run::veth_network::build;
use crate::run::{self, Measured};
use crate::sys::Clock;
use dumbbell_plan::LinkPlan;
use serde_json::Value;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The network after a run: it exists as long as this does.
pub(super) struct Kept {
    _namespaces: Vec<OwnedFd>,
    _variants: LoadedVariants,
}

/// Executes such a run.
pub(super) fn run(order: &Order) -> Result<(Measured, Kept), KernelError> {
    let plan = &order.plan;
    let target = Target { kernel: Kernel::Host, offloads: order.offloads.unwrap_or(false) };
    let variants = LoadedVariants::load(&order.bpf)?;
    let network = build(plan, target, &variants)?;
    let clones = network.namespaces.iter().map(|fd| fd.try_clone().step(|| "namespace".into()));
    let namespaces: Vec<OwnedFd> = clones.collect::<Result<_, _>>()?;
    let places = network.layout.namespaces.iter().zip(&namespaces);
    let place = |(plan, fd): (&Namespace, _)| (plan.name.clone(), plan.address.map(|a| a.to_string()), fd);
    live::publish(&places.map(place).collect::<Vec<_>>())?;
    let flow_hosts = network.flow_hosts(&variants)?;
    for flow_hosts in &flow_hosts {
        if let Some(variant) = &flow_hosts.variant {
            make_default(variant, &flow_hosts.namespaces)?;
        }
    }
    let mtu = network.layout.mtu;
    let calibration = match order.calibration {
        Calibration::Off => Value::Null,
        how => {
            let netem_has_rate = |link: &LinkPlan| target.netem_has_rate(link);
            // A full bucket passes at once; at 1.5 times the rate it is empty after a third of the train.
            let expected = order.expected.as_ref().unwrap_or(plan);
            let measures = CalibratedNetwork {
                plan: expected,
                flow_hosts: &flow_hosts,
                mtu,
                netem_has_rate: &netem_has_rate,
                ahead: 1.0 / 3.0,
            };
            calibrate(&measures, how == Calibration::Refuse)?
        }
    };
    // Read now: the interfaces are removed with the network at the end of the run.
    let host = network.facts(&flow_hosts)?;
    let taps = Taps::new(plan, network, Clock::Steady, Path::new("."))?;
    let mut measured = run::execute(plan, &flow_hosts, taps, (Clock::Steady, order.sample_ns), None)?;
    measured.facts["calibration"] = calibration;
    measured.facts["host"] = host;
    Ok((measured, Kept { _namespaces: namespaces, _variants: variants }))
}
