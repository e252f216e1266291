//! The linker of the Worker's Wasm, without what nobody calls.
//!
//! The `worker` crate and what it builds on export classes to JavaScript for streams and settings that this Worker never
//! makes. Only the linker can still leave them out together with all that they alone use: 14 KB of Wasm, 6.5 after gzip.
//! So this program stands in for the linker, takes those names out of the exports and runs the real one.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

/// Names the real linker. Where it is set, this program is called as a linker.
const LINKER: &str = "XTASK_WASM_LINKER";
const CLASSES: [&str; 6] = [
    "IntoUnderlyingByteSource",
    "IntoUnderlyingSink",
    "IntoUnderlyingSource",
    "ContainerStartupOptions",
    "MinifyConfig",
    "R2Range",
];

/// Has `cargo rustc` link through this program.
pub fn set(command: &mut Command, linker: PathBuf) -> Result<()> {
    let own = env::current_exe()?;
    command
        .env(LINKER, linker)
        .arg("--")
        .arg(format!("-Clinker={}", own.display()));
    Ok(())
}

/// Links, if that is what this program was called for.
pub fn run() -> Option<ExitCode> {
    let linker = env::var_os(LINKER)?;
    let arguments = kept(env::args_os().skip(1).collect());
    // What the linker has to say, rustc shows.
    let status = Command::new(linker).args(arguments).status();
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Fails if the Worker makes an object of a class whose methods are gone.
pub fn check(script: &str) -> Result<()> {
    for class in CLASSES {
        if script.contains(&format!("{class}.__wrap(")) {
            bail!("the Worker makes a {class}, so `wasm/link.rs` must not leave it out");
        }
    }
    Ok(())
}

/// The arguments without `--export NAME` where the name is of one of those classes. A line of arguments that was too long
/// for the system comes as the name of a file and stays as it is: what is linked then is larger, and right.
fn kept(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_export = kept.last().is_some_and(|last| last == "--export");
        if is_export && is_unused(&argument.to_string_lossy()) {
            kept.pop();
        } else {
            kept.push(argument);
        }
    }
    kept
}

/// The names carry their class in lower case.
fn is_unused(name: &str) -> bool {
    CLASSES
        .iter()
        .any(|class| name.contains(&class.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::{check, kept};

    #[test]
    fn exports_of_unused_classes_are_left_out() {
        let arguments = [
            "-flavor",
            "wasm",
            "--export",
            "fetch_1d3e",
            "--export",
            "intounderlyingsink_write_501d",
            "--export",
            "__wbg_get_r2range_length_a2da",
            "--export",
            "__wbindgen_malloc",
            "-o",
            "r2range.wasm",
        ];
        let left: Vec<_> = kept(arguments.map(Into::into).to_vec());
        let expected = [
            "-flavor",
            "wasm",
            "--export",
            "fetch_1d3e",
            "--export",
            "__wbindgen_malloc",
            "-o",
            "r2range.wasm",
        ];
        assert_eq!(left, expected);
    }

    #[test]
    fn a_class_in_use_is_missed() {
        assert!(check("class R2Range { static __wrap(ptr) {} }").is_ok());
        assert!(check("const ret = IntoUnderlyingSink.__wrap(arg0);").is_err());
    }
}
