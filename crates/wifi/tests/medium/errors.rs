//! Packet errors against the sensitivities of the standard.

use dumbbell_wifi::phy::channel::Receiver;
use dumbbell_wifi::phy::mode::Modes;
use dumbbell_wifi::phy::standard::Standard;

#[test]
fn sensitivities_are_those_of_the_standard() {
    // Smallest signals at which at most 10 % of 1000-byte frames are lost, with the noise figure of 10 dB and the
    // margin of 5 dB that the standard assumes [IEEE 802.11-2016 Table 17-18].
    let standard = [-82.0, -81.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0];
    let receiver = Receiver { noise_figure: 10.0, margin: 5.0 };
    let modes = Modes::new(Standard::A, 20, 1, false);
    for (mode, expected) in modes.all.iter().zip(standard) {
        let ours = receiver.sensitivity(mode, 1000, 0.1);
        println!("{} Mbit/s: {ours:.1} dBm, standard {expected}", mode.bps / 1_000_000);
        assert!((ours - expected).abs() <= 2.0, "{}: {ours}", mode.bps);
    }
}

#[test]
fn sensitivities_of_ht() {
    // 20 MHz, MCS 0 to 7, 4096 bytes [Table 19-23]; 40 MHz needs 3 dB more.
    let standard = [-82.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0, -64.0];
    let receiver = Receiver { noise_figure: 10.0, margin: 5.0 };
    let narrow = Modes::new(Standard::N, 20, 1, false);
    let wide = Modes::new(Standard::N, 40, 1, false);
    for (n, expected) in standard.into_iter().enumerate() {
        let ours = receiver.sensitivity(&narrow.all[n], 4096, 0.1);
        assert!((ours - expected).abs() <= 4.0, "MCS {n}: {ours}");
        let more = receiver.sensitivity(&wide.all[n], 4096, 0.1) - ours;
        assert!((more - 3.01).abs() < 0.01, "MCS {n}: {more}");
    }
}

#[test]
fn signals_at_ten_percent_of_1000_bytes() {
    // SNR in dB, computed independently with the same formulas: noise of 20 MHz is -174 + 73.01 = -100.99 dBm.
    let expected = [3.85, 6.73, 6.86, 9.74, 13.38, 16.48, 21.23, 22.49];
    let receiver = Receiver { noise_figure: 0.0, margin: 0.0 };
    let modes = Modes::new(Standard::A, 20, 1, false);
    for (mode, snr) in modes.all.iter().zip(expected) {
        let ours = receiver.sensitivity(mode, 1000, 0.1) + 100.99;
        assert!((ours - snr).abs() < 0.05, "{}: {ours}", mode.bps);
    }
}
