//! Where workers run and where the lab stays out of their way.

use pqlab_instrument::affinity;

/// The CPU that workers are pinned to and the one the lab keeps to meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// CPU of the workers; `None` where pinning is impossible.
    pub measuring_cpu: Option<u32>,
    /// CPU of the lab; `None` where there is no other.
    lab_cpu: Option<u32>,
    /// Why that CPU, or why none, for the run's header.
    pub reason: String,
}

impl Placement {
    /// Picks the CPUs; ask before anything is pinned.
    pub fn choose() -> Placement {
        match affinity::best_measuring_cpu() {
            Ok(choice) => {
                let allowed = affinity::allowed_cpus().unwrap_or_default();
                let lab_cpu = allowed.into_iter().find(|cpu| *cpu != choice.cpu);
                Placement { measuring_cpu: Some(choice.cpu), lab_cpu, reason: choice.reason }
            }
            Err(unavailable) => Placement {
                measuring_cpu: None,
                lab_cpu: None,
                reason: format!("not pinned: {unavailable}"),
            },
        }
    }

    /// No pinning at all, for questions that time nothing.
    pub(crate) fn unpinned() -> Placement {
        Placement { measuring_cpu: None, lab_cpu: None, reason: "not needed".to_owned() }
    }

    /// Runs `spawn` while this thread is on the measuring CPU: a child inherits the affinity of the
    /// thread that forks it, and pinning it later would miss threads it has started by then.
    pub(crate) fn on_measuring_cpu<T>(&self, spawn: impl FnOnce() -> T) -> T {
        if let Some(cpu) = self.measuring_cpu {
            // Refusals (a cpuset that changed under us) leave the worker unpinned; the blocks'
            // migration flags then show it.
            let _ = affinity::pin_self(cpu);
        }
        let result = spawn();
        if let Some(cpu) = self.lab_cpu {
            let _ = affinity::pin_self(cpu);
        }
        result
    }
}
