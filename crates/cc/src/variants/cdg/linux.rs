//! CDG as in Linux: `rules = "linux"` [Linux 6.12 net/ipv4/tcp_cdg.c].
//!
//! ```text
//! RTT samples   after ACKs for several segments, an ACK for one segment is assumed to be delayed by the receiver's
//!               timer and counts for the minimum RTT only                                         [tcp_cdg_acked]
//! effectual     a sum of gradients of -32 us or less ends a sequence of ineffectual backoffs       [tcp_cdg_grad]
//! backoff       takes a round trip, by proportional rate reduction              [tcp_cdg_backoff, tcp_cwnd_reduction];
//!               a loss during it causes no further reduction                                      [tcp_enter_recovery]
//! loss          a timeout is treated as a loss                                                      [tcp_cdg_ssthresh]
//! shadow        isn't reset when the queue is empty                                                     [tcp_cdg_grad]
//! slow start    ends when a train of ACKs, at most 3 ms apart, is longer than half of the minimum RTT, or when the
//!               minimum RTT of a round trip with more than 8 samples is above it by 1/8  [tcp_cdg_hystart_update]
//! ```
//! The defaults of the stack `linux` complete this: the mean over the available gradients (`extrapolate`), every loss
//! counts (`tolerance` = false), and ineffectual backoffs are skipped until the RTT falls (`hold` = 0).

use super::Core;
use crate::common::{LossDriven, Round, window_is};
use crate::{AckEvent, Congestion, CongestionEvent, Cx};
use dumbbell_units::{Dur, Time};

/// The sum of gradients that shows an effectual backoff, s [Linux tcp_cdg.c tcp_cdg_grad].
const EFFECTUAL: f64 = 32e-6;
/// The largest value of delack [Linux tcp_cdg.c tcp_cdg_acked].
const MAX_DELACK: u32 = 5;
/// The longest gap in a train of ACKs [Linux tcp_cdg.c tcp_cdg_hystart_update].
const TRAIN_GAP: Dur = Dur::millis(3);
/// The smallest threshold for the length of a train and for the RTT, s [Linux tcp_cdg.c tcp_cdg_hystart_update].
const MIN_THRESHOLD: f64 = 125e-6;
/// Samples of a round trip before its minimum RTT counts [Linux tcp_cdg.c tcp_cdg_hystart_update].
const MIN_SAMPLES: u32 = 8;

/// A gradual reduction, in bytes [Linux tcp_input.c tcp_init_cwnd_reduction, tcp_cwnd_reduction].
#[derive(Clone, Copy, Debug)]
struct Reduction {
    prior_cwnd: f64,
    ssthresh: f64,
    prr_delivered: f64,
    /// Delivered by the ACK that began the reduction: the segments that it clocked out are already sent.
    prr_out: f64,
}

/// The state of slow start in a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct HyStart {
    round_start: Option<Time>,
    last_ack: Time,
    sample_cnt: u32,
}

/// CDG by the rules at the top of this file [Linux tcp_cdg.c cdg].
#[derive(Clone, Debug)]
pub(super) struct LinuxCdg {
    core: Core,
    reduction: Option<Reduction>,
    /// True until the first ACK after recovery, at which a new round trip begins.
    recovered: bool,
    /// The number of delayed ACKs to expect.
    delack: u32,
    hystart: HyStart,
    /// The minimum RTT of the connection, s.
    delay_min: f64,
}

impl LinuxCdg {
    pub(super) fn new(core: Core) -> LinuxCdg {
        LinuxCdg {
            core,
            reduction: None,
            recovered: false,
            delack: 0,
            hystart: HyStart::default(),
            delay_min: f64::INFINITY,
        }
    }

    fn start_round(&mut self, snd_nxt: u64) {
        self.core.round = Some(Round::from(snd_nxt));
        self.hystart = HyStart::default();
        self.core.rtt_prev = self.core.rtt.take();
    }

    /// [Linux tcp_cdg.c tcp_cdg_acked]
    fn on_rtt(&mut self, rtt: f64, ev: &AckEvent, cx: &Cx) {
        if ev.acked > 0 && !ev.in_recovery && !ev.disordered {
            let pkts_acked = ev.acked as f64 / cx.mss;
            if pkts_acked <= 1.0 && self.delack > 0 {
                self.delack -= 1;
                if let Some((min, _)) = &mut self.core.rtt {
                    *min = min.min(rtt);
                }
                return;
            } else if pkts_acked > 1.0 && self.delack < MAX_DELACK {
                self.delack += 1;
            }
        }
        self.core.add_rtt(rtt);
    }

    /// Returns true if slow start ends [Linux tcp_cdg.c tcp_cdg_hystart_update].
    fn hystart_update(&mut self, ev: &AckEvent, cx: &Cx) -> bool {
        // 0: this round trip has no sample yet but those of delayed ACKs.
        let rtt_min = self.core.rtt.map_or(0.0, |(min, _)| min);
        if rtt_min > 0.0 {
            self.delay_min = self.delay_min.min(rtt_min);
        }
        if self.delay_min == f64::INFINITY {
            return false;
        }
        let hystart = &mut self.hystart;
        match hystart.round_start.filter(|_| ev.cwnd_limited) {
            None => (hystart.round_start, hystart.last_ack) = (Some(cx.now), cx.now),
            Some(round_start) if cx.now.since(hystart.last_ack) < TRAIN_GAP => {
                hystart.last_ack = cx.now;
                if cx.now.since(round_start).as_secs() > (self.delay_min / 2.0).max(MIN_THRESHOLD) {
                    return true;
                }
            }
            Some(_) => {}
        }
        if hystart.sample_cnt < MIN_SAMPLES {
            hystart.sample_cnt += 1;
            return false;
        }
        rtt_min > (self.delay_min * 1.125).max(MIN_THRESHOLD)
    }

    /// Continues a backoff [Linux tcp_input.c tcp_cwnd_reduction].
    fn cwnd_reduction(&mut self, ev: &AckEvent, cx: &Cx) {
        let Some(prr) = &mut self.reduction else { return };
        prr.prr_delivered += ev.delivered as f64;
        let sent = (prr.prr_delivered * prr.ssthresh / prr.prior_cwnd / cx.mss).ceil() * cx.mss;
        self.core.window.cwnd = (prr.prior_cwnd - prr.prr_delivered + (sent - prr.prr_out).max(0.0)).max(prr.ssthresh);
    }
}

impl LossDriven for LinuxCdg {
    window_is!(core.window);

    /// [Linux tcp_cdg.c tcp_cdg_cong_avoid, tcp_cdg_cwnd_event]
    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if let Some(rtt) = ev.rtt.map(Dur::as_secs) {
            self.on_rtt(rtt, ev, cx);
        }
        if ev.in_recovery {
            return;
        }
        if std::mem::take(&mut self.recovered) {
            self.start_round(ev.snd_nxt);
            return;
        }
        if let Some(round) = self.core.backoff_round {
            self.cwnd_reduction(ev, cx);
            if round.ended(ev.snd_una) {
                if let Some(prr) = self.reduction.take() {
                    self.core.window.cwnd = prr.ssthresh;
                }
                self.core.backoff_round = None;
                self.start_round(ev.snd_nxt);
            }
            return;
        }
        if ev.acked > 0 && self.core.window.in_slow_start() && self.hystart_update(ev, cx) {
            self.core.window.ssthresh = self.core.window.cwnd;
        }
        if self.core.round_ended(ev) {
            let gradient = self.core.gradient(|n| EFFECTUAL / n);
            self.start_round(ev.snd_nxt);
            if self.core.gradients.backs_off(gradient) {
                let prior_cwnd = self.core.back_off(cx);
                let ssthresh = self.core.window.ssthresh;
                let prr_out = ev.delivered as f64;
                self.reduction = Some(Reduction { prior_cwnd, ssthresh, prr_delivered: 0.0, prr_out });
                self.core.window.cwnd = prior_cwnd;
                return;
            }
        }
        self.core.limit_shadow(ev);
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        self.core.slow_start(ev, cx)
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        self.core.avoidance(ev, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.core.shadow_before_episode = self.core.shadow_wnd;
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, _cx: &Cx) {
        self.core.shadow_wnd = self.core.shadow_before_episode;
    }

    /// [Linux tcp_cdg.c tcp_cdg_ssthresh]
    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        self.core.backoff_round = None;
        // A loss or a timeout during a backoff doesn't reduce again [Linux tcp_input.c tcp_enter_recovery,
        // tcp_enter_loss].
        let continues = matches!(ev.kind, Congestion::Loss | Congestion::Timeout);
        if let Some(prr) = self.reduction.take().filter(|_| continues) {
            return prr.ssthresh;
        }
        self.core.ssthresh(ev, cx)
    }

    fn on_recovery_exit(&mut self, _cx: &Cx) {
        self.recovered = true;
    }

    /// [Linux tcp_cdg.c tcp_cdg_cwnd_event, CA_EVENT_CWND_RESTART]
    fn on_restart(&mut self, _cx: &Cx) {
        self.core.restart();
        self.reduction = None;
    }

    fn observe(&self, row: &mut Vec<f64>) {
        self.core.observe(row);
    }
}
