//! A place in a document as a JSON pointer (RFC 6901).

use serde_path_to_error::{Path, Segment};

pub(super) fn render(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        pointer.push('/');
        match segment {
            Segment::Seq { index } => pointer.push_str(&index.to_string()),
            Segment::Map { key } => pointer.push_str(&escape(key)),
            Segment::Enum { variant } => pointer.push_str(&escape(variant)),
            Segment::Unknown => pointer.push('?'),
        }
    }
    if pointer.is_empty() {
        pointer.push('/');
    }
    pointer
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
