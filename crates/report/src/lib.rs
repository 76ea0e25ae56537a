//! From a run file to what a person reads: rows of figures with their uncertainty, as a table for
//! a terminal and as JSON.
//!
//! Everything here is computed from the run file; nothing is measured, and no figure leaves
//! without its interval, its sample count and its grade.

pub mod figures;
mod results;
pub mod table;
pub mod text;

pub use results::{Results, Row, RunFacts, Sizes};
