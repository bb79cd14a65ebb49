//! Each discipline against numbers worked by hand; the working is in the comments. One file per registry row, which
//! `tests/registry` checks.

mod blue;
mod cake;
mod codel;
mod droptail;
mod drr;
mod dualpi2;
mod fq_codel;
mod fq_pie;
mod pi2;
mod pie;
mod prio;
mod red;
mod sfq;
mod tbf;
