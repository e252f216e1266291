//! `durable-thinking doctor URL`: asks a deployment everything that a client would, and says for each thing that is
//! wrong how to put it right.
//!
//! What is asked stands in the modules below, by subject; how requests travel is left to `https`.

mod mcp;
mod patient;
mod sign_in;
mod site;

use std::fmt;

use crate::command::https::Https;
use crate::config::Origin;

use patient::Patient;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// With what was seen.
    Well(String),
    Wrong {
        what: String,
        fix: String,
    },
    /// Not asked, with the reason.
    LeftOut(&'static str),
}

/// A check ends early when something is wrong.
type Verdict = Result<String, Finding>;

type Check = (&'static str, fn(&Patient<'_>) -> Verdict);

const CHECKS: [Check; 15] = [
    ("health", site::health),
    ("page", site::page),
    ("cors", site::cors),
    ("challenge", site::challenge),
    ("protected resource", sign_in::protected_resource),
    ("authorization server", sign_in::authorization_server),
    ("registration", sign_in::registration),
    ("redirects", sign_in::redirects),
    ("pkce", sign_in::pkce),
    ("consent page", sign_in::consent_page),
    ("token", mcp::token),
    ("/mcp-compat", mcp::compat),
    ("/mcp", mcp::modern),
    ("store", mcp::store),
    ("write, read, delete", mcp::round),
];

/// Everything that was found, in order.
#[derive(Debug)]
pub struct Report {
    origin: Origin,
    pub findings: Vec<(&'static str, Finding)>,
}

/// Examines the deployment at `origin`; with its token also what only the owner may do.
pub fn examine(origin: Origin, token: Option<&str>, https: &dyn Https) -> Report {
    let patient = match Patient::meet(&origin, token, https) {
        Ok(patient) => patient,
        Err(finding) => {
            let findings = vec![("address", finding)];
            return Report { origin, findings };
        }
    };
    let findings = CHECKS
        .iter()
        .map(|(name, check)| (*name, check(&patient).map_or_else(|it| it, Finding::Well)))
        .collect();
    Report { origin, findings }
}

/// Reads the address as people paste it: with a path behind it, or without a scheme.
pub fn parse_address(text: &str) -> Result<Origin, String> {
    let text = text.trim();
    let text = if text.contains("://") {
        text.to_owned()
    } else {
        format!("https://{text}")
    };
    let end = text
        .match_indices('/')
        .nth(2)
        .map_or(text.len(), |(at, _)| at);
    let origin = text
        .get(..end)
        .and_then(|origin| Origin::parse(&origin.to_ascii_lowercase()))
        .ok_or("that is no address such as https://durable-thinking.example.workers.dev")?;
    if origin.scheme != "https" && !origin.is_loopback() {
        return Err(
            "a deployment is reached with https; a token must not travel in the clear".to_owned(),
        );
    }
    Ok(origin)
}

impl Report {
    pub fn is_well(&self) -> bool {
        self.count(|finding| matches!(finding, Finding::Wrong { .. })) == 0
    }

    fn count(&self, which: impl Fn(&Finding) -> bool) -> usize {
        self.findings.iter().filter(|(_, it)| which(it)).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}\n", self.origin)?;
        for (name, finding) in &self.findings {
            match finding {
                Finding::Well(what) => writeln!(out, "  ok    {name}: {what}")?,
                Finding::Wrong { what, fix } => {
                    writeln!(out, "  FAIL  {name}: {what}\n        fix: {fix}")?;
                }
                Finding::LeftOut(why) => writeln!(out, "  -     {name}: left out, {why}")?,
            }
        }
        write!(
            out,
            "\n{} ok, {} failed, {} left out",
            self.count(|it| matches!(it, Finding::Well(_))),
            self.count(|it| matches!(it, Finding::Wrong { .. })),
            self.count(|it| matches!(it, Finding::LeftOut(_))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::parse_address;

    #[test]
    fn addresses_are_taken_as_people_paste_them() {
        for (text, origin) in [
            ("https://a.example", Some("https://a.example")),
            (" https://A.example/mcp-compat\n", Some("https://a.example")),
            ("a.example/mcp", Some("https://a.example")),
            ("http://127.0.0.1:8787/", Some("http://127.0.0.1:8787")),
            ("http://a.example", None),
            ("ftp://a.example", None),
            ("", None),
            ("https://", None),
        ] {
            let found = parse_address(text).map(|origin| origin.to_string());
            assert_eq!(found.ok().as_deref(), origin, "{text:?}");
        }
    }
}
