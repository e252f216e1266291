//! `cargo xtask release VERSION`: one commit that sets the version everywhere and gives the changelog its heading.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;
use std::{fmt, fs};

use anyhow::{Context, Result, bail, ensure};

use crate::identity::{self, Identity};
use crate::program;

const CHANGELOG: &str = "CHANGELOG.md";
const FILES: [&str; 6] = [
    "Cargo.toml",
    "Cargo.lock",
    "package.json",
    "package-lock.json",
    "server.json",
    CHANGELOG,
];

/// Three numbers, compared as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u32; 3]);

impl Version {
    fn parse(text: &str) -> Result<Self> {
        let numbers: Option<Vec<u32>> = text
            .split('.')
            .map(|part| part.parse().ok().filter(|n: &u32| n.to_string() == part))
            .collect();
        match numbers.as_deref() {
            Some([major, minor, patch]) => Ok(Self([*major, *minor, *patch])),
            _ => bail!("{text:?} is not a version such as 1.2.3"),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

/// Makes the release commit and says what is left to do.
pub fn release(root: &Path, version: &str) -> Result<()> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(root).args(arguments);
        command
    };
    let version = Version::parse(version)?;
    let status = program::output(&mut git(&["status", "--porcelain"]))?;
    ensure!(
        status.is_empty(),
        "commit or stash first; git status says:\n{status}"
    );
    prepare(root, version, &today())?;
    program::run(git(&["add", "--"]).args(FILES))?;
    program::run(&mut git(&[
        "commit",
        "--message",
        &format!("release {version}"),
    ]))?;
    println!(
        "release {version} is committed. When its checks have passed on main:\n  git tag v{version} && git push origin v{version}"
    );
    Ok(())
}

fn prepare(root: &Path, version: Version, date: &str) -> Result<()> {
    let current = Version::parse(&Identity::read(root)?.version)?;
    ensure!(version >= current, "{version} is older than {current}");
    let changelog = identity::text(root, CHANGELOG)?;
    let changelog = with_heading(&changelog, version, date)?;
    identity::set_version(root, &version.to_string())?;
    fs::write(root.join(CHANGELOG), changelog).context("cannot write the changelog")?;
    let found = identity::disagreements(root)?;
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

/// What was unreleased gets the heading of the version, below a new empty section.
fn with_heading(changelog: &str, version: Version, date: &str) -> Result<String> {
    let known = |heading: &str| heading.split(' ').next() == Some(&version.to_string());
    ensure!(
        !identity::headings(changelog).any(known),
        "the changelog has a release {version} already"
    );
    let (before, after) = changelog
        .split_once("## Unreleased\n")
        .context("the changelog has no heading `## Unreleased`")?;
    let entries = after.split("\n## ").next().unwrap_or_default();
    ensure!(
        entries.lines().any(|line| line.starts_with("- ")),
        "nothing stands under Unreleased in the changelog"
    );
    Ok(format!(
        "{before}## Unreleased\n\n## {version} - {date}\n{after}"
    ))
}

fn today() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Version, with_heading};

    #[test]
    fn versions_are_three_numbers() {
        for (text, is_version) in [
            ("1.2.3", true),
            ("0.10.0", true),
            ("1.2", false),
            ("v1.2.3", false),
            ("1.02.3", false),
            ("1.2.3-rc.1", false),
        ] {
            assert_eq!(Version::parse(text).is_ok(), is_version, "{text}");
        }
        assert!(Version::parse("0.10.0").unwrap() > Version::parse("0.9.9").unwrap());
    }

    #[test]
    fn the_unreleased_entries_get_the_heading() {
        let version = Version([1, 2, 3]);
        let log =
            "# Changelog\n\n## Unreleased\n\n### Added\n\n- A.\n\n## 1.2.2 - 2026-01-01\n\n- B.\n";
        let new = with_heading(log, version, "2026-02-02").unwrap();
        assert_eq!(
            new,
            "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-02-02\n\n### Added\n\n- A.\n\n## 1.2.2 - 2026-01-01\n\n- B.\n"
        );
        let error = |log: &str| with_heading(log, version, "").unwrap_err().to_string();
        assert_eq!(error(&new), "the changelog has a release 1.2.3 already");
        let empty = "## Unreleased\n\n## 1.2.2 - 2026-01-01\n\n- B.\n";
        assert_eq!(
            error(empty),
            "nothing stands under Unreleased in the changelog"
        );
    }
}
