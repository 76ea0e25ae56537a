//! Exit codes, documented in README.md: 0 fine, 1 error, 2 usage, 3 failed check, 4 measured but
//! not trustworthy.

/// All is well.
pub const FINE: u8 = 0;
/// Something could not be done.
pub const ERROR: u8 = 1;
/// The command line asks for something that does not exist.
pub const USAGE: u8 = 2;
/// A correctness gate failed.
pub const CHECK_FAILED: u8 = 3;
/// Measured, but more than half of the rows are graded D.
pub const NOT_TRUSTWORTHY: u8 = 4;

/// A mistake on the command line that only shows once the catalog or the workers are known.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Prints the error of a verb in one sentence and gives its code.
pub fn code_of(result: anyhow::Result<u8>) -> u8 {
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => FINE,
        Err(error) => {
            anstream::eprintln!("pqlab: {}", sentence(&error));
            if error.is::<Usage>() { USAGE } else { ERROR }
        }
    }
}

/// The error and its causes, each said once: most of our errors quote their cause already.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(&format!(": {cause}"));
        }
    }
    text
}

/// Whether the reader of our output has gone (`pqlab list | head`): that is no failure of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
