//! Packet error rates in Gaussian noise, by SNR, rate and length.
//!
//! ```text
//! OFDM   bit error rate p of Gray-coded BPSK, QPSK and QAM; then the union bound of the convolutional code with
//!        generators (133, 171) and hard decisions: error events of weight d have the probability D^d, D = sqrt(4 p (1
//!        - p))
//!        p_e = 1 / (2 b) sum a_d D^d,   packet error rate = 1 - (1 - p_e)^bits
//! DSSS   Q(sqrt(11 snr)) at 1 Mbit/s, Q(sqrt(5.5 snr)) at 2 Mbit/s
//! CCK    union bound over the code words
//! ```
//! Sources: the method and the weights a_d of the code and its punctured forms are those of NIST's error model [G. Pei
//! and T. Henderson, "Validation of OFDM error rate model in ns-3", 2010]; b is the number of input bits of a punctured
//! step. The bit error rates of DSSS and CCK are those of IEEE Std 802.15.2-2003 (coexistence with 802.11b). The
//! spatial streams of MIMO do not disturb each other. LDPC codes, soft decisions and fast fading are not modeled: a
//! real receiver is about 2 dB better, a real channel worse. The implementation margin of [`crate::WifiPlan`] covers
//! the difference.

use crate::phy::mode::{Coding, Mode, Modulation};

/// Tail of the normal distribution.
fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// Bit error rate before decoding, at the SNR (ratio) of a symbol.
fn bit_error_rate(bits: u32, snr: f64) -> f64 {
    match bits {
        1 => q((2.0 * snr).sqrt()),
        2 => q(snr.sqrt()),
        _ => {
            let points = f64::from(1u32 << bits);
            4.0 / f64::from(bits) * (1.0 - 1.0 / points.sqrt()) * q((3.0 * snr / (points - 1.0)).sqrt())
        }
    }
}

/// Input bits of a punctured step, smallest weight, step of the weights, and the sums of bit errors by weight.
fn weights(coding: Coding) -> (f64, i32, i32, &'static [f64]) {
    match coding {
        Coding::Half => (1.0, 10, 2, &[36.0, 211.0, 1404.0, 11_633.0, 77_433.0]),
        Coding::TwoThirds => (2.0, 6, 1, &[3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0]),
        Coding::ThreeQuarters => (3.0, 5, 1, &[42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0]),
        Coding::FiveSixths => (5.0, 4, 1, &[92.0, 528.0, 8_694.0, 79_453.0, 792_114.0, 7_375_573.0]),
    }
}

fn decoded(p: f64, coding: Coding) -> f64 {
    let (input, first, step, sums) = weights(coding);
    let d = (4.0 * p * (1.0 - p)).sqrt();
    let mut power = libm::pow(d, f64::from(first));
    let ratio = if step == 2 { d * d } else { d };
    let mut sum = 0.0;
    for a in sums {
        sum += a * power;
        power *= ratio;
    }
    (sum / (2.0 * input)).min(1.0)
}

/// The logarithm of the probability that a bit is received correctly, at this SNR (dB, per stream).
#[must_use]
pub fn ln_bit_success(mode: &Mode, snr_db: f64) -> f64 {
    let snr = libm::pow(10.0, snr_db / 10.0);
    let roots = |terms: &[(f64, f64)]| terms.iter().map(|(n, k)| n * q((k * snr).sqrt())).sum::<f64>();
    let error = match mode.modulation {
        Modulation::Dbpsk => q((11.0 * snr).sqrt()),
        Modulation::Dqpsk => q((5.5 * snr).sqrt()),
        Modulation::Cck4 => 8.0 / 15.0 * roots(&[(14.0, 8.0), (1.0, 16.0)]),
        Modulation::Cck8 => {
            let words = [(24.0, 4.0), (16.0, 6.0), (174.0, 8.0), (16.0, 10.0), (24.0, 12.0), (1.0, 16.0)];
            128.0 / 255.0 * roots(&words)
        }
        Modulation::Qam(bits) => decoded(bit_error_rate(bits, snr), mode.coding),
    };
    if error >= 1.0 { f64::NEG_INFINITY } else { libm::log1p(-error) }
}

/// Probability that a frame of `bytes` is received correctly.
#[must_use]
pub fn success(ln_bit_success: f64, bytes: u64) -> f64 {
    libm::exp(ln_bit_success * (8 * bytes) as f64)
}
