//! Illinois with the integer arithmetic of Linux, on a stack that counts cwnd in segments [Linux
//! net/ipv4/tcp_illinois.c].
//!
//! ```text
//! round trip   the sample of the ACK that ends a round belongs to this round; a round that a recovery interrupts ends
//!              after it; alpha in 128ths, beta in 64ths, rounded down                              [update_params]
//! theta        rounds without a queue add up, also if rounds with a queue are between them                  [alpha]
//! avoidance    snd_cwnd_cnt += segments of the last ACK;  cwnd += snd_cwnd_cnt * alpha / cwnd, whole segments; the
//!              remainder is lost                                                          [tcp_illinois_cong_avoid]
//! ```
//! The segments of the last ACK (ca->acked) include data that was delivered by SACK before.

use super::Illinois;
use crate::{AckEvent, Cx};

/// The units of alpha and beta [Linux tcp_illinois.c].
const ALPHA_SCALE: f64 = 128.0;
const BETA_SCALE: f64 = 64.0;

impl Illinois {
    /// [Linux tcp_illinois.c tcp_illinois_acked, and the first lines of tcp_illinois_cong_avoid].
    pub(super) fn linux_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        self.acked = self.snd_una.replace(ev.snd_una).map_or(ev.acked, |snd_una| ev.snd_una - snd_una);
        self.rtts.sample(ev);
        if ev.in_recovery {
            return;
        }
        if let Some(round) = self.rtts.end_round(ev) {
            self.update_params(&round, cx);
            self.alpha = (self.alpha * ALPHA_SCALE).floor() / ALPHA_SCALE;
            self.beta = (self.beta * BETA_SCALE).floor() / BETA_SCALE;
        }
    }

    /// [Linux tcp_illinois.c tcp_illinois_cong_avoid].
    pub(super) fn linux_cong_avoid(&mut self, cx: &Cx) {
        let acked = if self.acked == 0 { cx.mss as u64 } else { self.acked };
        let cwnd = self.window.segments(cx);
        let snd_cwnd_cnt = self.window.cwnd_cnt();
        *snd_cwnd_cnt += acked as f64;
        let delta = (*snd_cwnd_cnt / cx.mss * self.alpha).floor();
        if delta >= cwnd {
            *snd_cwnd_cnt = 0.0;
            self.window.cwnd += (delta / cwnd).floor() * cx.mss;
        }
    }
}
