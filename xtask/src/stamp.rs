//! Remembers beside a result what it was made from, so that nothing is made twice.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A file that holds the digest of the inputs that the last complete run had.
pub struct Stamp {
    path: PathBuf,
    digest: String,
}

impl Stamp {
    /// `inputs` must be all that the result depends on.
    pub fn new(path: impl Into<PathBuf>, inputs: &[&[u8]]) -> Self {
        let mut hasher = DefaultHasher::new();
        for input in inputs {
            hasher.write_usize(input.len());
            hasher.write(input);
        }
        Self {
            path: path.into(),
            digest: format!("{:016x}", hasher.finish()),
        }
    }

    pub fn is_current(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|found| found == self.digest)
    }

    /// To be called when the result is complete, never before.
    pub fn set(&self) -> Result<()> {
        write(&self.path, self.digest.as_bytes())
    }
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
