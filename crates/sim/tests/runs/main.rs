//! Whole runs against hand-worked numbers.

#![expect(clippy::unwrap_used, reason = "a plan that cannot be built fails its test")]

mod aqm;
mod captures;
mod conservation;
mod figures;
mod links;
mod plans;
mod repeatable;
mod timing;
