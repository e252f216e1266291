//! `GET /`: what stands here, whether its owner has set it up, and how to connect; as a page for people and as JSON for
//! machines. Nothing secret and nothing about what is stored.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_SECURITY_POLICY, VARY, X_FRAME_OPTIONS};
use http::{HeaderMap, HeaderValue, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::auth::Authorization;
use crate::json::{self, json};
use crate::mcp::Server;
use crate::mcp::version::{MODERN, Version};
use crate::settings::Problem;
use crate::tools::TOOLS;
use crate::transport::headers::Surroundings;
use crate::transport::http::{Site, accepts};
use crate::transport::status::{full, json_response};
use crate::transport::{Body, health};
use crate::view::page::{self, Page};

const PAGE: &str = include_str!("root.html");
const STYLE: &str = include_str!("root.css");
/// What clients call this server.
const NAME: &str = "durable-thinking";
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

pub(super) fn page<S: Server, A: Authorization>(
    headers: &HeaderMap,
    site: &Site<S, A>,
    surroundings: &Surroundings,
) -> Response<Body> {
    let mut response = if accepts(headers, "text/html") {
        html(site, surroundings)
    } else {
        description(site, surroundings)
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

fn description<S: Server, A: Authorization>(
    site: &Site<S, A>,
    surroundings: &Surroundings,
) -> Response<Body> {
    let about = site.server.about();
    let origin = &surroundings.canonical;
    let tools: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
    let compat: Vec<_> = Version::assumed().served_beside().collect();
    json_response(
        200,
        &json!({
            "name": about.name,
            "version": about.version,
            "description": about.description,
            "repository": REPOSITORY,
            "tools": tools,
            "endpoints": {
                "mcp": format!("{origin}/mcp"),
                "mcpCompat": format!("{origin}/mcp-compat"),
                "health": format!("{origin}/healthz"),
            },
            "protocolVersions": { "mcp": MODERN, "mcpCompat": compat },
            "authentication": health::authentication(site),
            "problems": health::problems(site),
        }),
    )
}

fn html<S: Server, A: Authorization>(
    site: &Site<S, A>,
    surroundings: &Surroundings,
) -> Response<Body> {
    let about = site.server.about();
    let is_local = surroundings.canonical.is_loopback();
    let is_open = site.authorization.is_open();
    let sign_in = sign_in(is_open, &site.config.sign_in.missing);
    let origin = &surroundings.issuer;
    let [vscode, cursor] =
        install_links(origin).map(|link| if is_open { link } else { String::new() });
    // The origin holds letters, digits, dots, colons and hyphens only, or no host would have been admitted.
    let page = PAGE
        .replace("[[style]]", STYLE)
        .replace("[[state]]", &state(&health::problems(site), is_local))
        .replace("[[sign-in]]", &sign_in)
        .replace("[[vscode]]", &vscode)
        .replace("[[cursor]]", &cursor)
        .replace("[[origin]]", origin)
        .replace("[[title]]", about.title.unwrap_or(about.name))
        .replace("[[version]]", about.version)
        .replace("[[modern]]", MODERN[0])
        .replace("[[repository]]", REPOSITORY);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        STANDARD.encode(Sha256::digest(STYLE))
    );
    page_response(page, &policy)
}

/// `GET /view`: the same for everybody. It holds nothing, and asks for what it is to show.
pub(super) fn view() -> Response<Body> {
    let Page { html, policy } = page::served();
    page_response(html, &policy)
}

fn page_response(html: String, policy: &str) -> Response<Body> {
    let mut response = full(200, "text/html; charset=utf-8", html.into_bytes());
    let headers = response.headers_mut();
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Links that open VS Code and Cursor with this server filled in. They bring no token, so they are for the sign-in.
fn install_links(origin: &str) -> [String; 2] {
    let url = format!("{origin}/mcp-compat");
    let vscode = json::text(&json!({ "name": NAME, "type": "http", "url": url }));
    let vscode = utf8_percent_encode(&vscode, NON_ALPHANUMERIC);
    let cursor = STANDARD.encode(json::text(&json!({ "url": url })));
    let cursor = utf8_percent_encode(&cursor, NON_ALPHANUMERIC);
    let link = |to: String, client: &str| {
        format!("<p><a href=\"{to}\">Install in {client}</a> and sign in; or with a token:</p>")
    };
    [
        link(format!("vscode:mcp/install?{vscode}"), "VS Code"),
        link(
            format!(
                "cursor://anysphere.cursor-deeplink/mcp/install?name={NAME}&amp;config={cursor}"
            ),
            "Cursor",
        ),
    ]
}

/// Which clients need no token, or what their owner must set first.
fn sign_in(is_open: bool, missing: &[&str]) -> String {
    if is_open {
        return "Clients that open a browser need none: leave the header out and sign in with GitHub.".to_owned();
    }
    format!(
        "Claude and ChatGPT take no token: they sign in, and for that the owner still sets <code>{}</code>, as the <a href=\"{REPOSITORY}#sign-in\">README</a> says.",
        missing.join("</code>, <code>")
    )
}

/// Whether all is set, and what to do about each thing that is not.
fn state(problems: &[Problem], is_local: bool) -> String {
    if problems.is_empty() {
        return "<p class=\"state\"><strong>Ready</strong>This server is set up. What it needs from you is your client.</p>"
            .to_owned();
    }
    let mut text = "<div class=\"state warn\"><strong>Not set up yet</strong><ol>".to_owned();
    for Problem { name, reason } in problems {
        let _ = write!(text, "<li><code>{name}</code> {}.", escape(reason));
        if let Some(value) = value_of(name) {
            let _ = write!(text, " {value}");
        }
        text.push_str("</li>");
    }
    text.push_str("</ol><p>");
    text.push_str(if is_local {
        "Write each as <code>NAME=value</code> into <code>.dev.vars</code> and start the server again."
    } else {
        "In the Cloudflare dashboard: Workers &amp; Pages → this Worker → Settings → Variables and Secrets → Add, with the type Secret. \
         Or in a clone of the source: <code>npx wrangler secret put NAME</code>. Then load this page again."
    });
    text.push_str("</p></div>");
    text
}

/// What to put into a setting, where that is not plain from its name.
fn value_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "MCP_API_TOKEN" | "MCP_API_TOKEN_PREVIOUS" => {
            "Make one with <code>openssl rand -hex 32</code>."
        }
        "GITHUB_CLIENT_ID" | "GITHUB_CLIENT_SECRET" => {
            "Both come from an OAuth App of yours (GitHub → Settings → Developer settings) whose callback is this server’s address with <code>/callback</code>."
        }
        "ALLOWED_GITHUB_LOGIN" => {
            "Your GitHub login, or <code>id:</code> and your account’s number."
        }
        _ => return None,
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::{PAGE, STYLE, install_links, sign_in, state};
    use crate::settings::Problem;

    #[test]
    fn what_is_missing_is_named_with_the_way_to_set_it() {
        let problems = [Problem {
            name: "MCP_API_TOKEN",
            reason: "is < 32 characters".to_owned(),
        }];
        let hosted = state(&problems, false);
        for part in [
            "MCP_API_TOKEN",
            "is &lt; 32",
            "openssl rand -hex 32",
            "wrangler secret put",
        ] {
            assert!(hosted.contains(part), "{part}: {hosted}");
        }
        assert!(state(&problems, true).contains(".dev.vars"));
        assert!(state(&[], false).contains("Ready"));
        let closed = sign_in(false, &["GITHUB_CLIENT_ID", "ALLOWED_GITHUB_LOGIN"]);
        assert!(
            closed.contains("<code>GITHUB_CLIENT_ID</code>, <code>ALLOWED_GITHUB_LOGIN</code>")
        );
        assert!(sign_in(true, &[]).contains("sign in with GitHub"));
    }

    #[test]
    fn clients_that_can_be_opened_are_opened_with_the_address() {
        let [vscode, cursor] = install_links("https://mine.workers.dev");
        let encoded = "%22https%3A%2F%2Fmine%2Eworkers%2Edev%2Fmcp%2Dcompat%22";
        assert!(vscode.contains(encoded), "{vscode}");
        let config = "eyJ1cmwiOiJodHRwczovL21pbmUud29ya2Vycy5kZXYvbWNwLWNvbXBhdCJ9";
        assert!(cursor.contains(config), "{cursor}");
    }

    #[test]
    fn the_page_runs_nothing_and_loads_nothing() {
        for word in [
            "<script", "<img", "<iframe", "<link", "src=", "style=", "onclick",
        ] {
            assert!(!PAGE.contains(word), "{word}");
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
