//! `docs/promises.md` names tests and commands that exist, and leaves no figure open.

use std::path::Path;

use crate::acceptance::collect;

#[test]
fn every_promise_names_what_would_break_with_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = Vec::new();
    for folder in ["src", "tests/it", "tests/oauth", "tests/e2e/tests"] {
        collect(&root.join(folder), &mut names);
    }
    let main = std::fs::read_to_string(root.join("xtask/src/main.rs")).unwrap();
    let page = std::fs::read_to_string(root.join("docs/promises.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| **"));
    let mut promises = String::new();
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [promise, tests, figures] = cells.as_slice() else {
            panic!("{row}");
        };
        promises.push_str(promise);
        assert!(
            figures.chars().any(|c| c.is_ascii_digit()) || figures.len() > 60,
            "{promise}: {figures:?}"
        );
        let quoted: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        assert!(
            quoted.iter().any(|name| !name.contains(' ')),
            "{promise} names no test"
        );
        for name in quoted {
            let is_there = match name.strip_prefix("cargo xtask ") {
                Some(command) => main.contains(&format!("\n  {command} ")),
                None => names.iter().any(|known| known == name),
            };
            assert!(is_there, "{promise}: there is no {name}");
        }
    }
    for promised in [
        "Durability",
        "Isolation",
        "Limits",
        "Privacy",
        "Exactly once",
        "Availability",
    ] {
        assert!(promises.contains(promised), "{promised}");
    }
}
