//! The authorization request: is it one, for whom, and where may the answer go.
//!
//! Asking the person is left to `consent`.

use http::header::USER_AGENT;
use http::{HeaderMap, Request};

use crate::oauth::audience::Audience;
use crate::oauth::client::{self, Client};
use crate::oauth::document;
use crate::oauth::error::{Code, Error};
use crate::oauth::form::{Form, encode};
use crate::oauth::pages::{self, Problem};
use crate::oauth::pkce::is_challenge;
use crate::oauth::port::{Event, Ports};
use crate::oauth::redirect::{Destination, RedirectUri};
use crate::oauth::reply::{self, Reply};
use crate::oauth::sign_in::Turn;

const QUERY_BYTES_MAX: usize = 8 * 1024;
const STATE_BYTES_MAX: usize = 1500;
const SINGLE: [&str; 8] = [
    "client_id",
    "redirect_uri",
    "response_type",
    "state",
    "code_challenge",
    "code_challenge_method",
    "scope",
    "response_mode",
];

/// A request that may be put before the person.
pub(super) struct Asked {
    pub client: Client,
    pub redirect: RedirectUri,
    pub state: Option<String>,
    pub challenge: String,
    pub audience: Audience,
}

/// Why it may not.
pub(super) enum Stop {
    /// Nothing can be sent anywhere: the person is told.
    Page(Reply),
    /// The client may be told.
    Answer {
        redirect: RedirectUri,
        state: Option<String>,
        error: Error,
    },
}

/// Reads a request in two stages: 1 who asks and where the answer goes, told to the person; 2 the rest, told to the client.
pub(super) async fn read<P: Ports>(query: &str, turn: &Turn<'_, P>) -> Result<Asked, Stop> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(unreadable(turn, "too_large"));
    }
    let form = Form::parse(query).ok_or_else(|| unreadable(turn, "malformed"))?;
    for name in SINGLE {
        form.one(name).map_err(|_| unreadable(turn, "repeated"))?;
    }
    let one = |name| form.one(name).ok().flatten();
    let client_id = one("client_id").ok_or_else(|| unreadable(turn, "no_client"))?;
    let client = find_client(client_id, turn).await?;
    let redirect = one("redirect_uri")
        .and_then(|text| RedirectUri::parse(text, turn.own_host()))
        .filter(|uri| client.lists(uri))
        .ok_or_else(|| unlisted(turn))?;
    let state = one("state").map(str::to_owned);
    let has_control = |text: &String| text.chars().any(char::is_control);
    if state
        .as_ref()
        .is_some_and(|state| state.len() > STATE_BYTES_MAX || has_control(state))
    {
        return Err(unreadable(turn, "state"));
    }
    match check(&form, turn.issuer) {
        Ok((challenge, audience)) => Ok(Asked {
            client,
            redirect,
            state,
            challenge,
            audience,
        }),
        Err(error) => Err(Stop::Answer {
            redirect,
            state,
            error,
        }),
    }
}

fn check(form: &Form, issuer: &str) -> Result<(String, Audience), Error> {
    let one = |name| form.one(name).ok().flatten();
    for (name, code) in [
        ("request", Code::RequestNotSupported),
        ("request_uri", Code::RequestUriNotSupported),
        ("registration", Code::RegistrationNotSupported),
    ] {
        if form.has(name) {
            return Err(Error::new(code, "Parameters belong into the query itself."));
        }
    }
    match one("response_type") {
        Some("code") => {}
        None => return Err(Error::request("response_type is missing.")),
        Some(_) => {
            return Err(Error::new(
                Code::UnsupportedResponseType,
                "Only response_type=code is offered.",
            ));
        }
    }
    if one("response_mode").is_some_and(|mode| mode != "query") {
        return Err(Error::request("Only response_mode=query is offered."));
    }
    let challenge = one("code_challenge")
        .filter(|challenge| is_challenge(challenge))
        .ok_or(Error::request(
            "code_challenge must be 43 characters of base64url (PKCE, RFC 7636).",
        ))?;
    if one("code_challenge_method") != Some("S256") {
        return Err(Error::request("code_challenge_method must be S256."));
    }
    let audience = Audience::parse(&form.all("resource"), issuer).map_err(|_| {
        Error::new(
            Code::InvalidTarget,
            "The resource is not one of this server's.",
        )
    })?;
    if form
        .all("prompt")
        .iter()
        .any(|prompt| prompt.split(' ').any(|word| word == "none"))
    {
        return Err(Error::new(
            Code::InteractionRequired,
            "The person is asked every time.",
        ));
    }
    Ok((challenge.to_owned(), audience.unwrap_or(Audience::ORIGIN)))
}

async fn find_client<P: Ports>(client_id: &str, turn: &Turn<'_, P>) -> Result<Client, Stop> {
    if document::is_url(client_id) {
        return document::client(
            client_id,
            turn.own_host(),
            turn.memory,
            turn.ports,
            turn.fresh,
        )
        .await
        .map(|(client, _)| client)
        .map_err(|failure| document_failure(failure, turn));
    }
    let opened = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| client::open(client_id, ring))
        .await
        .map_err(|_| Stop::Page(unavailable()))?;
    opened.map_err(|_| {
        turn.reject("unknown_client");
        Stop::Page(unknown_client(turn.request.headers()))
    })
}

/// Tells the client, through the browser. Before anybody has agreed to anything, only a destination that is known is
/// sent to at once; anybody can register another one.
pub(super) fn answer_error<P: Ports>(
    turn: &Turn<'_, P>,
    redirect: &RedirectUri,
    state: Option<&str>,
    error: Error,
) -> Reply {
    turn.reject(error.code.text());
    let url = error_url(turn.issuer, redirect, state, error);
    match redirect.destination {
        Destination::KnownSite | Destination::ThisComputer => reply::see_other(&url),
        Destination::OtherSite | Destination::App => pages::problem(&Problem {
            status: 400,
            title: "The request cannot be granted",
            text: error.description,
            steps: &[],
            link: Some((&url, &format!("Return to {}", redirect.host()))),
        }),
    }
}

pub(super) fn error_url(
    issuer: &str,
    redirect: &RedirectUri,
    state: Option<&str>,
    error: Error,
) -> String {
    let mut fields = vec![
        ("error", error.code.text()),
        ("error_description", error.description),
    ];
    fields.extend(state.map(|state| ("state", state)));
    fields.push(("iss", issuer));
    redirect.with_answer(&encode(&fields))
}

const AGAIN: &str = "Start again from the application that you want to connect.";

fn unreadable<P: Ports>(turn: &Turn<'_, P>, reason: &'static str) -> Stop {
    turn.reject(reason);
    Stop::Page(pages::problem(&Problem {
        status: 400,
        title: "This link is not a complete request",
        text: "Something is missing, stands twice or is too long. Nothing was shared.",
        steps: &[AGAIN],
        link: None,
    }))
}

fn unlisted<P: Ports>(turn: &Turn<'_, P>) -> Stop {
    turn.reject("redirect_uri");
    Stop::Page(pages::problem(&Problem {
        status: 400,
        title: "The application wants its answer somewhere else",
        text: "The address for the answer is not one that the application registered, so nothing was sent there.",
        steps: &[
            "Remove this server from the application and add it again.",
            AGAIN,
        ],
        link: None,
    }))
}

pub(super) fn unavailable() -> Reply {
    pages::problem(&Problem {
        status: 503,
        title: "The server cannot answer right now",
        text: "Nothing was lost.",
        steps: &["Wait a moment and load this page again."],
        link: None,
    })
}

/// What a person can do depends on the client, which the browser does not tell: all ways are named.
fn unknown_client(_headers: &HeaderMap) -> Reply {
    pages::problem(&Problem {
        status: 400,
        title: "This server does not know the application",
        text: "The application still uses an identity that it got elsewhere or that is no longer valid. Nothing was shared.",
        steps: &[
            "Claude: disconnect the connector in its settings, then connect it again.",
            "ChatGPT: delete the connector and create it again.",
            "Programs that use mcp-remote: delete the folder ~/.mcp-auth, then start again.",
            "Others: remove this server, or its stored sign-in, and add it again.",
        ],
        link: None,
    })
}

fn document_failure<P: Ports>(failure: document::Failure, turn: &Turn<'_, P>) -> Stop {
    use document::Failure;
    let (status, reason, text) = match failure {
        Failure::Refused => (
            400,
            "document_url",
            "The application names itself by an address that this server does not read.",
        ),
        Failure::Unavailable => (
            503,
            "document_unavailable",
            "The application\u{2019}s description could not be read just now.",
        ),
        Failure::Invalid => (
            400,
            "document_invalid",
            "The application\u{2019}s description is not valid.",
        ),
        Failure::Method => (
            400,
            "document_method",
            "The application wants to prove itself in a way that this server does not offer.",
        ),
        Failure::TooMany => (
            429,
            "document_limit",
            "Too many applications were described in a short time.",
        ),
    };
    turn.reject(reason);
    Stop::Page(pages::problem(&Problem {
        status,
        title: "The application could not be identified",
        text,
        steps: &["Try again in a minute.", AGAIN],
        link: None,
    }))
}

impl<P: Ports> Turn<'_, P> {
    fn reject(&self, reason: &'static str) {
        let mut event = Event::new("oauth.authorize.rejected", reason);
        event.agent = agent(self.request);
        self.note(event);
    }
}

/// The client software as a class, for the log.
pub(super) fn agent(request: &Request<Vec<u8>>) -> Option<&'static str> {
    const CLASSES: [(&str, &str); 8] = [
        ("claude", "claude"),
        ("openai", "chatgpt"),
        ("chatgpt", "chatgpt"),
        ("cursor", "cursor"),
        ("vscode", "vscode"),
        ("mcp-remote", "mcp-remote"),
        ("python-httpx", "python"),
        ("mozilla", "browser"),
    ];
    let agent = request.headers().get(USER_AGENT)?.to_str().ok()?;
    let agent = agent.to_ascii_lowercase();
    CLASSES
        .iter()
        .find(|(part, _)| agent.contains(part))
        .map(|(_, class)| *class)
}
