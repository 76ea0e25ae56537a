//! The lab: finds workers, plans what to measure, starts fresh processes, feeds them, watches
//! them, and writes down what they say.
//!
//! It knows no library and trusts no worker: one that crashes, hangs, talks nonsense or reports
//! the impossible becomes a fault record and costs its own rows, nothing else. It computes no
//! table and prints nothing; a [`Watcher`] hears how it goes.

mod discover;
mod placement;
mod plan;
mod process;
mod run;
mod schedule;

pub use discover::{Discovery, Offer, Unusable, discover, installed};
pub use placement::Placement;
pub use plan::{MESSAGE_BYTES, PlanError, cases, default_budget_s, plan};
pub use process::Limits;
pub use run::{Event, Outcome, Setting, Watcher, run};
