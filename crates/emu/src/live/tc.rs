//! A run over the host kernel's own queue disciplines: the layout of the virtual machine, on the real clock.
//!
//! ```text
//! order -> namespaces, veth pairs, tbf, netem (hung on this process) -> calibration -> traffic, taps -> figures, captures
//! ```

use super::calibrate::{Network, calibrate};
use super::{Calibration, Order};
use crate::bpf::{self, Loaded};
use crate::error::{EmuError, Step};
use crate::ground::{Ground, Owner};
use crate::guest::{Taps, build, facts};
use crate::machine::{self, Measured};
use crate::sys::{self, Clock};
use dumbbell_sim::LinkPlan;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// See the top of this file.
pub(super) fn run(order: &Order) -> Result<Measured, EmuError> {
    let plan = &order.plan;
    let ground = Ground { owner: Owner::Host, offloads: order.offloads };
    let loaded: Vec<Loaded> =
        order.bpf.iter().enumerate().map(|(n, name)| bpf::load(name, n)).collect::<Result<_, _>>()?;
    let network = build(plan, ground)?;
    let mut sites = network.sites()?;
    for site in &mut sites {
        let Some(variant) = &mut site.variant else { continue };
        if let Some(n) = order.bpf.iter().position(|name| name == variant) {
            variant.clone_from(&loaded[n].name);
        }
        for host in &site.hosts {
            sys::enter_network(host).step(|| "namespace".into())?;
            // Only programs that don't choose for themselves need it: it is told where those are refused.
            let _ = fs::write("/proc/sys/net/ipv4/tcp_congestion_control", &variant);
        }
    }
    let mtu = network.layout.mtu;
    let calibration = match order.calibration {
        Calibration::Off => Value::Null,
        how => {
            let transmits = |link: &LinkPlan| ground.transmits(link);
            // The shaper lets up to a bucket through at once: at 1.5 times the rate it is empty by then.
            let promised = order.promised.as_ref().unwrap_or(plan);
            let measures =
                Network { plan: promised, sites: &sites, mtu, transmits: &transmits, ahead: 1.0 / 3.0 };
            calibrate(&measures, how == Calibration::Refuse)?
        }
    };
    // The interfaces are gone with the network, at the end of the run.
    let host = facts(&network, &sites)?;
    let taps = Taps::new(plan, network, Clock::Steady, Path::new("."))?;
    let mut measured = machine::run(plan, &sites, taps, Clock::Steady, order.sample_ns)?;
    measured.facts["calibration"] = calibration;
    measured.facts["host"] = host;
    Ok(measured)
}
