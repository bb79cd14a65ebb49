//! The medium access control of the access point and the stations.

mod airtime;
mod contention;
pub(crate) mod event;
mod feed;
pub(crate) mod medium;
mod setup;
mod window;
