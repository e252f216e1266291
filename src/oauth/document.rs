//! Client ID Metadata Documents: a client that names itself by a URL, where its metadata can be read.
//!
//! Fetched only for a person at `/authorize`, inside a narrow envelope; kept in memory, and by the vault once a grant was made.

use http::header::{ACCEPT, CACHE_CONTROL, USER_AGENT};
use http::{HeaderMap, Request};
use serde_json::Value;

use crate::fresh::Fresh;
use crate::oauth::client::{Client, Method, Origin, clean_name};
use crate::oauth::github::is_json;
use crate::oauth::memory::Memory;
use crate::oauth::port::{Event, Limit, Ports, ask_twice};
use crate::oauth::redirect::RedirectUri;
use crate::oauth::uri::Uri;
use crate::oauth::vault::message::{Answer, Ask};

/// The draft's own figure.
const BYTES_MAX: usize = 5 * 1024;
const SECONDS: u32 = 5;
const REDIRECTS_MAX: usize = 20;
const KEPT_SECONDS_MIN: u64 = 300;
const KEPT_SECONDS_MAX: u64 = 86_400;
const KEPT_SECONDS_DEFAULT: u64 = 3600;
const FAILURE_SECONDS: u64 = 30;
/// Hosts whose documents name keys, yet whose clients come without when we do not offer that.
const FLEXIBLE_HOSTS: [&str; 1] = ["chatgpt.com"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The id is no URL that we would fetch.
    Refused,
    /// The document could not be had now.
    Unavailable,
    /// The document is not one, or says something that we cannot follow.
    Invalid,
    /// The client wants to prove itself in a way that is not offered here.
    Method,
    TooMany,
}

pub fn is_url(client_id: &str) -> bool {
    client_id.starts_with("https://")
}

/// The URL as far as it can be judged without asking anybody.
fn is_fetchable(url: &str, own_host: &str) -> bool {
    Uri::parse(url).is_some_and(|uri| {
        uri.scheme == "https"
            && uri.has_public_host()
            && !uri.has_reserved_host()
            && uri.port.is_none()
            && uri.query.is_none()
            && uri.path.len() > 1
            && uri.host == uri.host.to_ascii_lowercase()
            && uri.host != own_host
    })
}

/// The client, and its document as it was read.
pub async fn client<P: Ports>(
    url: &str,
    own_host: &str,
    memory: &Memory,
    ports: &P,
    fresh: &Fresh,
) -> Result<(Client, String), Failure> {
    if !is_fetchable(url, own_host) {
        return Err(Failure::Refused);
    }
    let now = fresh.now.seconds();
    let body = match memory.document(url, now) {
        Some(Some(body)) => body,
        Some(None) => last_good(url, ports, fresh)
            .await
            .ok_or(Failure::Unavailable)?,
        None => match fetch(url, ports).await {
            Ok((body, seconds)) => {
                memory.remember_document(url, Some(body.clone()), now.saturating_add(seconds), now);
                body
            }
            Err(Failure::TooMany) => return Err(Failure::TooMany),
            Err(failure) => {
                memory.remember_document(url, None, now.saturating_add(FAILURE_SECONDS), now);
                last_good(url, ports, fresh).await.ok_or(failure)?
            }
        },
    };
    let client = parse(url, &body, own_host)?;
    Ok((client, body))
}

/// The document of a client that has been here before, when its host does not answer today.
async fn last_good<P: Ports>(url: &str, ports: &P, fresh: &Fresh) -> Option<String> {
    let ask = Ask::Document {
        url: url.to_owned(),
    };
    match ask_twice(ports, fresh, &ask).await {
        Ok(Answer::Document { body }) => body,
        _ => None,
    }
}

async fn fetch<P: Ports>(url: &str, ports: &P) -> Result<(String, u64), Failure> {
    if !ports.admits(Limit::Document, "all").await {
        return Err(Failure::TooMany);
    }
    let host = Uri::parse(url).map_or_else(String::new, |uri| uri.host.to_owned());
    let outcome = fetch_once(url, ports).await;
    let reason = if outcome.is_ok() { "ok" } else { "failed" };
    ports.note(Event::new("cimd.fetch", reason).with_host(host));
    outcome
}

async fn fetch_once<P: Ports>(url: &str, ports: &P) -> Result<(String, u64), Failure> {
    let request = Request::get(url)
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, "durable-thinking")
        .body(Vec::new())
        .map_err(|_| Failure::Refused)?;
    let response = ports
        .fetch(request, SECONDS, BYTES_MAX)
        .await
        .map_err(|_| Failure::Unavailable)?;
    if response.status() != 200 || !is_json(response.headers()) {
        return Err(Failure::Unavailable);
    }
    let seconds = kept_seconds(response.headers());
    let body = String::from_utf8(response.into_body()).map_err(|_| Failure::Invalid)?;
    Ok((body, seconds))
}

fn kept_seconds(headers: &HeaderMap) -> u64 {
    let text = headers
        .get(CACHE_CONTROL)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    text.split(',')
        .find_map(|part| part.trim().strip_prefix("max-age=")?.parse().ok())
        .unwrap_or(KEPT_SECONDS_DEFAULT)
        .clamp(KEPT_SECONDS_MIN, KEPT_SECONDS_MAX)
}

/// Reads a document. Its `client_id` is its own address, byte for byte; a secret has no place in it.
pub fn parse(url: &str, body: &str, own_host: &str) -> Result<Client, Failure> {
    let document: Value = serde_json::from_str(body).map_err(|_| Failure::Invalid)?;
    let text = |name| document.get(name).and_then(Value::as_str);
    if text("client_id") != Some(url) || document.get("client_secret").is_some() {
        return Err(Failure::Invalid);
    }
    let host = Uri::parse(url).map_or("", |uri| uri.host);
    let offers_none = document
        .get("token_endpoint_auth_methods_supported")
        .and_then(Value::as_array)
        .is_some_and(|methods| methods.iter().any(|method| method == "none"));
    match text("token_endpoint_auth_method") {
        None | Some("none") => {}
        Some("private_key_jwt") if offers_none || FLEXIBLE_HOSTS.contains(&host) => {}
        Some(_) => return Err(Failure::Method),
    }
    let redirects: Vec<String> = document
        .get("redirect_uris")
        .and_then(Value::as_array)
        .ok_or(Failure::Invalid)?
        .iter()
        .take(REDIRECTS_MAX)
        .filter_map(|uri| RedirectUri::parse(uri.as_str()?, own_host))
        .map(|uri| uri.normal().to_owned())
        .collect();
    if redirects.is_empty() {
        return Err(Failure::Invalid);
    }
    let name = clean_name(text("client_name").unwrap_or_default());
    Ok(Client {
        id: url.to_owned(),
        name: if name.is_empty() {
            host.to_owned()
        } else {
            name
        },
        method: Method::None,
        origin: Origin::Document { redirects },
    })
}

#[cfg(test)]
mod tests {
    use super::{Failure, is_fetchable, parse};
    use crate::oauth::redirect::RedirectUri;

    #[test]
    fn a64_urls_that_are_never_fetched() {
        for (url, good) in [
            ("https://claude.ai/oauth/claude-code-client-metadata", true),
            ("https://vscode.dev/oauth/client-metadata.json", true),
            ("http://claude.ai/client.json", false),
            ("https://10.0.0.1/client.json", false),
            ("https://2130706433/client.json", false),
            ("https://[::1]/client.json", false),
            ("https://[::ffff:10.0.0.1]/client.json", false),
            ("https://localhost/client.json", false),
            ("https://metadata.internal/client.json", false),
            ("https://printer.local/client.json", false),
            ("https://mcp.example.org/client.json", false),
            ("https://user@claude.ai/client.json", false),
            ("https://claude.ai:8443/client.json", false),
            ("https://claude.ai/client.json#x", false),
            ("https://claude.ai/client.json?x", false),
            ("https://claude.ai/a/../client.json", false),
            ("https://claude.ai/%2e%2e/client.json", false),
            ("https://claude.ai/", false),
            ("https://claude.ai", false),
            ("https://Claude.ai/client.json", false),
            ("https://intranet/client.json", false),
            ("https://claude.ai./client.json", false),
            ("https://mcp.example.org./client.json", false),
        ] {
            assert_eq!(is_fetchable(url, "mcp.example.org"), good, "{url}");
        }
    }

    const URL: &str = "https://c.example.com/client.json";

    fn with(members: &str) -> Result<crate::oauth::client::Client, Failure> {
        let body = format!(
            r#"{{"client_id":"{URL}","redirect_uris":["https://c.example.com/cb"],"client_name":"C"{members}}}"#
        );
        parse(URL, &body, "mcp.example.org")
    }

    #[test]
    fn a64_documents_that_are_refused() {
        assert_eq!(with("").unwrap().name, "C");
        for (members, failure) in [
            (r#","client_secret":"x""#, Failure::Invalid),
            (
                r#","token_endpoint_auth_method":"client_secret_post""#,
                Failure::Method,
            ),
            (
                r#","token_endpoint_auth_method":"private_key_jwt""#,
                Failure::Method,
            ),
            (
                r#","redirect_uris":["http://evil.test/"]"#,
                Failure::Invalid,
            ),
            (r#","redirect_uris":[]"#, Failure::Invalid),
            (r#","redirect_uris":"x""#, Failure::Invalid),
            (
                r#","client_id":"https://c.example.com/Client.json""#,
                Failure::Invalid,
            ),
        ] {
            assert_eq!(with(members).unwrap_err(), failure, "{members}");
        }
        for body in ["", "<html>", "[]", "{}", "null"] {
            assert_eq!(parse(URL, body, ""), Err(Failure::Invalid), "{body}");
        }
        let deep = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
        assert_eq!(parse(URL, &deep, ""), Err(Failure::Invalid));
    }

    #[test]
    fn b16_b21b_documents_of_real_clients() {
        let code = r#"{"client_id":"https://claude.ai/oauth/claude-code-client-metadata","client_name":"Claude Code",
            "redirect_uris":["http://localhost/callback","http://127.0.0.1/callback"],"token_endpoint_auth_method":"none"}"#;
        let client = parse(
            "https://claude.ai/oauth/claude-code-client-metadata",
            code,
            "",
        )
        .unwrap();
        let uri = RedirectUri::parse("http://localhost:54321/callback", "").unwrap();
        assert!(client.lists(&uri));
        for supported in [
            "",
            r#","token_endpoint_auth_methods_supported":["private_key_jwt","none"]"#,
        ] {
            let url = "https://chatgpt.com/oauth/client.json";
            let body = format!(
                r#"{{"client_id":"{url}","client_name":"ChatGPT","token_endpoint_auth_method":"private_key_jwt",
                "jwks_uri":"https://chatgpt.com/jwks","redirect_uris":["https://chatgpt.com/connector/oauth/x"]{supported}}}"#
            );
            assert_eq!(parse(url, &body, "").unwrap().name, "ChatGPT");
        }
        assert!(with(r#","token_endpoint_auth_method":"private_key_jwt","token_endpoint_auth_methods_supported":["none"]"#).is_ok());
    }
}
