//! RED against numbers worked by hand [Floyd and Jacobson 1993, ns-2].

use dumbbell_qdisc::DropReason::{Early, Forced, Full};
use dumbbell_qdisc::Ecn;
use dumbbell_testkit::{Fate, QdiscFixture, given, link, near};
use dumbbell_units::Dur;

#[test]
fn ns2_counts_bytes_without_the_arrival() {
    // A limit of 10 x 500 bytes. With 1040-byte packets the backlog before each of five arrivals is 0, 1040, 2080,
    // 3120, 4160, all below 5000; before the sixth it is 5200.
    let mut q =
        QdiscFixture::new("red", &[("limit", "10 packets"), ("mode", "bytes"), ("counting", "ns2"), ("wait", "true")]);
    for _ in 0..5 {
        assert_eq!(q.arrive(0, 1040), Fate::Queued);
    }
    assert_eq!(q.arrive(0, 1040), Fate::Dropped(Full));
    // With counting = "waiting" the limit is ten packets.
    let mut q = QdiscFixture::new("red", &[("limit", "10 packets"), ("mode", "bytes")]);
    for _ in 0..10 {
        assert_eq!(q.arrive(0, 1040), Fate::Queued);
    }
    assert_eq!(q.arrive(0, 1040), Fate::Dropped(Full));
}

#[test]
fn automatic_thresholds_and_weight() {
    // 10 Mbit/s are 2500 packets of 500 bytes per second; 5 ms are 12.5, half of that 6.25, three times that 18.75:
    // 3125 and 9375 bytes, as ns-2 prints them. With weight 1 the average is the backlog. At 6250 bytes the probability
    // is half of 10 %.
    let mut q = QdiscFixture::new("red", &[("mode", "bytes"), ("weight", "1")]);
    q.arrive(0, 6250);
    q.arrive(0, 40);
    near(q.column("avg"), 6250.0);
    near(q.column("probability"), 0.05);
    // In packets: (8 - 6.25) / 12.5 * 10 % with a backlog of 8.
    let mut q = QdiscFixture::new("red", &[("weight", "1")]);
    while q.backlog().packets < 8 {
        q.arrive(0, 1000); // from the eighth on a packet may be dropped early
    }
    q.arrive(0, 1000);
    near(q.column("avg"), 8.0);
    near(q.column("probability"), 0.014);
    // Weight 1 - exp(-1/2500) = 0.000399920010665.
    let mut q = QdiscFixture::new("red", &[("mode", "bytes")]);
    q.arrive(0, 6250);
    q.arrive(0, 40);
    assert!((q.column("avg") - 6250.0 * 0.000_399_920_010_665).abs() < 1e-9);
    // On a slow link min_th is at least five packets: 1 Mbit/s would give 0.625.
    let slow = dumbbell_qdisc::LinkInfo { rate: dumbbell_units::Rate(1_000_000), ..link() };
    let max_th = [("max_th", "5 packets")];
    let refused = dumbbell_qdisc::build("red", &given(&max_th), &slow).unwrap_err();
    assert_eq!(refused.to_string(), "max_th: 5 packets is not above min_th, which is 5 packets");
}

#[test]
fn idle_time_is_counted_in_mean_packets() {
    // Weight 1/2. The backlog at the arrivals is 0, 1, 2, 3: avg 0, 0.5, 1.25, 2.125.
    let mut q = QdiscFixture::new("red", &[("weight", "0.5"), ("min_th", "100 packets")]);
    for _ in 0..4 {
        q.arrive(0, 1250);
    }
    near(q.column("avg"), 2.125);
    assert_eq!(q.drain().len(), 4);
    // The last packet takes 1250 * 8 / 10 Mbit/s = 1 ms; the 1.2 ms after it are three packets of 500 bytes: avg / 2^3.
    q.advance(Dur::micros(2200)).busy(false);
    assert_eq!(q.arrive(0, 1250), Fate::Queued);
    near(q.column("avg"), 2.125 / 8.0);
}

/// Returns the fates of 40 arrivals at a queue that is kept at `waiting` packets.
fn fates_at(waiting: u64, params: &[(&str, &str)], capable: bool) -> Vec<Fate> {
    let mut q = QdiscFixture::new("red", params);
    if capable {
        q.ecn(Ecn::ECT0);
    }
    let mut fates = Vec::new();
    while fates.len() < 40 {
        while q.backlog().packets < waiting {
            q.busy(q.backlog().packets > 0).arrive(0, 1000);
        }
        fates.push(q.busy(true).arrive(0, 1000));
        while q.backlog().packets > waiting {
            q.send();
        }
    }
    fates
}

#[test]
fn marks_below_max_th_drops_above() {
    // With two waiting p_b = (2 - 1) / (3 - 1) = 1/2, so of two arrivals in a row at least one is dropped or marked.
    // From max_th = 3 to 2 max_th = 6 packets are dropped at random if gentle, above that always.
    let params: &[(&str, &str)] =
        &[("weight", "1"), ("min_th", "1 packets"), ("max_th", "3 packets"), ("max_p", "100 %"), ("ecn", "true")];
    let count = |fates: &[Fate], fate| fates.iter().filter(|f| **f == fate).count();
    let marked = fates_at(2, params, true);
    assert!(count(&marked, Fate::Marked) >= 20);
    assert_eq!(count(&marked, Fate::Marked) + count(&marked, Fate::Queued), 40);
    assert!(count(&fates_at(2, params, false), Fate::Dropped(Early)) >= 20);
    // Above max_th packets are dropped, not marked [RFC 3168 §7]; p_b is 1 there because max_p is.
    let mut q = QdiscFixture::new("red", params);
    q.ecn(Ecn::ECT0);
    let fates: Vec<Fate> = (0..40).map(|_| q.arrive(0, 1000)).collect();
    assert!(count(&fates, Fate::Dropped(Early)) > 0, "{fates:?}");
    // Not gentle: above max_th all packets are dropped.
    let mut q = QdiscFixture::new("red", &[params, &[("gentle", "false"), ("limit", "3 packets")]].concat());
    for _ in 0..20 {
        q.arrive(0, 1000);
    }
    assert_eq!(q.backlog().packets, 3);
    assert_eq!(q.arrive(0, 1000), Fate::Dropped(Full));
    let mut q = QdiscFixture::new("red", &[params, &[("gentle", "false")]].concat());
    for _ in 0..20 {
        q.arrive(0, 1000);
    }
    assert_eq!(q.arrive(0, 1000), Fate::Dropped(Forced));
}

#[test]
fn least_waiting_prevents_drops_at_a_short_queue() {
    // A burst raises the average above max_th, and a weight of 1/100 keeps it there: with two waiting all packets are
    // dropped, with one only if least_waiting is 0.
    let params: &[(&str, &str)] = &[
        ("weight", "0.01"),
        ("min_th", "1 packets"),
        ("max_th", "2 packets"),
        ("gentle", "false"),
        ("limit", "1000 packets"),
    ];
    let with_least_waiting = [params, &[("least_waiting", "2")]].concat();
    for (params, fate) in [(params, Fate::Dropped(Forced)), (&with_least_waiting[..], Fate::Queued)] {
        let mut q = QdiscFixture::new("red", params);
        while q.column("avg") < 2.5 {
            q.arrive(0, 1000);
        }
        while q.backlog().packets > 1 {
            q.send();
        }
        assert_eq!(q.arrive(0, 1000), fate);
        assert_eq!(q.arrive(0, 1000), Fate::Dropped(Forced));
    }
}

/// RED by Linux's rules with thresholds of 2 and 6 packets, and more parameters. The link sends a full packet in 1.2
/// ms.
fn linux(params: &[(&str, &str)]) -> QdiscFixture {
    let all: &[(&str, &str)] = &[
        ("follows", "linux"),
        ("gentle", "false"),
        ("mean_packet", "1500 bytes"),
        ("min_th", "2 packets"),
        ("max_th", "6 packets"),
    ];
    QdiscFixture::new("red", &[all, params].concat())
}

#[test]
fn linux_drops_from_max_th_on_and_excepts_the_first_arrival_above_min_th() {
    // The average is the backlog at each arrival: the first arrival finds an idle queue. max_p of 100 %: p_b is 1/4
    // at 3 packets, 1/2 at 4, 3/4 at 5. The arrival that finds 2 has p_b = 0 and only draws a number; the next one
    // counts 1.
    let mut q = linux(&[("weight", "1"), ("max_p", "100 %"), ("ecn", "true")]);
    q.ecn(Ecn::ECT0);
    let fates: Vec<Fate> = (0..6).map(|_| q.arrive(0, 1500)).collect();
    assert_eq!(fates[..3], [Fate::Queued; 3]);
    assert!(!fates.contains(&Fate::Dropped(Forced)), "{fates:?}");
    while q.backlog().packets < 6 {
        q.arrive(0, 1500);
    }
    assert_eq!(q.arrive(0, 1500), Fate::Dropped(Forced)); // also if ECN-capable
}

#[test]
fn linux_counts_arrivals_whose_average_is_min_th() {
    // Five arrivals find two packets: the first only draws a number, the others count 1 to 4 with p_b = 0. With a
    // backlog of 3 the count is 5 and p_b 1/4, and 5/4 exceeds every number drawn [Linux include/net/red.h
    // red_cmp_thresh].
    let mut q = linux(&[("weight", "1"), ("max_p", "100 %"), ("ecn", "true")]);
    q.ecn(Ecn::ECT0).arrive(0, 1500);
    q.arrive(0, 1500);
    for _ in 0..4 {
        assert_eq!(q.arrive(0, 1500), Fate::Queued);
        q.send();
    }
    assert_eq!([q.arrive(0, 1500), q.arrive(0, 1500)], [Fate::Queued, Fate::Marked]);
}

#[test]
fn linux_counts_idle_time_from_the_last_departure_on() {
    // Weight 1/2: 0 for the first arrival, then 0.5, 1.25 with a backlog of 1 and 2. One step of the table has 2^log µs
    // with 31 / (ln 2 / 1200) = 53,669 µs below 512 steps: 2^7 = 128 µs. Halvings per step: 128 ln 2 / 1200 = 0.0739.
    let mut q = linux(&[("weight", "0.5")]);
    for _ in 0..3 {
        q.arrive(0, 1500);
    }
    near(q.column("avg"), 1.25);
    assert_eq!(q.drain().len(), 3);
    // 32 µs after the last departure, during its transmission: a quarter of a step, so a quarter less.
    q.advance(Dur::micros(32)).busy(true).arrive(0, 1500);
    near(q.column("avg"), 1.25 * 0.75);
    // The next arrival finds one packet, and the queue isn't idle.
    q.arrive(0, 1500);
    near(q.column("avg"), (1.25 * 0.75 + 1.0) / 2.0);
}

#[test]
fn linuxs_red_has_no_gentle_mode() {
    let refused = dumbbell_qdisc::build("red", &given(&[("follows", "linux")]), &link()).unwrap_err();
    assert!(refused.to_string().starts_with("gentle: Linux's RED doesn't have it (the default is true)"), "{refused}");
    // By itself it is used only where no such parameter is set.
    let linux = dumbbell_qdisc::LinkInfo { linux: true, ..link() };
    for params in [&[][..], &[("gentle", "false")]] {
        assert!(dumbbell_qdisc::build("red", &given(params), &linux).is_ok());
    }
}
