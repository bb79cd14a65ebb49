//! The medium against closed forms, figures of the standard and properties.

mod bench;
mod errors;
mod properties;
mod rates;
mod saturation;
