//! The statistics of pqlab: slices and values in, values out.
//!
//! This crate turns timings into estimates, intervals, diagnoses and grades. It refuses to do
//! anything else: it reads no clock, no file and no environment, prints nothing, draws no random
//! number, and panics on no input. Every answer is a function of the arguments alone, so a report
//! made from a run file today and in ten years says the same.
//!
//! What bad input gets is typed. A function that answers `Option` answers `None` where the figure
//! does not exist; one that answers `Result` names the reason as a [`refusal::Refusal`]: too few
//! values, a value that is not finite, values not sorted, a confidence that is none.
//!
//! | module | question |
//! |---|---|
//! | [`quantile`] | which value lies at a given share of the data, and how far do values stray |
//! | [`interval`] | where does the true median lie, and how sure is that exactly |
//! | [`summary`] | what do these values look like |
//! | [`estimate`] | what does the operation cost, judged over fresh processes |
//! | [`stop`] | has enough been measured |
//! | [`drift`] | did the machine change while we measured |
//! | [`grade`] | how far may the figure be trusted |
//! | [`agreement`] | do repeated runs say the same |
//! | [`series`], [`trend`], [`steps`] | the parts of `drift`, each usable alone |
//! | [`normal`] | tails of the normal distribution |
//!
//! The formulas and their reasons are in docs/METHODOLOGY.md; "§5.x" counts the sections of the
//! harness study behind it, which was made before pqlab was written. The
//! tests hold them to published constants.

pub mod agreement;
pub mod drift;
pub mod estimate;
pub mod grade;
pub mod interval;
pub mod normal;
pub mod quantile;
pub mod refusal;
pub mod series;
pub mod steps;
pub mod stop;
pub mod summary;
#[cfg(test)]
mod testing;
pub mod trend;
