//! What the owner can see and end, with the static token: grants, everything at once, the root key, pins, clients.

use http::Method;
use serde_json::Value;

use crate::auth::{Credential, Endpoint, StaticTokens, challenge};
use crate::json::json;
use crate::oauth::form;
use crate::oauth::port::{Event, Ports};
use crate::oauth::reply::{self, Reply};
use crate::oauth::sign_in::Turn;
use crate::oauth::vault::message::{Answer, Ask};
use crate::oauth::verify;

const ROOT: &str = "/admin/oauth/";
const BODY_BYTES_MAX: usize = 8 * 1024;

pub(super) fn is_path(path: &str) -> bool {
    path.starts_with(ROOT)
}

/// Only the static token opens this, in the `Authorization` header; nothing here is for browsers.
pub(super) async fn answer<P: Ports>(turn: &Turn<'_, P>, tokens: &StaticTokens) -> Reply {
    if !is_owner(turn, tokens) {
        let mut reply = reply::problem(401, "unauthorized", "The static token is needed here.");
        let denial = crate::auth::Denial::Absent;
        let value = challenge(&denial, None, Endpoint::Any);
        reply::set_text(&mut reply, http::header::WWW_AUTHENTICATE, &value);
        return reply;
    }
    if turn.request.body().len() > BODY_BYTES_MAX {
        return reply::problem(413, "invalid_request", "The body is too large.");
    }
    let body = match turn.request.body().as_slice() {
        [] => Value::Null,
        bytes => match form::json(bytes) {
            Some(body) => body,
            None => return reply::problem(400, "invalid_request", "The body is not JSON."),
        },
    };
    let path = turn.request.uri().path();
    let Some(ask) = read(
        turn.request.method(),
        path.strip_prefix(ROOT).unwrap_or_default(),
        &body,
    ) else {
        return reply::problem(
            404,
            "not_found",
            "GET grants, DELETE grants/ID, POST revoke-all, POST rotate-key {\"forget\": bool}, \
             POST clear-pin {\"login\"}, POST clients {\"clientId\", \"denied\": bool}",
        );
    };
    // Once: rotating twice would rotate twice.
    match turn.ports.ask(&ask).await {
        Ok(answer) => {
            turn.note(Event::new("oauth.owner", word(&ask)));
            show(turn, &ask, answer)
        }
        Err(_) => reply::error(crate::oauth::error::Error::unavailable(), false),
    }
}

fn is_owner<P: Ports>(turn: &Turn<'_, P>, tokens: &StaticTokens) -> bool {
    match Credential::parse(turn.request.headers()) {
        Ok(Credential::Bearer(token)) => tokens.accept(token).is_some(),
        Ok(Credential::None) | Err(_) => false,
    }
}

fn read(method: &Method, rest: &str, body: &Value) -> Option<Ask> {
    let text = |name| body.get(name).and_then(Value::as_str).map(str::to_owned);
    let flag = |name| body.get(name).and_then(Value::as_bool);
    match (method.as_str(), rest) {
        ("GET", "grants") => Some(Ask::Grants),
        ("POST", "revoke-all") => Some(Ask::RevokeAll),
        ("POST", "rotate-key") => Some(Ask::RotateKeys {
            forget: flag("forget").unwrap_or(false),
        }),
        ("POST", "clear-pin") => Some(Ask::ClearPin {
            login: text("login")?,
        }),
        ("POST", "clients") => Some(Ask::DenyClient {
            client_id: text("clientId")?,
            denied: flag("denied")?,
        }),
        ("DELETE", grant) => Some(Ask::RevokeGrant {
            grant: grant.strip_prefix("grants/")?.parse().ok()?,
        }),
        _ => None,
    }
}

fn word(ask: &Ask) -> &'static str {
    match ask {
        Ask::Grants => "grants",
        Ask::RevokeGrant { .. } => "revoke_grant",
        Ask::RevokeAll => "revoke_all",
        Ask::RotateKeys { .. } => "rotate_key",
        Ask::ClearPin { .. } => "clear_pin",
        Ask::DenyClient { .. } => "deny_client",
        _ => "other",
    }
}

/// The root key itself never leaves: only its number does.
fn show<P: Ports>(turn: &Turn<'_, P>, ask: &Ask, answer: Answer) -> Reply {
    match answer {
        Answer::Grants { grants } => reply::json(200, &json!({ "grants": grants })),
        Answer::Keys { keys } => {
            turn.memory.forget_ring();
            let number = keys.first().map(|(number, _)| *number);
            reply::json(
                200,
                &json!({ "currentKey": number, "keysKept": keys.len() }),
            )
        }
        Answer::Revoked { dead } => {
            verify::purge(turn, &dead);
            reply::json(200, &json!({ "revoked": true, "accessTokens": dead.len() }))
        }
        Answer::Done { changed } if changed || !matches!(ask, Ask::RevokeGrant { .. }) => {
            reply::json(200, &json!({ "changed": changed }))
        }
        Answer::Done { .. } => reply::problem(404, "not_found", "There is no such grant."),
        _ => reply::error(crate::oauth::error::Error::unavailable(), false),
    }
}
