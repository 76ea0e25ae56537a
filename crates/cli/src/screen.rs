//! What is known of the terminal, and where output goes.

use std::io::IsTerminal;

/// Columns assumed where there is no terminal: everything fits a mail or an issue.
const COLUMNS_WITHOUT_TERMINAL: usize = 80;

/// Columns of the terminal; `COLUMNS` overrides, for those who pipe into a wide pager.
pub fn columns() -> usize {
    let from_environment = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    from_environment
        .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
        .unwrap_or(COLUMNS_WITHOUT_TERMINAL)
}

/// Whether standard error is a terminal, so that a line of progress may be redrawn.
pub fn progress_can_be_redrawn() -> bool {
    std::io::stderr().is_terminal()
}

/// Prints to standard output; colours are dropped where they are not wanted (NO_COLOR, no
/// terminal).
pub fn print(text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut output = anstream::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}
