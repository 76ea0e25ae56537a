//! The machine, as its kernel describes it: the run file's header and the doctor's evidence.
//!
//! Everything is read, nothing is changed, nothing is asked of the network. A fact that cannot be
//! read, or whose text is not of the documented form, is `None` (or an empty list): never a
//! default that looks like a finding. All strings are stripped of control characters and cut to
//! 200 characters, because they end up on terminals and in reports. Whether the facts are *good*
//! is [`crate::fitness`]'s question. Linux only, so far: elsewhere little more than the
//! architecture and the CPU count is known.

use crate::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What was read about the machine. Absent fields of an older file read as unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Architecture this program was compiled for: `x86_64`, `aarch64`.
    pub architecture: String,
    /// Marketing name of the CPU; on aarch64 the implementer and part numbers.
    pub cpu_model_name: Option<String>,
    /// `GenuineIntel`, `AuthenticAMD`; on aarch64 the implementer number.
    pub cpu_vendor: Option<String>,
    /// x86 family number (decimal).
    pub cpu_family: Option<u32>,
    /// x86 model number (decimal).
    pub cpu_model: Option<u32>,
    /// Stepping or revision.
    pub cpu_stepping: Option<u32>,
    /// Microcode revision as the kernel prints it, for instance `0x1000065`.
    pub microcode: Option<String>,
    /// CPU feature flags, sorted.
    pub cpu_features: Vec<String>,
    /// CPUs that are online.
    pub logical_cpus: Option<u32>,
    /// Distinct cores among them.
    pub physical_cores: Option<u32>,
    /// Whether two threads share a core now.
    pub smt_active: Option<bool>,
    /// `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Option<String>,
    /// NUMA nodes online.
    pub numa_nodes: Option<u32>,
    /// Caches seen by CPU 0.
    pub caches: Vec<Cache>,
    /// CPUs that the kernel keeps free of ordinary work.
    pub isolated_cpus: Option<Vec<u32>>,
    /// Whether the TSC is constant-rate and never stops (`constant_tsc` and `nonstop_tsc`).
    pub tsc_invariant: Option<bool>,
    /// The kernel's own time source: `tsc`, `hpet`, `arch_sys_counter`.
    pub clocksource: Option<String>,

    /// Frequency governors in use, distinct, sorted; empty if unknown.
    pub governors: Vec<String>,
    /// Frequency driver: `intel_pstate`, `amd-pstate-epp`, `acpi-cpufreq`.
    pub frequency_driver: Option<String>,
    /// Lowest frequency of CPU 0 in kHz, by hardware.
    pub min_khz: Option<u64>,
    /// Highest frequency of CPU 0 in kHz, by hardware, boost included.
    pub max_khz: Option<u64>,
    /// Whether the CPU may exceed its base frequency.
    pub boost: Option<bool>,

    /// Memory in bytes, as the kernel manages it.
    pub memory_bytes: Option<u64>,
    /// Swap configured, in bytes.
    pub swap_total_bytes: Option<u64>,
    /// Swap in use, in bytes.
    pub swap_used_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Option<String>,
    /// `kernel.randomize_va_space`: 0 off, 1 without heap, 2 full.
    pub aslr: Option<u8>,

    /// Kernel release.
    pub kernel_release: Option<String>,
    /// Distribution, for instance `Debian GNU/Linux 13 (trixie)`.
    pub os_pretty_name: Option<String>,
    /// `kernel.perf_event_paranoid`.
    pub perf_event_paranoid: Option<i32>,
    /// Seconds since boot.
    pub uptime_seconds: Option<f64>,
    /// Load averages over 1, 5 and 15 minutes.
    pub load_averages: Option<[f64; 3]>,

    /// Whether this is a virtual machine.
    pub virtualised: Option<bool>,
    /// Whose, if known: `KVM`, `VMware`, or the DMI vendor and product.
    pub hypervisor: Option<String>,
    /// Share of all CPU time since boot that the hypervisor took, 0 to 1.
    pub steal_share: Option<f64>,
    /// What shows that this is a container, if something does.
    pub container: Option<String>,
    /// CPU time the control group may use.
    pub cpu_quota: Option<CpuQuota>,
}

/// One cache of CPU 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// CPUs that share it, if known.
    pub shared_by: Option<u32>,
}

/// CPU time that a control group may use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuQuota {
    /// No limit.
    Unlimited,
    /// At most so many CPUs' worth of time; when it is spent, the group stands still for the rest
    /// of the period (usually 100 ms).
    Cpus(f64),
}

impl Machine {
    /// Reads this machine.
    pub fn read() -> Machine {
        let mut machine = Machine::read_from(Path::new("/"));
        if machine.logical_cpus.is_none() {
            machine.logical_cpus =
                std::thread::available_parallelism().ok().and_then(|n| u32::try_from(n.get()).ok());
        }
        // CPUID names the hypervisor even where the kernel shows no DMI.
        if let Some(name) = cpuid_hypervisor() {
            machine.virtualised = Some(true);
            machine.hypervisor = Some(match machine.hypervisor {
                Some(seen) if !seen.contains(&name) => format!("{name} ({seen})"),
                Some(seen) => seen,
                None => name,
            });
        }
        machine
    }

    /// Reads the machine described by the `proc`, `sys` and `etc` trees under `root`.
    pub fn read_from(root: &Path) -> Machine {
        let tree = Tree { root };
        let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
        let cpu = |key: &str| cpuinfo_value(&cpuinfo, key);
        let cpu_number = |key: &str| cpu(key).and_then(|value| parse_number(&value));
        let cpu_features = features(&cpuinfo);
        let has = |flag: &str| cpu_features.iter().any(|feature| feature == flag);
        let is_x86 = cpuinfo_value(&cpuinfo, "vendor_id").is_some();
        let known_flags = is_x86 && !cpu_features.is_empty();

        let implementer = cpu("CPU implementer");
        let arm_name = implementer
            .as_ref()
            .zip(cpu("CPU part"))
            .map(|(implementer, part)| format!("aarch64 implementer {implementer} part {part}"));
        let meminfo = tree.text("proc/meminfo").unwrap_or_default();
        let swap_total_bytes = meminfo_bytes(&meminfo, "SwapTotal");
        let swap_free_bytes = meminfo_bytes(&meminfo, "SwapFree");
        let hypervisor = tree.hypervisor();
        let virtualised = match (&hypervisor, known_flags) {
            (Some(_), _) => Some(true),
            (None, true) => Some(has("hypervisor")),
            (None, false) => None,
        };
        Machine {
            architecture: std::env::consts::ARCH.to_owned(),
            cpu_model_name: cpu("model name").or(arm_name),
            cpu_vendor: cpu("vendor_id").or(implementer),
            cpu_family: cpu_number("cpu family"),
            cpu_model: cpu_number("model"),
            cpu_stepping: cpu_number("stepping").or_else(|| cpu_number("CPU revision")),
            microcode: cpu("microcode"),
            logical_cpus: tree.logical_cpus(&cpuinfo),
            physical_cores: tree.physical_cores(),
            smt_active: tree.flag("sys/devices/system/cpu/smt/active"),
            smt_control: tree.value("sys/devices/system/cpu/smt/control"),
            numa_nodes: tree.list("sys/devices/system/node/online").map(|nodes| nodes.len() as u32),
            caches: tree.caches(),
            isolated_cpus: tree.list("sys/devices/system/cpu/isolated"),
            tsc_invariant: known_flags.then(|| has("constant_tsc") && has("nonstop_tsc")),
            clocksource: tree
                .value("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            cpu_features,

            governors: tree.governors(),
            frequency_driver: tree.value("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
            min_khz: tree.number("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_min_freq"),
            max_khz: tree.number("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"),
            boost: tree
                .flag("sys/devices/system/cpu/intel_pstate/no_turbo")
                .map(|off| !off)
                .or_else(|| tree.flag("sys/devices/system/cpu/cpufreq/boost")),

            memory_bytes: meminfo_bytes(&meminfo, "MemTotal"),
            swap_total_bytes,
            swap_used_bytes: swap_total_bytes
                .zip(swap_free_bytes)
                .and_then(|(total, free)| total.checked_sub(free)),
            transparent_huge_pages: tree
                .value("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|modes| chosen_in_brackets(&modes)),
            aslr: tree.number("proc/sys/kernel/randomize_va_space"),

            kernel_release: tree.value("proc/sys/kernel/osrelease"),
            os_pretty_name: tree
                .text("etc/os-release")
                .or_else(|| tree.text("usr/lib/os-release"))
                .and_then(|release| os_pretty_name(&release)),
            perf_event_paranoid: tree.number("proc/sys/kernel/perf_event_paranoid"),
            uptime_seconds: tree.text("proc/uptime").and_then(|text| leading_number(&text)),
            load_averages: tree.text("proc/loadavg").and_then(|text| parse_loadavg(&text)),

            virtualised,
            hypervisor,
            steal_share: tree.text("proc/stat").and_then(|stat| parse_steal_share(&stat)),
            container: tree.container(),
            cpu_quota: tree.cpu_quota(),
        }
    }
}

/// The hypervisor's name by CPUID leaf 4000_0000h.
fn cpuid_hypervisor() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        let name = raw_cpuid::CpuId::new().get_hypervisor_info()?.identify();
        Some(match name {
            raw_cpuid::Hypervisor::Unknown(b, c, d) => {
                let bytes: Vec<u8> = [b, c, d].iter().flat_map(|word| word.to_le_bytes()).collect();
                let vendor = text::clean(&String::from_utf8_lossy(&bytes));
                vendor.unwrap_or_else(|| "unnamed hypervisor".to_owned())
            }
            known => format!("{known:?}"),
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// A root directory and the ways a fact is read under it.
struct Tree<'a> {
    root: &'a Path,
}

impl Tree<'_> {
    fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    fn text(&self, relative: &str) -> Option<String> {
        text::read(&self.path(relative))
    }

    fn value(&self, relative: &str) -> Option<String> {
        text::read_value(&self.path(relative))
    }

    fn number<T: std::str::FromStr>(&self, relative: &str) -> Option<T> {
        text::read_number(&self.path(relative))
    }

    /// A file that holds 0 or 1.
    fn flag(&self, relative: &str) -> Option<bool> {
        match self.number::<u8>(relative)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn list(&self, relative: &str) -> Option<Vec<u32>> {
        text::parse_cpu_list(&self.text(relative)?)
    }

    fn logical_cpus(&self, cpuinfo: &str) -> Option<u32> {
        let online = self.list("sys/devices/system/cpu/online").map(|cpus| cpus.len());
        let listed = || cpuinfo.lines().filter(|line| line_key(line) == Some("processor")).count();
        u32::try_from(online.unwrap_or_else(listed)).ok().filter(|&count| count > 0)
    }

    /// The online CPUs' numbers.
    fn cpus(&self) -> Vec<u32> {
        self.list("sys/devices/system/cpu/online").unwrap_or_default()
    }

    /// Counts the distinct sets of sibling threads; `None` unless every online CPU names its own.
    fn physical_cores(&self) -> Option<u32> {
        let cores: Option<BTreeSet<Vec<u32>>> = self
            .cpus()
            .iter()
            .map(|cpu| {
                let file = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
                self.list(&file)
            })
            .collect();
        u32::try_from(cores?.len()).ok().filter(|&count| count > 0)
    }

    fn governors(&self) -> Vec<String> {
        let governor = |cpu: &u32| {
            self.value(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"))
        };
        let distinct: BTreeSet<String> = self.cpus().iter().filter_map(governor).collect();
        distinct.into_iter().collect()
    }

    fn caches(&self) -> Vec<Cache> {
        /// No CPU has more; bounds the look-ups in a hostile tree.
        const MAX_CACHES: usize = 16;
        let cache = |index: usize| {
            let file =
                |name: &str| format!("sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            Some(Cache {
                level: self.number(&file("level"))?,
                kind: self.value(&file("type"))?,
                size_bytes: parse_cache_size(&self.value(&file("size"))?)?,
                shared_by: self.list(&file("shared_cpu_list")).map(|cpus| cpus.len() as u32),
            })
        };
        (0..MAX_CACHES).filter_map(cache).collect()
    }

    /// A hypervisor that shows itself in files: Xen's, or a DMI vendor or product known to be one.
    fn hypervisor(&self) -> Option<String> {
        /// What DMI says on virtual machines, after systemd's `detect_vm_dmi` (src/basic/virt.c).
        const DMI_OF_VIRTUAL_MACHINES: [&str; 14] = [
            "KVM",
            "OpenStack",
            "KubeVirt",
            "Amazon EC2",
            "QEMU",
            "VMware",
            "VMW",
            "innotek GmbH",
            "VirtualBox",
            "Xen",
            "Bochs",
            "Parallels",
            "BHYVE",
            "Google Compute Engine",
        ];
        if let Some(kind) = self.value("sys/hypervisor/type") {
            return Some(kind);
        }
        let vendor = self.value("sys/class/dmi/id/sys_vendor").unwrap_or_default();
        let product = self.value("sys/class/dmi/id/product_name").unwrap_or_default();
        let hyper_v = vendor == "Microsoft Corporation" && product == "Virtual Machine";
        // Amazon's and Google's bare-metal instances carry the same vendor: there the product
        // says so.
        let bare_metal = product.ends_with(".metal") || product.contains(".metal-");
        let known = DMI_OF_VIRTUAL_MACHINES
            .iter()
            .any(|name| vendor.starts_with(name) || product.starts_with(name));
        ((known || hyper_v) && !bare_metal)
            .then(|| text::clean(&format!("{vendor} {product}")))
            .flatten()
    }

    fn container(&self) -> Option<String> {
        if self.path(".dockerenv").exists() {
            return Some("Docker (/.dockerenv)".to_owned());
        }
        if self.path("run/.containerenv").exists() {
            return Some("Podman (/run/.containerenv)".to_owned());
        }
        let manager = self.value("run/systemd/container")?;
        Some(format!("{manager} (/run/systemd/container)"))
    }

    /// The tightest quota of this process's control group and its ancestors, version 2 or 1.
    fn cpu_quota(&self) -> Option<CpuQuota> {
        let membership = self.text("proc/self/cgroup")?;
        let (mounts, group, version_2) = cpu_cgroup(&membership)?;
        let mut tightest: Option<CpuQuota> = None;
        for mount in mounts {
            let mut directory = self.path(mount);
            let mut levels = vec![directory.clone()];
            for part in &group {
                directory.push(part);
                levels.push(directory.clone());
            }
            for level in levels {
                let quota = if version_2 {
                    text::read(&level.join("cpu.max")).and_then(|text| parse_cpu_max(&text))
                } else {
                    let quota = text::read_number::<i64>(&level.join("cpu.cfs_quota_us"));
                    let period = text::read_number::<i64>(&level.join("cpu.cfs_period_us"));
                    quota.zip(period).and_then(|(quota, period)| quota_of(quota, period))
                };
                tightest = match (tightest, quota) {
                    (Some(CpuQuota::Cpus(a)), Some(CpuQuota::Cpus(b))) => {
                        Some(CpuQuota::Cpus(a.min(b)))
                    }
                    (Some(CpuQuota::Cpus(a)), _) => Some(CpuQuota::Cpus(a)),
                    (_, Some(found)) => Some(found),
                    (known, None) => known,
                };
            }
        }
        // The root group of version 2 has no cpu.max because it cannot be limited; that it is
        // mounted at all shows in its list of controllers.
        let root_of_version_2 =
            version_2 && group.is_empty() && self.path("sys/fs/cgroup/cgroup.controllers").exists();
        tightest.or(root_of_version_2.then_some(CpuQuota::Unlimited))
    }
}

/// Where the CPU controller of a process lives: candidate mount points, the group's path in parts,
/// and whether it is version 2. From the text of `/proc/<pid>/cgroup` (cgroups(7)).
fn cpu_cgroup(membership: &str) -> Option<(&'static [&'static str], Vec<&str>, bool)> {
    let entries = || {
        membership.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            Some((fields.next()?, fields.next()?))
        })
    };
    // A path with ".." lies outside this process's cgroup namespace, where nothing can be read.
    fn parts(path: &str) -> Option<Vec<&str>> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        (!parts.contains(&"..")).then_some(parts)
    }
    let version_1 = entries()
        .find(|(controllers, _)| controllers.split(',').any(|controller| controller == "cpu"));
    if let Some((_, path)) = version_1 {
        return Some((&["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"], parts(path)?, false));
    }
    let (_, path) = entries().find(|(controllers, _)| controllers.is_empty())?;
    Some((&["sys/fs/cgroup"], parts(path)?, true))
}

/// A quota and its period in microseconds as CPUs; a negative quota is none.
fn quota_of(quota_us: i64, period_us: i64) -> Option<CpuQuota> {
    match (quota_us, period_us) {
        (..=-1, _) => Some(CpuQuota::Unlimited),
        (1.., 1..) => Some(CpuQuota::Cpus(quota_us as f64 / period_us as f64)),
        _ => None,
    }
}

/// `cpu.max`: "max 100000" or "150000 100000" (Documentation/admin-guide/cgroup-v2.rst).
fn parse_cpu_max(text: &str) -> Option<CpuQuota> {
    let mut fields = text.split_ascii_whitespace();
    let (quota, period) = (fields.next()?, fields.next()?);
    let period_us = period.parse().ok()?;
    match quota {
        "max" => Some(CpuQuota::Unlimited),
        number => quota_of(number.parse().ok().filter(|&quota| quota >= 0)?, period_us),
    }
}

/// The key of a `key : value` line.
fn line_key(line: &str) -> Option<&str> {
    Some(line.split_once(':')?.0.trim())
}

/// The first value of a key of `/proc/cpuinfo`, fit to show.
fn cpuinfo_value(cpuinfo: &str, key: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line_key(line) == Some(key))?;
    text::clean(line.split_once(':')?.1)
}

/// The flags of the first CPU, sorted: `flags` on x86, `Features` on aarch64.
fn features(cpuinfo: &str) -> Vec<String> {
    /// About 150 exist; bounds what a hostile file can put into the header.
    const MAX_FEATURES: usize = 1024;
    let is_flags = |line: &&str| matches!(line_key(line), Some("flags" | "Features"));
    let line = cpuinfo.lines().find(is_flags).and_then(|line| line.split_once(':'));
    let names = line.map_or("", |(_, names)| names).split_ascii_whitespace();
    let distinct: BTreeSet<String> = names.take(MAX_FEATURES).filter_map(text::clean).collect();
    distinct.into_iter().collect()
}

/// A decimal or 0x number.
fn parse_number(value: &str) -> Option<u32> {
    match value.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    }
}

/// A kB line of `/proc/meminfo` in bytes.
fn meminfo_bytes(meminfo: &str, key: &str) -> Option<u64> {
    let value = meminfo.lines().find(|line| line_key(line) == Some(key))?.split_once(':')?.1;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A cache size of sysfs such as `32K`, in bytes.
fn parse_cache_size(size: &str) -> Option<u64> {
    let (number, unit) = match size.strip_suffix('K') {
        Some(number) => (number, 1 << 10),
        None => match size.strip_suffix('M') {
            Some(number) => (number, 1 << 20),
            None => (size, 1),
        },
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// The marked word of `always [madvise] never`.
fn chosen_in_brackets(modes: &str) -> Option<String> {
    let (_, rest) = modes.split_once('[')?;
    text::clean(rest.split_once(']')?.0)
}

/// PRETTY_NAME of os-release(5), without its quotes.
fn os_pretty_name(release: &str) -> Option<String> {
    let value = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    text::clean(value.trim().trim_matches(['"', '\'']))
}

/// A finite, non-negative number.
fn measure(field: &str) -> Option<f64> {
    field.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

fn leading_number(text: &str) -> Option<f64> {
    measure(text.split_ascii_whitespace().next()?)
}

fn parse_loadavg(text: &str) -> Option<[f64; 3]> {
    let mut fields = text.split_ascii_whitespace().map(measure);
    Some([fields.next()??, fields.next()??, fields.next()??])
}

fn parse_steal_share(stat: &str) -> Option<f64> {
    let (steal, total) = text::parse_stat_steal(stat, "cpu")?;
    (total > 0).then(|| steal as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A throw-away root with files in it.
    struct FakeRoot(PathBuf);

    impl FakeRoot {
        fn new(files: &[(&str, &[u8])]) -> FakeRoot {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let unique = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("pqlab-machine-{}-{unique}", std::process::id());
            let root = std::env::temp_dir().join(name);
            for (path, contents) in files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().expect("below the root")).expect("mkdir");
                std::fs::write(path, contents).expect("write");
            }
            FakeRoot(root)
        }

        fn machine(&self) -> Machine {
            Machine::read_from(&self.0)
        }
    }

    impl Drop for FakeRoot {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const CPUINFO: &[u8] = b"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n\
        model\t\t: 143\nmodel name\t: Intel(R) Xeon(R)  8481C @ 2.70GHz\nstepping\t: 8\n\
        microcode\t: 0x2b0001b0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc avx2\n\n\
        processor\t: 1\nmodel name\t: other\n";

    const LAPTOP: &[(&str, &[u8])] = &[
        ("proc/cpuinfo", CPUINFO),
        ("proc/meminfo", b"MemTotal: 1000 kB\nSwapTotal: 200 kB\nSwapFree: 150 kB\n"),
        ("proc/loadavg", b"0.25 0.09 0.04 1/82 3341\n"),
        ("proc/uptime", b"123.45 200.00\n"),
        ("proc/stat", b"cpu  90 0 0 0 0 0 0 10 0 0\n"),
        ("proc/sys/kernel/osrelease", b"6.18.44\n"),
        ("proc/sys/kernel/randomize_va_space", b"2\n"),
        ("proc/sys/kernel/perf_event_paranoid", b"-1\n"),
        ("proc/self/cgroup", b"0::/user/job\n"),
        ("sys/fs/cgroup/user/cpu.max", b"150000 100000\n"),
        ("sys/fs/cgroup/user/job/cpu.max", b"max 100000\n"),
        ("etc/os-release", b"ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n"),
        ("sys/devices/system/cpu/online", b"0-3\n"),
        ("sys/devices/system/cpu/isolated", b"\n"),
        ("sys/devices/system/cpu/smt/active", b"1\n"),
        ("sys/devices/system/cpu/smt/control", b"on\n"),
        ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", b"0,2\n"),
        ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", b"1,3\n"),
        ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", b"0,2\n"),
        ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", b"1,3\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", b"powersave\n"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", b"performance\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", b"intel_pstate\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_min_freq", b"800000\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", b"4700000\n"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", b"0\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/level", b"1\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/type", b"Data\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/size", b"48K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", b"0,2\n"),
        ("sys/devices/system/node/online", b"0\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", b"tsc\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", b"always [madvise] never\n"),
    ];

    #[test]
    fn a_whole_machine_is_read() {
        let machine = FakeRoot::new(LAPTOP).machine();
        let expected = Machine {
            architecture: std::env::consts::ARCH.to_owned(),
            cpu_model_name: Some("Intel(R) Xeon(R)  8481C @ 2.70GHz".to_owned()),
            cpu_vendor: Some("GenuineIntel".to_owned()),
            cpu_family: Some(6),
            cpu_model: Some(143),
            cpu_stepping: Some(8),
            microcode: Some("0x2b0001b0".to_owned()),
            cpu_features: ["avx2", "constant_tsc", "fpu", "nonstop_tsc", "tsc"]
                .map(str::to_owned)
                .into(),
            logical_cpus: Some(4),
            physical_cores: Some(2),
            smt_active: Some(true),
            smt_control: Some("on".to_owned()),
            numa_nodes: Some(1),
            caches: vec![Cache {
                level: 1,
                kind: "Data".to_owned(),
                size_bytes: 48 << 10,
                shared_by: Some(2),
            }],
            isolated_cpus: Some(vec![]),
            tsc_invariant: Some(true),
            clocksource: Some("tsc".to_owned()),
            governors: vec!["performance".to_owned(), "powersave".to_owned()],
            frequency_driver: Some("intel_pstate".to_owned()),
            min_khz: Some(800_000),
            max_khz: Some(4_700_000),
            boost: Some(true),
            memory_bytes: Some(1_024_000),
            swap_total_bytes: Some(204_800),
            swap_used_bytes: Some(51_200),
            transparent_huge_pages: Some("madvise".to_owned()),
            aslr: Some(2),
            kernel_release: Some("6.18.44".to_owned()),
            os_pretty_name: Some("Debian GNU/Linux 13 (trixie)".to_owned()),
            perf_event_paranoid: Some(-1),
            uptime_seconds: Some(123.45),
            load_averages: Some([0.25, 0.09, 0.04]),
            virtualised: Some(false),
            hypervisor: None,
            steal_share: Some(0.1),
            container: None,
            cpu_quota: Some(CpuQuota::Cpus(1.5)), // the ancestor's limit binds
        };
        assert_eq!(machine, expected);
        let line = serde_json::to_string(&machine).expect("serialises");
        assert_eq!(serde_json::from_str::<Machine>(&line).expect("parses"), machine);
    }

    #[test]
    fn an_empty_tree_is_a_machine_of_which_nothing_is_known() {
        let nothing =
            Machine { architecture: std::env::consts::ARCH.to_owned(), ..Machine::default() };
        assert_eq!(Machine::read_from(Path::new("/nonexistent/pqlab")), nothing);
    }

    #[test]
    fn binary_garbage_in_every_file_yields_no_numbers_and_no_control_characters() {
        let garbage: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(167) % 256) as u8).collect();
        let files: Vec<(&str, &[u8])> =
            LAPTOP.iter().map(|(path, _)| (*path, garbage.as_slice())).collect();
        let machine = FakeRoot::new(&files).machine();
        assert_eq!(machine.memory_bytes, None);
        assert_eq!(machine.logical_cpus, None);
        assert_eq!((machine.load_averages, machine.steal_share), (None, None));
        assert_eq!((machine.aslr, machine.boost, machine.smt_active), (None, None, None));
        assert!(machine.caches.is_empty());
        let line = serde_json::to_string(&machine).expect("serialises");
        assert!(!line.contains("\\u00"), "control characters: {line}");
        assert!(line.len() < 64 << 10);
    }

    #[test]
    fn hostile_values_are_refused_one_by_one() {
        let machine = FakeRoot::new(&[
            ("proc/meminfo", b"MemTotal: 99999999999999999999 kB\nSwapTotal: 1 kB\nSwapFree: 2 kB"),
            ("proc/loadavg", b"NaN inf -1"),
            ("proc/uptime", b""),
            ("proc/stat", b"cpu 0 0 0 0 0 0 0 0"),
            ("proc/self/cgroup", b"0::/../../../etc\n"),
            ("etc/os-release", b"PRETTY_NAME=\"\x1b]0;owned\x07\"\n"),
            ("sys/devices/system/cpu/online", b"0-4294967295\n"),
            ("sys/devices/system/cpu/smt/active", b"2\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", b"always ]madvise[ never"),
        ])
        .machine();
        assert_eq!((machine.memory_bytes, machine.swap_used_bytes), (None, None));
        assert_eq!((machine.load_averages, machine.uptime_seconds), (None, None));
        assert_eq!((machine.steal_share, machine.logical_cpus), (None, None));
        assert_eq!(machine.os_pretty_name.as_deref(), Some("]0;owned"));
        assert_eq!((machine.smt_active, machine.transparent_huge_pages), (None, None));
    }

    #[test]
    fn virtual_machines_show_themselves_and_bare_metal_instances_do_not() {
        let dmi = |vendor: &'static [u8], product: &'static [u8]| {
            FakeRoot::new(&[
                ("sys/class/dmi/id/sys_vendor", vendor),
                ("sys/class/dmi/id/product_name", product),
            ])
            .machine()
        };
        let qemu = dmi(b"QEMU\n", b"Standard PC (Q35 + ICH9, 2009)\n");
        assert_eq!(qemu.virtualised, Some(true));
        assert_eq!(qemu.hypervisor.as_deref(), Some("QEMU Standard PC (Q35 + ICH9, 2009)"));
        assert_eq!(dmi(b"Amazon EC2\n", b"m7i.large\n").virtualised, Some(true));
        assert_eq!(dmi(b"Amazon EC2\n", b"m7i.metal-24xl\n").virtualised, None);
        assert_eq!(dmi(b"Microsoft Corporation\n", b"Surface\n").virtualised, None);
        assert_eq!(dmi(b"Microsoft Corporation\n", b"Virtual Machine\n").virtualised, Some(true));
        let flagged =
            FakeRoot::new(&[("proc/cpuinfo", b"vendor_id : X\nflags : tsc hypervisor\n")])
                .machine();
        assert_eq!((flagged.virtualised, flagged.tsc_invariant), (Some(true), Some(false)));
    }

    #[test]
    fn an_arm_board_has_a_name_of_numbers() {
        let machine = FakeRoot::new(&[(
            "proc/cpuinfo",
            b"processor : 0\nFeatures : fp asimd sha3\nCPU implementer : 0x41\n\
              CPU part : 0xd0c\nCPU revision : 1\n",
        )])
        .machine();
        let name = machine.cpu_model_name.as_deref();
        assert_eq!(name, Some("aarch64 implementer 0x41 part 0xd0c"));
        assert_eq!(machine.cpu_features, ["asimd", "fp", "sha3"]);
        assert_eq!((machine.logical_cpus, machine.cpu_stepping), (Some(1), Some(1)));
        assert_eq!((machine.virtualised, machine.tsc_invariant), (None, None));
    }

    #[test]
    fn quotas_of_both_cgroup_versions() {
        assert_eq!(parse_cpu_max("max 100000\n"), Some(CpuQuota::Unlimited));
        assert_eq!(parse_cpu_max("50000 100000"), Some(CpuQuota::Cpus(0.5)));
        for hostile in ["", "max", "1", "-1 100000", "1 0", "x y", "1 -5", "0 100000"] {
            assert_eq!(parse_cpu_max(hostile), None, "{hostile:?}");
        }
        let version_1 = |quota: &'static [u8]| {
            FakeRoot::new(&[
                ("proc/self/cgroup", b"4:cpu,cpuacct:/box\n0::/\n"),
                ("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", b"100000\n"),
            ])
            .machine()
            .cpu_quota
        };
        assert_eq!(version_1(b"200000\n"), Some(CpuQuota::Cpus(2.0)));
        assert_eq!(version_1(b"-1\n"), Some(CpuQuota::Unlimited));
        let version_2 = |group: &'static [u8], files: &[(&'static str, &'static [u8])]| {
            let mut all = vec![("proc/self/cgroup", group)];
            all.extend_from_slice(files);
            FakeRoot::new(&all).machine().cpu_quota
        };
        // The tighter of two limits binds, whichever level sets it.
        let (loose, tight) = (b"300000 100000".as_slice(), b"100000 100000".as_slice());
        for (outer, inner) in [(loose, tight), (tight, loose)] {
            let files = [("sys/fs/cgroup/a/cpu.max", outer), ("sys/fs/cgroup/a/b/cpu.max", inner)];
            assert_eq!(version_2(b"0::/a/b\n", &files), Some(CpuQuota::Cpus(1.0)));
        }
        // The root group has no limit, but only if it is there to be seen.
        let mounted = [("sys/fs/cgroup/cgroup.controllers", b"cpu memory\n".as_slice())];
        assert_eq!(version_2(b"0::/\n", &mounted), Some(CpuQuota::Unlimited));
        assert_eq!(version_2(b"0::/\n", &[]), None);
        // A path that climbs out of the tree is not followed.
        let outside = [("sys/fs/cgroup/x", b"".as_slice()), ("etc/cpu.max", tight)];
        assert_eq!(version_2(b"0::/../../../etc\n", &outside), None);
    }

    #[test]
    fn containers_leave_a_mark() {
        let podman = FakeRoot::new(&[("run/.containerenv", b"")]).machine();
        assert!(podman.container.is_some_and(|mark| mark.contains("Podman")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_is_described() {
        let machine = Machine::read();
        assert!(machine.logical_cpus.is_some_and(|count| count >= 1));
        assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(machine.kernel_release.is_some());
        assert!(machine.load_averages.is_some() && machine.uptime_seconds.is_some());
    }
}
