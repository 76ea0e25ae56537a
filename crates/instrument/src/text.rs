//! Reading the kernel's text files: bounded, tolerant, and free of surprises for a terminal.
//!
//! Every parser here is a pure function of a string. None of them guesses: text that is not of
//! the documented form gives `None`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most bytes taken from one file. `/proc/cpuinfo` is the longest read here: about 2 KiB a CPU,
/// so 16 MiB covers [`MAX_CPUS`].
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Most characters kept of a value that will be shown or stored (a CPU name has 48 bytes).
const MAX_VALUE_CHARS: usize = 200;

/// Largest CPU count believed: `CONFIG_NR_CPUS` tops out at 8192 on x86-64 (arch/x86/Kconfig).
pub(crate) const MAX_CPUS: u32 = 8192;

/// The text of a file, with anything that is not UTF-8 replaced; `None` if it cannot be read.
pub(crate) fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A value fit to show: trimmed, cut to a sane length, control characters removed (a file name
/// or DMI string must not be able to move a terminal's cursor). `None` if nothing remains.
pub(crate) fn clean(value: &str) -> Option<String> {
    let kept: String = value
        .trim()
        .chars()
        .filter(|c| !c.is_control() && *c != char::REPLACEMENT_CHARACTER)
        .take(MAX_VALUE_CHARS)
        .collect();
    let kept = kept.trim();
    if kept.is_empty() { None } else { Some(kept.to_owned()) }
}

/// The first line's worth of a file as a shown value.
pub(crate) fn read_value(path: &Path) -> Option<String> {
    read(path)?.lines().next().and_then(clean)
}

/// A file that holds one number.
pub(crate) fn read_number<T: std::str::FromStr>(path: &Path) -> Option<T> {
    read(path)?.trim().parse().ok()
}

/// A kernel CPU list such as `0-3,8,10-11`, sorted and without repeats. The empty list is a
/// list; malformed text, a backward range, or a CPU beyond [`MAX_CPUS`] is `None`. The stride
/// form (`0-10:2/4`) is input syntax only and never printed by the kernel.
pub(crate) fn parse_cpu_list(list: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    let list = list.trim();
    if list.is_empty() {
        return Some(cpus);
    }
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        if first > last || last >= MAX_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// The steal and the total of one `cpu` line of `/proc/stat`, in USER_HZ ticks. `label` is `cpu`
/// for the sum or `cpu3` for one. The total leaves out guest time, which the kernel has already
/// counted within user time (proc_stat(5)).
pub(crate) fn parse_stat_steal(stat: &str, label: &str) -> Option<(u64, u64)> {
    const STEAL: usize = 7; // user nice system idle iowait irq softirq steal
    let line = stat.lines().find(|line| line.split_ascii_whitespace().next() == Some(label))?;
    let fields: Vec<u64> = line
        .split_ascii_whitespace()
        .skip(1)
        .take(STEAL + 1)
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    let total = fields.iter().try_fold(0u64, |sum, &field| sum.checked_add(field))?;
    Some((*fields.get(STEAL)?, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_as_the_kernel_prints_them() {
        assert_eq!(parse_cpu_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse_cpu_list("1"), Some(vec![1]));
        assert_eq!(parse_cpu_list("\n"), Some(vec![]));
    }

    #[test]
    fn hostile_cpu_lists_are_refused_without_being_expanded() {
        for list in
            ["0-4294967295", "3-1", "a", "0,,1", "-1", "0-", "1-2-3", "99999999999999", "\0"]
        {
            assert_eq!(parse_cpu_list(list), None, "{list:?}");
        }
    }

    #[test]
    fn steal_is_the_eighth_field_and_guest_is_not_counted_twice() {
        let stat = "cpu  10 0 20 300 4 0 5 7 100 0\ncpu1 1 2 3 4 5 6 7 8 9 10\nintr 1 2\n";
        assert_eq!(parse_stat_steal(stat, "cpu"), Some((7, 346)));
        assert_eq!(parse_stat_steal(stat, "cpu1"), Some((8, 36)));
        assert_eq!(parse_stat_steal(stat, "cpu10"), None);
    }

    #[test]
    fn truncated_and_hostile_stat_lines_are_refused() {
        for stat in ["", "cpu", "cpu 1 2 3", "cpu 1 2 3 4 5 6 7 x", "cpu1 1 2 3 4 5 6 7 8"] {
            assert_eq!(parse_stat_steal(stat, "cpu"), None, "{stat:?}");
        }
        let overflowing = format!("cpu {0} {0} 1 1 1 1 1 1", u64::MAX);
        assert_eq!(parse_stat_steal(&overflowing, "cpu"), None);
    }

    #[test]
    fn shown_values_cannot_drive_a_terminal() {
        assert_eq!(clean("  AMD\u{1b}[2J EPYC\u{7}\n"), Some("AMD[2J EPYC".to_owned()));
        assert_eq!(clean("\u{fffd}\u{0} \n"), None);
        assert_eq!(clean(&"x".repeat(10_000)).map(|s| s.len()), Some(MAX_VALUE_CHARS));
    }
}
