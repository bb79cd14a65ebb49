//! What a run is made from: a scenario with every name resolved, every topology drawn out into nodes and links and
//! every quantity in base units. The Python front writes it; nothing in it is optional where a value decides.

use dumbbell_link::{
    CorruptionPlan, CoursePlan, DuplicationPlan, JitterPlan, LossPlan, OpportunitiesPlan, OutagePlan,
    PolicerPlan, ReorderingPlan,
};
use dumbbell_units::param::Raw;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// Length of the run, ns.
    pub duration_ns: u64,
    /// Metrics count from here to the end, ns.
    pub measure_from_ns: u64,
    /// Each flow starts later by a uniform share of this, ns.
    pub start_jitter_ns: u64,
    /// Node names; links and flows refer to them by index.
    pub nodes: Vec<String>,
    /// Links, one for each direction.
    pub links: Vec<LinkPlan>,
    /// Flows.
    pub flows: Vec<FlowPlan>,
    /// What is traced.
    pub trace: TracePlan,
    /// What is captured.
    #[serde(default)]
    pub capture: CapturePlan,
}

/// Where packets are captured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapturePlan {
    /// The captures.
    pub points: Vec<CapturePoint>,
    /// Bytes kept of each packet; 0: all.
    pub snaplen_bytes: u32,
}

/// One capture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapturePoint {
    /// Its name.
    pub name: String,
    /// Nodes whose packets are in it.
    pub nodes: Vec<usize>,
    /// Links whose packets are in it, as they come to the queue.
    pub links: Vec<usize>,
}

/// One direction of a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Its name, such as `r1->r2`.
    pub name: String,
    /// The node it leaves.
    pub from: usize,
    /// The node it enters.
    pub to: usize,
    /// Bit rate, bit/s; of a course its first value, of a trace its mean.
    pub rate_bps: u64,
    /// The rate over time (bit/s), where it changes.
    #[serde(default)]
    pub rate_course: Option<CoursePlan>,
    /// A packet-delivery trace in place of a rate.
    #[serde(default)]
    pub opportunities: Option<OpportunitiesPlan>,
    /// Propagation delay, ns; of a course its first value.
    pub delay_ns: u64,
    /// The delay over time (ns), where it changes.
    #[serde(default)]
    pub delay_course: Option<CoursePlan>,
    /// Whether packets on a shorter delay may overtake those on a longer one.
    #[serde(default)]
    pub delay_reorders: bool,
    /// When it is down.
    #[serde(default)]
    pub outages: Vec<OutagePlan>,
    /// Framing added to each IP packet, bytes.
    pub overhead_bytes: u32,
    /// Largest base round-trip time of the flows that cross it, ns (limits in BDP).
    pub base_rtt_ns: u64,
    /// Queue discipline.
    pub queue: Named,
    /// Policer at the entrance.
    #[serde(default)]
    pub policer: Option<PolicerPlan>,
    /// Which packets are lost on the wire.
    #[serde(default)]
    pub loss: LossPlan,
    /// Which are damaged.
    #[serde(default)]
    pub corruption: Option<CorruptionPlan>,
    /// What is added to each packet's propagation delay.
    #[serde(default)]
    pub jitter: Option<JitterPlan>,
    /// Whether jitter may let packets overtake each other.
    #[serde(default)]
    pub jitter_reorders: bool,
    /// Which packets are held back.
    #[serde(default)]
    pub reordering: Option<ReorderingPlan>,
    /// Which are copied.
    #[serde(default)]
    pub duplication: Option<DuplicationPlan>,
    /// Scripted drops.
    #[serde(default)]
    pub drops: Vec<DropPlan>,
}

impl LinkPlan {
    /// Whether packets may leave its wire in another order than they came, or more often.
    pub fn wire_may_reorder(&self) -> bool {
        (self.jitter.is_some() && self.jitter_reorders)
            || (self.delay_course.is_some() && self.delay_reorders)
            || self.reordering.is_some()
            || self.duplication.is_some()
    }
}

/// Scripted drops at a link's entrance: packets by number, or all within a span of time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropPlan {
    /// Only packets of this flow (by index) in its forward direction; None: every packet.
    pub flow: Option<usize>,
    /// Whether only packets with payload count and are dropped.
    pub data_only: bool,
    /// Numbers of the packets to drop, the first that counts being 1; ascending.
    pub packets: Vec<u64>,
    /// DurationStats of time in which every packet is dropped, ns: [begin, end).
    pub spans_ns: Vec<[u64; 2]>,
}

/// A registry name with what the scenario sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Its parameters, as the scenario gives them.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Of a law that is not in the registry: what its content is called, so that another content is another plan.
    #[serde(default)]
    pub content: Option<String>,
}

impl Named {
    /// The parameters in the form that registries read.
    #[must_use]
    pub fn given(&self) -> Vec<(String, Raw)> {
        entries(&self.params)
    }
}

fn entries(table: &Map<String, Value>) -> Vec<(String, Raw)> {
    table.iter().map(|(k, v)| (k.clone(), raw(v))).collect()
}

fn raw(value: &Value) -> Raw {
    match value {
        Value::Bool(b) => Raw::Bool(*b),
        Value::Number(n) => Raw::Number(n.as_f64().unwrap_or(f64::NAN)),
        Value::String(s) => Raw::Text(s.clone()),
        Value::Object(table) => Raw::Table(entries(table)),
        other => Raw::Text(other.to_string()),
    }
}

/// One flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// The node that sends data.
    pub from: usize,
    /// The node that receives it.
    pub to: usize,
    /// When it starts (before jitter), ns.
    pub start_ns: u64,
    /// When it stops, ns; None: at the end of the run.
    pub stop_ns: Option<u64>,
    /// The class that its packets carry (for disciplines with classes).
    pub class: u16,
    /// What it carries.
    pub application: AppPlan,
    /// The transport under it.
    pub transport: TransportPlan,
}

/// The transport of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TransportPlan {
    /// A TCP connection (or several, one after the other).
    Tcp {
        /// Congestion control.
        variant: Named,
        /// Stack preset and what the scenario changes in it.
        stack: Named,
    },
    /// Datagrams.
    Udp,
}

/// The application of a flow. Sizes are payload for TCP and IP packet bytes for UDP.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AppPlan {
    /// As much as the transport takes, until the flow stops.
    Bulk {},
    /// So many bytes over a fresh connection, `repeat` times.
    Transfer {
        /// Payload bytes.
        bytes: u64,
        /// How often; 0: until the flow stops.
        repeat: u64,
        /// From one start to the next, ns; a transfer still running delays the next.
        every_ns: u64,
    },
    /// Packets of one size at a constant rate.
    Cbr {
        /// Rate of the packets, bit/s (IP bytes for UDP, payload for TCP).
        rate_bps: u64,
        /// Size of each, bytes.
        packet_bytes: u32,
        /// Interval x (1 +- jitter), uniform; 0: constant.
        jitter: f64,
        /// Offset of the first packet, ns; None: uniform within one interval.
        phase_ns: Option<u64>,
    },
    /// CBR that pauses.
    Onoff {
        /// Rate while on, bit/s.
        rate_bps: u64,
        /// Size of each packet, bytes.
        packet_bytes: u32,
        /// Length (mean length) of an on period, ns.
        on_ns: u64,
        /// Length (mean length) of an off period, ns.
        off_ns: u64,
        /// Whether the periods are exponentially distributed; otherwise constant.
        exponential: bool,
    },
    /// Echo request and reply.
    Ping {
        /// From one request to the next, ns.
        interval_ns: u64,
        /// Size of request and reply, IP bytes.
        packet_bytes: u32,
        /// How many; 0: until the flow stops.
        count: u64,
        /// After this long without a reply a request counts as lost, ns.
        timeout_ns: u64,
    },
    /// The receiver connects, asks, and gets so many bytes; `repeat` times.
    Page {
        /// Payload bytes of the answer.
        bytes: u64,
        /// Payload bytes of the request.
        request_bytes: u64,
        /// How often; 0: until the flow stops.
        repeat: u64,
        /// From one start to the next, ns; a download still running delays the next.
        every_ns: u64,
    },
    /// Real programs, on a real kernel only.
    Program {
        /// Their kind.
        name: ProgramKind,
        /// What waits for the client, from before the run begins.
        server: Option<ProgramPlan>,
        /// What starts when the flow does; the flow is over when it ends.
        client: ProgramPlan,
        /// A file that the server's directory holds: name and bytes.
        file: Option<(String, u64)>,
    },
}

/// What real programs a flow carries.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ProgramKind {
    /// iperf3, client and server.
    Iperf3,
    /// The host's ping.
    Ping,
    /// curl and a web server.
    Http,
    /// Whatever the scenario says.
    Command,
}

impl ProgramKind {
    fn word(self) -> &'static str {
        match self {
            ProgramKind::Iperf3 => "iperf3",
            ProgramKind::Ping => "ping",
            ProgramKind::Http => "http",
            ProgramKind::Command => "command",
        }
    }
}

/// A real program at an end of a flow. In its arguments `{from}` and `{to}` stand for the addresses of the flow's ends,
/// `{seconds}` for the whole seconds that the flow lasts, less one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramPlan {
    /// Whether it runs where data are received.
    pub at_receiver: bool,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl AppPlan {
    /// Its word in a scenario.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            AppPlan::Bulk {} => "bulk",
            AppPlan::Transfer { .. } => "transfer",
            AppPlan::Cbr { .. } => "cbr",
            AppPlan::Onoff { .. } => "onoff",
            AppPlan::Ping { .. } => "ping",
            AppPlan::Page { .. } => "page",
            AppPlan::Program { name, .. } => name.word(),
        }
    }
}

/// What is traced. Metrics are always made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracePlan {
    /// The tables that are kept of flows and links.
    pub series: SeriesPlan,
    /// The flows and links that they are kept of; None: of all.
    #[serde(default)]
    pub only: Option<Vec<String>>,
    /// At most one row in this time per series, ns; 0: a row at each change.
    pub interval_ns: u64,
    /// A row per packet sent, received, dropped.
    pub packets: bool,
}

/// Which tables are kept: a list of their names, or true for all.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(from = "SeriesNames")]
pub struct SeriesPlan {
    /// A flow's state over time.
    pub flows: bool,
    /// A queue's backlog over time.
    pub queues: bool,
    /// A row for each packet that leaves a queue.
    pub departures: bool,
    /// A row for each packet dropped at a queue.
    pub drops: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SeriesName {
    Flows,
    Queues,
    Departures,
    Drops,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SeriesNames {
    All(bool),
    These(Vec<SeriesName>),
}

impl From<SeriesNames> for SeriesPlan {
    fn from(names: SeriesNames) -> SeriesPlan {
        match names {
            SeriesNames::All(all) => SeriesPlan { flows: all, queues: all, departures: all, drops: all },
            SeriesNames::These(names) => names.iter().fold(SeriesPlan::default(), |mut plan, name| {
                match name {
                    SeriesName::Flows => plan.flows = true,
                    SeriesName::Queues => plan.queues = true,
                    SeriesName::Departures => plan.departures = true,
                    SeriesName::Drops => plan.drops = true,
                }
                plan
            }),
        }
    }
}

impl TracePlan {
    fn keeps(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|names| names.iter().any(|n| n == name))
    }

    /// Whether a flow of that name leaves a series.
    #[must_use]
    pub fn of_flow(&self, name: &str) -> bool {
        self.series.flows && self.keeps(name)
    }

    /// Whether a link of that name leaves any table.
    #[must_use]
    pub fn of_link(&self, name: &str) -> bool {
        let s = self.series;
        (s.queues || s.departures || s.drops) && self.keeps(name)
    }
}
