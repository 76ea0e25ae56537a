//! The instruments: the clock, the clock probe, the counters, and what can be said about the
//! machine and the noise on it.
//!
//! This crate reads and never decides: it holds no statistics, no schedule and no cryptography,
//! it depends on nothing else of pqlab, and the only thing of the machine it ever changes is the
//! affinity of the process it is asked to pin ([`affinity`]). What a machine does not offer is an
//! [`Unavailable`] value with a reason and a remedy, never a panic and never a zero that looks
//! like a measurement.
//!
//! `unsafe` is confined to [`clock`] and [`probe`] (instructions Rust has no name for) and to one
//! system call in [`noise`]; each block gives its reason.

pub mod affinity;
pub mod clock;
pub mod counters;
pub mod fitness;
pub mod machine;
pub mod noise;
pub mod probe;
mod text;
mod unavailable;

pub use unavailable::Unavailable;
