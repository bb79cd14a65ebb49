//! Translates a scenario's queue discipline into the kernel's, or refuses it with the reason [Linux sch_*.c;
//! attributes: pkt_sched.h]. The simulator's parameters have the names of `tc`'s options.

use super::cake;
use super::drr::{Crossing, classes};
use super::{Qdisc, Red, Setting, Value};
use crate::error::KernelError;
use crate::plan::link::SUPPORTED_BY;
use dumbbell_plan::{LinkPlan, Named, Plan};
use dumbbell_qdisc::{AttributeForm, KernelAttribute, KernelOptions, KernelQdisc, Limit, LinkInfo};
use dumbbell_units::param::{Kind, Params, Spec};
use dumbbell_units::{Dur, Rate};

/// Translates a link's queue discipline; `packet` is the link's largest packet with its framing, bytes, `crossings` are
/// the directions of flows that cross the link.
pub(crate) fn queue(
    plan: &Plan,
    link: &LinkPlan,
    discipline: &Named,
    packet: u32,
    crossings: &[Crossing],
) -> Result<Qdisc, KernelError> {
    let place = format!("links.{}.queue", link.name);
    if discipline.content.is_some() {
        let message = format!("'{}' is an own discipline: back end 'sim' runs it, no other", discipline.name);
        return Err(KernelError::refused(&format!("{place}.discipline"), message));
    }
    let row = dumbbell_qdisc::find(&discipline.name).map_err(|e| KernelError::refused(&place, e.message))?;
    let params = Params::read(row.params, &discipline.given())
        .map_err(|e| KernelError::refused(&format!("{place}.{}", e.name), e.message))?;
    let facts = LinkInfo {
        rate: Rate(link.rate_bps),
        base_rtt: Dur(link.base_rtt_ns),
        seed: plan.seed,
        path: String::new(),
        linux: true,
        overhead: link.overhead_bytes,
    };
    let framing = link.overhead_bytes;
    let reader = Reader { place, params, facts, packet, framing };
    if row.params.iter().any(|spec| spec.name == "follows") && reader.params.choice("follows") == "rfc" {
        return reader.refuse("follows", "the kernel's disciplines are Linux's: set linux or auto");
    }
    let Some(kernel) = &row.kernel else {
        let message = format!(
            "'{}' given: the kernel's own links have {}; {SUPPORTED_BY}",
            row.name,
            supported().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
        );
        return Err(KernelError::refused(&format!("{}.discipline", reader.place), message));
    };
    reader.check_only(kernel, row.params)?;
    match kernel.options {
        KernelOptions::Fifo => reader.fifo(),
        KernelOptions::Red => reader.red(),
        KernelOptions::Sfq => reader.sfq(),
        KernelOptions::Drr => reader.drr(crossings),
        KernelOptions::Cake => cake::cake(&reader),
        KernelOptions::Attributes(attributes) => reader.attributes(kernel.kinds[0], attributes),
    }
}

/// The disciplines that the kernel has too.
pub(crate) fn supported() -> impl Iterator<Item = (&'static str, &'static KernelQdisc)> {
    dumbbell_qdisc::registry().iter().filter_map(|row| Some((row.name, row.kernel.as_ref()?)))
}

/// A discipline's parameters on a link.
pub(super) struct Reader {
    place: String,
    pub(super) params: Params,
    facts: LinkInfo,
    packet: u32,
    pub(super) framing: u32,
}

impl Reader {
    pub(super) fn refuse<T>(&self, key: &str, message: &str) -> Result<T, KernelError> {
        Err(KernelError::refused(&format!("{}.{key}", self.place), message))
    }

    /// Returns the limit of a discipline that counts packets.
    fn packets(&self) -> Result<u32, KernelError> {
        match self.facts.limit(self.params.length("limit")) {
            Limit::Packets(n) => Ok(n.0.min(u64::from(u32::MAX)) as u32),
            Limit::Bytes(_) => self.refuse("limit", "the kernel counts packets here: give packets"),
        }
    }

    /// Returns a length in bytes; each packet counts as a full one.
    fn bytes(&self, length: Limit) -> u32 {
        let bytes = match length {
            Limit::Packets(n) => n.0 * u64::from(self.packet),
            Limit::Bytes(n) => n.0,
        };
        bytes.min(u64::from(u32::MAX)) as u32
    }

    fn fifo(&self) -> Result<Qdisc, KernelError> {
        // The kernel counts waiting packets; ns-2 counts the packet in transmission too, so one packet less may wait.
        // Limits in bytes count waiting packets in both.
        let in_transmission = u32::from(self.params.choice("counting") == "ns2");
        Ok(match self.facts.limit(self.params.length("limit")) {
            Limit::Packets(_) => match self.packets()? - in_transmission {
                0 => {
                    return self.refuse("limit", "with counting 'ns2' nothing may wait: the kernel needs 2 packets");
                }
                limit => Qdisc::Pfifo { limit },
            },
            bytes @ Limit::Bytes(_) => Qdisc::Bfifo { limit: self.bytes(bytes) },
        })
    }

    fn drr(&self, crossings: &[Crossing]) -> Result<Qdisc, KernelError> {
        let p = &self.params;
        let limit = self.facts.limit(p.length("limit"));
        let queue_limit = p.unless_word("queue_limit", Params::length).map(|l| self.facts.limit(l));
        let refuse = |key: &str, message: &str| KernelError::refused(&format!("{}.{key}", self.place), message);
        let classes = classes(crossings, p.choice("by") == "class", limit, queue_limit, refuse)?;
        let quantum = p.bytes("quantum").0;
        match u32::try_from(quantum) {
            Ok(quantum) if quantum > 0 => Ok(Qdisc::Drr { quantum, classes }),
            _ => self.refuse("quantum", &format!("{quantum} bytes given: the kernel takes 1 to {} bytes", u32::MAX)),
        }
    }

    fn red(&self) -> Result<Qdisc, KernelError> {
        let p = &self.params;
        let rate = self.facts.rate.0;
        let packet = p.bytes("mean_packet").0.min(u64::from(u32::MAX)) as u32;
        // As in the simulator: in mode "packets" a length in bytes is one in packets of mean_packet, and each packet
        // counts as a full one here.
        let length = |key: &str| {
            let packets = match self.facts.limit(p.unless_word(key, Params::length)?) {
                Limit::Packets(n) => n.0 as f64,
                Limit::Bytes(n) => n.0 as f64 / f64::from(packet.max(1)),
            };
            Some((packets * f64::from(self.packet)).round() as u32)
        };
        // The same derivation of "auto" as in the simulator.
        let half_target = (p.duration("target_delay").as_secs() * rate as f64 / 16.0) as u32;
        let min = length("min_th").unwrap_or_else(|| half_target.max(5 * self.packet));
        let max = length("max_th").unwrap_or_else(|| min.saturating_mul(3));
        let weight = p.unless_word("weight", Params::float);
        let wanted = weight.unwrap_or_else(|| 1.0 - (-8.0 * f64::from(packet) / rate as f64).exp());
        let log = -wanted.log2();
        if weight.is_some() && (log.round() - log).abs() > 0.05 {
            return self.refuse("weight", "the kernel takes powers of two: 2^-9 is 0.001953");
        }
        let weight_log = log.round().clamp(1.0, 20.0) as u8;
        self.check_threshold("min_th", min, weight_log)?;
        self.check_threshold("max_th", max, weight_log)?;
        // The shaper holds the first packet outside of RED (`shaper.rs`), which therefore counts one less.
        let inside = |bytes: u32| bytes.saturating_sub(self.packet);
        Ok(Qdisc::Red(Red {
            limit: inside(self.bytes(self.facts.limit(p.length("limit")))).max(self.packet),
            min: inside(min),
            max: inside(max),
            weight_log,
            probability: p.probability("max_p"),
            packet,
            rate_bps: rate,
            ecn: p.bool("ecn"),
            adaptive: p.bool("adaptive"),
        }))
    }

    /// Refuses a threshold that the kernel's fixed-point average can't hold [Linux include/net/red.h red_check_params].
    fn check_threshold(&self, key: &str, bytes: u32, weight_log: u8) -> Result<(), KernelError> {
        let least = 1 << (31 - weight_log);
        if bytes < least {
            return Ok(());
        }
        let message = format!(
            "{bytes} bytes ({} full packets): with a weight of 2^-{weight_log} the kernel's RED takes less than {least} bytes: \
             lower it, or give a larger weight",
            bytes / self.packet
        );
        self.refuse(key, &message)
    }

    pub(super) fn micros(&self, key: &str) -> Result<u32, KernelError> {
        let micros = self.params.duration(key).0 / 1000;
        u32::try_from(micros).or_else(|_| self.refuse(key, "too long for the kernel"))
    }

    /// Refuses values of parameters for which the kernel has another one only.
    fn check_only(&self, kernel: &KernelQdisc, specs: &[Spec]) -> Result<(), KernelError> {
        let kind = kernel.kinds[0];
        for (key, only) in kernel.only {
            let (given, message) = match specs.iter().find(|spec| spec.name == *key).map(|spec| spec.kind) {
                Some(Kind::Bool) => {
                    let given = self.params.bool(key);
                    let message =
                        format!("{given} given (or the default): the kernel's {kind} doesn't have it; set {only}");
                    (given.to_string(), message)
                }
                Some(Kind::Int { .. }) => {
                    (self.params.int(key).to_string(), format!("the kernel's {kind} doesn't have it"))
                }
                _ => (self.params.choice(key).to_owned(), format!("the kernel's {kind} has '{only}' only")),
            };
            if given != *only {
                return self.refuse(key, &message);
            }
        }
        Ok(())
    }

    fn attributes(&self, kind: &'static str, all: &[KernelAttribute]) -> Result<Qdisc, KernelError> {
        let options = all.iter().filter_map(|attribute| self.attribute(attribute).transpose());
        Ok(Qdisc::Options { kind, options: options.collect::<Result<_, _>>()? })
    }

    /// Returns the attribute of a parameter; None if its value needs none.
    fn attribute(&self, attribute: &KernelAttribute) -> Result<Option<Setting>, KernelError> {
        let KernelAttribute { number, param: key, form } = *attribute;
        let p = &self.params;
        let (value, text) = match form {
            AttributeForm::Choice(word, ..) if p.choice(key) != word => return Ok(None),
            AttributeForm::Choice(_, value, text) => {
                return Ok(Some(setting(number, Value::U8(value), text.into())));
            }
            AttributeForm::Packets => {
                let limit = self.packets()?;
                (limit, format!("{key} {limit}"))
            }
            AttributeForm::Micros => {
                let micros = self.micros(key)?;
                (micros, format!("{key} {micros}us"))
            }
            AttributeForm::MicrosUnlessWord => {
                let Some(after) = p.unless_word(key, Params::duration) else { return Ok(None) };
                let micros = u32::try_from(after.0 / 1000).or_else(|_| self.refuse(key, "too long"))?;
                (micros, format!("{key} {micros}us"))
            }
            AttributeForm::Flag => {
                let on = p.bool(key);
                (on.into(), if on { key.into() } else { String::new() })
            }
            AttributeForm::Int => (p.int(key) as u32, format!("{key} {}", p.int(key) as u32)),
            AttributeForm::Bytes => {
                let bytes = p.bytes(key).0.min(u64::from(u32::MAX)) as u32;
                (bytes, format!("{key} {bytes}"))
            }
            // PIE's alpha and beta [Linux sch_pie.c pie_change].
            AttributeForm::Whole => {
                let value = p.float(key);
                if value.fract() != 0.0 {
                    return self.refuse(key, "the kernel takes whole numbers");
                }
                (value as u32, format!("{key} {value}"))
            }
            AttributeForm::Percent => {
                let share = (p.probability(key) * 100.0).round() as u32;
                (share, format!("{key} {share}"))
            }
        };
        Ok(Some(setting(number, Value::U32(value), text)))
    }

    fn sfq(&self) -> Result<Qdisc, KernelError> {
        let p = &self.params;
        let perturb = p.unless_word("perturb", Params::duration).map_or(0, |d| d.0);
        // The perturbation period is in seconds, and the divisor must be a power of two [Linux sch_sfq.c sfq_change].
        if !perturb.is_multiple_of(1_000_000_000) {
            return self.refuse("perturb", "the kernel takes whole seconds");
        }
        let divisor = p.int("divisor") as u32;
        if !divisor.is_power_of_two() {
            return self.refuse("divisor", "the kernel takes powers of two");
        }
        Ok(Qdisc::Sfq {
            quantum: p.bytes("quantum").0 as u32,
            perturb: (perturb / 1_000_000_000) as u32,
            limit: self.packets()?,
            divisor,
            flows: p.int("flows") as u32,
            depth: p.int("depth") as u32,
            headdrop: p.bool("headdrop"),
        })
    }
}

pub(super) fn setting(number: u16, value: Value, text: String) -> Setting {
    Setting { number, value, text }
}
