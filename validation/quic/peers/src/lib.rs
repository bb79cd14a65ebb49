//! QUIC endpoints over one pair of links in virtual time: Dumbbell's and quinn-proto's here, aioquic's by the C
//! interface.
//!
//! ```text
//! settings.rs   the settings of a run, from NAME=VALUE
//! link.rs       a link: rate, delay, tail-drop queue, random loss
//! network.rs    the trait End, two ends on two links, a download, its outcome
//! hooks.rs      a variant behind the few congestion control hooks that other implementations have
//! own.rs        Dumbbell's endpoint
//! quinn/        quinn-proto: endpoint, TLS without cryptography, the hooks as its Controller
//! interface.rs  links and variants for other languages (aioquic.py)
//! ```

pub mod hooks;
pub mod interface;
pub mod link;
pub mod network;
pub mod own;
pub mod quinn;
pub mod settings;
