//! One strict reading of absolute URIs: what browsers and servers could read differently is refused, never repaired.
//!
//! Which schemes and hosts are welcome is left to `redirect`, `audience` and `document`.

pub const URI_BYTES_MAX: usize = 512;

/// The parts of a URI, borrowed from its text and unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uri<'a> {
    pub scheme: &'a str,
    /// Empty when the URI has no `//`.
    pub host: &'a str,
    pub port: Option<u16>,
    pub path: &'a str,
    pub query: Option<&'a str>,
}

impl<'a> Uri<'a> {
    pub fn parse(text: &'a str) -> Option<Self> {
        if text.is_empty() || text.len() > URI_BYTES_MAX || !text.bytes().all(is_plain) {
            return None;
        }
        let (scheme, rest) = text.split_once(':')?;
        let mut letters = scheme.bytes();
        let is_scheme = letters
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic())
            && letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme || !escapes_are_complete(rest) {
            return None;
        }
        let (before, query) = match rest.split_once('?') {
            Some((before, query)) => (before, Some(query)),
            None => (rest, None),
        };
        let (host, port, path) = if let Some(after) = before.strip_prefix("//") {
            let end = after.find('/').unwrap_or(after.len());
            let (authority, path) = after.split_at_checked(end)?;
            let (host, port) = split_authority(authority)?;
            (host, port, path)
        } else {
            ("", None, before)
        };
        is_straight(path).then_some(Self {
            scheme,
            host,
            port,
            path,
            query,
        })
    }

    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// The path, where an empty one means the same as `/`.
    pub fn path_or_root(&self) -> &'a str {
        if self.path.is_empty() { "/" } else { self.path }
    }

    /// A name such as `claude.ai`: letters, digits and hyphens in at least two labels, and no address in disguise.
    pub fn has_public_host(&self) -> bool {
        let last = last_label(self.host);
        is_host_name(self.host)
            && self.host.contains('.')
            && !last.bytes().all(|byte| byte.is_ascii_digit())
            && !last.starts_with("0x")
            && last != "localhost"
    }

    /// A name that no public server can have (RFC 6761 and its kind): nothing to fetch from.
    pub fn has_reserved_host(&self) -> bool {
        const RESERVED: [&str; 8] = [
            "local", "internal", "test", "example", "invalid", "onion", "arpa", "alt",
        ];
        RESERVED.contains(&last_label(self.host).as_str())
    }

    /// This computer, written in a canonical form: `localhost`, `127.x.y.z` or `[::1]`.
    pub fn has_loopback_host(&self) -> bool {
        self.host == "localhost" || self.host == "[::1]" || is_loopback_v4(self.host)
    }
}

/// Visible ASCII without what parsers disagree on.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\\#*<>\"{}|^`".contains(&byte)
}

fn escapes_are_complete(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        after
            .as_bytes()
            .get(..2)
            .is_some_and(|escape| escape.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Host and port; no user, no escape, no empty port, no port without a host.
fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    if authority.contains(['@', '%']) {
        return None;
    }
    let (host, port) = match authority.rfind(':') {
        Some(colon) if !authority.ends_with(']') => {
            let (host, port) = authority.split_at_checked(colon)?;
            (host, Some(parse_port(port.strip_prefix(':')?)?))
        }
        _ => (authority, None),
    };
    let is_host = host == "[::1]" || host.bytes().all(|byte| !b"[]:".contains(&byte));
    let is_whole = !host.is_empty() || port.is_none();
    (is_host && is_whole).then_some((host, port))
}

fn parse_port(text: &str) -> Option<u16> {
    let port: u16 = text.parse().ok()?;
    (port > 0 && port.to_string() == text).then_some(port)
}

/// No step up or sideways in the path, not in an escape either.
fn is_straight(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    !["%2f", "%5c", "%2e"]
        .iter()
        .any(|trick| lower.contains(trick))
        && !path.split('/').any(|part| part == "." || part == "..")
}

fn is_host_name(host: &str) -> bool {
    host.len() <= 253
        && host.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

fn last_label(host: &str) -> String {
    host.rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

fn is_loopback_v4(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>()
        .is_ok_and(|address| address.is_loopback() && address.to_string() == host)
}

#[cfg(test)]
mod tests {
    use super::Uri;

    #[test]
    fn parts() {
        let uri = Uri::parse("https://h.example.com:8443/a%20b/c?d=e?f").unwrap();
        assert_eq!(
            (uri.scheme, uri.host, uri.port, uri.path, uri.query),
            (
                "https",
                "h.example.com",
                Some(8443),
                "/a%20b/c",
                Some("d=e?f")
            )
        );
        let app = Uri::parse("com.example.app:/oauth").unwrap();
        assert_eq!(
            (app.scheme, app.host, app.path),
            ("com.example.app", "", "/oauth")
        );
        let cursor = Uri::parse("cursor://anysphere.cursor-mcp/oauth/callback").unwrap();
        assert_eq!(
            (cursor.host, cursor.path),
            ("anysphere.cursor-mcp", "/oauth/callback")
        );
        assert_eq!(Uri::parse("http://[::1]:80/x").unwrap().host, "[::1]");
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for text in [
            "",
            "https",
            "https://a b.example.com/",
            "https://claude.ai\\@evil.example.com/",
            "https://claude.ai@evil.example.com/",
            "https://evil.example.com#@claude.ai",
            "https://h.example.com/#",
            "https://*.example.com/",
            "cursor://:43/cb",
            "https://h.example.com/a/../b",
            "https://h.example.com/a/./b",
            "https://h.example.com/a%2f..%2fb",
            "https://h.example.com/%2E%2e/b",
            "https://h.example.com/%5cb",
            "https://h.example.com/%",
            "https://h.example.com/%4",
            "https://h.example.com:/",
            "https://h.example.com:080/",
            "https://h.example.com:0/",
            "https://h.example.com:65536/",
            "https://h%2eexample.com/",
            "https://\u{441}laude.ai/",
            "https://h.example.com/\t",
            "https://h.example.com/\r\nx",
            "java\tscript:alert(1)",
            " https://h.example.com/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::1/",
            "://x",
            "1http://x",
        ] {
            assert_eq!(Uri::parse(text), None, "{text:?}");
        }
        assert_eq!(
            Uri::parse(&format!("https://h.example.com/{}", "a".repeat(500))),
            None
        );
    }

    #[test]
    fn a_public_host_is_a_name_and_a_loopback_host_is_canonical() {
        for (host, public, loopback) in [
            ("claude.ai", true, false),
            ("xn--lude-7cd.ai", true, false),
            ("Claude.AI", true, false),
            ("localhost", false, true),
            ("127.0.0.1", false, true),
            ("127.0.0.2", false, true),
            ("[::1]", false, true),
            ("LOCALHOST", false, false),
            ("127.1", false, false),
            ("0x7f.1", false, false),
            ("127.0.0.0x1", false, false),
            ("2130706433", false, false),
            ("0177.0.0.1", false, false),
            ("127.000.0.1", false, false),
            ("0.0.0.0", false, false),
            ("10.0.0.1", false, false),
            ("single", false, false),
            ("claude.ai.", false, false),
            (".claude.ai", false, false),
            ("a..b", false, false),
            ("-a.example.com", false, false),
            ("a_b.example.com", false, false),
            ("printer.local", true, false),
            ("app.localhost", false, false),
            ("localhost.evil.com", true, false),
            ("127.0.0.1.evil.com", true, false),
        ] {
            let text = format!("http://{host}/");
            let uri = Uri::parse(&text).unwrap();
            assert_eq!(uri.has_public_host(), public, "{host}");
            assert_eq!(uri.has_loopback_host(), loopback, "{host}");
        }
    }
}
