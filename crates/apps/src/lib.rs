//! Applications as a person sees them, without I/O: a video player, a web page, a voice call, and HTTP over
//! connections. The caller has the clock, the connections and the timers; sizes are bytes without content.
//!
//! ```text
//! player   requests segments by a rule (abr), keeps the media clock (playback), reports what a viewer saw
//! page     requests objects by their dependencies, reports when they arrived
//! voice    packets of a codec, the receiver's jitter buffer, the E-model
//! server   when the bytes of a response can be written
//! http     requests and responses on the streams of a connection
//! ```

pub mod abr;
mod client;
mod http;
mod page;
mod plan;
mod playback;
mod player;
mod server;
pub mod voice;

pub use client::{Client, Limit, Request, Response};
pub use http::{Arrived, Exchange, Streams};
pub use page::{Page, PageMetrics};
pub use plan::{
    AbrPlan, After, Http, HttpPlan, ObjectPlan, PagePlan, ProgressivePlan, QoePlan, ThrottlePlan, VideoPlan,
};
pub use playback::{Playback, State};
pub use player::{Player, Row, VideoMetrics};
pub use server::Server;
pub use voice::VoicePlan;
