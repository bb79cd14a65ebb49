//! Whole runs against hand-worked numbers.

mod figures;
mod plans;
mod repeatable;
mod timing;
