//! Every seed at its door, and the doors against what is built and written down.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use fuzz::DOORS;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_seed_keeps_the_promises() {
    for (name, door) in DOORS {
        let seeds = fs::read_dir(root().join("corpus").join(name)).unwrap();
        let mut count = 0;
        for seed in seeds {
            door(&fs::read(seed.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count >= 5, "{name} has {count} seeds");
        // What no seed is.
        door(b"");
        door(&[0xff; 64]);
    }
}

#[test]
fn every_door_is_a_target() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let targets = manifest.matches("[[bin]]").count();
    assert_eq!(targets, DOORS.len());
    for (name, _) in DOORS {
        let path = format!("targets/{name}.rs");
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"{path}\"")));
        let target = fs::read_to_string(root().join(path)).unwrap();
        assert!(target.contains(&format!("fuzz::{name}(data)")), "{name}");
    }
}
