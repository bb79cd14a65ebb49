//! Translates a scenario's queue discipline into the kernel's, or refuses it with the reason [Linux sch_*.c; attributes:
//! pkt_sched.h]. The simulator's parameters have the names of `tc`'s options.

use super::attributes::*;
use super::drr::{Crossing, classes};
use super::{Qdisc, Red, Setting, Value};
use crate::error::KernelError;
use crate::plan::link::SUPPORTED_BY;
use dumbbell_plan::{LinkPlan, Named, Plan};
use dumbbell_qdisc::{Limit, LinkInfo};
use dumbbell_units::param::Params;
use dumbbell_units::{Dur, Rate};

/// Translates a link's queue discipline; `packet` is the link's largest packet with its framing, bytes, `crossings` are the
/// directions of flows that cross the link.
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
    match discipline.name.as_str() {
        "droptail" => reader.droptail(),
        "red" => reader.red(),
        "codel" => reader.codel(),
        "fq_codel" => reader.fq_codel(),
        "pie" => reader.pie(),
        "fq_pie" => reader.fq_pie(),
        "sfq" => reader.sfq(),
        "cake" => reader.cake(),
        "drr" => reader.drr(crossings),
        other => {
            let message = format!(
                "'{other}' given: the kernel's own links have droptail, red, codel, fq_codel, pie, fq_pie, sfq, cake, drr; \
                 {SUPPORTED_BY}"
            );
            Err(KernelError::refused(&format!("{}.discipline", reader.place), message))
        }
    }
}

struct Reader {
    place: String,
    params: Params,
    facts: LinkInfo,
    packet: u32,
    framing: u32,
}

impl Reader {
    fn refuse<T>(&self, key: &str, message: &str) -> Result<T, KernelError> {
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

    fn droptail(&self) -> Result<Qdisc, KernelError> {
        // The kernel counts waiting packets; ns-2 counts the packet in transmission too, so one packet less may wait. Limits in
        // bytes count waiting packets in both.
        let in_transmission = u32::from(self.params.choice("counting") == "ns2");
        Ok(match self.facts.limit(self.params.length("limit")) {
            Limit::Packets(_) => match self.packets()? - in_transmission {
                0 => {
                    return self
                        .refuse("limit", "with counting 'ns2' nothing may wait: the kernel needs 2 packets");
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
        let refuse =
            |key: &str, message: &str| KernelError::refused(&format!("{}.{key}", self.place), message);
        let classes = classes(crossings, p.choice("by") == "class", limit, queue_limit, refuse)?;
        let quantum = p.bytes("quantum").0;
        match u32::try_from(quantum) {
            Ok(quantum) if quantum > 0 => Ok(Qdisc::Drr { quantum, classes }),
            _ => self.refuse(
                "quantum",
                &format!("{quantum} bytes given: the kernel takes 1 to {} bytes", u32::MAX),
            ),
        }
    }

    fn red(&self) -> Result<Qdisc, KernelError> {
        let p = &self.params;
        for key in ["gentle", "wait"] {
            if p.bool(key) {
                return self
                    .refuse(key, "true given (or the default): the kernel's RED doesn't have it; set false");
            }
        }
        if p.int("least_waiting") != 0 {
            return self.refuse("least_waiting", "the kernel's RED doesn't have it");
        }
        for (key, only) in [("counting", "waiting"), ("mode", "packets")] {
            if p.choice(key) != only {
                return self.refuse(key, &format!("the kernel's RED has '{only}' only"));
            }
        }
        let rate = self.facts.rate.0;
        let packet = p.bytes("mean_packet").0.min(u64::from(u32::MAX)) as u32;
        // As in the simulator: in mode "packets" a length in bytes is one in packets of mean_packet, and each packet counts as a
        // full one here.
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

    fn micros(&self, key: &str) -> Result<u32, KernelError> {
        let micros = self.params.duration(key).0 / 1000;
        u32::try_from(micros).or_else(|_| self.refuse(key, "too long for the kernel"))
    }

    fn time(&self, number: u16, key: &str) -> Result<Setting, KernelError> {
        let micros = self.micros(key)?;
        Ok(setting(number, Value::U32(micros), format!("{key} {micros}us")))
    }

    fn flag(&self, number: u16, key: &str) -> Setting {
        let on = self.params.bool(key);
        setting(number, Value::U32(on.into()), if on { key.into() } else { String::new() })
    }

    fn number(&self, number: u16, key: &str) -> Setting {
        let value = self.params.int(key) as u32;
        setting(number, Value::U32(value), format!("{key} {value}"))
    }

    fn size(&self, number: u16, key: &str) -> Setting {
        let value = self.params.bytes(key).0.min(u64::from(u32::MAX)) as u32;
        setting(number, Value::U32(value), format!("{key} {value}"))
    }

    fn limit(&self, number: u16) -> Result<Setting, KernelError> {
        let limit = self.packets()?;
        Ok(setting(number, Value::U32(limit), format!("limit {limit}")))
    }

    fn threshold(&self, number: u16) -> Result<Option<Setting>, KernelError> {
        let Some(after) = self.params.unless_word("ce_threshold", Params::duration) else { return Ok(None) };
        let micros = u32::try_from(after.0 / 1000).or_else(|_| self.refuse("ce_threshold", "too long"))?;
        Ok(Some(setting(number, Value::U32(micros), format!("ce_threshold {micros}us"))))
    }

    fn codel(&self) -> Result<Qdisc, KernelError> {
        let mut options = vec![
            self.time(TCA_CODEL_TARGET, "target")?,
            self.limit(TCA_CODEL_LIMIT)?,
            self.time(TCA_CODEL_INTERVAL, "interval")?,
            self.flag(TCA_CODEL_ECN, "ecn"),
        ];
        options.extend(self.threshold(TCA_CODEL_CE_THRESHOLD)?);
        Ok(Qdisc::Options { kind: "codel", options })
    }

    fn fq_codel(&self) -> Result<Qdisc, KernelError> {
        let mut options = vec![
            self.time(TCA_FQ_CODEL_TARGET, "target")?,
            self.limit(TCA_FQ_CODEL_LIMIT)?,
            self.time(TCA_FQ_CODEL_INTERVAL, "interval")?,
            self.flag(TCA_FQ_CODEL_ECN, "ecn"),
            self.number(TCA_FQ_CODEL_FLOWS, "flows"),
            self.size(TCA_FQ_CODEL_QUANTUM, "quantum"),
            self.number(TCA_FQ_CODEL_DROP_BATCH_SIZE, "drop_batch"),
            self.size(TCA_FQ_CODEL_MEMORY_LIMIT, "memory_limit"),
        ];
        options.extend(self.threshold(TCA_FQ_CODEL_CE_THRESHOLD)?);
        if self.params.choice("ce_threshold_selector") == "ect1" {
            options.push(setting(
                TCA_FQ_CODEL_CE_THRESHOLD_SELECTOR,
                Value::U8(1),
                "ce_threshold_selector 0x01/0x03".into(),
            ));
            options.push(setting(TCA_FQ_CODEL_CE_THRESHOLD_MASK, Value::U8(3), String::new()));
        }
        Ok(Qdisc::Options { kind: "fq_codel", options })
    }

    /// PIE's alpha or beta, whole numbers in the kernel [Linux sch_pie.c pie_change].
    fn weight(&self, number: u16, key: &str) -> Result<Setting, KernelError> {
        let value = self.params.float(key);
        if value.fract() != 0.0 {
            return self.refuse(key, "the kernel takes whole numbers");
        }
        Ok(setting(number, Value::U32(value as u32), format!("{key} {value}")))
    }

    fn pie(&self) -> Result<Qdisc, KernelError> {
        let options = vec![
            self.time(TCA_PIE_TARGET, "target")?,
            self.limit(TCA_PIE_LIMIT)?,
            self.time(TCA_PIE_TUPDATE, "tupdate")?,
            self.weight(TCA_PIE_ALPHA, "alpha")?,
            self.weight(TCA_PIE_BETA, "beta")?,
            self.flag(TCA_PIE_ECN, "ecn"),
            self.flag(TCA_PIE_BYTEMODE, "bytemode"),
            self.flag(TCA_PIE_DQ_RATE_ESTIMATOR, "dq_rate_estimator"),
        ];
        Ok(Qdisc::Options { kind: "pie", options })
    }

    fn fq_pie(&self) -> Result<Qdisc, KernelError> {
        let share = (self.params.probability("ecn_prob") * 100.0).round() as u32;
        let options = vec![
            self.limit(TCA_FQ_PIE_LIMIT)?,
            self.number(TCA_FQ_PIE_FLOWS, "flows"),
            self.time(TCA_FQ_PIE_TARGET, "target")?,
            self.time(TCA_FQ_PIE_TUPDATE, "tupdate")?,
            self.weight(TCA_FQ_PIE_ALPHA, "alpha")?,
            self.weight(TCA_FQ_PIE_BETA, "beta")?,
            self.size(TCA_FQ_PIE_QUANTUM, "quantum"),
            self.size(TCA_FQ_PIE_MEMORY_LIMIT, "memory_limit"),
            setting(TCA_FQ_PIE_ECN_PROB, Value::U32(share), format!("ecn_prob {share}")),
            self.flag(TCA_FQ_PIE_ECN, "ecn"),
            self.flag(TCA_FQ_PIE_BYTEMODE, "bytemode"),
            self.flag(TCA_FQ_PIE_DQ_RATE_ESTIMATOR, "dq_rate_estimator"),
        ];
        Ok(Qdisc::Options { kind: "fq_pie", options })
    }

    fn cake(&self) -> Result<Qdisc, KernelError> {
        let p = &self.params;
        if p.unless_word("limit", Params::length).is_some() {
            return self.refuse(
                "limit",
                "the kernel counts the memory of packets, not their bytes: leave it at auto",
            );
        }
        let bandwidth = p.unless_word("bandwidth", Params::rate).map_or(0, |rate| rate.0);
        let (flow_mode, isolation) = if p.choice("isolation") == "flowblind" {
            (CAKE_FLOW_NONE, "flowblind")
        } else {
            (CAKE_FLOW_FLOWS, "flows")
        };
        let rtt = self.micros("rtt")?;
        let overhead = self.framing + p.bytes("overhead").0 as u32;
        let shaper = if bandwidth == 0 { "unlimited".into() } else { format!("bandwidth {bandwidth}bit") };
        let mut options = vec![
            setting(TCA_CAKE_BASE_RATE64, Value::U64(bandwidth / 8), shaper),
            setting(TCA_CAKE_DIFFSERV_MODE, Value::U32(CAKE_DIFFSERV_BESTEFFORT), "besteffort".into()),
            setting(TCA_CAKE_FLOW_MODE, Value::U32(flow_mode), isolation.into()),
            setting(TCA_CAKE_RTT, Value::U32(rtt), format!("rtt {rtt}us")),
            setting(TCA_CAKE_TARGET, Value::U32(rtt / 20), String::new()),
            setting(TCA_CAKE_OVERHEAD, Value::U32(overhead), format!("overhead {overhead}")),
        ];
        let mpu = p.bytes("mpu").0 as u32;
        if mpu > 0 {
            options.push(setting(TCA_CAKE_MPU, Value::U32(mpu), format!("mpu {mpu}")));
        }
        Ok(Qdisc::Options { kind: "cake", options })
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

fn setting(number: u16, value: Value, text: String) -> Setting {
    Setting { number, value, text }
}
