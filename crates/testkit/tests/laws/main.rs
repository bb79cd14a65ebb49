//! Laws and disciplines against numbers worked by hand; the working is in the comments.

mod bbr1;
mod bbr3;
mod bic;
mod blue;
mod cake;
mod cdg;
mod codel;
mod compound;
mod copa;
mod cubic;
mod dctcp;
mod drr;
mod dualpi2;
mod fixed;
mod fq_codel;
mod fq_pie;
mod highspeed;
mod htcp;
mod hybla;
mod illinois;
mod ledbat;
mod ledbat_plus_plus;
mod lp;
mod nv;
mod pi2;
mod pie;
mod prague;
mod prio;
mod red;
mod scalable;
mod sfq;
mod slow_start;
mod sprout;
mod tbf;
mod undo;
mod vegas;
mod veno;
mod verus;
mod westwood;
mod whole;
mod yeah;

/// Equal but for rounding.
#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}
