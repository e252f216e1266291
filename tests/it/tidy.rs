//! The rules of this repository that a compiler does not know, each with what it protects.

use std::fs;
use std::path::Path;

/// A longer file has become two things.
const LINES_MAX: usize = 500;
/// Names that say nothing of what a module holds.
const EMPTY_NAMES: [&str; 7] = [
    "utils", "util", "helpers", "common", "types", "manager", "service",
];
/// The first word of every statement that the stores run.
const STATEMENTS: [&str; 8] = [
    "select ",
    "insert ",
    "update ",
    "delete from ",
    "create table",
    "drop table",
    "alter table",
    "with recursive",
];

struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines that are compiled into the product, with their numbers: no comments, no tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_test_file = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        self.text
            .lines()
            .enumerate()
            .take_while(move |(_, line)| !is_test_file && !line.starts_with("mod tests {"))
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The top-level module that the file belongs to: `store` for `src/store/row.rs`.
    fn module(&self) -> &str {
        let below = self.path.strip_prefix("src/").unwrap_or(&self.path);
        below
            .split('/')
            .next()
            .unwrap_or(below)
            .trim_end_matches(".rs")
    }

    fn is_one_of(&self, places: &[&str]) -> bool {
        places.iter().any(|place| match place.strip_suffix('*') {
            Some(start) => self.path.starts_with(start),
            None => self.path == *place,
        })
    }
}

fn files(folder: &str, extension: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        folder,
        extension,
        &mut found,
    );
    assert!(!found.is_empty(), "{folder}");
    found
}

fn collect(root: &Path, folder: &str, extension: &str, found: &mut Vec<Source>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(root, &path, extension, found);
        } else if Path::new(&path)
            .extension()
            .is_some_and(|found| found == extension)
        {
            let text = fs::read_to_string(root.join(&path)).unwrap();
            found.push(Source { path, text });
        }
    }
}

/// Fails with every line outside of `places` that `is_bad` points out.
#[track_caller]
fn only_in(places: &[&str], what: &str, is_bad: impl Fn(&str) -> bool) {
    let mut bad = Vec::new();
    for source in files("src", "rs") {
        if !source.is_one_of(places) {
            let lines = source.code().filter(|(_, line)| is_bad(line));
            bad.extend(lines.map(|(number, line)| format!("{}:{number}: {line}", source.path)));
        }
    }
    assert!(
        bad.is_empty(),
        "{what} stands outside of {places:?}:\n{}",
        bad.join("\n")
    );
}

/// Whether `name` stands in the line as a path of its own, as in `worker::Env` but not in `crate::worker::host`.
fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(&format!("{name}::")).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || "_:".contains(before))
    })
}

/// SQLite plans again for every value that a bare parameter is compared with where a statement has an order (`database`).
#[test]
fn ordered_statements_hide_their_parameters() {
    let is_bare = |line: &str| {
        let compared = ["= ?", "< ?", "> ?", "between ?", "and ? order"];
        line.contains("order by") && compared.iter().any(|part| line.contains(part))
    };
    assert!(is_bare("select a from t where b <= ? order by c limit ?"));
    assert!(!is_bare("select a from t where b <= +? order by c limit ?"));
    only_in(&[], "a bare parameter of an ordered statement", is_bare);
}

/// The groups of `lib.rs` are the layers: a module may name only its own group and those above it there.
#[test]
fn modules_name_only_the_layers_below_them() {
    let sources = files("src", "rs");
    let root = sources
        .iter()
        .find(|source| source.path == "src/lib.rs")
        .unwrap();
    let groups: Vec<&str> = root.text.split("\n\n").collect();
    let rank = |module: &str| {
        let declared = format!("pub mod {module};");
        groups
            .iter()
            .position(|group| group.lines().any(|line| line == declared))
    };
    for [below, above] in [
        ["thought", "graph"],
        ["graph", "store"],
        ["database", "store"],
        ["store", "tools"],
        ["tools", "jsonrpc"],
        ["jsonrpc", "mcp"],
        ["mcp", "auth"],
        ["auth", "transport"],
        ["oauth", "transport"],
        ["transport", "local"],
        ["transport", "worker"],
    ] {
        assert!(rank(below).is_some(), "{below}");
        assert!(
            rank(below) < rank(above),
            "{below} below {above} in src/lib.rs"
        );
    }
    let mut bad = Vec::new();
    for source in &sources {
        let Some(own) = rank(source.module()) else {
            continue;
        };
        for (number, line) in source.code() {
            for rest in line.split("crate::").skip(1) {
                let named = rest
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next()
                    .unwrap();
                if rank(named).is_none_or(|named| named > own) {
                    bad.push(format!("{}:{number}: {line}", source.path));
                }
            }
        }
    }
    assert!(
        bad.is_empty(),
        "these reach up, or name what lib.rs does not list:\n{}",
        bad.join("\n")
    );
}

#[test]
fn every_platform_has_its_place() {
    only_in(
        &["src/worker.rs", "src/worker/*", "src/database/durable.rs"],
        "the crate worker",
        |line| {
            names_crate(line, "worker") && !line.contains("pub mod")
                || line.contains("wasm_bindgen")
        },
    );
    only_in(&["src/database/sqlite.rs"], "the crate rusqlite", |line| {
        names_crate(line, "rusqlite")
    });
    only_in(
        &["src/store.rs", "src/store/*", "src/oauth/vault*"],
        "SQL",
        |line| {
            let line = line.to_ascii_lowercase();
            let text = line
                .split_once('"')
                .map_or("", |(_, text)| text.trim_start());
            STATEMENTS.iter().any(|start| text.starts_with(start)) && !text.ends_with(".\",")
        },
    );
    only_in(
        &["src/jsonrpc/code.rs"],
        "an error number of JSON-RPC",
        |line| line.contains("-32"),
    );
    only_in(
        &[
            "src/transport.rs",
            "src/transport/*",
            "src/oauth.rs",
            "src/oauth/*",
            "src/worker/*",
        ],
        "an HTTP status",
        |line| line.contains("StatusCode") || line.contains("HTTP/1"),
    );
    only_in(
        &["src/mcp/version.rs"],
        "a version of the protocol",
        |line| {
            [
                "\"2024-11-05\"",
                "\"2025-03-26\"",
                "\"2025-06-18\"",
                "\"2025-11-25\"",
                "\"2026-07-28\"",
            ]
            .iter()
            .any(|version| line.contains(version))
        },
    );
}

/// `async` begins at the ports, so nothing can come between the statements of a store.
#[test]
fn what_lies_below_the_protocol_is_synchronous() {
    for source in files("src", "rs") {
        if [
            "store", "tools", "graph", "view", "seal", "page", "database",
        ]
        .contains(&source.module())
        {
            for (number, line) in source.code() {
                let waits = line.contains("async ") || line.contains(".await");
                assert!(!waits, "{}:{number}: {line}", source.path);
            }
        }
    }
}

#[test]
fn files_are_short_named_for_what_they_hold_and_say_what_they_own() {
    let mut bad = Vec::new();
    for folder in ["src", "xtask", "tests"] {
        for source in files(folder, "rs") {
            let lines = source.text.lines().count();
            // The golden vectors are one list of data.
            if lines > LINES_MAX && source.path != "tests/transcripts/vectors.rs" {
                bad.push(format!(
                    "{} has {lines} lines, more than {LINES_MAX}",
                    source.path
                ));
            }
            let stem = Path::new(&source.path)
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap();
            if EMPTY_NAMES.contains(&stem) || stem == "mod" {
                bad.push(format!("{} says nothing by its name", source.path));
            }
            if !source.text.starts_with("//! ") {
                bad.push(format!(
                    "{} does not begin by saying what it owns",
                    source.path
                ));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// An exception to a lint has its reason beside it, and no test is left out.
#[test]
fn exceptions_have_reasons() {
    let mut bad = Vec::new();
    for source in ["src", "xtask", "tests"]
        .into_iter()
        .flat_map(|folder| files(folder, "rs"))
    {
        let mut before = "";
        for (index, line) in source.text.lines().enumerate() {
            let trimmed = line.trim_start();
            let is_exception = trimmed.starts_with("#[allow(") || trimmed.starts_with("#[expect(");
            let has_reason = line.contains("//")
                || line.contains("reason")
                || before.trim_start().starts_with("//");
            let spans_lines = trimmed.ends_with('(');
            if is_exception && !has_reason && !spans_lines || trimmed.starts_with("#[ignore") {
                bad.push(format!("{}:{}: {line}", source.path, index + 1));
            }
            before = line;
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// One version, wherever it is written.
#[test]
fn versions_agree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let package: serde_json::Value = serde_json::from_str(&read("package.json")).unwrap();
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    let lock: serde_json::Value = serde_json::from_str(&read("package-lock.json")).unwrap();
    assert_eq!(lock["version"], env!("CARGO_PKG_VERSION"));
}
