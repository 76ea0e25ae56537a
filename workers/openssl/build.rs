//! Builds a static libcrypto from the sources in the crate `openssl-src`, with only the algorithms
//! this worker measures and what they stand on.
//!
//! What is left out is left out for build time alone. Nothing is changed that an operation we time
//! would run: assembly, threads, the error queue, the default provider, its fetching and caching
//! and the compiler flags (-O3) are OpenSSL's own defaults. The build happens in `OUT_DIR` and
//! leaves the sources untouched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

/// Parts of OpenSSL that no operation here runs.
#[rustfmt::skip]
const LEFT_OUT: &[&str] = &[
    // Other products than a static libcrypto, and protocols.
    "no-shared", "no-module", "no-dso", "no-legacy", "no-fips", "no-tests", "no-apps", "no-docs",
    "no-demos", "no-tls", "no-dtls", "no-quic", "no-ech", "no-psk", "no-srp", "no-srtp",
    "no-multiblock", "no-ssl-trace", "no-cmp", "no-cms", "no-ct", "no-ocsp", "no-http", "no-ts",
    "no-rfc3779", "no-comp", "no-sock", "no-ui-console", "no-async", "no-thread-pool",
    "no-default-thread-pool", "no-makedepend",
    // No openssl.cnf of the machine may change what is measured.
    "no-autoload-config",
    // Other algorithms.
    "no-argon2", "no-aria", "no-bf", "no-blake2", "no-camellia", "no-cast", "no-chacha", "no-cmac",
    "no-des", "no-dh", "no-dsa", "no-ec2m", "no-gost", "no-hmac-drbg-kdf", "no-idea", "no-kbkdf",
    "no-krb5kdf", "no-lms", "no-md4", "no-mdc2", "no-ocb", "no-poly1305", "no-pvkkdf", "no-rc2",
    "no-rc4", "no-rc5", "no-rmd160", "no-scrypt", "no-seed", "no-siphash", "no-siv", "no-sm2",
    "no-sm3", "no-sm4", "no-snmpkdf", "no-srtpkdf", "no-sshkdf", "no-sskdf", "no-whirlpool",
    "no-x942kdf", "no-x963kdf",
];

/// OpenSSL's name of a Rust target (`Configurations/10-main.conf`).
const PLATFORMS: &[(&str, &str)] = &[
    ("x86_64-unknown-linux-gnu", "linux-x86_64"),
    ("x86_64-unknown-linux-musl", "linux-x86_64"),
    ("aarch64-unknown-linux-gnu", "linux-aarch64"),
    ("aarch64-unknown-linux-musl", "linux-aarch64"),
    ("riscv64gc-unknown-linux-gnu", "linux64-riscv64"),
    ("powerpc64le-unknown-linux-gnu", "linux-ppc64le"),
    ("s390x-unknown-linux-gnu", "linux64-s390x"),
    ("x86_64-apple-darwin", "darwin64-x86_64-cc"),
    ("aarch64-apple-darwin", "darwin64-arm64-cc"),
    ("x86_64-unknown-freebsd", "BSD-x86_64"),
];

fn main() -> ExitCode {
    match build() {
        Ok(library) => {
            println!("cargo::rerun-if-changed=build.rs");
            println!("cargo::rustc-link-search=native={}", library.display());
            println!("cargo::rustc-link-lib=static=crypto");
            ExitCode::SUCCESS
        }
        Err(sentence) => {
            println!("cargo::error={sentence}");
            ExitCode::FAILURE
        }
    }
}

/// Configures and makes; returns the folder that holds libcrypto.a.
fn build() -> Result<PathBuf, String> {
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let platform = PLATFORMS.iter().find(|(rust, _)| *rust == target).map(|(_, name)| *name);
    let platform = platform.ok_or_else(|| {
        format!(
            "OpenSSL's name of the target {target} is not known here: add it to PLATFORMS in {}",
            file!()
        )
    })?;

    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("openssl");
    fs::create_dir_all(&folder).map_err(|error| {
        format!("the build folder {} cannot be made: {error}", folder.display())
    })?;

    let mut configure = Command::new(tool("PERL", "perl"));
    configure.arg(openssl_src::source_dir().join("Configure")).arg(platform).args(LEFT_OUT);
    if let Some(compiler) = compiler(&target) {
        configure.env("CC", compiler);
    }
    // A finished configuration is kept, so that an interrupted build goes on where it stopped.
    let (stamp, configuration) = (folder.join("configured"), format!("{configure:?}"));
    if fs::read_to_string(&stamp).ok().as_ref() != Some(&configuration) {
        let _ = fs::remove_file(&stamp);
        run(configure, "OpenSSL's Configure", "perl", &folder)?;
        fs::write(&stamp, configuration)
            .map_err(|error| format!("{} cannot be written: {error}", stamp.display()))?;
    }

    let jobs = match env::var_os("CARGO_MAKEFLAGS") {
        Some(jobserver) => jobserver,
        None => format!("-j{}", env::var("NUM_JOBS").unwrap_or_else(|_| "1".into())).into(),
    };
    for goal in ["build_generated", "libcrypto.a"] {
        let mut make = Command::new(tool("MAKE", "make"));
        make.arg(goal).env("MAKEFLAGS", &jobs);
        run(make, &format!("making OpenSSL's {goal}"), "make", &folder)?;
    }
    Ok(folder)
}

/// The program named by the environment variable `variable`, or else `usual`.
fn tool(variable: &str, usual: &str) -> OsString {
    println!("cargo::rerun-if-env-changed={variable}");
    env::var_os(variable).unwrap_or_else(|| usual.into())
}

/// The C compiler, where one is named in the way the crate `cc` understands.
fn compiler(target: &str) -> Option<OsString> {
    [format!("CC_{}", target.replace('-', "_")), "TARGET_CC".to_owned(), "CC".to_owned()]
        .into_iter()
        .find_map(|variable| {
            println!("cargo::rerun-if-env-changed={variable}");
            env::var_os(variable)
        })
}

/// Runs one step in `folder`, its words going to a log there; a failure is one sentence that says
/// what to do and where the rest is.
fn run(mut command: Command, step: &str, package: &str, folder: &Path) -> Result<(), String> {
    let log = folder.join("pqlab-build.log");
    let open = || -> io::Result<(fs::File, fs::File)> {
        let file = fs::File::create(&log)?;
        Ok((file.try_clone()?, file))
    };
    let (output, errors) =
        open().map_err(|error| format!("{} cannot be written: {error}", log.display()))?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(output).stderr(errors);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let words = fs::read_to_string(&log).unwrap_or_default();
            let reason = reason(&words);
            Err(format!("{step} ended with {status}: {reason} (all of it: {})", log.display()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!(
            "{step} needs {}: apt-get install {package}",
            command.get_program().to_string_lossy()
        )),
        Err(error) => Err(format!("{step} could not be started: {error}")),
    }
}

/// What a failed step said that a reader can act on.
fn reason(words: &str) -> String {
    let line_with = |part: &str| words.lines().find(|line| line.contains(part));
    if let Some(line) = line_with("Can't locate") {
        format!("{line}: apt-get install perl (perl-base is not enough)")
    } else if let Some(line) = line_with("not found") {
        format!("{line}: is there a C compiler? apt-get install gcc")
    } else {
        let line = line_with("rror").or(words.lines().last()).unwrap_or("it said nothing");
        line.to_owned()
    }
}
