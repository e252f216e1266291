//! Which redirect URIs a client may register, and which presented URI is one of them.
//!
//! Reading a URI is left to `uri`; showing it is left to `pages`.

use crate::oauth::keys::sha256;
use crate::oauth::uri::Uri;

/// Schemes of known applications. Any scheme with a dot (RFC 8252 §7.1) is welcome too.
const APP_SCHEMES: [&str; 9] = [
    "cursor",
    "vscode",
    "vscode-insiders",
    "windsurf",
    "claude",
    "code-oss",
    "zed",
    "raycast",
    "goose",
];
/// Destinations that many people use: shown without a warning, and trusted with an error before consent.
const KNOWN_HOSTS: [&str; 8] = [
    "claude.ai",
    "claude.com",
    "chatgpt.com",
    "vscode.dev",
    "insiders.vscode.dev",
    "www.cursor.com",
    "cursor.com",
    "github.com",
];
/// Parameters of our own answer: a URI that already has one would make the answer ambiguous.
const ANSWER_FIELDS: [&str; 6] = [
    "code",
    "state",
    "iss",
    "error",
    "error_description",
    "response",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    KnownSite,
    OtherSite,
    ThisComputer,
    App,
}

/// A redirect URI that may be registered. The text is kept as it came: it is never written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectUri {
    text: String,
    normal: String,
    pub destination: Destination,
}

impl RedirectUri {
    /// `own_host` is ours: a code must never be sent back to this server.
    pub fn parse(text: &str, own_host: &str) -> Option<Self> {
        let uri = Uri::parse(text)?;
        if uri.query.is_some_and(has_answer_field) {
            return None;
        }
        let destination = if uri.has_scheme("https") {
            if !uri.has_public_host() || uri.host.eq_ignore_ascii_case(own_host) {
                return None;
            }
            if KNOWN_HOSTS.contains(&uri.host) && uri.port.is_none() {
                Destination::KnownSite
            } else {
                Destination::OtherSite
            }
        } else if uri.has_scheme("http") {
            if !uri.has_loopback_host() || is_own_loopback(&uri, own_host) {
                return None;
            }
            Destination::ThisComputer
        } else {
            let scheme = uri.scheme.to_ascii_lowercase();
            if uri.host.is_empty() && !uri.path.starts_with('/')
                || !scheme.contains('.') && !APP_SCHEMES.contains(&scheme.as_str())
            {
                return None;
            }
            Destination::App
        };
        Some(Self {
            text: text.to_owned(),
            normal: normal(&uri, destination),
            destination,
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// What two URIs share that are the same redirect: everything, but for the port of a loopback URI (RFC 8252 §7.3).
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// The first half of the SHA-256, which a sealed client id carries instead of the URI.
    pub fn digest(&self) -> [u8; 16] {
        let mut half = [0; 16];
        for (to, from) in half.iter_mut().zip(sha256(self.normal.as_bytes())) {
            *to = from;
        }
        half
    }

    /// Scheme, host and port as a person should see them: lower case, and encoded names stay encoded.
    pub fn origin(&self) -> String {
        let Some(uri) = Uri::parse(&self.text) else {
            return String::new();
        };
        let mut origin = format!("{}://{}", uri.scheme, uri.host).to_ascii_lowercase();
        if uri.host.is_empty() {
            origin = format!("{}:", uri.scheme.to_ascii_lowercase());
        } else if let Some(port) = uri
            .port
            .filter(|_| self.destination != Destination::ThisComputer)
        {
            origin = format!("{origin}:{port}");
        }
        origin
    }

    pub fn host(&self) -> String {
        let host = Uri::parse(&self.text).map_or("", |uri| uri.host);
        if host.is_empty() || self.destination == Destination::App {
            self.text
                .split_once(':')
                .map_or_else(String::new, |(scheme, _)| scheme.to_ascii_lowercase())
        } else {
            host.to_ascii_lowercase()
        }
    }

    /// The URI with our answer appended. Concatenated, so that what the client registered does not change by a byte.
    pub fn with_answer(&self, query: &str) -> String {
        let joint = match self.text.split_once('?') {
            None => "?",
            Some((_, "")) => "",
            Some((_, existing)) if existing.ends_with('&') => "",
            Some(_) => "&",
        };
        format!("{}{joint}{query}", self.text)
    }
}

fn normal(uri: &Uri<'_>, destination: Destination) -> String {
    let query = uri
        .query
        .map_or_else(String::new, |query| format!("?{query}"));
    match destination {
        Destination::App => match (uri.host, uri.port) {
            ("", _) => format!("{}:{}{query}", uri.scheme, uri.path),
            (host, None) => format!("{}://{host}{}{query}", uri.scheme, uri.path),
            (host, Some(port)) => format!("{}://{host}:{port}{}{query}", uri.scheme, uri.path),
        },
        Destination::ThisComputer => {
            format!("{}://{}{}{query}", uri.scheme, uri.host, uri.path_or_root())
        }
        Destination::KnownSite | Destination::OtherSite => {
            let port = uri.port.map_or_else(String::new, |port| format!(":{port}"));
            format!(
                "{}://{}{port}{}{query}",
                uri.scheme,
                uri.host,
                uri.path_or_root()
            )
        }
    }
}

/// Whether this is the callback of a server that itself runs on loopback. Its port is part of `own_host`.
fn is_own_loopback(uri: &Uri<'_>, own_host: &str) -> bool {
    uri.port
        .is_some_and(|port| format!("{}:{port}", uri.host) == own_host)
}

fn has_answer_field(query: &str) -> bool {
    query.split('&').any(|part| {
        let name = part.split('=').next().unwrap_or_default();
        crate::oauth::form::decode(name).is_none_or(|name| ANSWER_FIELDS.contains(&name.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::{Destination, RedirectUri};

    fn parse(text: &str) -> Option<RedirectUri> {
        RedirectUri::parse(text, "mcp.example.org")
    }

    #[track_caller]
    fn check(text: &str, destination: Destination, origin: &str) {
        let uri = parse(text).unwrap();
        assert_eq!(
            (uri.destination, uri.origin().as_str()),
            (destination, origin)
        );
        assert_eq!(uri.text(), text);
    }

    #[test]
    fn b19_b20_redirects_of_real_clients_are_welcome() {
        use Destination::{App, KnownSite, OtherSite, ThisComputer};
        check(
            "https://claude.ai/api/mcp/auth_callback",
            KnownSite,
            "https://claude.ai",
        );
        check(
            "https://chatgpt.com/connector/oauth/abc_123",
            KnownSite,
            "https://chatgpt.com",
        );
        check(
            "https://chatgpt.com/connector_platform_oauth_redirect",
            KnownSite,
            "https://chatgpt.com",
        );
        check(
            "https://claude.ai:8443/cb",
            OtherSite,
            "https://claude.ai:8443",
        );
        check("http://127.0.0.1:33418/", ThisComputer, "http://127.0.0.1");
        check(
            "http://localhost/callback",
            ThisComputer,
            "http://localhost",
        );
        check("http://[::1]:9/cb", ThisComputer, "http://[::1]");
        check(
            "cursor://anysphere.cursor-mcp/oauth/callback",
            App,
            "cursor://anysphere.cursor-mcp",
        );
        check("com.example.app:/oauth", App, "com.example.app:");
        check(
            "https://xn--lude-7cd.ai/cb",
            OtherSite,
            "https://xn--lude-7cd.ai",
        );
    }

    #[test]
    fn a20_schemes_that_run_code_or_open_files_are_refused() {
        for scheme in [
            "javascript",
            "data",
            "vbscript",
            "file",
            "blob",
            "about",
            "filesystem",
            "view-source",
            "chrome",
            "chrome-extension",
            "moz-extension",
            "ms-settings",
            "intent",
            "content",
            "jar",
            "mailto",
            "tel",
            "sms",
            "ftp",
            "ws",
            "wss",
            "resource",
            "urn",
        ] {
            for text in [
                format!("{scheme}://h.example.com/x"),
                format!("{}:/x", scheme.to_ascii_uppercase()),
                format!(" {scheme}://h.example.com/"),
                format!("{}\t{}://h.example.com/", &scheme[..1], &scheme[1..]),
                format!("{scheme}:\n//h.example.com/"),
            ] {
                assert_eq!(parse(&text), None, "{text:?}");
            }
        }
        assert_eq!(parse("cursor:callback"), None);
    }

    #[test]
    fn a10_a23_a29_hosts_in_disguise_and_our_own_are_refused() {
        for text in [
            "http://evil.example.com/cb",
            "http://localhost.evil.example.com/cb",
            "http://127.0.0.1.evil.example.com/cb",
            "http://127.1/cb",
            "http://0x7f.1/cb",
            "http://2130706433/cb",
            "http://0177.0.0.1/cb",
            "http://[::ffff:7f00:1]/cb",
            "http://0.0.0.0/cb",
            "http://LOCALHOST/cb",
            "https://127.0.0.1/cb",
            "https://localhost/cb",
            "https://intranet/cb",
            "https://10.0.0.8/cb",
            "https://claude.ai@evil.example.com/",
            "https://evil.example.com#@claude.ai",
            "https://claude.ai./cb",
            "https://mcp.example.org/callback",
            "https://MCP.example.org:8443/callback",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(RedirectUri::parse("http://localhost:8787/callback", "localhost:8787").is_none());
        for (text, origin) in [
            (
                "https://claude.ai.evil.test/",
                "https://claude.ai.evil.test",
            ),
            ("https://evil.test/claude.ai", "https://evil.test"),
        ] {
            assert_eq!(parse(text).unwrap().origin(), origin);
        }
    }

    #[test]
    fn a26_a_query_must_not_prepare_our_answer() {
        for query in [
            "code=1",
            "x=1&state=y",
            "iss",
            "err%6Fr=1",
            "response=",
            "+code=1",
        ] {
            assert_eq!(
                parse(&format!("https://h.example.com/cb?{query}")),
                None,
                "{query}"
            );
        }
        for (uri, joined) in [
            (
                "https://a.example.com/cb",
                "https://a.example.com/cb?code=1",
            ),
            (
                "https://a.example.com/cb?x=1",
                "https://a.example.com/cb?x=1&code=1",
            ),
            (
                "https://a.example.com/cb?",
                "https://a.example.com/cb?code=1",
            ),
            ("http://127.0.0.1:1234", "http://127.0.0.1:1234?code=1"),
            (
                "cursor://anysphere.cursor-mcp/oauth/callback",
                "cursor://anysphere.cursor-mcp/oauth/callback?code=1",
            ),
        ] {
            assert_eq!(parse(uri).unwrap().with_answer("code=1"), joined);
        }
    }

    #[track_caller]
    fn matches(registered: &str, presented: &str, good: bool) {
        let same =
            parse(presented).is_some_and(|uri| uri.digest() == parse(registered).unwrap().digest());
        assert_eq!(same, good, "{registered} and {presented}");
    }

    #[test]
    fn a21_only_the_registered_uri_matches() {
        let registered = "https://c.example.com/app/callback";
        matches(registered, registered, true);
        for other in [
            "https://c.example.com/app/callback/",
            "https://c.example.com/app/callback/../evil",
            "https://c.example.com/app/callback%2f..",
            "https://c.example.com/app/callback?x=1",
            "https://c.example.com/app/callback?",
            "https://c.example.com/app/callbackx",
            "https://c.example.com/app/Callback",
            "https://C.example.com/app/callback",
            "https://c.example.com./app/callback",
            "https://c.example.com:8443/app/callback",
            "https://c.example.com:443/app/callback",
            "https://c.example.com/app",
            "HTTPS://c.example.com/app/callback",
        ] {
            matches(registered, other, false);
        }
        matches("https://c.example.com", "https://c.example.com/", true);
    }

    #[test]
    fn a22_b16_b17_only_the_port_of_a_loopback_uri_is_free() {
        let registered = "http://127.0.0.1:33418/callback";
        for (other, good) in [
            ("http://127.0.0.1:54321/callback", true),
            ("http://127.0.0.1/callback", true),
            ("http://127.0.0.1:54321/callback/", false),
            ("http://127.0.0.1:54321/callback?x=1", false),
            ("http://localhost:54321/callback", false),
            ("http://127.0.0.2:54321/callback", false),
            ("http://[::1]:54321/callback", false),
            ("https://127.0.0.1:54321/callback", false),
        ] {
            matches(registered, other, good);
        }
        matches("http://127.0.0.1/", "http://127.0.0.1:54321", true);
        matches(
            "http://localhost/callback",
            "http://localhost:3118/callback",
            true,
        );
    }
}
