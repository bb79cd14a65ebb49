//! Whole runs against hand-worked numbers.

#![expect(clippy::unwrap_used, reason = "a plan that cannot be built fails its test")]

mod aqm;
mod captures;
mod conservation;
mod figures;
mod identities;
mod links;
mod measured_time;
mod one_by_one;
mod plans;
mod qlog;
mod quic;
mod repeatable;
mod steps;
mod timing;
mod tls;
mod web;
mod wifi;
mod workload;
mod workload_quic;
