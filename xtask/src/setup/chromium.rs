//! A Chromium for the tests of pages and of the card.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::program;
use crate::step::step;

const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// The browser that is there, or one that is installed now.
pub fn set_up() -> Result<PathBuf> {
    find_browser().map_or_else(install_browser, Ok)
}

/// `CHROMIUM`, or what stands on the search path.
fn find_browser() -> Option<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM") {
        return Some(path.into());
    }
    let folders = env::var_os("PATH")?;
    let candidates = |folder: PathBuf| BROWSERS.map(|name| folder.join(name));
    env::split_paths(&folders)
        .flat_map(candidates)
        .find(|path| path.is_file())
}

/// From the packages of Debian or Ubuntu, where that is possible.
fn install_browser() -> Result<PathBuf> {
    const NEEDED: &str =
        "the tests of pages need a Chromium or Chrome: install one, or name it in CHROMIUM";
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!(NEEDED);
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["-qq", "-y"])
            .args(arguments);
        program::run(&mut command)
    };
    step("installing chromium", || {
        apt(&["update"])?;
        apt(&[
            "install",
            "--no-install-recommends",
            "chromium",
            "fonts-noto-core",
            "fonts-noto-cjk",
        ])
    })
    .context(NEEDED)?;
    find_browser().context(NEEDED)
}
