//! H-TCP with the integer arithmetic of Linux: `rules = "linux"` [Linux net/ipv4/tcp_htcp.c].
//!
//! ```text
//! ACK          RTT sample; the segments that it acknowledges count for growth if the state is Open
//!                                                                                 [measure_achieved_throughput]
//! throughput   Bi = segments per second, over at least a window less alpha and a minRTT, outside recovery;
//!              maxB = maximum of the smoothed Bi                                  [measure_achieved_throughput]
//! avoidance    cwnd += 1 when snd_cwnd_cnt * alpha >= cwnd; then alpha is updated              [htcp_cong_avoid]
//! congestion   beta, alpha, ssthresh = beta * cwnd; maxRTT fades  [htcp_recalc_ssthresh, htcp_param_update]
//! Open again   last_cong = now                                                                      [htcp_state]
//! undo         last_cong, maxRTT and old_maxB return to their values before the event           [htcp_cwnd_undo]
//! ```
//! Times in jiffies of 4 ms, alpha and beta in 128ths, rates in segments a second. On a stack that doesn't count cwnd
//! in segments the same rules run in real numbers: `linux_real.rs`.

use super::Settings;
use super::linux_real::Real;
use crate::common::{JIFFY, LossDriven, Window, window_is};
use crate::{AckArrival, AckEvent, CaState, CongestionEvent, Cx, Setup};
use dumbbell_units::param::Params;
use dumbbell_units::{Dur, Time};

/// Jiffies per second.
const HZ: u64 = 1_000_000_000 / JIFFY.0;
/// The unit of alpha and beta [Linux tcp_htcp.c ALPHA_BASE].
const ALPHA_BASE: u64 = 1 << 7;
/// Bounds of beta [Linux tcp_htcp.c].
const BETA_MIN: u64 = 1 << 6;
const BETA_MAX: u64 = 102;
/// 20 ms: largest step by which a sample raises maxRTT [Linux tcp_htcp.c measure_rtt].
const MAX_RTT_STEP: u64 = HZ / 50;
/// 10 ms, rounded up: minRTT up to which beta is BETA_MIN [Linux tcp_htcp.c htcp_beta_update].
const SHORT_RTT: u64 = HZ.div_ceil(100);

/// The values that an undo restores: undo_last_cong, undo_maxRTT, undo_old_maxB.
type Undo = (u64, u64, u64);

/// `struct htcp` [Linux tcp_htcp.c]; times and RTTs in jiffies.
#[derive(Clone, Debug)]
struct Integer {
    alpha: u64,
    beta: u64,
    modeswitch: bool,
    /// Segments that the next ACK in avoidance counts.
    pkts_acked: u64,
    /// Segments acknowledged since lasttime.
    packetcount: u64,
    lasttime: Option<u64>,
    /// 0: no sample yet.
    min_rtt: u64,
    max_rtt: u64,
    last_cong: Option<u64>,
    undo: Option<Undo>,
    bi: u64,
    max_b: u64,
    old_max_b: u64,
}

impl Integer {
    fn new() -> Integer {
        Integer {
            alpha: ALPHA_BASE,
            beta: BETA_MIN,
            modeswitch: false,
            pkts_acked: 1,
            packetcount: 0,
            lasttime: None,
            min_rtt: 0,
            max_rtt: 0,
            last_cong: None,
            undo: None,
            bi: 0,
            max_b: 0,
            old_max_b: 0,
        }
    }

    fn jiffies(now: Time) -> u64 {
        now.0 / JIFFY.0
    }

    /// last_cong is the time of the handshake, or of the first ACK [Linux tcp_htcp.c htcp_init].
    fn init(&mut self, now: Time) {
        self.last_cong.get_or_insert(Integer::jiffies(now));
    }

    /// [Linux tcp_htcp.c htcp_cong_time].
    fn cong_time(&self, now: Time) -> u64 {
        Integer::jiffies(now) - self.last_cong.unwrap_or(Integer::jiffies(now))
    }

    /// [Linux tcp_htcp.c measure_achieved_throughput], with a window of `cwnd` segments.
    fn measure_achieved_throughput(&mut self, ev: &AckArrival, cwnd: u64, mss: u64, now: Time) {
        self.init(now);
        let segments = ev.acked.div_ceil(mss);
        if ev.state == CaState::Open {
            self.pkts_acked = segments;
        }
        if let Some(rtt) = ev.rtt.filter(|rtt| rtt.0 > 0) {
            self.measure_rtt(rtt.0.div_ceil(JIFFY.0), ev.state);
        }
        let jiffies = Integer::jiffies(now);
        if !matches!(ev.state, CaState::Open | CaState::Disorder) {
            (self.packetcount, self.lasttime) = (0, Some(jiffies));
            return;
        }
        self.packetcount += segments;
        // Before the first interval lasttime is 0, and the interval is the uptime of the machine: Bi is 0 then.
        let interval = self.lasttime.map(|lasttime| jiffies - lasttime);
        let step = (self.alpha / ALPHA_BASE).max(1);
        if self.min_rtt > 0
            && cwnd >= step
            && self.packetcount >= cwnd - step
            && interval.is_none_or(|interval| interval >= self.min_rtt)
        {
            let cur_bi = interval.map_or(0, |interval| self.packetcount * HZ / interval.max(1));
            if self.cong_time(now) / self.min_rtt <= 3 {
                (self.bi, self.max_b) = (cur_bi, cur_bi);
            } else {
                self.bi = (3 * self.bi + cur_bi) / 4;
                self.max_b = self.max_b.max(self.bi);
            }
            (self.packetcount, self.lasttime) = (0, Some(jiffies));
        }
    }

    /// [Linux tcp_htcp.c measure_rtt].
    fn measure_rtt(&mut self, rtt: u64, state: CaState) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if state == CaState::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt > self.max_rtt && rtt <= self.max_rtt + MAX_RTT_STEP {
                self.max_rtt = rtt;
            }
        }
    }

    /// Takes an ACK in avoidance. Returns the new snd_cwnd_cnt, and true if cwnd grows by one segment [Linux tcp_htcp.c
    /// htcp_cong_avoid].
    fn cong_avoid(&mut self, snd_cwnd_cnt: u64, cwnd: u64, now: Time, settings: &Settings) -> (u64, bool) {
        self.init(now);
        let pkts_acked = std::mem::replace(&mut self.pkts_acked, 1);
        if snd_cwnd_cnt * self.alpha / ALPHA_BASE < cwnd {
            return (snd_cwnd_cnt + pkts_acked, false);
        }
        self.alpha_update(now, settings);
        (0, true)
    }

    /// [Linux tcp_htcp.c htcp_alpha_update].
    fn alpha_update(&mut self, now: Time, settings: &Settings) {
        let diff = self.cong_time(now).saturating_sub(settings.delta_l.0 / JIFFY.0);
        let mut factor = match diff {
            0 => 1,
            _ => 1 + (10 * diff + (diff / 2) * (diff / 2) / HZ) / HZ,
        };
        if settings.rtt_scaling && self.min_rtt > 0 {
            let scale = (8 * HZ / (10 * self.min_rtt)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (ALPHA_BASE - self.beta);
    }

    /// Returns the window after congestion, segments [Linux tcp_htcp.c htcp_recalc_ssthresh, htcp_reset].
    fn recalc_ssthresh(&mut self, cwnd: u64, now: Time, settings: &Settings) -> u64 {
        self.init(now);
        self.beta_update(settings);
        self.alpha_update(now, settings);
        if self.min_rtt > 0 && self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
        let last_cong = self.last_cong.replace(Integer::jiffies(now)).unwrap_or(0);
        self.undo = Some((last_cong, self.max_rtt, self.old_max_b));
        cwnd * self.beta / ALPHA_BASE
    }

    /// [Linux tcp_htcp.c htcp_beta_update].
    fn beta_update(&mut self, settings: &Settings) {
        let old_max_b = std::mem::replace(&mut self.old_max_b, self.max_b);
        self.beta = BETA_MIN;
        if !(4 * old_max_b..=6 * old_max_b).contains(&(5 * self.max_b)) || !settings.adaptive_backoff {
            self.modeswitch = false;
        } else if self.modeswitch && self.min_rtt > SHORT_RTT && self.max_rtt > 0 {
            self.beta = (ALPHA_BASE * self.min_rtt / self.max_rtt).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.modeswitch = true;
        }
    }

    /// The state is Open again [Linux tcp_htcp.c htcp_state].
    fn on_open(&mut self, now: Time) {
        if self.undo.take().is_some() {
            self.last_cong = Some(Integer::jiffies(now));
        }
    }

    /// [Linux tcp_htcp.c htcp_cwnd_undo].
    fn cwnd_undo(&mut self) {
        if let Some((last_cong, max_rtt, old_max_b)) = self.undo.take() {
            (self.last_cong, self.max_rtt, self.old_max_b) = (Some(last_cong), max_rtt, old_max_b);
        }
    }
}

/// H-TCP by the rules at the top of this file [Linux tcp_htcp.c htcp].
#[derive(Clone, Debug)]
pub(super) struct LinuxHtcp {
    window: Window,
    settings: Settings,
    /// The state on a stack that counts cwnd in segments; None until the first call shows that it does.
    integer: Option<Integer>,
    /// The state on any other stack.
    real: Real,
}

impl LinuxHtcp {
    pub(super) fn new(params: &Params, setup: &Setup) -> LinuxHtcp {
        LinuxHtcp { window: Window::new(setup), settings: Settings::read(params), integer: None, real: Real::new() }
    }

    fn integer(&mut self, cx: &Cx) -> Option<&mut Integer> {
        cx.counts_segments().then(|| self.integer.get_or_insert_with(Integer::new))
    }
}

impl LossDriven for LinuxHtcp {
    window_is!(window);

    fn on_established(&mut self, _rtt: Option<Dur>, cx: &Cx) {
        if let Some(integer) = self.integer(cx) {
            integer.init(cx.now);
        }
    }

    fn wants_arrivals(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, ev: &AckArrival, cx: &Cx) {
        let cwnd = self.window.segments(cx) as u64;
        if let Some(integer) = self.integer(cx) {
            integer.measure_achieved_throughput(ev, cwnd, cx.mss as u64, cx.now);
        }
    }

    fn on_ack_sample(&mut self, ev: &AckEvent, cx: &Cx) {
        if self.integer(cx).is_none() {
            self.real.on_ack_sample(ev, cx.now);
        }
    }

    fn on_ack_slow_start(&mut self, ev: &AckEvent, cx: &Cx) -> u64 {
        let rest = self.window.slow_start(ev.acked, cx);
        // Linux ignores the segments beyond ssthresh [Linux tcp_htcp.c htcp_cong_avoid].
        if self.integer(cx).is_some() { 0 } else { rest }
    }

    fn on_ack_avoidance(&mut self, ev: &AckEvent, cx: &Cx) {
        let (cwnd, settings) = (self.window.segments(cx), self.settings);
        let snd_cwnd_cnt = (*self.window.cwnd_cnt() / cx.mss) as u64;
        if let Some(integer) = self.integer(cx) {
            let (snd_cwnd_cnt, grows) = integer.cong_avoid(snd_cwnd_cnt, cwnd as u64, cx.now, &settings);
            *self.window.cwnd_cnt() = snd_cwnd_cnt as f64 * cx.mss;
            self.window.cwnd += if grows { cx.mss } else { 0.0 };
            return;
        }
        self.real.alpha = self.real.alpha(cx.now, &settings).min(cwnd);
        self.window.additive_increase(self.real.alpha, ev.acked, cx);
    }

    fn on_congestion_begin(&mut self) {
        self.real.prior = self.real.vars;
    }

    fn on_congestion_ssthresh(&mut self, ev: &CongestionEvent, cx: &Cx) -> f64 {
        let settings = self.settings;
        if let Some(integer) = self.integer(cx) {
            return integer.recalc_ssthresh((ev.window / cx.mss) as u64, cx.now, &settings) as f64 * cx.mss;
        }
        self.real.vars.beta = self.real.beta(&settings);
        self.real.vars.fade_max_rtt();
        self.real.vars.last_cong = Some(cx.now);
        self.real.vars.beta * ev.window
    }

    fn on_undo(&mut self, _reduced_cwnd: f64, cx: &Cx) {
        match self.integer(cx) {
            Some(integer) => integer.cwnd_undo(),
            None => self.real.vars.undo(&self.real.prior),
        }
    }

    fn on_recovery_exit(&mut self, cx: &Cx) {
        match self.integer(cx) {
            Some(integer) => integer.on_open(cx.now),
            None => self.real.vars.last_cong = Some(cx.now),
        }
    }

    fn on_restart(&mut self, cx: &Cx) {
        if self.integer.is_none() {
            self.real.vars.last_cong = Some(cx.now);
            self.real.rate.restart();
        }
    }

    fn observe(&self, row: &mut Vec<f64>) {
        if let Some(i) = &self.integer {
            let fraction = |n: u64| n as f64 / ALPHA_BASE as f64;
            let secs = |jiffies: u64| if jiffies == 0 { f64::NAN } else { (JIFFY * jiffies).as_secs() };
            row.extend([fraction(i.alpha), fraction(i.beta), secs(i.min_rtt), secs(i.max_rtt)]);
            return;
        }
        let (min_rtt, max_rtt) = self.real.vars.rtts.unwrap_or((f64::NAN, f64::NAN));
        row.extend([self.real.alpha, self.real.vars.beta, min_rtt, max_rtt]);
    }
}
