//! Buffers of both sides: the receive window and its autotuning, writes of the application, Nagle's algorithm
//! [RFC 9293 §3.8.6, §3.7.4].

use super::{Defaults, Reading, too_small};
use dumbbell_units::param::{Kind, ParamError, Params, Spec, specs};

/// The largest window that the window scale option can express [RFC 7323 §2.3].
const MAX_WINDOW: u64 = 1 << 30;

pub(super) const PARAMS: &[Spec] = specs! {
    /// receive buffer, and so the largest window ever offered [RFC 9293 §3.8.6]; the default never limits
    window = "64 MiB", Kind::Size;
    /// bytes in one write of the application: the segment that ends a write carries PSH; 0: one write for all
    push_every = "0 bytes", Kind::Size;
    /// a segment that isn't full waits while another one that isn't full is outstanding: Nagle's algorithm as modified
    /// by Minshall [RFC 9293 §3.7.4; Linux tcp_output.c tcp_nagle_check]
    nagle = "false", Kind::Bool;
    /// the receive window starts at window_start and grows with the bytes that the application reads in a round trip,
    /// up to window [Linux tcp_input.c tcp_rcv_space_adjust]
    autotuning = "false", Kind::Bool;
    /// receive window at the start, with autotuning
    window_start = "65535 bytes", Kind::Size;
    /// largest memory of the receive buffer, with autotuning: full segments fill 162/256 of it with payload [Linux
    /// tcp_rmem, tcp_input.c tcp_rcv_space_adjust]; none: only window limits
    receive_buffer = "none", Kind::Or("none", &Kind::Bytes);
    /// memory of the send buffer at the start, at least that of 20 segments; only where bursts are formed (tso) [Linux
    /// tcp_wmem, tcp_input.c tcp_sndbuf_expand]
    send_buffer_start = "1 MiB", Kind::Bytes;
    /// largest memory of the send buffer; it grows to twice that of cwnd's segments [Linux tcp_wmem, tcp_input.c
    /// tcp_sndbuf_expand]
    send_buffer = "256 MiB", Kind::Bytes;
};

pub(super) const LINUX: Defaults = &[
    ("autotuning", "true"),
    // Half of tcp_rmem's second value, 128 KiB: the share of payload that is assumed before the first segment
    // [Linux tcp.c tcp_init: sysctl_tcp_rmem; include/net/tcp.h TCP_DEFAULT_SCALING_RATIO].
    ("window_start", "64 KiB"),
    ("window", "256 MiB"),
    // The third values of tcp_rmem and tcp_wmem on a host with 1 GiB or more, and the second of tcp_wmem
    // [Linux tcp.c tcp_init].
    ("receive_buffer", "6 MiB"),
    ("send_buffer_start", "16 KiB"),
    ("send_buffer", "4 MiB"),
    // [Linux tcp_output.c tcp_nagle_test]
    ("nagle", "true"),
];

/// After [`LINUX`]: buffers that limit no flow. 32 MiB at the start, of which half is window.
pub(super) const LINUX_TUNED: Defaults = &[
    ("window_start", "16 MiB"),
    ("receive_buffer", "none"),
    ("send_buffer_start", "1 MiB"),
    ("send_buffer", "256 MiB"),
];

pub(super) const NS2: Defaults = &[("window", "20 packets")];

/// Receive window, application writes and Nagle's algorithm.
#[derive(Clone, Copy, Debug)]
pub struct BufferConfig {
    /// Largest receive window, bytes.
    pub window: u64,
    /// Receive window at the start, bytes, if it grows.
    pub autotuning: Option<u64>,
    /// Largest memory of a receive buffer that grows, bytes.
    pub receive_buffer: Option<u64>,
    /// Memory of the send buffer at the start, and the largest, bytes.
    pub send_buffer: (u64, u64),
    /// Bytes that the application writes at a time; 0: all at once.
    pub push_every: u64,
    /// True if a short segment waits while data is outstanding.
    pub nagle: bool,
}

impl BufferConfig {
    pub(super) fn read(p: &Reading<'_>) -> Result<BufferConfig, ParamError> {
        let window = p.bytes("window").min(MAX_WINDOW);
        if window == 0 {
            return Err(too_small("window", "1 byte"));
        }
        let autotuning = p.bool("autotuning");
        let receive_buffer = p.params.unless_word("receive_buffer", Params::bytes).map(|b| b.0);
        if receive_buffer.is_some() && !autotuning && p.is_given("receive_buffer") {
            let message = "given without autotuning: set window instead, or autotuning = true".into();
            return Err(ParamError { name: "receive_buffer".into(), message });
        }
        let send_buffer = (p.params.bytes("send_buffer_start").0, p.params.bytes("send_buffer").0);
        if send_buffer.0 > send_buffer.1 {
            return Err(too_small("send_buffer", "send_buffer_start"));
        }
        Ok(BufferConfig {
            window,
            receive_buffer: receive_buffer.filter(|_| autotuning),
            send_buffer,
            autotuning: autotuning.then(|| p.bytes("window_start").clamp(1, MAX_WINDOW)),
            push_every: p.bytes("push_every"),
            nagle: p.bool("nagle"),
        })
    }

    /// The window that is offered first, bytes.
    #[must_use]
    pub fn first_window(&self) -> u64 {
        self.autotuning.map_or(self.window, |start| start.min(self.window))
    }

    /// Returns the smallest scale with which the whole receive window can be offered [RFC 7323 §2.3]; with a receive
    /// buffer, its whole memory [Linux tcp_output.c tcp_select_initial_window].
    #[must_use]
    pub fn window_scale(&self) -> u8 {
        let largest = self.receive_buffer.map_or(self.window, |buffer| buffer.min(self.window));
        let bits = u64::BITS - largest.leading_zeros();
        bits.saturating_sub(16).min(14) as u8
    }
}
