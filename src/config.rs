//! Everything that the environment says, read once and strictly.
//!
//! A value that cannot be understood is a [`Problem`] that `/healthz` reports, never a guess. Where the values come from
//! is left to the hosts.

use std::rc::Rc;

use crate::auth::{self, StaticTokens};
use crate::oauth::settings::Settings as SignInSettings;
use crate::settings::{Problem, Settings};

/// The hosted clients that run in a browser at these origins.
const HOSTED_ORIGINS: [&str; 7] = [
    "https://claude.ai",
    "https://www.claude.ai",
    "https://claude.com",
    "https://www.claude.com",
    "https://chatgpt.com",
    "https://www.chatgpt.com",
    "https://chat.openai.com",
];
const LIST_ITEMS_MAX: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct Config {
    pub settings: Settings,
    pub tokens: StaticTokens,
    pub hosts: Hosts,
    pub origins: Origins,
    pub sign_in: Rc<SignInSettings>,
    /// Whether `/mcp` serves the older protocols too, for clients that know no other path.
    pub legacy_on_strict: bool,
    pub problems: Vec<Problem>,
}

impl Config {
    /// Reads the variables and secrets by name. Absent and blank mean the same.
    pub fn parse(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| {
            lookup(name)
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
        };
        let (settings, mut problems) = Settings::parse(given);
        let (sign_in, more) = SignInSettings::parse(given);
        problems.extend(more);
        let mut token = |name: &'static str| {
            let token = given(name)?;
            match auth::check_token(&token) {
                Ok(()) => Some(token),
                Err(reason) => {
                    problems.push(Problem { name, reason });
                    None
                }
            }
        };
        let current = token("MCP_API_TOKEN");
        let previous = token("MCP_API_TOKEN_PREVIOUS");
        let tokens = StaticTokens::new(current.as_deref(), previous.as_deref());
        let hosts = Hosts {
            public: list(
                given("PUBLIC_ORIGIN"),
                "PUBLIC_ORIGIN",
                &mut problems,
                public_origin,
            ),
            names: list(
                given("ALLOWED_HOSTNAMES"),
                "ALLOWED_HOSTNAMES",
                &mut problems,
                hostname,
            ),
        };
        let origins = Origins {
            allowed: given("ALLOWED_ORIGIN_HOSTNAMES").map(|text| {
                list(
                    Some(text),
                    "ALLOWED_ORIGIN_HOSTNAMES",
                    &mut problems,
                    origin_or_hostname,
                )
            }),
        };
        let legacy_on_strict = match given("MCP_LEGACY_ON_STRICT").as_deref() {
            None | Some("0" | "false" | "off") => false,
            Some("1" | "true" | "on") => true,
            Some(_) => {
                problems.push(Problem {
                    name: "MCP_LEGACY_ON_STRICT",
                    reason: "must be true or false".to_owned(),
                });
                false
            }
        };
        Self {
            settings,
            tokens,
            hosts,
            origins,
            sign_in: Rc::new(sign_in),
            legacy_on_strict,
            problems,
        }
    }
}

/// Reads a list with commas. One item that cannot be understood is one problem; the others count.
fn list<T>(
    text: Option<String>,
    name: &'static str,
    problems: &mut Vec<Problem>,
    parse: impl Fn(&str) -> Option<T>,
) -> Vec<T> {
    let mut items = Vec::new();
    for item in text.unwrap_or_default().split(',').map(str::trim) {
        if item.is_empty() {
            continue;
        }
        match parse(&item.to_ascii_lowercase()) {
            Some(item) if items.len() < LIST_ITEMS_MAX => items.push(item),
            _ => problems.push(Problem {
                name,
                reason: format!(
                    "item {} cannot be understood",
                    items.len().saturating_add(1)
                ),
            }),
        }
    }
    items
}

fn public_origin(text: &str) -> Option<Origin> {
    Origin::parse(text).filter(|origin| origin.scheme == "https" || is_loopback(&origin.host))
}

fn hostname(text: &str) -> Option<String> {
    Origin::parse(&format!("https://{text}"))
        .filter(|origin| origin.port.is_none())
        .map(|origin| origin.host)
}

fn origin_or_hostname(text: &str) -> Option<Origin> {
    if text.contains("://") {
        Origin::parse(text)
    } else {
        Origin::parse(&format!("https://{text}")).filter(|origin| origin.port.is_none())
    }
}

/// Scheme, host and port, compared whole (RFC 6454). A default port is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub scheme: String,
    pub host: String,
    pub port: Option<u16>,
}

impl Origin {
    /// Reads `scheme://host[:port]` and nothing longer.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        Self::of(scheme, authority)
    }

    /// Of `host[:port]` under a scheme.
    pub fn of(scheme: &str, authority: &str) -> Option<Self> {
        let is_scheme = !scheme.is_empty()
            && scheme.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
            });
        let (host, port) = split_authority(authority)?;
        let default = match scheme {
            "https" => Some(443),
            "http" => Some(80),
            _ => None,
        };
        is_scheme.then(|| Self {
            scheme: scheme.to_owned(),
            host,
            port: port.filter(|port| Some(*port) != default),
        })
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for part in [&self.scheme, "://", &self.host] {
            formatter.write_str(part)?;
        }
        match self.port {
            Some(port) => write!(formatter, ":{port}"),
            None => Ok(()),
        }
    }
}

/// Splits `host[:port]`, with the host in lower case and an IPv6 address in its brackets.
fn split_authority(authority: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = if authority.starts_with('[') {
        authority.split_at_checked(authority.find(']')?.saturating_add(1))?
    } else {
        authority.split_at_checked(authority.find(':').unwrap_or(authority.len()))?
    };
    let port = match port.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse().ok()?)
        }
        None if port.is_empty() => None,
        _ => return None,
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_address = |byte: u8| byte.is_ascii_hexdigit() || b":.[]".contains(&byte);
    let is_host = !host.is_empty()
        && (host.bytes().all(is_name) || (host.starts_with('[') && host.bytes().all(is_address)));
    is_host.then(|| (host.to_ascii_lowercase(), port))
}

pub fn is_loopback(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

/// The hosts that this deployment answers for.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    public: Vec<Origin>,
    names: Vec<String>,
}

impl Hosts {
    /// Whether a request for `own` is ours: a host that is configured, or, while none is, one that nobody else can
    /// have pointed here: `*.workers.dev` and loopback.
    pub fn admit(&self, own: &Origin) -> bool {
        if self.public.is_empty() && self.names.is_empty() {
            return own.is_loopback() || own.host.ends_with(".workers.dev");
        }
        self.names.contains(&own.host) || self.public.iter().any(|public| public.host == own.host)
    }

    /// The origin that this deployment calls itself: in metadata, in challenges, as the issuer.
    pub fn canonical(&self, own: &Origin) -> Origin {
        let configured = self.public.iter().find(|public| *public == own);
        match (configured.or(self.public.first()), self.names.first()) {
            (Some(public), _) => public.clone(),
            (None, Some(name)) => Origin {
                scheme: "https".to_owned(),
                host: name.clone(),
                port: None,
            },
            (None, None) => own.clone(),
        }
    }
}

/// The origins whose pages may call.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Replaces the hosted clients when it is set.
    allowed: Option<Vec<Origin>>,
}

impl Origins {
    /// Whether a page of `origin` may call a server that is itself at `own`.
    pub fn admit(&self, origin: &Origin, own: &Origin, canonical: &Origin) -> bool {
        if origin == own || origin == canonical || (own.is_loopback() && origin.is_loopback()) {
            return true;
        }
        match &self.allowed {
            Some(allowed) => allowed.contains(origin),
            None => HOSTED_ORIGINS.contains(&origin.to_string().as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, Origin};

    fn config(pairs: &[(&str, &str)]) -> Config {
        Config::parse(|name| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn origin(text: &str) -> Origin {
        Origin::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn values_that_cannot_be_understood_are_named() {
        for (name, value, problems) in [
            ("MCP_API_TOKEN", "short", 1),
            ("MCP_API_TOKEN", "0123456789abcdef0123456789abcdef", 0),
            ("MCP_API_TOKEN_PREVIOUS", "short", 1),
            (
                "PUBLIC_ORIGIN",
                "https://a.example, http://127.0.0.1:8787",
                0,
            ),
            ("PUBLIC_ORIGIN", "http://a.example", 1),
            ("PUBLIC_ORIGIN", "https://a.example/", 1),
            ("ALLOWED_HOSTNAMES", "a.example,,b.example", 0),
            ("ALLOWED_HOSTNAMES", "https://a.example", 1),
            (
                "ALLOWED_ORIGIN_HOSTNAMES",
                "a.example, http://b.example:81",
                0,
            ),
            ("ALLOWED_ORIGIN_HOSTNAMES", "*", 1),
            ("MCP_LEGACY_ON_STRICT", "true", 0),
            ("MCP_LEGACY_ON_STRICT", "yes please", 1),
            ("LOOP_GUARD", "loud", 1),
        ] {
            let found = config(&[(name, value)]).problems;
            assert_eq!(found.len(), problems, "{name}={value}: {found:?}");
            assert!(found.iter().all(|problem| problem.name == name));
            assert!(
                !format!("{found:?}").contains("short"),
                "a secret is repeated"
            );
        }
    }

    #[test]
    fn origins_are_read_whole() {
        for (text, shown) in [
            ("https://a.example:443", Some("https://a.example")),
            ("http://a.example:443", Some("http://a.example:443")),
            ("http://[::1]:80", Some("http://[::1]")),
            ("null", None),
            ("https://", None),
            ("https://a.example/x", None),
            ("https://a.example:", None),
            ("https://a.example:+1", None),
            ("https://u@a.example", None),
            ("https://a.example:99999", None),
        ] {
            let found = Origin::parse(text).map(|origin| origin.to_string());
            assert_eq!(found.as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn hosts_and_origins_follow_the_configuration() {
        let (worker, local) = (
            origin("https://x.workers.dev"),
            origin("http://127.0.0.1:8787"),
        );
        let (own, other) = (origin("https://a.example"), origin("https://b.example"));
        let none = config(&[]);
        assert!(none.hosts.admit(&worker) && none.hosts.admit(&local));
        assert!(!none.hosts.admit(&own));
        assert_eq!(none.hosts.canonical(&local), local);
        let claude = origin("https://claude.ai");
        assert!(none.origins.admit(&claude, &worker, &worker));
        assert!(
            !none
                .origins
                .admit(&origin("http://claude.ai"), &worker, &worker)
        );
        assert!(!none.origins.admit(&local, &worker, &worker));
        assert!(
            none.origins
                .admit(&origin("http://localhost:1"), &local, &local)
        );

        let set = config(&[
            ("ALLOWED_HOSTNAMES", "A.example, b.example"),
            ("ALLOWED_ORIGIN_HOSTNAMES", "b.example"),
        ]);
        assert!(set.hosts.admit(&own) && set.hosts.admit(&other) && !set.hosts.admit(&worker));
        assert_eq!(set.hosts.canonical(&other), own);
        assert!(set.origins.admit(&other, &own, &own));
        assert!(set.origins.admit(&own, &own, &own));
        assert!(!set.origins.admit(&claude, &own, &own));

        let public = config(&[
            ("PUBLIC_ORIGIN", "https://p.example,https://q.example"),
            ("ALLOWED_HOSTNAMES", "a.example"),
        ]);
        assert_eq!(public.hosts.canonical(&own), origin("https://p.example"));
        assert_eq!(
            public.hosts.canonical(&origin("https://q.example")),
            origin("https://q.example")
        );
    }
}
