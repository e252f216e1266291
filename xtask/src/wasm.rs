//! Builds the Worker: the library compiled to Wasm, then its JavaScript glue, both in `build/`.

mod imports;
pub mod link;
mod order;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::program;
use crate::setup::wasm32::{self, Compiler};
use crate::stamp::{Stamp, write};
use crate::step::step;

/// Where the built files stand, below the repository's root.
pub const FOLDER: &str = "build";

/// What LLVM does although code is to be small. An older LLVM, as Debian's may be, does not know all of these options.
const SMALLER: [&str; 6] = [
    // It writes a copy out as up to four loads and stores, although Wasm has one instruction for any copy: 13 KB after gzip.
    "max-store-memcpy=1",
    "max-store-memmove=1",
    "max-store-memset=1",
    // It moves what some ways through a function need to where all pass: 2 KB.
    "enable-pre=false",
    "enable-load-pre=false",
    // It keeps several counters where a loop has one: 1.5 KB.
    "disable-lsr",
];

/// Builds what is not up to date and returns the folder with `index.js` and `index_bg.wasm`.
pub fn build(root: &Path, compiler: &Compiler, folder: &Path) -> Result<PathBuf> {
    step("compiling the Worker to Wasm", || {
        let mut cargo = compiler.cargo()?;
        cargo
            .current_dir(root)
            .args(["rustc", "--quiet", "--lib", "--release"])
            .args(["--target", wasm32::TARGET])
            // As this one kind only: beside an `rlib` the linker keeps much of what nothing calls.
            .args(["--crate-type", "cdylib"])
            // The glue keeps using the types of `js-sys` for promises instead of making its own.
            .env("WASM_BINDGEN_USE_JS_SYS", "1");
        link::set(&mut cargo, compiler.linker()?)?;
        // For what is up to 16 bytes, one load and one store.
        cargo.arg("-Ctarget-feature=+simd128");
        if matches!(compiler, Compiler::AtHand) {
            cargo.args(SMALLER.map(|option| format!("-Cllvm-args=-{option}")));
        }
        program::run_with_progress(&mut cargo)
    })?;
    let input = root
        .join("target")
        .join(wasm32::TARGET)
        .join("release/durable_thinking.wasm");
    let bytes = fs::read(&input).with_context(|| format!("cargo made no {}", input.display()))?;
    let stamp = Stamp::new(folder.join(".stamp"), &[&bytes]);
    if !stamp.is_current() {
        step("generating the Worker's glue", || glue(&bytes, folder))?;
        stamp.set()?;
    }
    Ok(folder.to_owned())
}

/// The scripts and the Wasm in a folder, as paths below the root with `/` between the names, in a fixed order.
pub fn list(root: &Path, folder: &str) -> Result<Vec<String>> {
    let path = root.join(folder);
    let entries = fs::read_dir(&path)
        .with_context(|| format!("{} is missing: run `cargo xtask build`", path.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            names.extend(list(root, &name)?);
        } else if matches!(
            Path::new(&name).extension().and_then(OsStr::to_str),
            Some("js" | "mjs" | "wasm")
        ) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn glue(wasm: &[u8], folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Bindgen::new()
        .input_bytes("index", wasm.to_vec())
        .out_name("index")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        // What the entry needs to start over after a trap.
        .reset_state_function(true)
        .force_enable_abort_handler(true)
        .module(true)?
        .generate(folder)?;
    // workerd and wrangler give the compiled module for a plain import.
    let script = folder.join("index.js");
    let text = fs::read_to_string(&script)?.replace("import source ", "import ");
    link::check(&text)?;
    let module = folder.join("index_bg.wasm");
    let ordered = order::order(&fs::read(&module)?)?;
    let (wasm, text) = imports::shorten(&ordered, &text)?;
    write(&module, &wasm)?;
    write(&script, text.as_bytes())
}
