//! Files that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a new file with mode 0600. One that exists is never written over.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map_err(|error| {
        let kind = error.kind();
        io::Error::new(kind, format!("cannot make {}: {error}", path.display()))
    })
}
