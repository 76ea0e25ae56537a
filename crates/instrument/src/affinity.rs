//! Affinity: which CPU to measure on, and binding a process to it.
//!
//! The only module that changes anything, and only the affinity mask of the process named. It
//! refuses to raise priorities, to move other processes away or to touch cpusets. macOS has no
//! such call (its affinity tags are hints): there everything here is [`Unavailable`].

use crate::Unavailable;
use serde::{Deserialize, Serialize};

/// The CPU to measure on, and why that one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuChoice {
    /// Linux CPU number.
    pub cpu: u32,
    /// Why, in words fit for the run header.
    pub reason: String,
}

/// What the choice of a CPU depends on.
#[derive(Clone, Debug, Default)]
struct Candidates {
    /// CPUs this process may run on.
    allowed: Vec<u32>,
    /// CPUs that the kernel keeps free of ordinary work (`isolcpus=`).
    isolated: Vec<u32>,
    /// CPU 0 and its SMT siblings.
    core_of_cpu0: Vec<u32>,
    /// The allowed CPUs of highest `cpu_capacity` (the big cores); empty if unknown.
    strongest: Vec<u32>,
}

/// Prefers isolated CPUs, then CPUs that do not share CPU 0's core, then any but CPU 0 (which
/// takes most interrupts and the kernel's housekeeping); among equals the big cores, and of
/// those the last, farthest from where work and interrupts gather.
fn choose(candidates: &Candidates) -> Option<CpuChoice> {
    type Keep<'a> = Box<dyn Fn(u32) -> bool + 'a>;
    let Candidates { allowed, isolated, core_of_cpu0, strongest } = candidates;
    let ranks: [(Keep, &str); 4] = [
        (Box::new(|cpu| isolated.contains(&cpu)), "isolated from the scheduler"),
        (
            Box::new(|cpu| cpu != 0 && !core_of_cpu0.contains(&cpu)),
            "not on the core of CPU 0, which serves the system",
        ),
        (
            Box::new(|cpu| cpu != 0),
            "not CPU 0, but a sibling of it: the system's work shares its core",
        ),
        (Box::new(|_| true), "the only CPU this process may use: the system's work shares it"),
    ];
    for (keep, reason) in ranks {
        let kept: Vec<u32> = allowed.iter().copied().filter(|&cpu| keep(cpu)).collect();
        let big = kept.iter().rev().find(|cpu| strongest.contains(cpu));
        if let Some(&cpu) = big.or(kept.last()) {
            return Some(CpuChoice { cpu, reason: reason.to_owned() });
        }
    }
    None
}

#[cfg(target_os = "linux")]
mod platform {
    use super::*;
    use crate::text;
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use std::path::Path;

    fn set_affinity(pid: Option<Pid>, who: &str, cpu: u32) -> Result<(), Unavailable> {
        let what = format!("pinning {who} to CPU {cpu}");
        let index = cpu as usize;
        if index >= CpuSet::MAX_CPU {
            return Err(Unavailable::new(
                what,
                format!("affinity masks here end at CPU {}", CpuSet::MAX_CPU - 1),
                "choose a lower CPU",
            ));
        }
        let mut set = CpuSet::new();
        set.set(index);
        sched_setaffinity(pid, &set).map_err(|errno| {
            use rustix::io::Errno;
            let (meaning, remedy) = match errno {
                Errno::INVAL => (
                    "the CPU does not exist, is offline, or the cpuset forbids it",
                    "choose one of: grep Cpus_allowed_list /proc/self/status",
                ),
                Errno::PERM => (
                    "the process belongs to another user",
                    "run as that user, or with CAP_SYS_NICE",
                ),
                Errno::SRCH => ("the process has ended", "start it again"),
                _ => ("sched_setaffinity failed", "run without pinning"),
            };
            Unavailable::new(what, format!("{meaning} ({errno})"), remedy)
        })
    }

    pub(super) fn pin_self(cpu: u32) -> Result<(), Unavailable> {
        set_affinity(None, "this thread", cpu)
    }

    pub(super) fn pin_process(pid: u32, cpu: u32) -> Result<(), Unavailable> {
        let who = format!("process {pid}");
        // Process 0 would mean "the caller" to the kernel: never what was asked.
        match i32::try_from(pid).ok().and_then(Pid::from_raw) {
            Some(pid) => set_affinity(Some(pid), &who, cpu),
            None => Err(Unavailable::new(
                format!("pinning {who} to CPU {cpu}"),
                "that is not a process number",
                "give the number of a running process",
            )),
        }
    }

    pub(super) fn allowed_cpus() -> Result<Vec<u32>, Unavailable> {
        let set = sched_getaffinity(None).map_err(|errno| {
            Unavailable::new(
                "the CPUs this process may use",
                format!("sched_getaffinity failed ({errno})"),
                "name a CPU by hand, or run without pinning",
            )
        })?;
        Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
    }

    pub(super) fn candidates() -> Result<Candidates, Unavailable> {
        let cpus = Path::new("/sys/devices/system/cpu");
        let list =
            |file: &str| text::read(&cpus.join(file)).and_then(|list| text::parse_cpu_list(&list));
        let allowed = allowed_cpus()?;
        let capacity = |cpu: u32| -> Option<u64> {
            text::read_number(&cpus.join(format!("cpu{cpu}/cpu_capacity")))
        };
        let highest = allowed.iter().filter_map(|&cpu| capacity(cpu)).max();
        let strongest = match highest {
            Some(highest) => {
                allowed.iter().copied().filter(|&cpu| capacity(cpu) == Some(highest)).collect()
            }
            None => Vec::new(),
        };
        Ok(Candidates {
            strongest,
            isolated: list("isolated").unwrap_or_default(),
            core_of_cpu0: list("cpu0/topology/thread_siblings_list").unwrap_or_default(),
            allowed,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::*;

    fn unsupported<T>() -> Result<T, Unavailable> {
        Err(Unavailable::new(
            "pinning to a CPU",
            format!("{} offers no call that binds a thread to a CPU", std::env::consts::OS),
            "measure on Linux for pinned figures; here, close other programs",
        ))
    }

    pub(super) fn pin_self(_cpu: u32) -> Result<(), Unavailable> {
        unsupported()
    }

    pub(super) fn pin_process(_pid: u32, _cpu: u32) -> Result<(), Unavailable> {
        unsupported()
    }

    pub(super) fn allowed_cpus() -> Result<Vec<u32>, Unavailable> {
        unsupported()
    }

    pub(super) fn candidates() -> Result<Candidates, Unavailable> {
        unsupported()
    }
}

/// Binds the calling thread to one CPU; threads it starts later inherit the binding.
pub fn pin_self(cpu: u32) -> Result<(), Unavailable> {
    platform::pin_self(cpu)
}

/// Binds the main thread of another process to one CPU. Threads it has already started keep
/// their own masks, so do this before the process starts any.
pub fn pin_process(pid: u32, cpu: u32) -> Result<(), Unavailable> {
    platform::pin_process(pid, cpu)
}

/// The CPUs this thread may run on, ascending.
pub fn allowed_cpus() -> Result<Vec<u32>, Unavailable> {
    platform::allowed_cpus()
}

/// The CPU to measure on, of those this thread may use, with the reason for it. Ask before
/// pinning: afterwards only the pinned CPU is allowed.
pub fn best_measuring_cpu() -> Result<CpuChoice, Unavailable> {
    choose(&platform::candidates()?).ok_or_else(|| {
        Unavailable::new(
            "a CPU to measure on",
            "the kernel lists no CPU that this process may use",
            "look at: grep Cpus_allowed_list /proc/self/status",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(candidates: Candidates) -> (u32, String) {
        let choice = choose(&candidates).expect("some CPU is allowed");
        (choice.cpu, choice.reason)
    }

    #[test]
    fn an_isolated_cpu_wins() {
        let (cpu, reason) = chosen(Candidates {
            allowed: (0..8).collect(),
            isolated: vec![2, 3, 9],
            ..Candidates::default()
        });
        assert_eq!((cpu, reason.as_str()), (3, "isolated from the scheduler"));
    }

    #[test]
    fn the_core_of_cpu_0_is_avoided() {
        let (cpu, reason) = chosen(Candidates {
            allowed: vec![0, 1, 2],
            core_of_cpu0: vec![0, 2],
            ..Candidates::default()
        });
        assert_eq!(cpu, 1);
        assert!(reason.contains("not on the core of CPU 0"), "{reason}");
    }

    #[test]
    fn a_sibling_of_cpu_0_is_better_than_cpu_0_and_said_to_be_one() {
        let (cpu, reason) = chosen(Candidates {
            allowed: vec![0, 1],
            core_of_cpu0: vec![0, 1],
            ..Candidates::default()
        });
        assert_eq!(cpu, 1);
        assert!(reason.contains("sibling"), "{reason}");
    }

    #[test]
    fn a_lone_cpu_0_is_taken_with_a_caveat() {
        let (cpu, reason) = chosen(Candidates { allowed: vec![0], ..Candidates::default() });
        assert_eq!(cpu, 0);
        assert!(reason.contains("shares"), "{reason}");
        assert_eq!(choose(&Candidates::default()), None);
    }

    #[test]
    fn big_cores_are_preferred_among_equals() {
        let (cpu, _) = chosen(Candidates {
            allowed: (0..8).collect(),
            core_of_cpu0: vec![0],
            strongest: vec![4, 5],
            ..Candidates::default()
        });
        assert_eq!(cpu, 5);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_pins_itself_where_it_may_and_nowhere_else() {
        // A thread of its own: the mask must not leak into other tests.
        std::thread::spawn(|| {
            let choice = best_measuring_cpu().expect("Linux offers affinity");
            assert!(allowed_cpus().expect("readable").contains(&choice.cpu));
            pin_self(choice.cpu).expect("an allowed CPU");
            assert_eq!(allowed_cpus().expect("readable"), vec![choice.cpu]);
            assert_eq!(rustix::thread::sched_getcpu() as u32, choice.cpu);
            let beyond = if std::path::Path::new("/sys/devices/system/cpu/cpu1023").exists() {
                1024
            } else {
                1023 // within the mask, so it is the kernel that refuses
            };
            for absent in [beyond, 1024, u32::MAX] {
                let refusal = pin_self(absent).unwrap_err();
                assert!(!refusal.reason.is_empty() && !refusal.remedy.is_empty());
            }
        })
        .join()
        .expect("no panic");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_is_pinned_and_impossible_pids_are_refused() {
        let cpu = *allowed_cpus().expect("readable").last().expect("one");
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("cat starts");
        pin_process(child.id(), cpu).expect("our own child");
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("read");
        drop(child.stdin.take());
        child.wait().expect("cat ends");
        assert!(status.contains(&format!("Cpus_allowed_list:\t{cpu}\n")), "{status}");
        for pid in [0, u32::MAX] {
            assert!(pin_process(pid, cpu).unwrap_err().reason.contains("not a process number"));
        }
    }
}
