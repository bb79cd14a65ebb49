//! Veno: Reno which treats a loss as random if few of its segments are in the queue [Fu and Liew, TCP Veno: TCP
//! Enhancement for Transmission over Wireless Access Networks, IEEE JSAC 21(2), 2003, "FL"].
//!
//! ```text
//! each ACK     N = cwnd * (1 - BaseRTT / RTT), segments in the queue; RTT smoothed                     [FL]
//! slow start   as Reno                                                                                 [FL]
//! avoidance    N < beta:  cwnd += 1 / cwnd for each ACK                                                [FL]
//!              N >= beta: likewise for every other ACK
//! loss         N < beta:  ssthresh = 4/5 of the window (random loss), else 1/2 (congestion); cwnd = ssthresh
//! timeout      ssthresh = 1/2, cwnd = 1, as Reno                                                       [FL]
//! BaseRTT      the minimum RTT since the last loss or timeout                                          [FL]
//! ```
//! Nothing of the publication is left out. `rtt = "smallest"`, the default on the stack `linux`, selects `linux.rs`.

mod linux;

use crate::common::{LossDriven, Srtt, Window, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, Variant};
use dumbbell_units::param::{Kind, Params, settings, specs};
use linux::LinuxVeno;

pub(crate) const ROW: Variant = Variant {
    name: "veno",
    title: "Reno whose decrease is smaller when its queue is short, as on a wireless link",
    year: 2003,
    source: "Fu and Liew, TCP Veno, IEEE JSAC 21(2), 2003",
    on_loss: "window to 4/5 with fewer than beta segments in the queue, else to 1/2; timeout: ssthresh = half the \
              window, cwnd = 1 segment",
    on_delay: "grows half as fast with beta segments or more in the queue",
    on_ecn: "as to a loss, without a retransmission",
    params: specs! {
        /// segments in the queue at which the path is congested [Fu and Liew 2003]
        beta = "3", Kind::Float { min: 0.0, max: 1e6 };
        /// factor by which a random loss, below beta, reduces the window [Fu and Liew 2003]
        decrease_random = "0.8", Kind::Float { min: 0.01, max: 0.99 };
        /// factor by which any other loss reduces the window [RFC 5681 §3.1 (4)]
        decrease = "0.5", Kind::Float { min: 0.01, max: 0.99 };
        /// a loss resets base_rtt [Fu and Liew 2003]
        reset_base_rtt = "true", Kind::Bool;
        /// the RTT that n is computed from: the smoothed RTT [Fu and Liew 2003], the latest sample, or the minimum
        /// since the last ACK that may increase the window, as in Linux's tcp_veno.c
        rtt = "smoothed", Kind::Choice(&["smoothed", "latest", "smallest"]);
        /// a timeout below beta counts as a random loss
        random_timeouts = "false", Kind::Bool;
    },
    stack_defaults: &[
        ("linux", "reset_base_rtt", "false"),
        ("linux", "rtt", "smallest"),
        ("linux", "random_timeouts", "true"),
    ],
    columns: &["base_rtt", "n"],
    build: |params, setup| match params.choice("rtt") {
        "smallest" => Ok(Box::new(LinuxVeno::new(params, setup))),
        _ => Ok(Box::new(Veno::new(params, setup))),
    },
    ..Variant::EMPTY
};

settings! {
    /// The parameters of both versions.
    #[derive(Clone, Copy, Debug)]
    struct Settings;
    fn read(params: &Params);
    beta: f64 = params.float("beta");
    decrease_random: f64 = params.float("decrease_random");
    decrease: f64 = params.float("decrease");
    reset_base_rtt: bool = params.bool("reset_base_rtt");
    random_timeouts: bool = params.bool("random_timeouts");
}

impl Settings {
    /// Returns the window after congestion with `n` segments in the queue [FL].
    fn reduced(&self, n: f64, ev: &CongestionEvent) -> f64 {
        let is_random = n < self.beta && (ev.kind != Congestion::Timeout || self.random_timeouts);
        (if is_random { self.decrease_random } else { self.decrease }) * ev.window
    }
}

/// Veno as published.
#[derive(Clone, Debug)]
struct Veno {
    window: Window,
    set: Settings,
    smoothed: bool,
    srtt: Srtt,
    /// BaseRTT, s.
    base_rtt: Option<f64>,
    /// BaseRTT before the last episode of congestion.
    prior_base_rtt: Option<f64>,
    /// N at the last sample; NaN before the first, which is neither below nor above beta.
    n: f64,
    /// True if the last ACK with N >= beta didn't increase the window.
    skipped: bool,
}

impl Veno {
    fn new(params: &Params, setup: &Setup) -> Veno {
        Veno {
            window: Window::new(setup),
            set: Settings::read(params),
            smoothed: params.choice("rtt") == "smoothed",
            srtt: Srtt::default(),
            base_rtt: None,
            prior_base_rtt: None,
            n: f64::NAN,
            skipped: false,
        }
    }
}

impl LossDriven for Veno {
    window_is!(window);

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        let rtt = rtt.as_secs();
        let base_rtt = min(self.base_rtt, rtt);
        self.base_rtt = Some(base_rtt);
        let rtt = if self.smoothed { self.srtt.secs() } else { rtt };
        self.n = self.window.segments(cx) * (1.0 - base_rtt / rtt).max(0.0); // [FL]
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.skipped = self.n >= self.set.beta && !self.skipped;
        if !self.skipped {
            self.window.additive_increase(1.0, ev.acked, cx); // [FL]
        }
    }

    fn on_congestion_begin(&mut self) {
        self.prior_base_rtt = self.base_rtt;
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        if self.set.reset_base_rtt {
            self.base_rtt = None; // [FL]
        }
        self.set.reduced(self.n, ev)
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        self.base_rtt = self.prior_base_rtt.into_iter().chain(self.base_rtt).reduce(f64::min);
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.base_rtt.unwrap_or(f64::NAN), self.n]);
    }
}

/// Returns the minimum of an optional RTT and a sample, s.
fn min(rtt: Option<f64>, sample: f64) -> f64 {
    rtt.map_or(sample, |rtt| rtt.min(sample))
}
