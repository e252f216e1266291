//! The compiler for Wasm: the one at hand with rustup's standard library, or else Debian's with a standard library
//! built once from Debian's sources. The second way serves machines that reach package registries only.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::program;
use crate::stamp::Stamp;
use crate::step::step;

pub const TARGET: &str = "wasm32-unknown-unknown";

const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_LIBRARY: &str = "/usr/lib/rustlib/src/rust/library";
const DEBIAN_PACKAGES: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "gcc", "libc6-dev"];

/// A compiler that has a standard library for Wasm.
pub enum Compiler {
    /// The one that compiled this program.
    AtHand,
    /// Debian's, with a system root of ours.
    Debian { sysroot: PathBuf },
}

/// Finds a compiler by trying: the one at hand, the one at hand after `rustup target add`, Debian's.
pub fn set_up(root: &Path) -> Result<Compiler> {
    if has_std_at_hand() {
        return Ok(Compiler::AtHand);
    }
    let added = step(format!("rustup target add {TARGET}"), || {
        Ok(program::succeeds(
            Command::new("rustup").args(["target", "add", TARGET]),
        ))
    })?;
    if added && has_std_at_hand() {
        return Ok(Compiler::AtHand);
    }
    debian(root).context(format!(
        "no compiler for {TARGET}: `rustup target add {TARGET}` does not work here, and Debian's does not either"
    ))
}

impl Compiler {
    /// The linker for Wasm that goes with this compiler: both must know the same object format.
    pub fn linker(&self) -> Result<PathBuf> {
        match self {
            Self::AtHand => {
                let print = |what: &str| program::output(rustc().args(["--print", what]));
                Ok(Path::new(print("sysroot")?.trim())
                    .join("lib/rustlib")
                    .join(print("host-tuple")?.trim())
                    .join("bin")
                    .join(format!("rust-lld{}", env::consts::EXE_SUFFIX)))
            }
            Self::Debian { .. } => linker().map(PathBuf::from),
        }
    }

    /// `cargo` that builds for Wasm with this compiler.
    pub fn cargo(&self) -> Result<Command> {
        // A call hashes some hundred bytes, for which the rounds of SHA-256 need not be written out sixty-four times.
        let mut flags = vec!["--cfg=sha2_backend_soft=\"compact\"".to_owned()];
        flags.extend(remap());
        let mut command = match self {
            Self::AtHand => Command::new(cargo()),
            Self::Debian { sysroot } => {
                flags.push(format!("--sysroot={}", sysroot.display()));
                debian_cargo()
            }
        };
        command.env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
            flags.join(" "),
        );
        Ok(command)
    }
}

/// Takes this machine's folders, and what its cargo calls a registry, out of the paths that panic messages carry, so that
/// the Worker tells nobody of them and is the same wherever it was built.
fn remap() -> impl Iterator<Item = String> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")))
        .unwrap_or_default();
    let registries = fs::read_dir(home.join("registry/src"));
    registries
        .into_iter()
        .flatten()
        .flatten()
        .map(|folder| format!("--remap-path-prefix={}=crates", folder.path().display()))
}

/// The `cargo` that started this program.
pub fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn rustc() -> Command {
    Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn has_std_at_hand() -> bool {
    program::output(rustc().args(["--print", "target-libdir", "--target", TARGET]))
        .is_ok_and(|folder| has_std(Path::new(folder.trim())))
}

fn has_std(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

fn debian(root: &Path) -> Result<Compiler> {
    if !has_debian_packages() {
        step("installing Debian's Rust packages", install_debian_packages)?;
    }
    let version = program::output(Command::new(DEBIAN_RUSTC).arg("-vV"))?;
    let sysroot = root.join("target/wasm32-sysroot");
    let library = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    let stamp = Stamp::new(sysroot.join(".stamp"), &[version.as_bytes()]);
    if !(stamp.is_current() && has_std(&library)) {
        step("building the standard library for Wasm", || {
            build_std(&root.join("target/wasm32-std"), &library)
        })?;
        stamp.set()?;
    }
    Ok(Compiler::Debian { sysroot })
}

fn has_debian_packages() -> bool {
    [DEBIAN_CARGO, DEBIAN_RUSTC, DEBIAN_LIBRARY]
        .iter()
        .all(|path| Path::new(path).exists())
        && linker().is_ok_and(|linker| Path::new(&linker).exists())
}

fn install_debian_packages() -> Result<()> {
    if !program::succeeds(Command::new("apt-get").arg("--version")) {
        bail!("this needs Debian or Ubuntu");
    }
    apt(&["update", "-qq"])?;
    apt_install(&DEBIAN_PACKAGES)?;
    apt_install(&[&format!("lld-{}", llvm_major()?)])
}

fn apt_install(packages: &[&str]) -> Result<()> {
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments)
}

fn apt(arguments: &[&str]) -> Result<()> {
    let root = program::output(Command::new("id").arg("-u"))?.trim() == "0";
    let mut command = if root {
        Command::new("apt-get")
    } else {
        // Never asks: where a password would be needed it fails, and says so.
        let mut command = Command::new("sudo");
        command.args(["-n", "apt-get"]);
        command
    };
    program::run(
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(arguments),
    )
}

/// Builds `std` as the compiler's own bootstrap does, once, instead of with each project's crates.
fn build_std(work: &Path, library: &Path) -> Result<()> {
    program::run(
        debian_cargo()
            .env("RUSTC_BOOTSTRAP", "1")
            .env("__CARGO_DEFAULT_LIB_METADATA", "wasmstd")
            .env(
                "RUSTFLAGS",
                "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes",
            )
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .args(["build", "--release", "--locked", "--target", TARGET])
            .args(["-p", "std", "-p", "panic_abort"])
            .arg("--manifest-path")
            .arg(Path::new(DEBIAN_LIBRARY).join("std/Cargo.toml"))
            .arg("--target-dir")
            .arg(work),
    )?;
    fs::create_dir_all(library)?;
    for entry in fs::read_dir(work.join(TARGET).join("release/deps"))? {
        let path = entry?.path();
        if let (Some("rlib"), Some(name)) =
            (path.extension().and_then(|e| e.to_str()), path.file_name())
        {
            fs::copy(&path, library.join(name))?;
        }
    }
    fs::remove_dir_all(work)?;
    Ok(())
}

/// Debian's cargo, with nothing of the toolchain that started this program.
fn debian_cargo() -> Command {
    let mut command = Command::new(DEBIAN_CARGO);
    command
        .env("PATH", "/usr/bin:/bin")
        .env("RUSTC", DEBIAN_RUSTC)
        .env_remove("RUSTUP_TOOLCHAIN");
    command
}

/// The Wasm linker that goes with Debian's compiler.
fn linker() -> Result<String> {
    Ok(format!("/usr/bin/wasm-ld-{}", llvm_major()?))
}

fn llvm_major() -> Result<String> {
    let version = program::output(Command::new(DEBIAN_RUSTC).arg("-vV"))?;
    version
        .lines()
        .find_map(|line| line.strip_prefix("LLVM version: ")?.split('.').next())
        .map(str::to_owned)
        .context("Debian's rustc does not name its LLVM version")
}
