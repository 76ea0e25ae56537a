//! Hardware counters: core cycles, instructions, branches and cache misses of this thread, by
//! `perf_event_open`.
//!
//! The counters form one group, so they count over exactly the same stretch. They are read in
//! user space (`rdpmc`) where the kernel allows it and by `read(2)` otherwise. User mode only:
//! the kernel's own work is excluded. When the kernel had to share the PMU with other users
//! (multiplexing), the counts are scaled and the share is reported, never hidden; a group that
//! never ran gives no counts at all. Without a PMU, as in most virtual machines, [`Counters::open`]
//! is [`Unavailable`] with the errno's meaning and a remedy.
//!
//! Honest limit: written and tested on machines without a PMU. The group, the reading and the
//! scaling are exercised with software events; `rdpmc` on PMU hardware has not been.

use crate::Unavailable;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Core cycles: they follow the core's frequency.
    Cycles,
    /// Instructions retired.
    Instructions,
    /// Cycles of the constant reference clock while the core was not halted.
    RefCycles,
    /// Branches retired.
    Branches,
    /// Branches mispredicted.
    BranchMisses,
    /// Last-level cache misses, in the PMU's own definition.
    CacheMisses,
}

impl Event {
    /// All events, in the order they are opened. The first two are required; of the others as
    /// many are taken as the PMU has room for.
    pub const ALL: [Event; 6] = [
        Event::Cycles,
        Event::Instructions,
        Event::RefCycles,
        Event::Branches,
        Event::BranchMisses,
        Event::CacheMisses,
    ];
}

/// How a reading was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadPath {
    /// `rdpmc` in user space: tens of nanoseconds.
    UserSpace,
    /// `read(2)` on the group: about a microsecond.
    SystemCall,
}

/// The raw counts of one moment; only differences mean anything ([`CounterReading::since`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterReading {
    values: Vec<(Event, u64)>,
    time_enabled_ns: u64,
    time_running_ns: u64,
    path: ReadPath,
}

/// What was counted between two readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Count by event, scaled by enabled over running time where the group was multiplexed.
    pub values: Vec<(Event, u64)>,
    /// Nanoseconds the group was enabled.
    pub time_enabled_ns: u64,
    /// Nanoseconds the group was on the PMU. Less than enabled: the counts are estimates.
    pub time_running_ns: u64,
    /// How the later reading was obtained.
    pub path: ReadPath,
}

impl Counts {
    /// The count of one event, if it was counted.
    pub fn get(&self, event: Event) -> Option<u64> {
        self.values.iter().find(|(counted, _)| *counted == event).map(|&(_, count)| count)
    }

    /// Share of the time that the group was on the PMU: 1 is exact counting, less is scaled.
    pub fn running_share(&self) -> f64 {
        if self.time_enabled_ns == 0 {
            return 1.0;
        }
        (self.time_running_ns as f64 / self.time_enabled_ns as f64).min(1.0)
    }
}

impl CounterReading {
    /// What was counted between `earlier` and this reading, both of one [`Counters`]. `None` when
    /// the group was enabled but never on the PMU in between, or the readings do not match.
    pub fn since(&self, earlier: &CounterReading) -> Option<Counts> {
        let time_enabled_ns = self.time_enabled_ns.checked_sub(earlier.time_enabled_ns)?;
        let time_running_ns = self.time_running_ns.checked_sub(earlier.time_running_ns)?;
        if time_running_ns == 0 && time_enabled_ns > 0 {
            return None;
        }
        let multiplexed = time_running_ns < time_enabled_ns;
        if self.values.len() != earlier.values.len() {
            return None;
        }
        let values = self
            .values
            .iter()
            .zip(&earlier.values)
            .map(|(&(event, now), &(same, then))| {
                let count = (event == same).then(|| now.checked_sub(then))??;
                let scaled = if multiplexed {
                    let product = u128::from(count) * u128::from(time_enabled_ns);
                    u64::try_from(product / u128::from(time_running_ns)).ok()?
                } else {
                    count
                };
                Some((event, scaled))
            })
            .collect::<Option<_>>()?;
        Some(Counts { values, time_enabled_ns, time_running_ns, path: self.path })
    }
}

/// A running group of counters of the thread that opened it. It stays on that thread: `rdpmc`
/// elsewhere would read another thread's registers.
#[derive(Debug)]
pub struct Counters {
    group: platform::OpenGroup,
    absent: Vec<Unavailable>,
    /// Binds the group to its thread.
    not_send: PhantomData<*const ()>,
}

impl Counters {
    /// Opens and starts the counters for the calling thread, in user mode, on whatever CPU it
    /// runs. Cycles and instructions are required; what else is missing is listed by
    /// [`Counters::absent`].
    pub fn open() -> Result<Counters, Unavailable> {
        platform::open_hardware()
    }

    /// The counts now. Reads in user space where every member of the group allows it, else by one
    /// system call.
    pub fn read(&mut self) -> Result<CounterReading, Unavailable> {
        self.group.read()
    }

    /// The optional events that this PMU does not count, each with its reason.
    pub fn absent(&self) -> &[Unavailable] {
        &self.absent
    }
}

/// The meaning of an errno of `perf_event_open`, and what to do: pure, so that it can be tested
/// on machines with any PMU or none. `paranoid` is `/proc/sys/kernel/perf_event_paranoid`.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn explain_errno(what: &str, errno: i32, words: &str, paranoid: Option<i32>) -> Unavailable {
    /// Linux counts a process's own user mode up to this level (Documentation/admin-guide/sysctl
    /// /kernel.rst); Debian and Ubuntu add 3 and 4, which forbid it.
    const PARANOID_ALLOWING_USER_MODE: i32 = 2;
    const PERF_PARANOID_REMEDY: &str = "sudo sysctl kernel.perf_event_paranoid=2";
    const EPERM: i32 = 1;
    const ENOENT: i32 = 2;
    const EACCES: i32 = 13;
    const EBUSY: i32 = 16;
    const ENODEV: i32 = 19;
    const EINVAL: i32 = 22;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    const ENOSYS: i32 = 38;
    const EOPNOTSUPP: i32 = 95;
    let level = match paranoid {
        Some(level) => format!("perf_event_paranoid is {level}"),
        None => "perf_event_paranoid cannot be read".to_owned(),
    };
    let (meaning, remedy) = match errno {
        ENOENT | ENODEV | EOPNOTSUPP => (
            "this machine shows the kernel no such counter; usual in a virtual machine",
            "measure on bare metal, or give the guest a virtual PMU (QEMU: -cpu host,pmu=on); \
             until then the clock probe stands in for core cycles",
        ),
        EPERM | EACCES if paranoid.is_some_and(|level| level > PARANOID_ALLOWING_USER_MODE) => {
            ("the kernel forbids it to this user", PERF_PARANOID_REMEDY)
        }
        EPERM | EACCES => (
            "forbidden, though not by the paranoia level: a container's seccomp filter or a \
             security module",
            "start the container with --cap-add PERFMON and a seccomp profile that allows \
             perf_event_open",
        ),
        ENOSYS => (
            "this kernel has no perf_event_open, or a sandbox hides it",
            "run outside the sandbox, or on a kernel with CONFIG_PERF_EVENTS=y",
        ),
        EBUSY => (
            "another user holds the PMU exclusively",
            "stop other profilers; to free the watchdog's counter: sudo sysctl \
             kernel.nmi_watchdog=0",
        ),
        EINVAL => (
            "the PMU does not know this event or has no counter left for it in the group",
            "to free the watchdog's counter: sudo sysctl kernel.nmi_watchdog=0",
        ),
        EMFILE | ENFILE => ("too many open files", "ulimit -n 1024"),
        _ => (
            "perf_event_open failed for a reason pqlab does not know",
            "try: perf stat -e cycles true",
        ),
    };
    Unavailable::new(what, format!("{meaning} ({words}; {level})"), remedy)
}

#[cfg(target_os = "linux")]
mod platform {
    use super::*;
    use crate::text;
    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter, Group, Sampler};
    use std::path::Path;

    impl Event {
        fn hardware(self) -> Hardware {
            match self {
                Event::Cycles => Hardware::CPU_CYCLES,
                Event::Instructions => Hardware::INSTRUCTIONS,
                Event::RefCycles => Hardware::REF_CPU_CYCLES,
                Event::Branches => Hardware::BRANCH_INSTRUCTIONS,
                Event::BranchMisses => Hardware::BRANCH_MISSES,
                Event::CacheMisses => Hardware::CACHE_MISSES,
            }
        }
    }

    /// A member of the group, with the kernel's page for user-space reading where it was granted.
    enum Handle {
        Mapped(Sampler),
        Plain(Counter),
    }

    impl Handle {
        fn counter(&self) -> &Counter {
            match self {
                Handle::Mapped(sampler) => sampler.as_counter(),
                Handle::Plain(counter) => counter,
            }
        }
    }

    pub(super) struct OpenGroup {
        group: Group,
        members: Vec<(Event, Handle)>,
    }

    impl std::fmt::Debug for OpenGroup {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_list().entries(self.members.iter().map(|(event, _)| event)).finish()
        }
    }

    /// Events without which the group is not worth having.
    const REQUIRED: [Event; 2] = [Event::Cycles, Event::Instructions];

    /// One member to open: an event and the builder that asks the kernel for it.
    type Wanted = (Event, Builder<'static>);

    pub(super) fn open_hardware() -> Result<Counters, Unavailable> {
        let wanted = || Event::ALL.map(|event| (event, Builder::new(event.hardware()))).into();
        open_events(wanted)
    }

    /// Opens with the pages mapped; without them if mapping fails (the locked-memory limit).
    pub(super) fn open_events(wanted: impl Fn() -> Vec<Wanted>) -> Result<Counters, Unavailable> {
        open_group(wanted(), true).or_else(|_| open_group(wanted(), false))
    }

    fn explain(what: &str, error: &std::io::Error) -> Unavailable {
        let paranoid = text::read_number(Path::new("/proc/sys/kernel/perf_event_paranoid"));
        explain_errno(what, error.raw_os_error().unwrap_or(0), &error.to_string(), paranoid)
    }

    fn open_group(wanted: Vec<Wanted>, mapped: bool) -> Result<Counters, Unavailable> {
        const WHAT: &str = "hardware counters";
        let mut group = Group::new().map_err(|error| explain(WHAT, &error))?;
        let mut members = Vec::new();
        let mut absent = Vec::new();
        for (event, builder) in wanted {
            match group.add(&builder) {
                Ok(counter) if mapped => {
                    let sampler = counter.sampled(0).map_err(|error| explain(WHAT, &error))?;
                    members.push((event, Handle::Mapped(sampler)));
                }
                Ok(counter) => members.push((event, Handle::Plain(counter))),
                Err(error) if REQUIRED.contains(&event) => return Err(explain(WHAT, &error)),
                Err(error) => absent.push(explain(&format!("counter {event:?}"), &error)),
            }
        }
        group.enable().map_err(|error| explain(WHAT, &error))?;
        Ok(Counters { group: OpenGroup { group, members }, absent, not_send: PhantomData })
    }

    impl OpenGroup {
        pub(super) fn read(&mut self) -> Result<CounterReading, Unavailable> {
            match self.read_in_user_space() {
                Some(reading) => Ok(reading),
                None => self.read_by_system_call(),
            }
        }

        /// `None` unless every member is on the PMU now and the kernel allows `rdpmc`.
        fn read_in_user_space(&self) -> Option<CounterReading> {
            let mut values = Vec::with_capacity(self.members.len());
            let mut times = None;
            for (event, handle) in &self.members {
                let Handle::Mapped(sampler) = handle else { return None };
                let data = sampler.read_user();
                values.push((*event, data.count()?));
                // The group shares its times; the first member's serve for all.
                times.get_or_insert((data.time_enabled(), data.time_running()));
            }
            let (enabled, running) = times?;
            Some(CounterReading {
                values,
                time_enabled_ns: u64::try_from(enabled.as_nanos()).ok()?,
                time_running_ns: u64::try_from(running.as_nanos()).ok()?,
                path: ReadPath::UserSpace,
            })
        }

        fn read_by_system_call(&mut self) -> Result<CounterReading, Unavailable> {
            let unreadable = |reason: String| {
                Unavailable::new(
                    "reading of the hardware counters",
                    reason,
                    "measure without counters; the clock probe stands in for core cycles",
                )
            };
            let data = self.group.read().map_err(|error| unreadable(error.to_string()))?;
            let nanoseconds = |time: Option<std::time::Duration>| {
                time.and_then(|time| u64::try_from(time.as_nanos()).ok())
                    .ok_or_else(|| unreadable("the kernel reported no times".to_owned()))
            };
            let values = self
                .members
                .iter()
                .map(|(event, handle)| {
                    let entry = data.get(handle.counter());
                    entry.map(|entry| (*event, entry.value())).ok_or_else(|| {
                        unreadable(format!("the kernel left {event:?} out of the group"))
                    })
                })
                .collect::<Result<_, _>>()?;
            Ok(CounterReading {
                values,
                time_enabled_ns: nanoseconds(data.time_enabled())?,
                time_running_ns: nanoseconds(data.time_running())?,
                path: ReadPath::SystemCall,
            })
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::*;

    /// No group can be opened here.
    #[derive(Debug)]
    pub(super) enum OpenGroup {}

    pub(super) fn open_hardware() -> Result<Counters, Unavailable> {
        Err(Unavailable::new(
            "hardware counters",
            format!("{} offers them to no ordinary program", std::env::consts::OS),
            "measure on Linux for counters; here the clock probe stands in for core cycles",
        ))
    }

    impl OpenGroup {
        pub(super) fn read(&mut self) -> Result<CounterReading, Unavailable> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin() {
        for i in 0..1_000_000u64 {
            std::hint::black_box(i);
        }
    }

    #[test]
    fn counters_work_or_say_why_not() {
        match Counters::open() {
            Ok(mut counters) => {
                let before = counters.read().expect("readable");
                spin();
                let counts = counters.read().expect("readable").since(&before).expect("ran");
                assert!(counts.get(Event::Cycles).is_some_and(|cycles| cycles > 0), "{counts:?}");
                assert!(counts.running_share() > 0.0);
            }
            Err(refusal) => {
                assert!(!refusal.reason.is_empty() && !refusal.remedy.is_empty(), "{refusal}");
            }
        }
    }

    /// The machinery with software events in the place of cycles and instructions: these exist
    /// without a PMU and cannot be read by rdpmc, so the fall-back to read(2) is taken.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_group_of_software_events_counts_and_falls_back_to_the_system_call() {
        use perf_event::Builder;
        use perf_event::events::Software;
        let opened = platform::open_events(|| {
            vec![
                (Event::Cycles, Builder::new(Software::TASK_CLOCK)),
                (Event::Instructions, Builder::new(Software::PAGE_FAULTS)),
            ]
        });
        let mut counters = match opened {
            Ok(counters) => counters,
            Err(refusal) => {
                // A sandbox without perf_event_open: the refusal is the thing to check.
                assert!(!refusal.reason.is_empty() && !refusal.remedy.is_empty(), "{refusal}");
                return;
            }
        };
        let before = counters.read().expect("readable");
        spin();
        let mut pages = vec![0u8; 4 << 20];
        for byte in pages.iter_mut().step_by(4096) {
            *byte = std::hint::black_box(1);
        }
        let counts = counters.read().expect("readable").since(&before).expect("ran");
        assert_eq!(counts.path, ReadPath::SystemCall);
        assert!(counts.get(Event::Cycles).is_some_and(|ns| ns > 0), "{counts:?}");
        assert!(counts.get(Event::Instructions).is_some_and(|faults| faults > 0), "{counts:?}");
        assert_eq!(counts.get(Event::CacheMisses), None);
    }

    fn reading(cycles: u64, enabled: u64, running: u64) -> CounterReading {
        CounterReading {
            values: vec![(Event::Cycles, cycles)],
            time_enabled_ns: enabled,
            time_running_ns: running,
            path: ReadPath::SystemCall,
        }
    }

    #[test]
    fn multiplexed_counts_are_scaled_and_say_so() {
        // 300 cycles counted in a quarter of 4000 ns: 1200 estimated.
        let counts = reading(400, 5000, 1500).since(&reading(100, 1000, 500)).expect("ran");
        assert_eq!(counts.get(Event::Cycles), Some(1200));
        assert_eq!(counts.running_share(), 0.25);
        let exact = reading(400, 5000, 5000).since(&reading(100, 1000, 1000)).expect("ran");
        assert_eq!((exact.get(Event::Cycles), exact.running_share()), (Some(300), 1.0));
    }

    #[test]
    fn a_group_that_never_ran_and_torn_readings_give_nothing() {
        assert_eq!(reading(100, 5000, 500).since(&reading(100, 1000, 500)), None);
        assert_eq!(reading(100, 500, 500).since(&reading(100, 1000, 1000)), None);
        assert_eq!(reading(99, 5000, 5000).since(&reading(100, 1000, 1000)), None);
        let other = CounterReading { values: vec![], ..reading(0, 0, 0) };
        assert_eq!(reading(1, 2, 2).since(&other), None);
    }

    #[test]
    fn each_errno_is_explained_with_a_remedy() {
        let no_pmu = explain_errno("hardware counters", 2, "ENOENT", Some(2));
        assert!(no_pmu.reason.contains("virtual machine") && no_pmu.remedy.contains("pmu=on"));
        let paranoid = explain_errno("hardware counters", 13, "EACCES", Some(4));
        assert!(paranoid.reason.contains("perf_event_paranoid is 4"));
        assert_eq!(paranoid.remedy, "sudo sysctl kernel.perf_event_paranoid=2");
        let seccomp = explain_errno("hardware counters", 1, "EPERM", Some(1));
        assert!(seccomp.remedy.contains("PERFMON"));
        for errno in [0, 1, 2, 13, 16, 19, 22, 23, 24, 38, 95, 9999] {
            let refusal = explain_errno("hardware counters", errno, "words", None);
            assert!(!refusal.reason.is_empty() && !refusal.remedy.is_empty(), "{errno}");
        }
    }
}
