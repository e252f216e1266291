//! What the sign-in needs from its host, and the events that it reports. A host fills all of these on one struct.

use std::fmt;
use std::future::Future;

use http::{Request, Response};
use serde::Serialize;

use crate::fresh::Fresh;
use crate::oauth::vault::message::{Answer, Ask};

/// Storage or another server could not be asked. Never an answer about a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble;

/// The vault's object.
pub trait Vault {
    fn ask(&self, ask: &Ask) -> impl Future<Output = Result<Answer, Trouble>>;
}

/// The cache of live access tokens. It may lag, miss and fail; it never decides that something does not exist.
pub trait Kv {
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<String>, Trouble>>;
    fn put(
        &self,
        key: &str,
        value: &str,
        ttl_seconds: u64,
    ) -> impl Future<Output = Result<(), Trouble>>;
    fn delete(&self, key: &str) -> impl Future<Output = Result<(), Trouble>>;
}

/// Requests to GitHub and to the hosts of client documents. Redirects are not followed; a body that is longer than
/// `bytes_max` and an answer that takes longer than `seconds` are trouble.
pub trait Fetch {
    fn fetch(
        &self,
        request: Request<Vec<u8>>,
        seconds: u32,
        bytes_max: usize,
    ) -> impl Future<Output = Result<Response<Vec<u8>>, Trouble>>;
}

/// The platform's rate limiter. Where there is none, everything is admitted.
pub trait Limits {
    fn admits(&self, limit: Limit, key: &str) -> impl Future<Output = bool>;
}

/// One rate limit. The figures stand with the binding; hosted clients share addresses, so they are generous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    Register,
    Authorize,
    Callback,
    /// Requests to client documents, all addresses together.
    Document,
    /// Checks of access tokens that turned out dead.
    Dead,
}

/// Work after the response was sent. Losing it costs speed or tidiness, never correctness.
pub trait Background {
    fn later(&self, task: Task);
}

pub enum Task {
    /// Put a live access token's record into the cache.
    Remember {
        key: String,
        record: String,
        ttl_seconds: u64,
    },
    /// Take dead tokens out of the cache.
    Purge { keys: Vec<String> },
    /// Give back the token that GitHub issued for one look at the account.
    DiscardGithubToken(Request<Vec<u8>>),
}

impl fmt::Debug for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Remember { .. } => "Remember",
            Self::Purge { .. } => "Purge",
            Self::DiscardGithubToken(_) => "DiscardGithubToken",
        })
    }
}

/// Does what was left for later. Failures are reported and forgotten.
pub async fn run<P: Ports>(task: Task, ports: &P) {
    const GITHUB_SECONDS: u32 = 8;
    let outcome = match task {
        Task::Remember {
            key,
            record,
            ttl_seconds,
        } => ports.put(&key, &record, ttl_seconds).await,
        Task::Purge { keys } => {
            let mut outcome = Ok(());
            for key in keys {
                outcome = outcome.and(ports.delete(&key).await);
            }
            outcome
        }
        Task::DiscardGithubToken(request) => ports
            .fetch(request, GITHUB_SECONDS, 64 * 1024)
            .await
            .map(|_| ()),
    };
    if outcome.is_err() {
        ports.note(Event::new("oauth.later", "failed"));
    }
}

/// Where events go.
pub trait Journal {
    fn note(&self, event: Event);
}

/// One line for the log: fixed words, hosts and numbers; nothing that lets anybody in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Empty when it belongs to no request.
    pub request_id: String,
    pub event: &'static str,
    pub reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github_id: Option<u64>,
    /// The client software, as a class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'static str>,
}

impl Event {
    pub fn new(event: &'static str, reason: &'static str) -> Self {
        Self {
            request_id: String::new(),
            event,
            reason,
            host: None,
            github_id: None,
            agent: None,
        }
    }

    /// Whether it tells of a fault, ours or of somebody that we ask, rather than of what a person did.
    pub fn is_fault(&self) -> bool {
        matches!(self.event, "vault.error" | "cache.error" | "oauth.later")
            || matches!(self.reason, "github_unavailable" | "github_misconfigured")
    }

    #[must_use]
    pub fn with_host(mut self, host: String) -> Self {
        self.host = Some(host);
        self
    }

    #[must_use]
    pub fn with_github_id(mut self, id: u64) -> Self {
        self.github_id = Some(id);
        self
    }
}

/// Everything together.
pub trait Ports: Vault + Kv + Fetch + Limits + Background + Journal {}

impl<T: Vault + Kv + Fetch + Limits + Background + Journal> Ports for T {}

/// Asks the vault, and once more at once: an object that was just moved answers the second time. For questions that
/// mean the same when asked twice.
pub async fn ask_twice<P: Ports>(ports: &P, fresh: &Fresh, ask: &Ask) -> Result<Answer, Trouble> {
    let answer = match ports.ask(ask).await {
        Ok(answer) => Ok(answer),
        Err(Trouble) => ports.ask(ask).await,
    };
    if answer.is_err() {
        let mut event = Event::new("vault.error", "unreachable");
        event.request_id = fresh.request_id();
        ports.note(event);
    }
    answer
}
