//! The owner's commands over a running server: who has access, and to end it. What the server does is left to the server.

use std::fmt::Write as _;

use clap::Subcommand;
use http::{Method, Request};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::command::https::Https;
use crate::config::Origin;

/// What the owner can ask a server.
#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    /// Lists who has access: client, where its access goes, account, since when, last used
    Grants,
    /// Ends one grant, by its number in the list
    Revoke { grant: i64 },
    /// Ends every grant: each client signs in again
    RevokeAll,
    /// Makes a new root key; what older keys sealed stays good
    RotateKey {
        /// Drop the older keys at once: every client registers and signs in again
        #[arg(long)]
        forget: bool,
    },
    /// Forgets which account number a login had when it was first seen
    ClearPin { login: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Grant {
    #[serde(rename = "grant")]
    number: i64,
    client_name: String,
    redirect_origin: String,
    login: String,
    created: u64,
    last_used: u64,
}

/// Asks, and puts the answer into words. The error says what to do.
pub fn ask(origin: &Origin, token: &str, task: &Task, https: &dyn Https) -> Result<String, String> {
    let (method, path, body) = match task {
        Task::Grants => (Method::GET, "grants".to_owned(), Value::Null),
        Task::Revoke { grant } => (Method::DELETE, format!("grants/{grant}"), Value::Null),
        Task::RevokeAll => (Method::POST, "revoke-all".to_owned(), Value::Null),
        Task::RotateKey { forget } => (
            Method::POST,
            "rotate-key".to_owned(),
            json!({ "forget": forget }),
        ),
        Task::ClearPin { login } => (
            Method::POST,
            "clear-pin".to_owned(),
            json!({ "login": login }),
        ),
    };
    let body = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    let request = Request::builder()
        .method(method)
        .uri(format!("{origin}/admin/oauth/{path}"))
        .header("authorization", format!("Bearer {token}"))
        .body(body)
        .map_err(|_| "the token holds a character that no token has".to_owned())?;
    let response = https.send(request)?;
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    match response.status().as_u16() {
        200 => Ok(words(task, &answer)),
        401 => Err(
            "the server does not take this token: MCP_API_TOKEN is the one it was set up with"
                .to_owned(),
        ),
        404 => Err("there is no such grant; `owner URL grants` lists them".to_owned()),
        status => {
            let reason = answer.get("error_description").and_then(Value::as_str);
            Err(format!(
                "the server answered {status}: {}",
                reason.unwrap_or("no reason given")
            ))
        }
    }
}

fn words(task: &Task, answer: &Value) -> String {
    match task {
        Task::Grants => {
            let grants = answer.get("grants").cloned().unwrap_or_default();
            table(&serde_json::from_value::<Vec<Grant>>(grants).unwrap_or_default())
        }
        Task::Revoke { grant } => format!("Grant {grant} is over."),
        Task::RevokeAll => "Every grant is over.".to_owned(),
        Task::RotateKey { forget } => {
            let number = answer
                .get("currentKey")
                .and_then(Value::as_u64)
                .unwrap_or_default();
            let older = if *forget {
                "The older keys are gone."
            } else {
                "Older keys still verify."
            };
            format!("Root key {number} is in use. {older}")
        }
        Task::ClearPin { login } => match answer.get("changed").and_then(Value::as_bool) {
            Some(true) => format!("Whoever signs in as {login} next is taken for {login}."),
            _ => format!("No account number was kept for {login}."),
        },
    }
}

fn table(grants: &[Grant]) -> String {
    if grants.is_empty() {
        return "Nobody has signed in.".to_owned();
    }
    let mut text = String::new();
    for grant in grants {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>4}  {} at {}, {}; since {}, last used {}",
            grant.number,
            grant.client_name,
            grant.redirect_origin,
            grant.login,
            date(grant.created),
            date(grant.last_used),
        );
    }
    text.truncate(text.trim_end().len());
    text
}

fn date(seconds: u64) -> String {
    let mut text = Timestamp::from_milliseconds(seconds.saturating_mul(1000)).to_rfc3339();
    text.truncate(16);
    text.replace('T', " ")
}
