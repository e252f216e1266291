//! Who this project is: its address and its version, which stand in `Cargo.toml` and are repeated where others read
//! them. This module finds the places that disagree, and moves them all.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::program;

/// The address and the version as `Cargo.toml` has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `OWNER/REPO` on GitHub.
    pub address: String,
    pub version: String,
}

/// How an address stands in a text: in links, in links inside links, in the MCP Registry's name, in commands.
const FORMS: [(&str, &str); 4] = [
    ("github.com/", "/"),
    ("github.com%2F", "%2F"),
    ("io.github.", "/"),
    ("--repo ", "/"),
];

impl Identity {
    pub fn read(root: &Path) -> Result<Self> {
        let manifest: toml::Table = toml::from_str(&text(root, "Cargo.toml")?)?;
        let field = |table: &str, name: &str| {
            let mut value = manifest.get(table.split('.').next()?)?;
            for part in table.split('.').skip(1) {
                value = value.get(part)?;
            }
            value.get(name)?.as_str()
        };
        let repository = field("workspace.package", "repository")
            .context("Cargo.toml names no workspace.package.repository")?;
        let address = repository
            .strip_prefix("https://github.com/")
            .context("the repository in Cargo.toml is not on https://github.com/")?;
        Ok(Self {
            address: address.to_owned(),
            version: field("package", "version")
                .context("Cargo.toml names no package.version")?
                .to_owned(),
        })
    }

    pub fn url(&self) -> String {
        format!("https://github.com/{}", self.address)
    }
}

/// Every place that disagrees with `Cargo.toml`, in words.
pub fn disagreements(root: &Path) -> Result<Vec<String>> {
    let identity = Identity::read(root)?;
    let mut found = Vec::new();
    let mut expect = |place: &str, is: Option<&str>, should_be: &str| {
        if is != Some(should_be) {
            let is = is.unwrap_or("nothing");
            found.push(format!("{place} is {is}, not {should_be}"));
        }
    };
    let package = json(root, "package.json")?;
    expect(
        "package.json version",
        at(&package, "/version").as_str(),
        &identity.version,
    );
    expect(
        "package.json repository",
        at(&package, "/repository").as_str(),
        &identity.url(),
    );
    let lock = json(root, "package-lock.json")?;
    expect(
        "package-lock.json version",
        at(&lock, "/version").as_str(),
        &identity.version,
    );
    expect(
        "package-lock.json packages version",
        at(&lock, "/packages//version").as_str(),
        &identity.version,
    );
    let server = json(root, "server.json")?;
    let url = identity.url();
    expect(
        "server.json version",
        at(&server, "/version").as_str(),
        &identity.version,
    );
    expect(
        "server.json repository.url",
        at(&server, "/repository/url").as_str(),
        &url,
    );
    expect(
        "server.json websiteUrl",
        at(&server, "/websiteUrl").as_str(),
        &format!("{url}#readme"),
    );
    expect(
        "server.json name",
        at(&server, "/name").as_str(),
        &format!("io.github.{}", identity.address),
    );
    let changelog = text(root, "CHANGELOG.md")?;
    if let Some(newest) = headings(&changelog).find(|heading| *heading != "Unreleased") {
        let version = newest.split(' ').next();
        expect(
            "the newest release in CHANGELOG.md",
            version,
            &identity.version,
        );
    }
    Ok(found)
}

/// The titles of the changelog's releases, newest first.
pub fn headings(changelog: &str) -> impl Iterator<Item = &str> {
    changelog
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
}

/// Moves the project to `OWNER/REPO`: every link, and the name in the MCP Registry. Returns the files it changed.
pub fn rehome(root: &Path, address: &str) -> Result<Vec<String>> {
    let is_name = |part: &str, more: &str, max: usize| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
        (1..=max).contains(&part.len()) && part.chars().all(is_letter)
    };
    let is_address = address
        .split_once('/')
        .is_some_and(|(owner, name)| is_name(owner, "-", 39) && is_name(name, "-_.", 100));
    ensure!(is_address, "{address:?} is not of the form OWNER/REPO");
    let old = Identity::read(root)?.address;
    let mut changed = Vec::new();
    for path in tracked(root)? {
        // What is no text holds no address.
        let Ok(before) = fs::read_to_string(root.join(&path)) else {
            continue;
        };
        let mut after = before.clone();
        for (lead, slash) in FORMS {
            let form = |address: &str| format!("{lead}{}", address.replace('/', slash));
            after = after.replace(&form(&old), &form(address));
        }
        if after != before {
            fs::write(root.join(&path), after).with_context(|| format!("cannot write {path}"))?;
            changed.push(path);
        }
    }
    Ok(changed)
}

/// Replaces the version wherever it is repeated.
pub fn set_version(root: &Path, version: &str) -> Result<()> {
    let old = Identity::read(root)?.version;
    for (path, lead) in [
        ("Cargo.toml", "name = \"durable-thinking\"\nversion = "),
        ("Cargo.lock", "name = \"durable-thinking\"\nversion = "),
        ("package.json", "\"version\": "),
        (
            "package-lock.json",
            "\"name\": \"durable-thinking\",\n  \"version\": ",
        ),
        (
            "package-lock.json",
            "\"name\": \"durable-thinking\",\n      \"version\": ",
        ),
        ("server.json", "\"version\": "),
    ] {
        let before = text(root, path)?;
        let from = format!("{lead}\"{old}\"");
        ensure!(
            before.matches(&from).count() == 1,
            "{path} does not hold one {from:?}"
        );
        let after = before.replace(&from, &format!("{lead}\"{version}\""));
        fs::write(root.join(path), after).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}

/// The files that git knows here.
pub fn tracked(root: &Path) -> Result<Vec<String>> {
    let listing = program::output(
        Command::new("git")
            .current_dir(root)
            .args(["ls-files", "-z"]),
    )?;
    let paths: Vec<_> = listing.split_terminator('\0').map(str::to_owned).collect();
    if paths.is_empty() {
        bail!("git knows no files in {}", root.display());
    }
    Ok(paths)
}

pub fn text(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

/// The value at a JSON pointer, or null.
pub fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

pub fn json(root: &Path, path: &str) -> Result<Value> {
    serde_json::from_str(&text(root, path)?).with_context(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;
    use std::{env, fs};

    use tempfile::TempDir;

    use super::{Identity, disagreements, rehome, set_version, text, tracked};
    use crate::program;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    /// The tracked files in a repository of their own.
    fn copy() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in tracked(root()).unwrap() {
            let to = folder.path().join(&path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(root().join(&path), to).unwrap();
        }
        for arguments in [["init", "--quiet"], ["add", "--all"]] {
            let mut git = Command::new("git");
            program::run(git.current_dir(folder.path()).args(arguments)).unwrap();
        }
        folder
    }

    #[test]
    fn this_repository_agrees_with_itself() {
        assert_eq!(disagreements(root()).unwrap(), [""; 0]);
    }

    #[test]
    fn a_fork_moves_in_one_step_and_nothing_stays_behind() {
        let fork = copy();
        let old = Identity::read(root()).unwrap().address;
        let changed = rehome(fork.path(), "somebody-else/my.fork_1").unwrap();
        assert!(
            changed.iter().any(|path| path == "server.json"),
            "{changed:?}"
        );
        assert_eq!(disagreements(fork.path()).unwrap(), [""; 0]);
        let forms = [old.clone(), old.replace('/', "%2F")];
        for path in tracked(fork.path()).unwrap() {
            // These lines are about the old address.
            if path.starts_with("xtask/src/") {
                continue;
            }
            let text = fs::read(fork.path().join(&path)).unwrap();
            let text = String::from_utf8_lossy(&text);
            for form in &forms {
                assert!(!text.contains(form.as_str()), "{path} still holds {form}");
            }
        }
        for address in ["", "owner", "owner/", "/name", "o_o/name", "a/b/c", "a/b c"] {
            assert!(rehome(fork.path(), address).is_err(), "{address:?}");
        }
    }

    #[test]
    fn a_version_that_is_set_is_set_everywhere() {
        let folder = copy();
        set_version(folder.path(), "98.7.6").unwrap();
        let found = disagreements(folder.path()).unwrap();
        assert!(
            found.iter().all(|it| it.contains("CHANGELOG.md")),
            "{found:?}"
        );
        assert_eq!(Identity::read(folder.path()).unwrap().version, "98.7.6");

        let path = folder.path().join("package.json");
        let drifted = text(folder.path(), "package.json")
            .unwrap()
            .replace("98.7.6", "98.7.5");
        fs::write(path, drifted).unwrap();
        let found = disagreements(folder.path()).unwrap();
        assert!(
            found.contains(&"package.json version is 98.7.5, not 98.7.6".to_owned()),
            "{found:?}"
        );
    }
}
