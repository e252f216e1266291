//! The deployment under examination: how it is asked, and what it says of itself.

use http::{HeaderMap, Request};
use serde_json::Value;

use crate::command::doctor::Finding;
use crate::command::https::Https;
use crate::config::Origin;

pub(super) struct Patient<'a> {
    pub(super) origin: String,
    pub(super) token: Option<&'a str>,
    /// What `/healthz` answered.
    pub(super) health: Answer,
    https: &'a dyn Https,
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|it| it.to_str().ok()).unwrap_or_default()
    }
}

impl<'a> Patient<'a> {
    /// Finds out whether anything of ours answers there at all.
    pub(super) fn meet(
        origin: &Origin,
        token: Option<&'a str>,
        https: &'a dyn Https,
    ) -> Result<Self, Finding> {
        let mut patient = Self {
            origin: origin.to_string(),
            token,
            health: Answer {
                status: 0,
                headers: HeaderMap::new(),
                body: Vec::new(),
            },
            https,
        };
        patient.health = patient.get("/healthz", &[])?;
        if patient.health.json().get("authentication").is_none() {
            return Err(wrong(
                format!(
                    "/healthz answers {}, and not as Durable Thinking does",
                    patient.health.status
                ),
                "check the address. With a domain of your own, its DNS must lead to the Worker; a 403 that says so means that ALLOWED_HOSTNAMES or PUBLIC_ORIGIN does not name it; \
                 a page of Cloudflare's means that a rule or Access stands before it",
            ));
        }
        Ok(patient)
    }

    pub(super) fn sign_in_is_open(&self) -> bool {
        self.health.json().pointer("/authentication/signIn") == Some(&Value::Bool(true))
    }

    pub(super) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Result<Answer, Finding> {
        self.send("GET", path, headers, Vec::new())
    }

    pub(super) fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Answer, Finding> {
        let all = [&[("content-type", "application/json")], headers].concat();
        self.send("POST", path, &all, body.to_string().into_bytes())
    }

    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Answer, Finding> {
        let mut builder = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.origin));
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let request = builder.body(body).map_err(|_| {
            wrong(
                "the request cannot be made",
                "check the address and the token for stray characters",
            )
        })?;
        let response = self.https.send(request).map_err(|error| {
            wrong(
                format!("{method} {path} got no answer: {error}"),
                "check the address and this machine's connection",
            )
        })?;
        let (parts, body) = response.into_parts();
        Ok(Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        })
    }
}

pub(super) fn wrong(what: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding::Wrong {
        what: what.into(),
        fix: fix.into(),
    }
}

/// `Err` unless it holds.
pub(super) fn require(
    holds: bool,
    what: impl FnOnce() -> String,
    fix: &str,
) -> Result<(), Finding> {
    if holds {
        Ok(())
    } else {
        Err(wrong(what(), fix))
    }
}
