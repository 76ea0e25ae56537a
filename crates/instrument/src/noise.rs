//! Noise: what the system did to a thread while it was measuring, in counts and in words.
//!
//! A [`NoiseReader`] takes a [`Snapshot`] before and after each block of samples (about 10 ms);
//! the difference, [`Noise`], says whether the thread was preempted, moved, faulted, made to wait
//! or robbed by the hypervisor. It diagnoses and never repairs: no sample is dropped here. What
//! cannot be read is `None`, not 0. Only Linux keeps these counts per thread; elsewhere every
//! item is `None`.
//!
//! Cost: see [`NoiseReader::take`].

use crate::text;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// Takes snapshots of the thread that made it.
///
/// The files of `/proc` are opened once and read again in place. They belong to the opening
/// thread, hence the reader is neither `Send` nor `Sync`:
///
/// ```compile_fail
/// let reader = pqlab_instrument::noise::NoiseReader::new();
/// std::thread::spawn(move || reader.take());
/// ```
#[derive(Debug)]
pub struct NoiseReader {
    #[cfg(target_os = "linux")]
    files: linux::Files,
    /// Binds the reader to its thread.
    not_send: PhantomData<*const ()>,
}

/// The counts of one moment, of one thread; only differences mean anything
/// ([`Snapshot::since`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    cpu: Option<u32>,
    voluntary_switches: Option<u64>,
    involuntary_switches: Option<u64>,
    minor_faults: Option<u64>,
    major_faults: Option<u64>,
    on_cpu_ns: Option<u64>,
    run_delay_ns: Option<u64>,
    /// Steal of the CPU in `cpu` since boot.
    steal_ns: Option<u64>,
}

/// What happened to a thread between two snapshots. `None` is "could not be read".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noise {
    /// Times the thread gave up the CPU itself (blocked, slept, yielded).
    pub voluntary_switches: Option<u64>,
    /// Times the thread was preempted.
    pub involuntary_switches: Option<u64>,
    /// Page faults served from memory.
    pub minor_faults: Option<u64>,
    /// Page faults that went to a disk.
    pub major_faults: Option<u64>,
    /// CPU at the first snapshot.
    pub cpu_before: Option<u32>,
    /// CPU at the second snapshot. A move there and back again is not seen.
    pub cpu_after: Option<u32>,
    /// Nanoseconds the thread spent on a CPU (`schedstat`), as of the last scheduler tick.
    pub on_cpu_ns: Option<u64>,
    /// Nanoseconds the thread was ready and waited for a CPU (`schedstat`).
    pub run_delay_ns: Option<u64>,
    /// Nanoseconds the hypervisor took from the thread's CPU, whoever was running on it. The
    /// kernel counts in steps of 10 ms (USER_HZ), so a short theft shows late or not at all.
    /// `None` also when the thread was moved (two CPUs' counts do not subtract), and on machines
    /// with no hypervisor, where there is nothing to read.
    pub steal_ns: Option<u64>,
}

impl Snapshot {
    /// What happened between `earlier` and this snapshot, both of one reader. A count that went
    /// backwards is `None`.
    pub fn since(&self, earlier: &Snapshot) -> Noise {
        let delta = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        Noise {
            voluntary_switches: delta(self.voluntary_switches, earlier.voluntary_switches),
            involuntary_switches: delta(self.involuntary_switches, earlier.involuntary_switches),
            minor_faults: delta(self.minor_faults, earlier.minor_faults),
            major_faults: delta(self.major_faults, earlier.major_faults),
            cpu_before: earlier.cpu,
            cpu_after: self.cpu,
            on_cpu_ns: delta(self.on_cpu_ns, earlier.on_cpu_ns),
            run_delay_ns: delta(self.run_delay_ns, earlier.run_delay_ns),
            steal_ns: if self.cpu == earlier.cpu {
                delta(self.steal_ns, earlier.steal_ns)
            } else {
                None
            },
        }
    }
}

impl Noise {
    /// Whether the thread was on another CPU at the end than at the beginning.
    pub fn migrated(&self) -> Option<bool> {
        Some(self.cpu_before? != self.cpu_after?)
    }

    /// The disturbances as sentences, none for a quiet block: "preempted 3 times".
    pub fn words(&self) -> Vec<String> {
        fn times(count: u64) -> String {
            if count == 1 { "once".to_owned() } else { format!("{count} times") }
        }
        fn faults(count: u64) -> &'static str {
            if count == 1 { "page fault" } else { "page faults" }
        }
        let some = |count: Option<u64>| count.filter(|&count| count > 0);
        let mut words = Vec::new();
        if let Some(count) = some(self.involuntary_switches) {
            words.push(format!("preempted {}", times(count)));
        }
        if let Some(count) = some(self.voluntary_switches) {
            words.push(format!("gave up the CPU {}", times(count)));
        }
        // A preemption always waits a little; without one, waiting is news in itself.
        if let Some(ns) = some(self.run_delay_ns) {
            words.push(format!("waited {} for a CPU", duration_words(ns)));
        }
        if let Some(ns) = some(self.steal_ns) {
            words.push(format!("stolen {} by the hypervisor", duration_words(ns)));
        }
        if let (Some(before), Some(after)) = (self.cpu_before, self.cpu_after)
            && before != after
        {
            words.push(format!("moved from CPU {before} to CPU {after}"));
        }
        if let Some(count) = some(self.major_faults) {
            words.push(format!("took {count} {} from disk", faults(count)));
        }
        if let Some(count) = some(self.minor_faults) {
            words.push(format!("took {count} {}", faults(count)));
        }
        words
    }
}

/// Nanoseconds to two significant digits or better: "350 ns", "12.4 µs", "1.2 ms", "3.1 s".
fn duration_words(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

/// (time on a CPU, time waiting for one) in nanoseconds, from `/proc/<tid>/schedstat`
/// (Documentation/scheduler/sched-stats.rst).
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse_schedstat(schedstat: &str) -> Option<(u64, u64)> {
    let mut fields = schedstat.split_ascii_whitespace().map(|field| field.parse().ok());
    let (on_cpu_ns, run_delay_ns) = (fields.next()??, fields.next()??);
    // The third field, time slices run, is not used but its absence means a torn line.
    fields.next()??;
    Some((on_cpu_ns, run_delay_ns))
}

/// Steal of one CPU in nanoseconds, from the text of `/proc/stat` and USER_HZ.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn steal_ns_of(stat: &str, cpu: u32, ticks_per_second: u64) -> Option<u64> {
    let (steal_ticks, _) = text::parse_stat_steal(stat, &format!("cpu{cpu}"))?;
    steal_ticks.checked_mul(1_000_000_000u64.checked_div(ticks_per_second)?)
}

impl NoiseReader {
    /// Opens what this machine offers, for the calling thread.
    pub fn new() -> Self {
        NoiseReader {
            #[cfg(target_os = "linux")]
            files: linux::Files::open(),
            not_send: PhantomData,
        }
    }

    /// The counts now.
    ///
    /// Costs about 10 µs (median 9.8 µs of 5000, release build, 2-vCPU KVM guest of an AMD EPYC,
    /// Linux 6.18): with one snapshot between blocks of 10 ms, 0.1 % of the time, none of it
    /// inside a sample. Most of it is `/proc/stat`, whose text the kernel writes for all CPUs at
    /// each read, so on a guest of 100 CPUs expect more; without a hypervisor that file is not
    /// read. The example `instruments` measures it anew.
    pub fn take(&self) -> Snapshot {
        #[cfg(target_os = "linux")]
        return self.files.take();
        #[cfg(not(target_os = "linux"))]
        Snapshot::default()
    }
}

impl Default for NoiseReader {
    fn default() -> Self {
        NoiseReader::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    /// Room for the `cpu` lines of `/proc/stat`: at most 10 numbers of 20 digits a line. Reading
    /// stops there; the interrupt counts that follow are not wanted.
    const STAT_LINE_BYTES: usize = 224;

    #[derive(Debug)]
    pub(super) struct Files {
        schedstat: Option<File>,
        /// Open only under a hypervisor.
        stat: Option<File>,
        user_hz: u64,
    }

    /// Whether time can be stolen here at all. Where CPUID cannot tell, it is assumed.
    fn has_hypervisor() -> bool {
        #[cfg(target_arch = "x86_64")]
        let present = raw_cpuid::CpuId::new()
            .get_feature_info()
            .is_none_or(|features| features.has_hypervisor());
        #[cfg(not(target_arch = "x86_64"))]
        let present = true;
        present
    }

    impl Files {
        pub(super) fn open() -> Self {
            Files {
                schedstat: File::open("/proc/thread-self/schedstat").ok(),
                stat: has_hypervisor().then(|| File::open("/proc/stat").ok()).flatten(),
                user_hz: rustix::param::clock_ticks_per_second(),
            }
        }

        pub(super) fn take(&self) -> Snapshot {
            let cpu = u32::try_from(rustix::thread::sched_getcpu()).ok();
            let usage = thread_usage();
            let count = |field: fn(&libc::rusage) -> libc::c_long| {
                usage.as_ref().and_then(|usage| u64::try_from(field(usage)).ok())
            };
            let schedstat = self.schedstat.as_ref().and_then(|file| {
                let mut line = [0u8; 72]; // three numbers of 20 digits
                parse_schedstat(read_at_start(file, &mut line)?)
            });
            Snapshot {
                cpu,
                voluntary_switches: count(|usage| usage.ru_nvcsw),
                involuntary_switches: count(|usage| usage.ru_nivcsw),
                minor_faults: count(|usage| usage.ru_minflt),
                major_faults: count(|usage| usage.ru_majflt),
                on_cpu_ns: schedstat.map(|(on_cpu, _)| on_cpu),
                run_delay_ns: schedstat.map(|(_, delay)| delay),
                steal_ns: cpu.and_then(|cpu| self.steal_ns(cpu)),
            }
        }

        fn steal_ns(&self, cpu: u32) -> Option<u64> {
            let file = self.stat.as_ref()?;
            // The sum's line, then one line a CPU in order: CPU n ends on line n + 2 at the latest.
            let lines = (cpu as usize).min(text::MAX_CPUS as usize) + 2;
            let mut small = [0u8; 16 * STAT_LINE_BYTES];
            let mut large = Vec::new();
            let buffer: &mut [u8] = if lines <= 16 {
                &mut small[..lines * STAT_LINE_BYTES]
            } else {
                large.resize(lines * STAT_LINE_BYTES, 0);
                &mut large
            };
            steal_ns_of(read_at_start(file, buffer)?, cpu, self.user_hz)
        }
    }

    /// The beginning of a `/proc` file as text, as much as fits.
    fn read_at_start<'a>(file: &File, buffer: &'a mut [u8]) -> Option<&'a str> {
        let length = file.read_at(buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..length]).ok()
    }

    fn thread_usage() -> Option<libc::rusage> {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is writable and large enough; the kernel fills it on success, and an
        // all-zero rusage is valid in any case (integers only).
        unsafe {
            (libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) == 0)
                .then(|| usage.assume_init())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_as_the_kernel_prints_it() {
        assert_eq!(parse_schedstat("92617 68502 2\n"), Some((92617, 68502)));
    }

    #[test]
    fn hostile_and_truncated_schedstat_is_refused() {
        for text in
            ["", "1", "1 2", "1 x 3", "-1 2 3", "99999999999999999999 1 1", "\0\0\0", "a b c"]
        {
            assert_eq!(parse_schedstat(text), None, "{text:?}");
        }
    }

    #[test]
    fn steal_is_of_the_cpu_asked_for() {
        let stat = "cpu  0 0 0 0 0 0 0 9 0 0\ncpu0 0 0 0 0 0 0 0 4 0 0\ncpu1 0 0 0 0 0 0 0 5 0 0\n";
        assert_eq!(steal_ns_of(stat, 1, 100), Some(50_000_000)); // 5 ticks of 10 ms
        assert_eq!(steal_ns_of(stat, 2, 100), None);
        assert_eq!(steal_ns_of(stat, 0, 0), None);
        assert_eq!(steal_ns_of("cpu0 0 0 0 0 0 0 0 18446744073709551615", 0, 100), None);
    }

    #[test]
    fn differences_keep_the_unknown_unknown() {
        let before = Snapshot {
            cpu: Some(1),
            involuntary_switches: Some(5),
            minor_faults: Some(9),
            steal_ns: Some(100),
            ..Snapshot::default()
        };
        let after = Snapshot {
            cpu: Some(1),
            involuntary_switches: Some(8),
            minor_faults: Some(8), // backwards: not believed
            steal_ns: Some(130),
            ..Snapshot::default()
        };
        let noise = after.since(&before);
        assert_eq!(noise.involuntary_switches, Some(3));
        assert_eq!((noise.minor_faults, noise.voluntary_switches), (None, None));
        assert_eq!((noise.steal_ns, noise.migrated()), (Some(30), Some(false)));
        let moved = Snapshot { cpu: Some(0), ..after }.since(&before);
        assert_eq!((moved.steal_ns, moved.migrated()), (None, Some(true)));
        assert_eq!(Snapshot::default().since(&before).migrated(), None);
    }

    #[test]
    fn words_name_each_disturbance_and_quiet_has_none() {
        assert_eq!(Noise::default().words(), Vec::<String>::new());
        let quiet = Noise { involuntary_switches: Some(0), steal_ns: Some(0), ..Noise::default() };
        assert!(quiet.words().is_empty());
        let loud = Noise {
            voluntary_switches: Some(1),
            involuntary_switches: Some(3),
            minor_faults: Some(12),
            major_faults: Some(1),
            cpu_before: Some(1),
            cpu_after: Some(0),
            on_cpu_ns: Some(1),
            run_delay_ns: Some(12_400),
            steal_ns: Some(1_200_000),
        };
        assert_eq!(
            loud.words(),
            [
                "preempted 3 times",
                "gave up the CPU once",
                "waited 12.4 µs for a CPU",
                "stolen 1.2 ms by the hypervisor",
                "moved from CPU 1 to CPU 0",
                "took 1 page fault from disk",
                "took 12 page faults",
            ]
        );
        let line = serde_json::to_string(&loud).expect("serialises");
        assert_eq!(serde_json::from_str::<Noise>(&line).expect("parses"), loud);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn page_faults_and_sleeps_are_seen() {
        let reader = NoiseReader::new();
        let before = reader.take();
        // 64 fresh pages of 4 KiB each, or fewer faults if huge pages serve them: at least one.
        let mut pages = vec![0u8; 4 << 20];
        for byte in pages.iter_mut().step_by(4096) {
            *byte = std::hint::black_box(1);
        }
        std::thread::sleep(std::time::Duration::from_millis(1)); // the event under test
        let noise = reader.take().since(&before);
        assert!(noise.minor_faults.is_some_and(|count| count > 0), "{noise:?}");
        assert!(noise.voluntary_switches.is_some_and(|count| count > 0), "{noise:?}");
        assert!(noise.cpu_before.is_some() && noise.migrated().is_some());
    }
}
