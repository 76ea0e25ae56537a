//! A different stack alignment in every process: where the stack happens to lie within a page
//! changes how loads and stores alias, and a run that always had the same offset would report its
//! luck as a fact (google/benchmark and criterion re-randomise it for the same reason).

/// Runs `work` after moving the stack down by a number of bytes that differs from process to process.
pub(crate) fn shifted<T>(work: impl FnOnce() -> T) -> T {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let salt = clock.map_or(0, |time| time.subsec_nanos()) ^ std::process::id().rotate_left(16);
    descend((salt % 64) as usize, work)
}

/// Each level takes a frame: 48 bytes of ballast and what the compiler adds.
#[inline(never)]
fn descend<T>(levels: usize, work: impl FnOnce() -> T) -> T {
    let mut ballast = [0_u8; 48];
    std::hint::black_box(&mut ballast);
    let result = if levels == 0 { work() } else { descend(levels - 1, work) };
    std::hint::black_box(&mut ballast);
    result
}
