//! `docs/errors.md` says what the code's tables say. `UPDATE_EXPECT=1 cargo test --test it errors` writes it anew.

use std::collections::BTreeSet;
use std::fmt::Write;

use durable_thinking::auth::{Denial, Endpoint};
use durable_thinking::jsonrpc;
use durable_thinking::oauth;
use durable_thinking::refusal::{Class, Code, Retry};
use durable_thinking::transport::status::{Error, Shown};
use expect_test::expect_file;

const HEAD: &str = "# Errors

Every error says what kind it is (`class`) and whether the same call is worth another try (`retry`). Tools say both at the end of their text, JSON-RPC in `error.data`, HTTP and OAuth in the body, beside a sentence that says what came and what would be right. `x-request-id` is in every response of the server; the log has a fault of ours under that id, once.

| class | means | retry |
|---|---|---|
| `input` | what was sent cannot be taken | `fix_input`: send it changed; `never`: nothing of the kind will be taken |
| `not_found` | what it names is not there | `never`, or `fix_input` where the error lists what is there |
| `conflict` | what it names is there and says otherwise | `fix_input` |
| `limit` | it is more than the server takes | `fix_input`: send less; `later`: when there is room again; `never`: it stays full |
| `unavailable` | a fault of the server, or of somebody that it asks | `later`: the same call again, in a moment |

Nothing that was acknowledged is lost by an `unavailable`, and a call that is made again is stored once: the Worker makes a call again by itself up to three times where the platform says that it may help (after 100, 500 and 1500 ms), and a client's own repeat is known by its content.

This page is written from the tables in the code (`cargo test --test it errors`).
";

struct Row {
    name: String,
    class: Class,
    retry: Retry,
    meaning: &'static str,
}

/// What to do, where the class and the advice do not say it all.
fn deed(class: Class, retry: Retry) -> &'static str {
    match (class, retry) {
        (Class::Unavailable, _) => {
            "Repeat the call in a moment; look up the request id in the log."
        }
        (Class::Limit, Retry::Later) => "Make room or wait, then repeat the call.",
        (Class::Limit, Retry::FixInput) => "Stay within it; the message has the figure.",
        (Class::NotFound, Retry::FixInput) => "Choose among what the message lists.",
        (Class::NotFound, _) => "Look at where the name came from; begin anew if it is gone.",
        (Class::Limit, Retry::Never) => "Begin a new sequence.",
        (_, Retry::FixInput) => "Change what the message names.",
        (_, Retry::Later) => "Repeat the call.",
        (_, Retry::Never) => "Do not repeat it; the message says who can change that.",
    }
}

fn table(out: &mut String, head: &str, rows: impl IntoIterator<Item = Row>) {
    write!(
        out,
        "\n{head}\n\n| code | class | retry | means | what to do |\n|---|---|---|---|---|\n"
    )
    .unwrap();
    for row in rows {
        let (class, retry) = (row.class.name(), row.retry.name());
        let deed = deed(row.class, row.retry);
        let meaning = row.meaning.replace('<', "&lt;");
        writeln!(
            out,
            "| {} | `{class}` | `{retry}` | {} | {deed} |",
            row.name, meaning
        )
        .unwrap();
    }
}

/// One of each, so that a new variant does not compile without a row here.
fn http_errors() -> Vec<Error> {
    let denied = |denial| Error::Denied {
        denial,
        endpoint: Endpoint::McpCompat,
        sign_in: None,
    };
    let all = vec![
        Error::Host,
        Error::Origin,
        Error::NotFound,
        Error::NotOwner,
        Error::Method("POST"),
        Error::MediaType,
        Error::Late,
        Error::TooLarge { bytes_max: 1 },
        Error::NotConfigured,
        denied(Denial::Absent),
        denied(Denial::Invalid(
            "The credential is wrong, over, or for another endpoint.",
        )),
        denied(Denial::Malformed(
            "There are two credentials, or one that cannot be read.",
        )),
        denied(Denial::TooMany),
        denied(Denial::Unavailable),
    ];
    for error in &all {
        match error {
            Error::Host
            | Error::Origin
            | Error::NotFound
            | Error::NotOwner
            | Error::Method(_)
            | Error::MediaType
            | Error::Late
            | Error::TooLarge { .. }
            | Error::NotConfigured
            | Error::Denied {
                denial:
                    Denial::Absent
                    | Denial::Invalid(_)
                    | Denial::Malformed(_)
                    | Denial::TooMany
                    | Denial::Unavailable,
                ..
            } => {}
        }
    }
    all
}

#[test]
fn the_page_of_errors_is_the_tables_of_the_code() {
    let mut page = HEAD.to_owned();
    table(
        &mut page,
        "## Tools\n\nThe result of the call has `isError`, and its text begins with the code.",
        Code::ALL.map(|code| Row {
            name: format!("`{}`", code.name()),
            class: code.class(),
            retry: code.retry(),
            meaning: code.meaning(),
        }),
    );
    table(
        &mut page,
        "## JSON-RPC\n\nWhat concerns the message rather than a tool. The word is what the log calls it.",
        jsonrpc::Code::ALL.map(|code| Row {
            name: format!("{} `{}`", code.number(), code.word()),
            class: code.class(),
            retry: code.retry(),
            meaning: code.meaning(),
        }),
    );
    let rows = http_errors().into_iter().map(|error| {
        let Shown(status, word, class, retry, meaning) = error.shown();
        Row {
            name: format!("{status} `{word}`"),
            class,
            retry,
            meaning,
        }
    });
    let trapped = Row {
        name: "500 `internal_error`".to_owned(),
        class: Class::Unavailable,
        retry: Retry::Later,
        meaning: "The Worker failed in the middle of the call.",
    };
    table(
        &mut page,
        "## HTTP\n\nWhat concerns the request before there is a message. `/export` and `/import` answer with the codes of the tools: `input` as 400, `not_found` as 404, `conflict` as 409, `limit` as 507, `unavailable` as 503.",
        rows.chain([trapped]),
    );
    table(
        &mut page,
        "## Sign-in\n\nThe registered codes of OAuth, in a body or in the redirect to the client. People see a page instead. Limits of the platform answer 429 with `temporarily_unavailable`.",
        oauth::error::Code::ALL.map(|code| {
            let (class, retry) = code.advice();
            Row {
                name: format!("`{}`", code.text()),
                class,
                retry,
                meaning: code.meaning(),
            }
        }),
    );
    expect_file!["../../docs/errors.md"].assert_eq(&page);
}

#[test]
fn no_two_rows_of_a_table_have_one_name() {
    let words: BTreeSet<_> = http_errors().iter().map(Error::word).collect();
    assert_eq!(words.len(), http_errors().len());
    let words: BTreeSet<_> = jsonrpc::Code::ALL.iter().map(|code| code.word()).collect();
    assert_eq!(words.len(), jsonrpc::Code::ALL.len());
    let words: BTreeSet<_> = oauth::error::Code::ALL
        .iter()
        .map(|code| code.text())
        .collect();
    assert_eq!(words.len(), oauth::error::Code::ALL.len());
}
