//! Veno: Reno, but a loss with few segments in the queue is taken for a random one [Fu and Liew, TCP Veno: TCP
//! Enhancement for Transmission over Wireless Access Networks, IEEE JSAC 21(2), 2003, "FL"].
//!
//! ```text
//! each ACK     n = cwnd * (1 - base_rtt / rtt)                segments in the queue, from the smoothed rtt  [FL]
//! slow start   as Reno                                                                                      [FL]
//! avoidance    n < beta:  cwnd += 1 / cwnd for each ACK                                                     [FL]
//!              else:      the same for every other ACK
//! loss         n < beta:  ssthresh = 4/5 of the window (random), else 1/2 (congestion); cwnd = ssthresh     [FL]
//! timeout      ssthresh = 1/2, cwnd = 1, as Reno
//! base_rtt     the smallest RTT since the last loss or timeout                                              [FL]
//! ```
//! Linux keeps base_rtt over losses (`reset_base_rtt`), takes the smallest RTT since the last ACK that let the window grow
//! (`rtt`; at the end of a recovery none, which counts as a queue), n in half segments rounded up, cuts by 1/5 after
//! timeouts too (`random_timeouts`), and holds every other round trip instead of every other ACK, which is as fast. It
//! forgets base_rtt when a segment leaves with nothing in flight (with `rtt` = smallest).
//! Left out: nothing of the publication.

use crate::Variant;
use crate::common::{LossDriven, Srtt, Window};
use crate::{AckEvent, Congestion, CongestionEvent, Cx, Setup, TxStart};
use dumbbell_units::param::{Kind, Params, Spec};

pub(crate) const ROW: Variant = Variant {
    name: "veno",
    title: "Reno that cuts less after a loss when its queue is short, as on a wireless link",
    year: 2003,
    source: "Fu and Liew, TCP Veno, IEEE JSAC 21(2), 2003",
    on_loss: "window to 4/5 with fewer than beta segments in the queue, else to 1/2; timeout: ssthresh = half the \
              window, cwnd = 1 segment",
    on_delay: "grows half as fast with beta segments or more in the queue",
    on_ecn: "as to a loss, without a retransmission",
    params: &[
        Spec {
            name: "beta",
            kind: Kind::Float { min: 0.0, max: 1e6 },
            default: "3",
            doc: "segments in the queue from which on the path counts as congested [Fu and Liew 2003]",
        },
        Spec {
            name: "decrease_random",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.8",
            doc: "what is left of the window after a loss below beta [Fu and Liew 2003]",
        },
        Spec {
            name: "decrease",
            kind: Kind::Float { min: 0.01, max: 0.99 },
            default: "0.5",
            doc: "what is left of the window after other losses [RFC 5681 §3.1 (4)]",
        },
        Spec {
            name: "reset_base_rtt",
            kind: Kind::Bool,
            default: "true",
            doc: "whether a loss makes it forget base_rtt [Fu and Liew 2003]",
        },
        Spec {
            name: "rtt",
            kind: Kind::Choice(&["smoothed", "latest", "smallest"]),
            default: "smoothed",
            doc: "which round-trip time tells of the queue: the smoothed one [Fu and Liew 2003], the latest, or the smallest \
                  since the last ACK that let the window grow",
        },
        Spec {
            name: "random_timeouts",
            kind: Kind::Bool,
            default: "false",
            doc: "whether a timeout below beta is taken for a random loss too",
        },
    ],
    stack_defaults: &[
        ("linux", "reset_base_rtt", "false"),
        ("linux", "rtt", "smallest"),
        ("linux", "random_timeouts", "true"),
    ],
    columns: &["base_rtt", "n"],
    build: |params, setup| Ok(Box::new(Veno::new(params, setup))),
    ..Variant::EMPTY
};

/// See the top of this file.
#[derive(Clone, Debug)]
struct Veno {
    window: Window,
    beta: f64,
    decrease_random: f64,
    decrease: f64,
    reset_base_rtt: bool,
    smoothed: bool,
    /// Where the smallest RTT since the last ACK that let the window grow counts: that one, s, and how many samples there
    /// were on the connection.
    least: Option<(f64, u32)>,
    /// A recovery has just ended, or a disorder; one is there.
    blind: bool,
    disordered: bool,
    random_timeouts: bool,
    srtt: Srtt,
    base_rtt: Option<f64>,
    /// As it was before the last episode of congestion.
    base_before: Option<f64>,
    /// Segments in the queue as of the last sample; NaN before the first, which is neither below nor above beta.
    n: f64,
    /// Whether the last ACK in the congestive state was one without growth.
    held: bool,
}

impl Veno {
    fn new(params: &Params, setup: &Setup) -> Veno {
        Veno {
            window: Window::new(setup),
            beta: params.float("beta"),
            decrease_random: params.float("decrease_random"),
            decrease: params.float("decrease"),
            reset_base_rtt: params.bool("reset_base_rtt"),
            smoothed: params.choice("rtt") == "smoothed",
            least: (params.choice("rtt") == "smallest").then_some((f64::INFINITY, 0)),
            blind: false,
            disordered: false,
            random_timeouts: params.bool("random_timeouts"),
            srtt: Srtt::default(),
            base_rtt: None,
            base_before: None,
            n: if params.choice("rtt") == "smallest" { 0.0 } else { f64::NAN },
            held: false,
        }
    }
}

/// Linux's ways.
impl Veno {
    /// The queue as of the smallest RTT, in half segments; as it was while the window grows back after a timeout.
    fn look(&mut self, ev: &AckEvent, cx: &Cx) {
        let (Some((least, count)), Some(base)) = (&mut self.least, self.base_rtt) else { return };
        if ev.in_loss || ev.disordered {
            return;
        }
        let rtt = std::mem::replace(least, f64::INFINITY);
        let rtt = if std::mem::take(&mut self.blind) { f64::INFINITY } else { rtt };
        if *count > 2 {
            let queue = self.window.segments(cx) * (1.0 - base / rtt);
            self.n = (2.0 * queue - 1e-9).ceil() / 2.0;
        }
    }

    /// Growth with a queue: every other window of ACKs counts.
    fn hold_whole(&mut self, ev: &AckEvent, cx: &Cx) {
        let cwnd = self.window.cwnd;
        let counted = self.window.cwnd_cnt();
        if *counted < cwnd {
            *counted += ev.acked as f64;
            return;
        }
        *counted = 0.0;
        self.held = !self.held;
        if self.held {
            self.window.cwnd += cx.mss;
        }
    }
}

impl LossDriven for Veno {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        self.blind |= self.disordered && !ev.disordered;
        self.disordered = ev.disordered;
        let Some(rtt) = ev.rtt else { return };
        self.srtt.sample(rtt);
        let rtt = rtt.as_secs();
        let base = self.base_rtt.map_or(rtt, |base| base.min(rtt));
        self.base_rtt = Some(base);
        if let Some((least, count)) = &mut self.least {
            (*least, *count) = (least.min(rtt), count.saturating_add(1));
            return;
        }
        let now = if self.smoothed { self.srtt.secs() } else { rtt };
        self.n = self.window.segments(cx) * (1.0 - base / now).max(0.0); // [FL]
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let rest = self.window.slow_start(ev.acked, cx);
        if rest == 0 {
            self.look(ev, cx);
        }
        rest
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.look(ev, cx);
        if self.least.is_some() && cx.counts_segments() {
            if self.n >= self.beta && !ev.disordered {
                self.hold_whole(ev, cx);
            } else {
                self.window.additive_increase(1.0, ev.acked, cx); // whose turn it is stays
            }
            return;
        }
        self.held = self.n >= self.beta && !self.held;
        if !self.held {
            self.window.additive_increase(1.0, ev.acked, cx); // [FL]
        }
    }

    fn on_recovery_exit(&mut self, _cx: &Cx) {
        self.blind = true;
    }

    fn on_tx_start(&mut self, _ev: &TxStart, _cx: &Cx) {
        if let Some((least, _)) = &mut self.least {
            *least = f64::INFINITY;
            (self.base_rtt, self.held) = (None, false);
        }
    }

    fn on_congestion_begin(&mut self) {
        self.base_before = self.base_rtt;
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        let both = self.base_before.into_iter().chain(self.base_rtt);
        self.base_rtt = both.reduce(f64::min);
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, _cx: &Cx) -> f64 {
        let random = self.n < self.beta && (ev.kind != Congestion::Timeout || self.random_timeouts);
        if self.reset_base_rtt {
            self.base_rtt = None; // [FL]
        }
        let left = if random { self.decrease_random } else { self.decrease }; // [FL]
        left * ev.window
    }

    fn observe(&self, row: &mut Vec<f64>) {
        row.extend([self.base_rtt.unwrap_or(f64::NAN), self.n]);
    }
}
