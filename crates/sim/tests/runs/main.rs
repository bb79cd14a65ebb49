//! Whole runs against hand-worked numbers.

// A plan that cannot be made fails its test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aqm;
mod captures;
mod conservation;
mod figures;
mod links;
mod plans;
mod repeatable;
mod timing;
