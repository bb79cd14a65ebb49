//! The channel between the access point and a station: signal, noise, slow fading.
//!
//! ```text
//! noise   -174 dBm/Hz + 10 log10(bandwidth) + noise figure
//! SNR     signal + fading - noise - implementation margin - 10 log10(streams)
//! fading  normal in dB, constant for a tenth of the correlation time; the correlation decays exponentially. Both
//!         directions have the same fading
//! ```
//! The power is divided equally between the streams.

use crate::phy::error_rate::{ln_bit_success, success};
use crate::phy::mode::{Mode, Modes};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Time};

/// Thermal noise, dBm/Hz, at 290 K.
const THERMAL: f64 = -174.0;
/// Length of the frame for which the best rate is chosen: a full data frame, bytes.
const FULL_FRAME: u64 = 1536;

/// The receiver of each device.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// Noise figure, dB.
    pub noise_figure: f64,
    /// Implementation margin, dB.
    pub margin: f64,
}

impl Receiver {
    /// SNR per stream of a frame with this rate at a signal in dBm, dB.
    #[must_use]
    pub fn snr(&self, mode: &Mode, signal: f64) -> f64 {
        let noise = THERMAL + 10.0 * libm::log10(mode.bandwidth()) + self.noise_figure;
        signal - noise - self.margin - 10.0 * libm::log10(f64::from(mode.streams))
    }

    /// Smallest signal at which a frame of `bytes` is lost with at most this probability, dBm.
    #[must_use]
    pub fn sensitivity(&self, mode: &Mode, bytes: u64, error_rate: f64) -> f64 {
        let (mut low, mut high) = (-120.0, 0.0);
        while high - low > 1e-3 {
            let middle = f64::midpoint(low, high);
            let lost = 1.0 - success(ln_bit_success(mode, self.snr(mode, middle)), bytes);
            if lost > error_rate { low = middle } else { high = middle }
        }
        high
    }
}

#[derive(Debug)]
struct Fading {
    deviation: f64,
    block: Dur,
    at: u64,
    value: f64,
    random: Stream,
}

/// Correlation of the fading of two neighboring blocks: exp(-1/10).
const CORRELATION: f64 = 0.904_837_418_035_959_6;

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct Channel {
    receiver: Receiver,
    /// Mean signal at the station and at the access point, dBm.
    signal: [f64; 2],
    fading: Option<Fading>,
    /// By direction and rate: see [`ln_bit_success`]; NaN if it isn't known yet.
    known: [Vec<f64>; 2],
    best: [Option<usize>; 2],
}

impl Channel {
    pub(crate) fn new(
        receiver: Receiver,
        signal: [f64; 2],
        (deviation, correlation): (f64, Dur),
        random: Stream,
        modes: &Modes,
    ) -> Channel {
        let block = Dur((correlation.0 / 10).max(1));
        let mut fading = (deviation > 0.0).then_some(Fading { deviation, block, at: 0, value: 0.0, random });
        if let Some(f) = &mut fading {
            f.value = f.deviation * f.random.normal();
        }
        let known = || vec![f64::NAN; modes.all.len()];
        Channel { receiver, signal, fading, known: [known(), known()], best: [None; 2] }
    }

    /// The channel at `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        let Some(f) = &mut self.fading else { return };
        let at = now.0 / f.block.0;
        if at == f.at {
            return;
        }
        let kept = libm::pow(CORRELATION, (at - f.at) as f64);
        f.value = kept * f.value + f.deviation * (1.0 - kept * kept).sqrt() * f.random.normal();
        f.at = at;
        self.known.iter_mut().flatten().for_each(|k| *k = f64::NAN);
        self.best = [None; 2];
    }

    /// Signal in a direction (0: to the station), dBm.
    pub(crate) fn signal(&self, direction: usize) -> f64 {
        self.signal[direction] + self.fading.as_ref().map_or(0.0, |f| f.value)
    }

    /// Probability that a frame is received correctly.
    pub(crate) fn success(&mut self, direction: usize, modes: &Modes, mode: usize, bytes: u64) -> f64 {
        if self.known[direction][mode].is_nan() {
            let snr = self.receiver.snr(&modes.all[mode], self.signal(direction));
            self.known[direction][mode] = ln_bit_success(&modes.all[mode], snr);
        }
        success(self.known[direction][mode], bytes)
    }

    /// The rate with the largest product of bit rate and success of a full data frame; the slowest if none succeeds.
    pub(crate) fn best(&mut self, direction: usize, modes: &Modes) -> usize {
        if let Some(best) = self.best[direction] {
            return best;
        }
        let (mut best, mut most) = (0, 0.0);
        for mode in 0..modes.data {
            let rate = modes.all[mode].bps as f64 * self.success(direction, modes, mode, FULL_FRAME);
            if rate > most {
                (best, most) = (mode, rate);
            }
        }
        self.best[direction] = Some(best);
        best
    }
}
