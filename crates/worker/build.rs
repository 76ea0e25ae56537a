//! Records which compilers and flags build the workers: every worker is compiled in the same
//! invocation, so what holds for this crate holds for its library too.

use std::process::Command;

fn first_line_of(program: &str, argument: &str) -> String {
    Command::new(program)
        .arg(argument)
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .and_then(|text| text.lines().next().map(str::to_owned))
        .unwrap_or_default()
}

fn variable(name: &str) -> String {
    println!("cargo::rerun-if-env-changed={name}");
    std::env::var(name).unwrap_or_default()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = first_line_of(&variable("RUSTC"), "--version");
    let cc = variable("CC");
    let c_compiler = first_line_of(if cc.is_empty() { "cc" } else { &cc }, "--version");
    // Cargo hands flags over with the unit separator between them.
    let rust_flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    let flags = [("CFLAGS", variable("CFLAGS")), ("RUSTFLAGS", rust_flags)]
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ");
    for (name, value) in [
        ("PQLAB_TARGET", variable("TARGET")),
        ("PQLAB_PROFILE", variable("PROFILE")),
        ("PQLAB_OPT_LEVEL", variable("OPT_LEVEL")),
        ("PQLAB_RUSTC", rustc),
        ("PQLAB_C_COMPILER", c_compiler),
        ("PQLAB_FLAGS", flags),
    ] {
        println!("cargo::rustc-env={name}={value}");
    }
}
