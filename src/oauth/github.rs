//! GitHub as the one who vouches: where to send a person, and two requests to learn who came back.
//!
//! The token is used for one look and given back; it is never stored.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, Method, Request, Response};
use serde_json::Value;

use crate::json::{self, json};
use crate::oauth::form::{self, encode};
use crate::oauth::pkce::s256;
use crate::oauth::port::{Fetch, Trouble};
use crate::oauth::settings::App;
use crate::oauth::vault::message::Identity;

const SECONDS: u32 = 8;
const ANSWER_BYTES_MAX: usize = 64 * 1024;
const AGENT: &str = "durable-thinking";
const VERSION: HeaderName = HeaderName::from_static("x-github-api-version");
const API_VERSION: &str = "2022-11-28";

/// The page of GitHub where a person says who they are. No scope: the public profile is enough.
pub fn authorize_url(app: &App, callback: &str, state: &str, verifier: &str) -> String {
    let query = encode(&[
        ("client_id", &app.client_id),
        ("redirect_uri", callback),
        ("state", state),
        ("code_challenge", &s256(verifier)),
        ("code_challenge_method", "S256"),
        ("allow_signup", "false"),
        ("prompt", "select_account"),
    ]);
    format!("{}/login/oauth/authorize?{query}", app.base)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Not reachable, overloaded, or answering nonsense: worth another try.
    Unavailable,
    /// The code was used or is too old: the same callback came twice, or much too late.
    StaleCode,
    /// The App's id, secret or callback address is not what GitHub knows.
    Misconfigured,
    /// Not the account of a person.
    NotAPerson,
}

impl From<Trouble> for Failure {
    fn from(Trouble: Trouble) -> Self {
        Self::Unavailable
    }
}

/// Who came back, and the request that gives the token back.
pub struct Visitor {
    pub identity: Identity,
    pub discard: Option<Request<Vec<u8>>>,
}

pub async fn identify<F: Fetch>(
    fetch: &F,
    app: &App,
    code: &str,
    callback: &str,
    verifier: &str,
) -> Result<Visitor, Failure> {
    let token = exchange(fetch, app, code, callback, verifier).await?;
    let request = Request::get(format!("{}/user", app.api))
        .header(ACCEPT, "application/vnd.github+json")
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .header(USER_AGENT, AGENT)
        .header(VERSION, API_VERSION)
        .body(Vec::new())
        .map_err(|_| Failure::Unavailable)?;
    let response = fetch.fetch(request, SECONDS, ANSWER_BYTES_MAX).await?;
    let user = read(&response)?;
    let text = |name| user.get(name).and_then(Value::as_str);
    let (Some(id), Some(login)) = (user.get("id").and_then(Value::as_u64), text("login")) else {
        return Err(Failure::Unavailable);
    };
    if text("type") != Some("User") || login.is_empty() {
        return Err(Failure::NotAPerson);
    }
    Ok(Visitor {
        identity: Identity {
            base: app.base.clone(),
            github_id: id,
            login: login.to_owned(),
        },
        discard: discard(app, &token),
    })
}

/// GitHub answers errors with status 200 and an `error` member.
async fn exchange<F: Fetch>(
    fetch: &F,
    app: &App,
    code: &str,
    callback: &str,
    verifier: &str,
) -> Result<String, Failure> {
    let body = encode(&[
        ("client_id", &app.client_id),
        ("client_secret", &app.client_secret),
        ("code", code),
        ("redirect_uri", callback),
        ("code_verifier", verifier),
    ]);
    let request = Request::post(format!("{}/login/oauth/access_token", app.base))
        .header(ACCEPT, "application/json")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(USER_AGENT, AGENT)
        .body(body.into_bytes())
        .map_err(|_| Failure::Unavailable)?;
    let response = fetch.fetch(request, SECONDS, ANSWER_BYTES_MAX).await?;
    let answer = read(&response)?;
    if let Some(token) = answer.get("access_token").and_then(Value::as_str)
        && is_header_text(token)
    {
        return Ok(token.to_owned());
    }
    match answer.get("error").and_then(Value::as_str) {
        Some("bad_verification_code") => Err(Failure::StaleCode),
        Some("incorrect_client_credentials" | "redirect_uri_mismatch") => {
            Err(Failure::Misconfigured)
        }
        _ => Err(Failure::Unavailable),
    }
}

fn read(response: &Response<Vec<u8>>) -> Result<Value, Failure> {
    if !response.status().is_success() || !is_json(response.headers()) {
        return Err(Failure::Unavailable);
    }
    form::json(response.body()).ok_or(Failure::Unavailable)
}

/// `DELETE /applications/{id}/token`: ends this one token, not the person's permission.
fn discard(app: &App, token: &str) -> Option<Request<Vec<u8>>> {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let credentials = STANDARD.encode(format!("{}:{}", app.client_id, app.client_secret));
    Request::builder()
        .method(Method::DELETE)
        .uri(format!("{}/applications/{}/token", app.api, app.client_id))
        .header(ACCEPT, "application/vnd.github+json")
        .header(AUTHORIZATION, format!("Basic {credentials}"))
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, AGENT)
        .header("x-github-api-version", API_VERSION)
        .body(json::bytes(&json!({ "access_token": token })))
        .ok()
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .map(|value| {
            value
                .split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase()
        })
        .is_some_and(|value| {
            value == "application/json"
                || value.starts_with("application/") && value.ends_with("+json")
        })
}

fn is_header_text(text: &str) -> bool {
    !text.is_empty() && text.len() <= 512 && text.bytes().all(|byte| byte.is_ascii_graphic())
}
