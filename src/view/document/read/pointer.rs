//! A place in a document as a JSON pointer (RFC 6901).

use serde_path_to_error::{Path, Segment};

pub(super) fn render(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        let name = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => escape(key),
            Segment::Enum { variant } => escape(variant),
            // The name of a member that did not end.
            Segment::Unknown => break,
        };
        pointer.push('/');
        pointer.push_str(&name);
    }
    if pointer.is_empty() {
        pointer.push('/');
    }
    pointer
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
