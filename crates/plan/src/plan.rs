//! The plan of a run: a scenario with every name resolved, every topology expanded into nodes and links, and every
//! quantity in base units. The Python package writes it as JSON. A value that decides a result is never optional.

use crate::link_plan::{LinkPlan, links};
use crate::medium::MediumPlan;
use crate::named::Named;
use crate::workload::WorkloadPlan;
use dumbbell_apps::{PagePlan, VideoPlan, VoicePlan};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time, named};
use dumbbell_wire::IpVersion;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The version of the plan's format.
pub const FORMAT: u32 = 1;

/// The plan of one run, as the Python package writes it and the back ends read it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the format, 1 if a plan names none. A newer one is refused.
    #[serde(default = "newest", deserialize_with = "known")]
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
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
    /// Links, one per direction.
    #[serde(deserialize_with = "links")]
    pub links: Vec<LinkPlan>,
    /// Wi-Fi media, each in place of the transmitters of two links.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    pub media: Vec<MediumPlan>,
    /// Flows.
    pub flows: Vec<FlowPlan>,
    /// Series to record.
    pub trace: TracePlan,
    /// Captures to record.
    #[serde(default)]
    #[schemars(extend("default" = {"points": [], "snaplen_bytes": 0}))]
    pub capture: CapturePlan,
}

// Functions that aren't generic read plans: they are compiled once, in this crate.
impl Plan {
    /// Reads a plan from JSON.
    ///
    /// # Errors
    ///
    /// The text is not a plan: the place and the reason.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Reads a plan from a JSON value.
    ///
    /// # Errors
    ///
    /// The value is not a plan: the reason.
    pub fn from_value(value: Value) -> Result<Self, serde_json::Error> {
        serde_json::from_value(value)
    }

    /// Reads a plan inside another document, for `serde(deserialize_with)`.
    ///
    /// # Errors
    ///
    /// As [`Plan::from_value`].
    pub fn nested<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }

    /// The time at which a flow starts, start jitter included.
    #[must_use]
    pub fn start_of(&self, flow: &FlowPlan) -> Time {
        let jitter = Stream::new(self.seed, &format!("flow/{}/start", flow.name)).uniform();
        Time(flow.start_ns) + Dur(flow.start_jitter_ns.unwrap_or(self.start_jitter_ns)).scale(jitter)
    }

    /// True if a flow has Linux's TCP, stock or tuned.
    #[must_use]
    pub fn has_linux_tcp(&self) -> bool {
        self.flows.iter().any(|flow| match &flow.transport {
            TransportPlan::Tcp { stack, .. } => matches!(stack.name.as_str(), "linux" | "linux-tuned"),
            _ => false,
        })
    }
}

/// The captures of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapturePlan {
    /// Capture points.
    pub points: Vec<CapturePoint>,
    /// Bytes kept of each packet; 0: all.
    pub snaplen_bytes: u32,
    /// Version of the qlog files of QUIC flows; null: no files.
    #[serde(default)]
    pub qlog: Option<QlogVersion>,
}

/// Versions of qlog.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
pub enum QlogVersion {
    /// The current drafts of the IETF.
    #[serde(rename = "draft")]
    Draft,
    /// 0.3, for viewers.
    #[serde(rename = "0.3")]
    V03,
}

/// One capture.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapturePoint {
    /// Its name.
    pub name: String,
    /// Indices of the nodes whose packets it records.
    pub nodes: Vec<usize>,
    /// Indices of the links whose packets it records on arrival at the queue.
    pub links: Vec<usize>,
}

/// One flow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// Index of the node that sends data.
    pub from: usize,
    /// Index of the node that receives it.
    pub to: usize,
    /// Start time before the start jitter, ns.
    pub start_ns: u64,
    /// Start jitter of this flow, ns; null: the plan's.
    #[serde(default)]
    pub start_jitter_ns: Option<u64>,
    /// Stop time, ns; null: the end of the run.
    pub stop_ns: Option<u64>,
    /// Class of its packets, for disciplines with classes.
    pub class: u16,
    /// Version of IP.
    #[serde(default, deserialize_with = "ip_version")]
    #[schemars(with = "u8", extend("enum" = [4, 6], "default" = 4))]
    pub ip: IpVersion,
    /// Application.
    pub application: AppPlan,
    /// Transport.
    pub transport: TransportPlan,
}

impl FlowPlan {
    /// True if the program sets TCP_NODELAY, which turns Nagle's algorithm off. The stack's `nagle` decides if the
    /// scenario sets it. Else sources at a constant rate set it, as do browsers, web servers and programs with TLS
    /// [curl lib/cf-socket.c, nginx ngx_http_ssl_module, Chromium].
    #[must_use]
    pub fn sets_nodelay(&self) -> bool {
        let TransportPlan::Tcp { stack, tls, .. } = &self.transport else { return false };
        if let Some(nagle) = stack.params.get("nagle") {
            return nagle.as_bool() == Some(false);
        }
        use AppPlan::{Cbr, Objects, Onoff, Video};
        tls.is_some() || matches!(self.application, Cbr { .. } | Onoff { .. } | Video(_) | Objects(_))
    }
}

fn newest() -> u32 {
    FORMAT
}

fn known<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let given = u32::deserialize(from)?;
    if given == FORMAT {
        return Ok(given);
    }
    let message = format!("format: {given} given: this version of Dumbbell reads plans of format {FORMAT}");
    Err(serde::de::Error::custom(message))
}

fn ip_version<'de, D: Deserializer<'de>>(from: D) -> Result<IpVersion, D::Error> {
    let number = u8::deserialize(from)?;
    IpVersion::of(number).ok_or_else(|| serde::de::Error::custom(format!("IP version {number}: 4 or 6 is allowed")))
}

/// The transport of a flow.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TransportPlan {
    /// TCP: one connection, or several in sequence.
    Tcp {
        /// Congestion control.
        variant: Named,
        /// Stack preset, with the parameters that the scenario sets.
        stack: Named,
        /// Version of TLS, with the parameters that the scenario sets; null: without TLS.
        #[serde(default)]
        tls: Option<Box<Named>>,
    },
    /// QUIC: one connection, or several in sequence.
    Quic {
        /// Congestion control.
        variant: Named,
        /// Stack preset, with the parameters that the scenario sets.
        stack: Named,
    },
    /// UDP datagrams.
    Udp {},
}

/// The application of a flow. Sizes are payload bytes for TCP and QUIC and IP packet bytes for UDP.
//
// The long descriptions are boxed, because most flows of large plans have short ones.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AppPlan {
    /// Unlimited data, until the flow stops.
    Bulk {},
    /// `repeat` transfers, each over a new connection.
    Transfer {
        /// Payload bytes.
        bytes: u64,
        /// Number of transfers; 0: until the flow stops.
        repeat: u64,
        /// Time from start to start, ns; the next transfer waits until the running one ends.
        every_ns: u64,
    },
    /// Packets of one size at a constant rate.
    Cbr {
        /// Rate of the packets, bit/s (IP bytes for UDP, payload for TCP).
        rate_bps: u64,
        /// Packet size, bytes.
        packet_bytes: u32,
        /// Each interval is uniform in interval x (1 ± jitter); 0: constant.
        #[schemars(range(min = 0, max = 1))]
        jitter: f64,
        /// Time from the start to the first packet, ns; null: uniform within one interval.
        phase_ns: Option<u64>,
    },
    /// On/off source: CBR in on periods, nothing in off periods.
    Onoff {
        /// Rate while on, bit/s.
        rate_bps: u64,
        /// Size of each packet, bytes.
        packet_bytes: u32,
        /// (Mean) length of an on period, ns.
        on_ns: u64,
        /// (Mean) length of an off period, ns.
        off_ns: u64,
        /// True for exponentially distributed periods, false for constant ones.
        exponential: bool,
    },
    /// Ping: ICMP echo requests and replies.
    Ping {
        /// Time from request to request, ns.
        interval_ns: u64,
        /// Size of request and reply, IP bytes.
        packet_bytes: u32,
        /// Number of requests; 0: until the flow stops.
        count: u64,
        /// Time without a reply after which a request counts as lost, ns.
        timeout_ns: u64,
    },
    /// `repeat` downloads: the receiver connects, sends a request and receives the response.
    Page {
        /// Payload bytes of the response.
        bytes: u64,
        /// Payload bytes of the request.
        request_bytes: u64,
        /// Number of transfers; 0: until the flow stops.
        repeat: u64,
        /// Time from start to start, ns; the next download waits until the running one ends.
        every_ns: u64,
    },
    /// Transfers that arrive by a process.
    Workload(Box<WorkloadPlan>),
    /// A voice call: packets of a codec at a constant rate, which the receiver plays.
    Voice(VoicePlan),
    /// A video player: the receiver requests segments and plays them.
    Video(Box<VideoPlan>),
    /// A web page of several objects, which the receiver requests.
    Objects(Box<PagePlan>),
    /// Real programs, on the real kernel only.
    Program {
        /// Kind of program.
        name: ProgramKind,
        /// Server, started before the run begins.
        server: Option<Box<ProgramPlan>>,
        /// Client, started with the flow; the flow ends with it.
        client: Box<ProgramPlan>,
        /// File in the server's directory: name and size in bytes.
        file: Option<Box<(String, u64)>>,
    },
}

named! {
    /// Kinds of real programs.
    #[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
    #[serde(rename_all = "lowercase")]
    pub enum ProgramKind {
        /// iperf3, client and server.
        Iperf3 = "iperf3",
        /// The host's ping.
        Ping = "ping",
        /// curl or aioquic, and a web server.
        Http = "http",
        /// A browser that plays a video, and a web server.
        Video = "video",
        /// Commands given in the scenario.
        Command = "command",
    }
}

/// A real program at one end of a flow. In its arguments, `{from}` and `{to}` are replaced by the addresses of the data
/// sender and the data receiver, `{seconds}` by the flow's duration in whole seconds minus one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramPlan {
    /// True if it runs on the data receiver's host.
    pub at_receiver: bool,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl AppPlan {
    /// Name of the application in a scenario.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            AppPlan::Bulk {} => "bulk",
            AppPlan::Transfer { .. } => "transfer",
            AppPlan::Cbr { .. } => "cbr",
            AppPlan::Onoff { .. } => "onoff",
            AppPlan::Ping { .. } => "ping",
            AppPlan::Page { .. } | AppPlan::Objects(_) => "page",
            AppPlan::Voice(_) => "voice",
            AppPlan::Video(_) => "video",
            AppPlan::Workload(_) => "workload",
            AppPlan::Program { name, .. } => name.name(),
        }
    }
}

/// Series to record. Metrics are always computed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TracePlan {
    /// Tables to record.
    pub series: SeriesPlan,
    /// Names of the flows and links to record; null: all.
    #[serde(default)]
    pub only: Option<Vec<String>>,
    /// Minimum time between two rows of a series, ns; 0: one row per change.
    pub interval_ns: u64,
    /// True to record one row per packet sent, received or dropped.
    pub packets: bool,
}

/// Tables to record: a list of their names, or true for all.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(from = "SeriesNames")]
pub struct SeriesPlan {
    /// A flow's state over time.
    pub flows: bool,
    /// A queue's backlog over time.
    pub queues: bool,
    /// One row per packet that leaves a queue.
    pub departures: bool,
    /// One row per packet dropped at a queue.
    pub drops: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SeriesName {
    Flows,
    Queues,
    Departures,
    Drops,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum SeriesNames {
    All(bool),
    Some(Vec<SeriesName>),
}

impl From<SeriesNames> for SeriesPlan {
    fn from(names: SeriesNames) -> SeriesPlan {
        match names {
            SeriesNames::All(all) => SeriesPlan { flows: all, queues: all, departures: all, drops: all },
            SeriesNames::Some(names) => names.iter().fold(SeriesPlan::default(), |mut plan, name| {
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
    fn includes(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|names| names.iter().any(|n| n == name))
    }

    /// True if the series of the flow `name` is recorded.
    #[must_use]
    pub fn of_flow(&self, name: &str) -> bool {
        self.series.flows && self.includes(name)
    }

    /// True if any table of the link `name` is recorded.
    #[must_use]
    pub fn of_link(&self, name: &str) -> bool {
        let s = self.series;
        (s.queues || s.departures || s.drops) && self.includes(name)
    }
}
