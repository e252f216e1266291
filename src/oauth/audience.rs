//! Which of our resources a token is for (RFC 8707), and the one reading of a `resource` value.

use serde::{Deserialize, Serialize};

use crate::oauth::uri::Uri;

/// The scope that every token has.
pub const SCOPE: &str = "mcp";
const RESOURCES_MAX: usize = 2;

/// A protected resource. `Origin` is the whole server: a token for it is good everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Origin,
    Mcp,
    McpCompat,
}

impl Resource {
    pub const ALL: [Self; 3] = [Self::Origin, Self::Mcp, Self::McpCompat];

    pub const fn path(self) -> &'static str {
        match self {
            Self::Origin => "",
            Self::Mcp => "/mcp",
            Self::McpCompat => "/mcp-compat",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Origin => "origin",
            Self::Mcp => "mcp",
            Self::McpCompat => "mcp-compat",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Origin => 1,
            Self::Mcp => 2,
            Self::McpCompat => 4,
        }
    }

    /// `issuer` is our origin in its canonical spelling. One trailing slash, the case of the host and of our two paths,
    /// and a default port that is written out are forgiven: clients normalise URLs in their own ways.
    pub fn parse(text: &str, issuer: &str) -> Option<Self> {
        let uri = Uri::parse(text)?;
        if uri.query.is_some() {
            return None;
        }
        let default = if uri.has_scheme("https") { 443 } else { 80 };
        let port = uri
            .port
            .filter(|port| *port != default)
            .map_or_else(String::new, |port| format!(":{port}"));
        let origin = format!("{}://{}{port}", uri.scheme, uri.host).to_ascii_lowercase();
        if origin != issuer {
            return None;
        }
        let path = uri.path.strip_suffix('/').unwrap_or(uri.path);
        Self::ALL
            .into_iter()
            .find(|resource| path.eq_ignore_ascii_case(resource.path()))
    }
}

/// A non-empty set of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Audience(u8);

impl Audience {
    pub const ORIGIN: Self = Self(1);

    /// The values of `resource` in a request; `None` when there is none.
    pub fn parse(values: &[&str], issuer: &str) -> Result<Option<Self>, NotOurs> {
        if values.len() > RESOURCES_MAX {
            return Err(NotOurs);
        }
        let mut bits = 0;
        for value in values {
            bits |= Resource::parse(value, issuer).ok_or(NotOurs)?.bit();
        }
        Ok((bits != 0).then_some(Self(bits)))
    }

    pub fn only(resource: Resource) -> Self {
        Self(resource.bit())
    }

    pub fn resources(self) -> impl Iterator<Item = Resource> {
        Resource::ALL
            .into_iter()
            .filter(move |resource| self.0 & resource.bit() != 0)
    }

    /// Whether a token for this audience is good at `resource`.
    pub fn covers(self, resource: Resource) -> bool {
        self.0 & (Resource::Origin.bit() | resource.bit()) != 0
    }

    /// Whether everything in `asked` is within what was granted.
    pub fn contains(self, asked: Self) -> bool {
        asked.resources().all(|resource| self.covers(resource))
    }

    /// The names, as they enter derived tokens.
    pub fn text(self) -> String {
        let names: Vec<_> = self.resources().map(Resource::name).collect();
        names.join(" ")
    }

    pub fn names(self) -> Vec<&'static str> {
        self.resources().map(Resource::name).collect()
    }

    pub fn from_names(names: &[String]) -> Option<Self> {
        let mut bits = 0;
        for name in names {
            bits |= Resource::ALL
                .into_iter()
                .find(|resource| resource.name() == name)?
                .bit();
        }
        Self::try_from(bits).ok()
    }
}

/// A `resource` that is not one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOurs;

impl TryFrom<u8> for Audience {
    type Error = &'static str;

    fn try_from(bits: u8) -> Result<Self, Self::Error> {
        if (1..8).contains(&bits) {
            Ok(Self(bits))
        } else {
            Err("an audience is a set of one to three resources")
        }
    }
}

impl From<Audience> for u8 {
    fn from(audience: Audience) -> Self {
        audience.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Audience, NotOurs, Resource};

    #[test]
    fn b44_spellings_of_our_resources() {
        use Resource::{Mcp, McpCompat, Origin};
        for (text, resource) in [
            ("https://h.example.com", Some(Origin)),
            ("https://h.example.com/", Some(Origin)),
            ("https://H.example.com:443/mcp", Some(Mcp)),
            ("https://h.example.com/mcp/", Some(Mcp)),
            ("https://h.example.com/MCP-Compat", Some(McpCompat)),
            ("https://h.example.com/mcp-other", None),
            ("https://h.example.com/mcp//", None),
            ("https://h.example.com/mcp?x", None),
            ("https://h.example.com/sse", None),
            ("https://h.example.com:8443/mcp", None),
            ("http://h.example.com/mcp", None),
            ("https://evil.example.com/mcp", None),
            ("https://h.example.com/mcp#x", None),
            ("/mcp", None),
        ] {
            assert_eq!(
                Resource::parse(text, "https://h.example.com"),
                resource,
                "{text}"
            );
        }
    }

    #[test]
    fn an_audience_covers_what_it_names_and_the_origin_everything() {
        let parse = |values: &[&str]| Audience::parse(values, "http://localhost:8787");
        let mcp = parse(&["http://localhost:8787/mcp"]).unwrap().unwrap();
        let both = parse(&[
            "http://localhost:8787/mcp",
            "http://localhost:8787/mcp-compat/",
        ])
        .unwrap()
        .unwrap();
        assert!(mcp.covers(Resource::Mcp) && !mcp.covers(Resource::McpCompat));
        assert!(!mcp.covers(Resource::Origin) && !mcp.contains(both) && both.contains(mcp));
        assert!(Audience::ORIGIN.contains(both) && !both.contains(Audience::ORIGIN));
        assert_eq!(both.text(), "mcp mcp-compat");
        assert_eq!(parse(&[]), Ok(None));
        assert_eq!(parse(&["http://localhost:8787/", "x"]), Err(NotOurs));
        assert_eq!(parse(&["http://localhost:8787/"; 3]), Err(NotOurs));
        assert!(Audience::try_from(0).is_err() && Audience::try_from(8).is_err());
    }
}
