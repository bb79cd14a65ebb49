//! Queue disciplines with the kernel's options; `Display` has `tc`'s syntax [Linux sch_*.c, pkt_sched.h; tc(8)].

mod cake;
mod drr;
mod from_scenario;
mod red;
mod shaper;

pub(crate) use drr::Crossing;
pub use drr::DrrClass;
pub(crate) use from_scenario::{queue, supported};
pub use red::Red;

/// A queue discipline of the kernel. Sizes are IP bytes with the link's framing.
#[derive(Clone, Debug, PartialEq)]
pub enum Qdisc {
    /// FIFO, limit in packets.
    Pfifo {
        /// Queue limit, packets.
        limit: u32,
    },
    /// FIFO, limit in bytes.
    Bfifo {
        /// Queue limit, bytes.
        limit: u32,
    },
    /// Random early detection.
    Red(Red),
    /// Stochastic fairness queueing.
    Sfq {
        /// Credit of a queue in each round, bytes.
        quantum: u32,
        /// Interval between two changes of the hash, s; 0: never.
        perturb: u32,
        /// Limit of all queues together, packets.
        limit: u32,
        /// Number of hash values.
        divisor: u32,
        /// Largest number of queues in use.
        flows: u32,
        /// Limit of one queue, packets.
        depth: u32,
        /// True: drops at the head of the queue [Linux sch_sfq.c sfq_enqueue].
        headdrop: bool,
    },
    /// Deficit round robin over the queues of its classes.
    Drr {
        /// Bytes that a class may send in a round.
        quantum: u32,
        /// Its classes, numbered from 1.
        classes: Vec<DrrClass>,
    },
    /// A discipline whose netlink attributes are all numbers.
    Options {
        /// The kernel's name of it (`TCA_KIND`).
        kind: &'static str,
        /// The attributes.
        options: Vec<Setting>,
    },
    /// Token bucket over another discipline.
    Tbf {
        /// Rate, bit/s.
        rate_bps: u64,
        /// Size of the bucket, bytes.
        burst: u64,
        /// Added to each packet's length, which includes the Ethernet header, bytes.
        overhead: i32,
        /// The inner discipline.
        inner: Box<Qdisc>,
    },
    /// Token bucket over another discipline, which is asked for a packet only when it is sent.
    Htb {
        /// Rate, bit/s.
        rate_bps: u64,
        /// Size of the bucket, bytes.
        burst: u64,
        /// Added to each packet's length, which includes the Ethernet header, bytes.
        overhead: i32,
        /// The discipline of its only class.
        inner: Box<Qdisc>,
    },
    /// One strict band, which asks its discipline for a packet even if it is empty.
    Ets {
        /// The discipline of the band.
        inner: Box<Qdisc>,
    },
    /// Transmission time, delay, jitter and loss.
    Netem {
        /// Rate, bit/s; 0: no transmission time [Linux sch_netem.c packet_time_ns].
        rate_bps: u64,
        /// Added to each packet's length, which includes the Ethernet header, bytes.
        overhead: i32,
        /// Mean delay, ns.
        delay_ns: u64,
        /// Jitter: the delay varies by up to this to both sides, ns.
        jitter_ns: u64,
        /// Loss probability.
        loss: f64,
        /// Seed of netem's random numbers (`TCA_NETEM_PRNG_SEED`).
        seed: u64,
        /// The netem that packets enter when they leave this one.
        inner: Option<Box<Qdisc>>,
    },
}

/// One netlink attribute of a discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its number (`TCA_...`).
    pub number: u16,
    /// Its value.
    pub value: Value,
    /// In `tc`'s syntax.
    pub text: String,
}

/// A number with its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// 8 bits.
    U8(u8),
    /// 32 bits.
    U32(u32),
    /// 64 bits.
    U64(u64),
}

impl Qdisc {
    /// The kernel's name of it (`TCA_KIND`).
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Qdisc::Pfifo { .. } => "pfifo",
            Qdisc::Bfifo { .. } => "bfifo",
            Qdisc::Red(_) => "red",
            Qdisc::Sfq { .. } => "sfq",
            Qdisc::Drr { .. } => "drr",
            Qdisc::Options { kind, .. } => kind,
            Qdisc::Tbf { .. } => "tbf",
            Qdisc::Htb { .. } => "htb",
            Qdisc::Ets { .. } => "ets",
            Qdisc::Netem { .. } => "netem",
        }
    }
}

impl std::fmt::Display for Qdisc {
    /// In `tc`'s syntax.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Qdisc::Pfifo { limit } => write!(f, "pfifo limit {limit}"),
            Qdisc::Bfifo { limit } => write!(f, "bfifo limit {limit}"),
            Qdisc::Red(red) => red.fmt(f),
            Qdisc::Sfq { quantum, perturb, limit, divisor, flows, depth, headdrop } => {
                write!(
                    f,
                    "sfq limit {limit} quantum {quantum} perturb {perturb} divisor {divisor} flows {flows} depth {depth}"
                )?;
                if *headdrop { f.write_str(" headdrop") } else { Ok(()) }
            }
            Qdisc::Drr { .. } => f.write_str("drr"),
            Qdisc::Options { kind, options } => {
                f.write_str(kind)?;
                options.iter().filter(|o| !o.text.is_empty()).try_for_each(|o| write!(f, " {}", o.text))
            }
            Qdisc::Tbf { rate_bps, burst, .. } => {
                write!(f, "tbf rate {rate_bps}bit burst {burst}b limit 100000000")
            }
            Qdisc::Htb { .. } => f.write_str("htb default 1"),
            Qdisc::Ets { .. } => f.write_str("ets bands 1 strict 1"),
            Qdisc::Netem { rate_bps, overhead, delay_ns, jitter_ns, loss, seed, inner: _ } => {
                write!(f, "netem limit 100000000 delay {delay_ns}ns {jitter_ns}ns")?;
                if *rate_bps > 0 {
                    write!(f, " rate {rate_bps}bit {overhead}")?;
                }
                if *loss > 0.0 { write!(f, " loss {}% seed {seed}", loss * 100.0) } else { Ok(()) }
            }
        }
    }
}
