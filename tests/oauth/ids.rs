//! Every id of the list of attacks and reports has a test that carries it, or a reason why it is void.

use std::path::Path;

#[test]
fn every_attack_and_report_has_its_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oauth");
    let table = std::fs::read_to_string(folder.join("ids.txt")).unwrap();
    let sources = sources();
    let mut rows = 0;
    for line in table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (id, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        rows += 1;
        if let Some(reason) = rest.trim().strip_prefix("void:") {
            assert!(reason.trim().len() > 20, "{id} needs a reason");
            continue;
        }
        for name in rest.split_whitespace() {
            let is_there = sources.contains(&format!("fn {name}("))
                || sources.contains(&format!("\"{name}\""));
            assert!(is_there, "{id}: there is no test {name}");
        }
    }
    let numbers = (1..=16)
        .chain(20..=31)
        .chain(33..=75)
        .chain(80..=87)
        .chain(90..=94);
    for number in numbers {
        let id = format!("A{number:02}");
        assert!(
            table
                .lines()
                .any(|line| line.starts_with(&format!("{id} "))),
            "{id} is missing"
        );
    }
    for number in 1..=20 {
        assert!(
            table
                .lines()
                .any(|line| line.starts_with(&format!("K{number:02} ")))
        );
    }
    for number in 1..=51 {
        assert!(
            (41..=42).contains(&number)
                || number == 32
                || table
                    .lines()
                    .any(|line| line.starts_with(&format!("B-{number:02} "))),
            "B-{number:02} is missing"
        );
    }
    assert!(rows > 150, "{rows}");
}

/// The text of everything that may hold such a test.
fn sources() -> String {
    let mut sources = String::new();
    for root in [
        "tests/oauth",
        "tests/it",
        "tests/e2e/tests/it",
        "tests/e2e/tests/it/faults",
        "tests/signin",
        "src/oauth",
        "src/oauth/vault",
    ] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        let Ok(entries) = std::fs::read_dir(root) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "rs" || it == "mjs") {
                sources.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}
