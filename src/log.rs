//! The log: one JSON object a line, for whoever runs the server. What each line says; printing it is left to the hosts.
//!
//! A line holds fixed words, numbers and request ids only. What a client sent or stored never gets here.

use serde::Serialize;

use crate::database::{Cost, DatabaseError};
use crate::oauth::port::Event;
use crate::settings::Problem;
use crate::transport::Access;

/// How much is logged. Each level includes those above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Off,
    Error,
    #[default]
    Info,
    Debug,
}

impl Level {
    pub fn parse(lookup: impl Fn(&str) -> Option<String>) -> (Self, Option<Problem>) {
        let text = lookup("LOG_LEVEL").unwrap_or_default();
        let level = match text.trim() {
            "" => Self::default(),
            "off" => Self::Off,
            "error" => Self::Error,
            "info" => Self::Info,
            "debug" => Self::Debug,
            _ => {
                let problem = Problem {
                    name: "LOG_LEVEL",
                    reason: "must be off, error, info or debug".to_owned(),
                };
                return (Self::default(), Some(problem));
            }
        };
        (level, None)
    }
}

/// A line and the level that asks for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub level: Level,
    pub text: String,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Entry<'a> {
    /// A request that was answered.
    #[serde(rename_all = "camelCase")]
    Access {
        request_id: &'a str,
        route: &'a str,
        status: u16,
        milliseconds: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        credential: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        method: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<&'a str>,
    },
    /// Something that the owner may want to know of later.
    #[serde(rename_all = "camelCase")]
    Audit { request_id: &'a str, event: &'a str },
    /// What retention deleted.
    #[serde(rename = "audit", rename_all = "camelCase")]
    Expired {
        request_id: &'a str,
        event: &'a str,
        sequences: u32,
        thoughts: u64,
    },
    /// A fault of ours: where it showed and of which kind it is.
    #[serde(rename_all = "camelCase")]
    Error {
        request_id: &'a str,
        stage: &'a str,
        reason: &'a str,
    },
    /// What a call cost in the object.
    #[serde(rename_all = "camelCase")]
    Cost {
        request_id: &'a str,
        call: &'a str,
        rows_read: u64,
        rows_written: u64,
    },
}

impl Entry<'_> {
    fn line(&self, level: Level) -> Line {
        Line {
            level,
            // Strings and numbers always serialize.
            text: serde_json::to_string(self).unwrap_or_default(),
        }
    }
}

/// The line of an answered request, and a second one for what the owner may want to know of later.
pub fn access(request_id: &str, status: u16, milliseconds: u64, access: &Access) -> Vec<Line> {
    let answered = Entry::Access {
        request_id,
        route: access.route,
        status,
        milliseconds,
        credential: access.credential,
        method: access.method,
        tool: access.tool,
        outcome: access.outcome,
    };
    let event = match (access.tool, access.route, access.outcome, status) {
        (Some("delete_thought_sequence"), _, Some("ok"), _) => Some("sequence_deleted"),
        (_, "/admin/purge", Some("ok"), _) => Some("sequences_purged"),
        (_, _, _, 401) => Some("credential_refused"),
        _ => None,
    };
    let audit = event.map(|event| Entry::Audit { request_id, event });
    std::iter::once(answered)
        .chain(audit)
        .map(|entry| entry.line(Level::Info))
        .collect()
}

/// The line of something that happened in the sign-in.
pub fn sign_in(event: &Event) -> Line {
    #[derive(Serialize)]
    struct Audit<'a> {
        kind: &'static str,
        #[serde(flatten)]
        event: &'a Event,
    }
    if event.is_fault() {
        return fault(&event.request_id, event.event, event.reason);
    }
    let audit = Audit {
        kind: "audit",
        event,
    };
    Line {
        level: Level::Info,
        // Strings and numbers always serialize.
        text: serde_json::to_string(&audit).unwrap_or_default(),
    }
}

/// The line of a fault, written once where it is met.
pub fn fault(request_id: &str, stage: &str, reason: &str) -> Line {
    let entry = Entry::Error {
        request_id,
        stage,
        reason,
    };
    entry.line(Level::Error)
}

/// A fault of the database. Its text names statements and columns of ours, never a value.
pub fn database_fault(request_id: &str, error: &DatabaseError) -> Line {
    fault(request_id, "store", &error.to_string())
}

pub fn expired(request_id: &str, sequences: u32, thoughts: u64) -> Line {
    let entry = Entry::Expired {
        request_id,
        event: "sequences_expired",
        sequences,
        thoughts,
    };
    entry.line(Level::Info)
}

pub fn cost(request_id: &str, call: &str, cost: Cost) -> Line {
    let entry = Entry::Cost {
        request_id,
        call,
        rows_read: cost.rows_read,
        rows_written: cost.rows_written,
    };
    entry.line(Level::Debug)
}

#[cfg(test)]
mod tests {
    use super::{Level, access, cost, expired, fault};
    use crate::database::Cost;
    use crate::transport::Access;

    #[test]
    fn lines_are_pinned() {
        let call = Access {
            route: "/mcp",
            credential: Some("static"),
            method: Some("tools/call"),
            tool: Some("delete_thought_sequence"),
            outcome: Some("ok"),
        };
        let lines: Vec<_> = access("0f", 200, 7, &call)
            .into_iter()
            .map(|line| line.text)
            .collect();
        assert_eq!(
            lines,
            [
                r#"{"kind":"access","requestId":"0f","route":"/mcp","status":200,"milliseconds":7,"credential":"static","method":"tools/call","tool":"delete_thought_sequence","outcome":"ok"}"#,
                r#"{"kind":"audit","requestId":"0f","event":"sequence_deleted"}"#,
            ]
        );
        assert_eq!(
            fault("0f", "object", "overloaded").text,
            r#"{"kind":"error","requestId":"0f","stage":"object","reason":"overloaded"}"#
        );
        let rows = Cost {
            rows_read: 4,
            rows_written: 3,
        };
        assert_eq!(
            cost("0f", "append", rows).text,
            r#"{"kind":"cost","requestId":"0f","call":"append","rowsRead":4,"rowsWritten":3}"#
        );
    }

    #[test]
    fn counts_of_what_expired_are_an_audit_line() {
        assert_eq!(
            expired("0f", 2, 31).text,
            r#"{"kind":"audit","requestId":"0f","event":"sequences_expired","sequences":2,"thoughts":31}"#
        );
    }

    #[test]
    fn a_level_that_is_not_understood_is_a_problem() {
        let parse = |text: &str| Level::parse(|_| Some(text.to_owned()));
        assert_eq!(parse("error"), (Level::Error, None));
        assert_eq!(parse(" "), (Level::Info, None));
        let (level, problem) = parse("loud");
        assert_eq!((level, problem.unwrap().name), (Level::Info, "LOG_LEVEL"));
        assert!(Level::Off < Level::Error && Level::Info < Level::Debug);
    }
}
