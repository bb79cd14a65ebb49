//! Queue disciplines as the kernel takes them.

mod convert;
mod red;

pub(crate) use convert::queue;
pub use red::Red;

/// A queue discipline of the kernel. Sizes are IP bytes with the link's framing.
#[derive(Clone, Debug, PartialEq)]
pub enum Qdisc {
    /// FIFO, limit in packets.
    Pfifo {
        /// Packets that may wait.
        limit: u32,
    },
    /// FIFO, limit in bytes.
    Bfifo {
        /// Bytes that may wait.
        limit: u32,
    },
    /// Random early detection.
    Red(Red),
    /// Stochastic fairness queueing.
    Sfq {
        /// Credit of a queue in each round, bytes.
        quantum: u32,
        /// From one change of the hash to the next, s; 0: never.
        perturb: u32,
        /// Packets that may wait in all.
        limit: u32,
        /// Number of hash values.
        divisor: u32,
        /// The most queues in use.
        flows: u32,
        /// The most packets in one queue.
        depth: u32,
        /// Whether drops are made at the head.
        headdrop: bool,
    },
    /// A discipline whose options are numbers.
    Options {
        /// Its name in the kernel.
        kind: &'static str,
        /// What is set.
        options: Vec<Setting>,
    },
    /// Token bucket over another discipline.
    Tbf {
        /// Rate, bit/s.
        rate_bps: u64,
        /// Depth of the bucket, bytes.
        burst: u64,
        /// Added to each packet's length (Ethernet header included in that), bytes.
        overhead: i32,
        /// What is shaped.
        inner: Box<Qdisc>,
    },
    /// Transmitter and wire.
    Netem {
        /// Rate, bit/s; 0: it takes no time to transmit.
        rate_bps: u64,
        /// Added to each packet's length (Ethernet header included in that), bytes.
        overhead: i32,
        /// Mean delay, ns.
        delay_ns: u64,
        /// Delay varies by so much to both sides, ns.
        jitter_ns: u64,
        /// Share of packets lost.
        loss: f64,
        /// Start of its random numbers.
        seed: u64,
    },
}

/// One option of a discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The kernel's number of it.
    pub number: u16,
    /// Its value.
    pub value: Value,
    /// As `tc` takes it.
    pub text: String,
}

/// A number of the width that the kernel wants.
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
    /// Its name in the kernel.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Qdisc::Pfifo { .. } => "pfifo",
            Qdisc::Bfifo { .. } => "bfifo",
            Qdisc::Red(_) => "red",
            Qdisc::Sfq { .. } => "sfq",
            Qdisc::Options { kind, .. } => kind,
            Qdisc::Tbf { .. } => "tbf",
            Qdisc::Netem { .. } => "netem",
        }
    }
}

impl std::fmt::Display for Qdisc {
    /// As `tc` takes it.
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
            Qdisc::Options { kind, options } => {
                f.write_str(kind)?;
                options.iter().filter(|o| !o.text.is_empty()).try_for_each(|o| write!(f, " {}", o.text))
            }
            Qdisc::Tbf { rate_bps, burst, .. } => {
                write!(f, "tbf rate {rate_bps}bit burst {burst}b limit 100000000")
            }
            Qdisc::Netem { rate_bps, overhead, delay_ns, jitter_ns, loss, seed } => {
                write!(f, "netem limit 100000000 delay {delay_ns}ns {jitter_ns}ns")?;
                if *rate_bps > 0 {
                    write!(f, " rate {rate_bps}bit {overhead}")?;
                }
                if *loss > 0.0 { write!(f, " loss {}% seed {seed}", loss * 100.0) } else { Ok(()) }
            }
        }
    }
}
