//! Every number of `tests/acceptance.txt` has tests that carry it.

use std::path::Path;

const NUMBERS: [&str; 15] = [
    "05", "06", "07", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23",
];

/// The names of the functions that are tests below a folder.
pub(crate) fn collect(folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let tests = text.split("#[test]\n").skip(1);
            names.extend(tests.filter_map(|rest| {
                let (_, rest) = rest.split_once("fn ")?;
                rest.split_once('(').map(|(name, _)| name.to_owned())
            }));
        }
    }
}

#[test]
fn every_number_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = Vec::new();
    for folder in ["src", "tests/it", "tests/e2e/tests"] {
        collect(&root.join(folder), &mut names);
    }
    let table = std::fs::read_to_string(root.join("tests/acceptance.txt")).unwrap();
    let rows = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut numbers = Vec::new();
    for row in rows {
        let mut words = row.split(' ');
        let number = words.next().unwrap();
        numbers.push(number);
        let tests: Vec<_> = words.collect();
        assert!(!tests.is_empty(), "{number}");
        for test in tests {
            assert!(
                names.iter().any(|name| name == test),
                "{number}: there is no test {test}"
            );
        }
    }
    assert_eq!(numbers, NUMBERS);
}
