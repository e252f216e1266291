//! The owner's commands over a running server: who has access, to end it, and to free what nobody reaches any more.
//! What the server does is left to the server.

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
    /// Deletes every sequence that nothing was added to for so many days, and counts what went
    Purge {
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        days: u32,
    },
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
    let mut answer = send(origin, token, task, https)?;
    // A purge is done in portions.
    let mut more = answer.get("more").is_some_and(|more| *more == true);
    while more {
        let next = send(origin, token, task, https)?;
        more = next.get("more").is_some_and(|more| *more == true);
        for name in ["sequences", "thoughts", "bytes"] {
            let sum = count(&answer, name).saturating_add(count(&next, name));
            if let Some(total) = answer.as_object_mut() {
                total.insert(name.to_owned(), sum.into());
            }
        }
    }
    Ok(words(task, &answer))
}

fn count(answer: &Value, name: &str) -> u64 {
    answer.get(name).and_then(Value::as_u64).unwrap_or_default()
}

fn send(origin: &Origin, token: &str, task: &Task, https: &dyn Https) -> Result<Value, String> {
    let post = |path: &str, body: Value| (Method::POST, path.to_owned(), body.to_string());
    let (method, path, body) = match task {
        Task::Grants => (Method::GET, "oauth/grants".to_owned(), String::new()),
        Task::Revoke { grant } => {
            let path = format!("oauth/grants/{grant}");
            (Method::DELETE, path, String::new())
        }
        Task::RevokeAll => post("oauth/revoke-all", json!({})),
        Task::RotateKey { forget } => post("oauth/rotate-key", json!({ "forget": forget })),
        Task::ClearPin { login } => post("oauth/clear-pin", json!({ "login": login })),
        Task::Purge { days } => post("purge", json!({ "days": days })),
    };
    let request = Request::builder()
        .method(method)
        .uri(format!("{origin}/admin/{path}"))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(body.into_bytes())
        .map_err(|_| "the token holds a character that no token has".to_owned())?;
    let response = https.send(request)?;
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    match (response.status().as_u16(), task) {
        (200, _) => Ok(answer),
        (401, _) => Err(
            "the server does not take this token: MCP_API_TOKEN is the one it was set up with"
                .to_owned(),
        ),
        (404, Task::Revoke { .. }) => {
            Err("there is no such grant; `owner URL grants` lists them".to_owned())
        }
        (status, _) => {
            let reason = ["error_description", "message"];
            let reason = reason
                .iter()
                .find_map(|name| answer.get(name).and_then(Value::as_str));
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
            let number = count(answer, "currentKey");
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
        Task::Purge { .. } => format!(
            "Deleted: {} sequences with {} thoughts, {} bytes of sealed text.",
            count(answer, "sequences"),
            count(answer, "thoughts"),
            count(answer, "bytes"),
        ),
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
