//! The MCP Apps card as a resource: its URI, its type, its metadata and the document itself.
//!
//! The document is written as modules in `ui/` and inlined by `build.rs`. Listing and reading the resource is the
//! protocol's business.

use crate::json::{Object, json};

pub const URI: &str = "ui://sequential-thinking/process.html";
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";
pub const NAME: &str = "thinking-process";
pub const TITLE: &str = "Thinking process";
pub const DESCRIPTION: &str =
    "Draws one step of a thinking process and, with its last step, the whole process.";

/// The whole card: one document that loads nothing.
pub const HTML: &str = include_str!(concat!(env!("OUT_DIR"), "/card.html"));

/// `_meta` of the resource. It belongs in the list entry and in the read item alike, because hosts read one or the other.
///
/// `domain` is left out on purpose: its form differs by host, and a wrong value keeps the card from starting.
pub fn resource_meta() -> Object {
    json!({
        "ui": {
            "csp": { "connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": [] },
            "permissions": { "clipboardWrite": {} },
            "prefersBorder": false,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const GZIP_BYTES_MAX: usize = 14 * 1024;

    #[test]
    fn the_document_stays_within_its_budget() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(HTML.as_bytes()).unwrap();
        let gzip_bytes = encoder.finish().unwrap().len();
        assert!(
            gzip_bytes <= GZIP_BYTES_MAX,
            "{gzip_bytes} bytes after gzip, {} before",
            HTML.len()
        );
    }

    #[test]
    fn the_document_is_inlined_and_names_no_other_host() {
        // The name of SVG's namespace is no address.
        let html = HTML.replace("\"http://www.w3.org/2000/svg\"", "");
        for word in [
            "http:", "https:", "import ", "export ", "<link", " src=", "url(", "/*",
        ] {
            assert!(!html.contains(word), "the card contains {word:?}");
        }
    }

    #[test]
    fn the_document_uses_no_html_sink_and_no_channel_but_messages() {
        let words = "innerHTML outerHTML insertAdjacentHTML document.write eval( Function( fetch( XMLHttpRequest \
                     WebSocket EventSource sendBeacon localStorage sessionStorage indexedDB cookie srcdoc alert(";
        for word in words.split_whitespace() {
            assert!(!HTML.contains(word), "the card contains {word:?}");
        }
    }

    #[test]
    fn the_policy_in_the_document_lets_nothing_load() {
        let policy = HTML
            .split("Content-Security-Policy\" content=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert_eq!(
            policy,
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'none'; \
             form-action 'none'; base-uri 'none'"
        );
    }
}
