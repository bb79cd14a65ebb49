//! The applications' part of a plan, in base units.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1: one request at a time on a connection, up to six connections.
    #[serde(rename = "h1")]
    H1,
    /// HTTP/2: one connection, responses share it frame by frame.
    #[serde(rename = "h2")]
    H2,
    /// HTTP/3: one QUIC connection, a stream for each request.
    #[serde(rename = "h3")]
    H3,
}

/// Sizes and times of each request.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpPlan {
    /// The version; h3 over QUIC only.
    pub version: Http,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of a response before its content.
    pub header_bytes: u64,
    /// Time from the arrival of a request to the response, ns.
    pub server_delay_ns: u64,
}

/// A video and its player.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoPlan {
    /// Requests and responses.
    pub http: HttpPlan,
    /// Length of the video, ns.
    pub length_ns: u64,
    /// Length of a segment, ns; the last one may be shorter.
    pub segment_ns: u64,
    /// Bit rates, ascending, bit/s.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub ladder_bps: Vec<u64>,
    /// The choice of the bit rate.
    pub abr: AbrPlan,
    /// No segment is requested while this much media is buffered, ns.
    pub buffer_ns: u64,
    /// After a pause requests continue when less than this is buffered, ns.
    pub refill_ns: u64,
    /// Playback starts with this much media, ns.
    pub start_ns: u64,
    /// Playback continues after a stall with this much media, ns.
    pub resume_ns: u64,
    /// Bytes of the page that is loaded before the video; 0: none.
    pub page_bytes: u64,
    /// Set for a download of the whole video with one request.
    pub progressive: Option<ProgressivePlan>,
    /// Weights of the quality of experience.
    pub qoe: QoePlan,
}

/// A progressive download.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgressivePlan {
    /// The server's limit; null: as fast as the connection.
    pub throttle: Option<ThrottlePlan>,
}

/// A server's limit on how far it sends ahead of playback.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThrottlePlan {
    /// Media that is sent at once, ns.
    pub burst_ns: u64,
    /// Rate of the rest, as a multiple of the bit rate.
    pub factor: f64,
    /// The rest is sent in blocks of this size, bytes.
    pub block_bytes: u64,
}

/// The rule that chooses the bit rate of each segment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AbrPlan {
    /// Always the same.
    Fixed {
        /// Index into the ladder.
        level: usize,
    },
    /// By throughput, as hls.js.
    Rate {
        /// First estimate, bit/s.
        estimate_bps: u64,
        /// Half-lives of the two averages, ns.
        #[schemars(inner(range(min = 1)))]
        half_lives_ns: [u64; 2],
        /// Share of the estimate for the current bit rate and lower ones.
        factor: f64,
        /// Share of the estimate for higher bit rates.
        up_factor: f64,
    },
    /// By buffer level.
    Bola {
        /// Buffer level up to which only the lowest bit rate is chosen, about, ns.
        minimum_ns: u64,
    },
    /// By throughput until enough is buffered, then by buffer level, as dash.js.
    Dynamic {
        /// The parameter of BOLA, ns.
        minimum_ns: u64,
        /// Buffer level at which the rule changes, ns.
        switch_ns: u64,
        /// Share of the mean throughput that is used.
        factor: f64,
        /// Number of segments that the mean is of.
        segments: usize,
    },
    /// A rule of the user.
    External {
        /// Its name.
        name: String,
        /// Parameters as in the scenario.
        #[serde(default)]
        params: Map<String, Value>,
        /// Hash of its content: a changed rule makes a different plan.
        content: String,
    },
}

/// Weights of the linear quality of experience.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QoePlan {
    /// Cost of a change of the bit rate by 1 Mbit/s.
    pub switches: f64,
    /// Cost of a second of stalls.
    pub stalls: f64,
    /// Cost of a second of startup delay.
    pub startup: f64,
}

/// A web page.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PagePlan {
    /// Requests and responses.
    pub http: HttpPlan,
    /// Its objects; the first one is the document.
    #[schemars(length(min = 1))]
    pub objects: Vec<ObjectPlan>,
    /// Number of times that it is loaded; 0: until the flow stops.
    pub repeat: u64,
    /// Time from the last object to the next load, ns.
    pub think_ns: u64,
}

/// The event after which an object is requested.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum After {
    /// The start.
    Start,
    /// The arrival of another object, by its index.
    Object(usize),
    /// The load event.
    Onload,
}

/// An object of a page.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectPlan {
    /// Its name.
    pub name: String,
    /// Bytes of its content.
    pub bytes: u64,
    /// The event that leads to its request.
    pub after: After,
    /// Time from that event to the request, ns.
    pub delay_ns: u64,
}

impl VideoPlan {
    /// Checks the amounts. The error is the reason.
    ///
    /// # Errors
    /// The first invalid amount.
    pub fn check(&self) -> Result<(), &'static str> {
        let ladder = &self.ladder_bps;
        let level = if let AbrPlan::Fixed { level } = self.abr { level } else { 0 };
        let half_lives = if let AbrPlan::Rate { half_lives_ns, .. } = self.abr { half_lives_ns } else { [1; 2] };
        let rules = [
            (self.length_ns > 0 && self.segment_ns > 0, "the lengths of video and segment must be above zero"),
            (ladder.first().is_some_and(|r| *r > 0), "the ladder needs bit rates above zero"),
            (ladder.windows(2).all(|w| w[0] < w[1]), "the bit rates of the ladder must ascend"),
            (level < ladder.len(), "the ladder has no such level"),
            (half_lives[0] > 0 && half_lives[1] > 0, "half-lives must be above zero"),
            (self.start_ns > 0 && self.resume_ns > 0, "playback needs media to start"),
            (
                self.buffer_ns > 0 && self.refill_ns > 0 && self.refill_ns <= self.buffer_ns,
                "refill must be at most buffer",
            ),
            (self.http.request_bytes > 0, "a request has bytes"),
            (
                self.progressive.and_then(|p| p.throttle).is_none_or(|t| t.factor > 0.0 && t.block_bytes > 0),
                "a throttle needs a factor and blocks above zero",
            ),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, why)| Err(why))
    }
}

impl PagePlan {
    /// Checks the amounts and the order of objects. The error is the reason.
    ///
    /// # Errors
    /// The first invalid amount.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.objects.first().is_none_or(|o| o.after != After::Start) {
            return Err("a page needs objects, and the first one begins at the start");
        }
        let earlier = |(i, o): (usize, &ObjectPlan)| !matches!(o.after, After::Object(n) if n >= i);
        if !self.objects.iter().enumerate().all(earlier) {
            return Err("an object must follow an earlier one");
        }
        if self.objects.iter().any(|o| o.bytes == 0) || self.http.request_bytes == 0 {
            return Err("objects and requests must have bytes");
        }
        Ok(())
    }
}
