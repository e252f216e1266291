//! `wrangler.toml`, as far as a local server needs it. What wrangler alone uses is left to wrangler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Manifest {
    pub name: String,
    pub main: String,
    pub compatibility_date: String,
    #[serde(default)]
    pub compatibility_flags: Vec<String>,
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    #[serde(default)]
    pub kv_namespaces: Vec<KvNamespace>,
    #[serde(default)]
    pub ratelimits: Vec<RateLimit>,
    #[serde(default)]
    pub durable_objects: DurableObjects,
    #[serde(default)]
    migrations: Vec<Migration>,
}

#[derive(Debug, Deserialize)]
pub struct KvNamespace {
    pub binding: String,
}

#[derive(Debug, Deserialize)]
pub struct RateLimit {
    pub name: String,
    pub simple: Calls,
}

/// At most `limit` calls with one key in `period` seconds.
#[derive(Debug, Deserialize)]
pub struct Calls {
    pub limit: u32,
    pub period: u32,
}

#[derive(Debug, Default, Deserialize)]
pub struct DurableObjects {
    pub bindings: Vec<ObjectBinding>,
}

#[derive(Debug, Deserialize)]
pub struct ObjectBinding {
    pub name: String,
    pub class_name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Migration {
    #[serde(rename = "tag")]
    _tag: String,
    #[serde(default)]
    new_sqlite_classes: Vec<String>,
}

impl Manifest {
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join("wrangler.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).context("wrangler.toml")
    }

    fn parse(text: &str) -> Result<Self> {
        let manifest: Self = toml::from_str(text)?;
        let classes: BTreeSet<_> = manifest.classes().collect();
        for binding in &manifest.durable_objects.bindings {
            if !classes.contains(binding.class_name.as_str()) {
                bail!(
                    "no migration makes the class {} of the binding {}",
                    binding.class_name,
                    binding.name
                );
            }
        }
        Ok(manifest)
    }

    /// The classes of Durable Objects, in the order in which the migrations made them.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.migrations
            .iter()
            .flat_map(|migration| &migration.new_sqlite_classes)
            .map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::Manifest;

    const PLAIN: &str = r#"
        name = "n"
        main = "m.mjs"
        compatibility_date = "2026-11-17"
        [[durable_objects.bindings]]
        name = "B"
        class_name = "C"
    "#;

    #[test]
    fn a_binding_needs_the_class_that_a_migration_made() {
        let error = Manifest::parse(PLAIN).unwrap_err().to_string();
        assert_eq!(error, "no migration makes the class C of the binding B");

        let with = format!("{PLAIN}\n[[migrations]]\ntag = 'v1'\nnew_sqlite_classes = ['C']");
        let manifest = Manifest::parse(&with).unwrap();
        assert_eq!(manifest.classes().collect::<Vec<_>>(), ["C"]);
    }

    #[test]
    fn a_migration_that_is_not_understood_is_refused() {
        let text = format!("{PLAIN}\n[[migrations]]\ntag = 'v1'\ndeleted_classes = ['C']");
        assert!(Manifest::parse(&text).is_err());
    }
}
