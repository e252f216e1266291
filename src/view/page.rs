//! The page that draws a finished process for people whose client shows no cards: the card's own modules with another
//! entrance. Served at `/view`, where it asks for a token and an id, and written to a file by `durable-thinking show`.
//!
//! What the page shares with the card is taken out of the card's document, so that it is embedded once. Where a document
//! comes from is left to `/export` and to the native program.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::card;

/// The view's own style and program, as `build.rs` wrote them.
const OWN: &str = include_str!(concat!(env!("OUT_DIR"), "/view.html"));
const STYLE: (&str, &str) = ("<style>", "</style>");
const PROGRAM: (&str, &str) = ("<script>(()=>{\"use strict\";", "})()</script>");
/// Ends what the card's program shares with the view's.
const SEAM: &str = "\"|\";";

/// A page and the policy under which it may run.
pub struct Page {
    pub html: String,
    pub policy: String,
}

/// The page of `/view`: it may ask its own origin, and nothing else.
pub fn served() -> Page {
    let html = whole();
    let policy = policy(&html, "'self'") + "; frame-ancestors 'none'";
    Page { html, policy }
}

/// A file that shows `document`, an exported process, and may ask nobody.
pub fn file(document: &str) -> String {
    let html = whole();
    let policy = policy(&html, "'none'");
    // No text can end the element: JSON may write this sign as an escape everywhere it may stand.
    let document = document.replace('<', "\\u003c");
    html.replacen(
        "<title>",
        &format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<title>"),
        1,
    )
    .replacen(
        "<script>",
        &format!("<script type=\"application/json\" id=\"document\">{document}</script>\n<script>"),
        1,
    )
}

fn whole() -> String {
    let shared_style = between(card::HTML, STYLE.0, STYLE.1);
    let shared_program = between(card::HTML, PROGRAM.0, SEAM);
    OWN.replacen(STYLE.0, &format!("{}{shared_style}", STYLE.0), 1)
        .replacen(PROGRAM.0, &format!("{}{shared_program}", PROGRAM.0), 1)
}

fn policy(html: &str, connect: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src {connect}; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'",
        hash(between(html, "<script>", "</script>")),
        hash(between(html, STYLE.0, STYLE.1)),
    )
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or("", |(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_put_together_from_both_parts() {
        let Page { html, policy } = served();
        let program = between(&html, "<script>", "</script>");
        assert!(program.starts_with("(()=>{\"use strict\";") && program.ends_with("})()"));
        assert!(program.contains("createElementNS") && program.contains("/export"));
        assert!(
            !program.contains("ui/initialize"),
            "the card's own part stays out"
        );
        assert!(between(&html, "<style>", "</style>").contains("light-dark"));
        assert!(policy.contains("connect-src 'self'") && !policy.contains("unsafe"));
    }

    #[test]
    fn no_text_of_a_document_ends_its_element() {
        let html = file(r#"{"thoughts":[{"thought":"</script><script>alert(1)</script><!--"}]}"#);
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("<!--").count(), 0);
        assert!(html.contains(r"\u003c/script>"));
        assert!(html.contains("connect-src 'none'"));
    }
}
