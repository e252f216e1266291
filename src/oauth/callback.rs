//! Back from GitHub: in the browser that approved, by a person on the list, once.

use crate::oauth::audience::Audience;
use crate::oauth::authorize::{error_url, unavailable};
use crate::oauth::client;
use crate::oauth::document;
use crate::oauth::error::{Code, Error};
use crate::oauth::flow::{Flow, Payload, REPEAT_SECONDS, State, set_cookie};
use crate::oauth::form::{Form, encode};
use crate::oauth::github::{self, Failure, Visitor};
use crate::oauth::pages::{self, Problem};
use crate::oauth::port::{Event, Ports, Task, ask_twice};
use crate::oauth::redirect::{Destination, RedirectUri};
use crate::oauth::reply::{self, Reply};
use crate::oauth::settings::App;
use crate::oauth::sign_in::Turn;
use crate::oauth::spelling;
use crate::oauth::vault::message::{Answer, Ask, Bytes, Completion};
use crate::oauth::verify;

/// A flow that came back to its own browser.
struct Arrival {
    flow: Flow,
    payload: Payload,
    redirect: RedirectUri,
    audience: Audience,
}

/// `GET /callback`: 1 the state is ours, 2 this browser approved it, 3 GitHub did not refuse, 4 who it is,
/// 5 the list admits them, 6 the grant, 7 the code to the client. Before 6 nothing is stored.
pub(super) async fn receive<P: Ports>(turn: &Turn<'_, P>, app: &App) -> Reply {
    let query = turn.request.uri().query().unwrap_or_default();
    let Some(form) = Form::parse(query) else {
        return stray(turn, "malformed");
    };
    let one = |name| form.one(name).ok().flatten();
    let Some(state) = one("state") else {
        return stray(turn, "no_state");
    };
    let opened = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| {
            State::open(state, turn.issuer, ring)
        })
        .await;
    let state = match opened {
        Err(_) => return unavailable(),
        Ok(Err(_)) => return stray(turn, "state"), // 1
        Ok(Ok(state)) => state,
    };
    let Some(arrival) = arrive(turn, &state) else {
        return unbound(turn); // 2
    };
    if let Some(error) = one("error") {
        return refused_by_github(turn, &arrival, error); // 3
    }
    let Some(code) = one("code") else {
        return stray(turn, "no_code");
    };
    let verifier = arrival.flow.github_verifier();
    match github::identify(turn.ports, app, code, &turn.callback(), &verifier).await {
        Ok(visitor) => welcome(turn, &arrival, visitor).await, // 4
        Err(Failure::StaleCode) => repeat(turn, &arrival).await,
        Err(failure) => github_failed(turn, app, &arrival, failure),
    }
}

fn arrive<P: Ports>(turn: &Turn<'_, P>, state: &State) -> Option<Arrival> {
    let (flow, payload) = Flow::resume(state, turn.request.headers(), turn.now())?;
    Some(Arrival {
        redirect: RedirectUri::parse(&payload.redirect_uri, turn.own_host())?,
        audience: Audience::from_names(&payload.audience)?,
        flow,
        payload,
    })
}

async fn welcome<P: Ports>(turn: &Turn<'_, P>, arrival: &Arrival, visitor: Visitor) -> Reply {
    if let Some(request) = visitor.discard {
        turn.ports.later(Task::DiscardGithubToken(request));
    }
    let identity = visitor.identity;
    let number = identity.github_id;
    let allowed = &turn.settings.gate.allowed;
    if !allowed.admits(&identity.login, number) {
        return not_listed(turn, arrival, number, "not_listed"); // 5
    }
    let code = spelling::code(arrival.flow.key(), &arrival.flow.id, &arrival.flow.tag);
    let ask = Ask::Complete(Box::new(Completion {
        flow: Bytes(arrival.flow.id),
        by_number: allowed.has_number(number),
        identity,
        client_id: arrival.payload.client_id.clone(),
        client_name: client_name(turn, &arrival.payload).await,
        redirect_uri: arrival.payload.redirect_uri.clone(),
        challenge: arrival.payload.challenge.clone(),
        audience: arrival.audience,
        epoch: turn.settings.gate.epoch,
        code: Bytes(spelling::hash(&code)),
        document: remembered_document(turn, &arrival.payload.client_id),
    }));
    match ask_twice(turn.ports, turn.fresh, &ask).await {
        Ok(Answer::Completed { dead, .. }) => {
            verify::purge(turn, &dead);
            note(turn, arrival, "ok", Some(number));
            deliver(turn, arrival, &code) // 6, 7
        }
        Ok(Answer::AlreadyDone { age_seconds }) if age_seconds <= REPEAT_SECONDS => {
            deliver(turn, arrival, &code)
        }
        Ok(Answer::AlreadyDone { .. }) => used_up(turn),
        Ok(Answer::OtherNumber) => not_listed(turn, arrival, number, "other_number"),
        Ok(Answer::Denied) => not_listed(turn, arrival, number, "denied_client"),
        Ok(_) | Err(_) => unavailable(),
    }
}

/// The same callback once more: a double click, a reload, two tabs. Within a minute the same answer, later a page.
async fn repeat<P: Ports>(turn: &Turn<'_, P>, arrival: &Arrival) -> Reply {
    let ask = Ask::FlowDone {
        flow: Bytes(arrival.flow.id),
    };
    match ask_twice(turn.ports, turn.fresh, &ask).await {
        Ok(Answer::AlreadyDone { age_seconds }) if age_seconds <= REPEAT_SECONDS => {
            let code = spelling::code(arrival.flow.key(), &arrival.flow.id, &arrival.flow.tag);
            note(turn, arrival, "repeated", None);
            deliver(turn, arrival, &code)
        }
        Ok(_) => used_up(turn),
        Err(_) => unavailable(),
    }
}

async fn client_name<P: Ports>(turn: &Turn<'_, P>, payload: &Payload) -> String {
    if let Some(name) = &payload.client_name {
        return name.clone();
    }
    let opened = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| {
            client::open(&payload.client_id, ring)
        })
        .await;
    match opened {
        Ok(Ok(client)) => client.name,
        _ => String::new(),
    }
}

fn remembered_document<P: Ports>(turn: &Turn<'_, P>, client_id: &str) -> Option<String> {
    document::is_url(client_id)
        .then(|| turn.memory.document(client_id, turn.now()))
        .flatten()
        .flatten()
}

/// The code goes to the client. An application's own scheme gets a page with a button: browsers want a click for it,
/// and a redirect would leave an empty tab behind.
fn deliver<P: Ports>(turn: &Turn<'_, P>, arrival: &Arrival, code: &str) -> Reply {
    let mut fields = vec![("code", code)];
    fields.extend(
        arrival
            .payload
            .state
            .as_deref()
            .map(|state| ("state", state)),
    );
    fields.push(("iss", turn.issuer));
    let url = arrival.redirect.with_answer(&encode(&fields));
    let mut reply = if arrival.redirect.destination == Destination::App {
        pages::onward(
            &url,
            "You are signed in",
            "Return to the application; it has what it needs. You can close this page.",
            &format!("Open {}", arrival.redirect.host()),
        )
    } else {
        reply::see_other(&url)
    };
    // Kept for the minute in which the same callback may come again; it cannot make a second grant.
    keep_cookie(turn, arrival, &mut reply, REPEAT_SECONDS);
    reply
}

fn keep_cookie<P: Ports>(turn: &Turn<'_, P>, arrival: &Arrival, reply: &mut Reply, seconds: u64) {
    let name = arrival.flow.cookie_name();
    let value = Flow::begin(arrival.flow.key(), arrival.flow.id, &arrival.payload)
        .map_or_else(String::new, |(_, value)| value);
    let left = arrival.payload.expires.saturating_sub(turn.now());
    reply::add_cookie(reply, &set_cookie(&name, &value, seconds.min(left)));
}

fn end_cookie(arrival: &Arrival, reply: &mut Reply) {
    reply::add_cookie(reply, &set_cookie(&arrival.flow.cookie_name(), "", 0));
}

fn note<P: Ports>(
    turn: &Turn<'_, P>,
    arrival: &Arrival,
    reason: &'static str,
    number: Option<u64>,
) {
    let mut event = Event::new("oauth.callback", reason).with_host(arrival.redirect.host());
    event.github_id = number;
    turn.note(event);
}

const AGAIN: &str = "Start again from the application that you want to connect.";

fn stray<P: Ports>(turn: &Turn<'_, P>, reason: &'static str) -> Reply {
    turn.note(Event::new("oauth.callback", reason));
    pages::problem(&Problem {
        status: 400,
        title: "This page is only a stop on the way",
        text: "It was opened without a sign-in, or with one that this server did not begin. Nothing was shared.",
        steps: &[AGAIN],
        link: None,
    })
}

fn unbound<P: Ports>(turn: &Turn<'_, P>) -> Reply {
    turn.note(Event::new("oauth.callback", "unbound_browser"));
    pages::problem(&Problem {
        status: 403,
        title: "This sign-in was not started here",
        text: "Nobody has allowed it in this browser, or that was more than ten minutes ago. Nothing was shared. \
               If somebody sent you a link to sign in, do not use it.",
        steps: &[
            AGAIN,
            "Use the same browser until the end, and allow cookies for this site.",
        ],
        link: None,
    })
}

fn used_up<P: Ports>(turn: &Turn<'_, P>) -> Reply {
    turn.note(Event::new("oauth.callback", "used_up"));
    pages::problem(&Problem {
        status: 400,
        title: "This sign-in is over",
        text: "It was finished before. If the application works, there is nothing to do.",
        steps: &[AGAIN],
        link: None,
    })
}

fn refused_by_github<P: Ports>(turn: &Turn<'_, P>, arrival: &Arrival, error: &str) -> Reply {
    let error = if error == "access_denied" {
        note(turn, arrival, "github_denied", None);
        Error::new(Code::AccessDenied, "The person said no at GitHub.")
    } else {
        note(turn, arrival, "github_error", None);
        Error::new(Code::ServerError, "GitHub did not accept the sign-in.")
    };
    let url = error_url(
        turn.issuer,
        &arrival.redirect,
        arrival.payload.state.as_deref(),
        error,
    );
    let mut reply = reply::see_other(&url);
    end_cookie(arrival, &mut reply);
    reply
}

fn github_failed<P: Ports>(
    turn: &Turn<'_, P>,
    app: &App,
    arrival: &Arrival,
    failure: Failure,
) -> Reply {
    let again = github::authorize_url(
        app,
        &turn.callback(),
        &arrival.flow.state(turn.issuer),
        &arrival.flow.github_verifier(),
    );
    let page = |status, reason, text, link| {
        note(turn, arrival, reason, None);
        pages::problem(&Problem {
            status,
            title: "GitHub could not say who you are",
            text,
            steps: &[],
            link,
        })
    };
    match failure {
        Failure::Unavailable | Failure::StaleCode => page(
            503,
            "github_unavailable",
            "It did not answer, or not in a way that this server understands. Nothing was lost.",
            Some((again.as_str(), "Try again")),
        ),
        Failure::Misconfigured => page(
            500,
            "github_misconfigured",
            "This server\u{2019}s own access to GitHub is not set up correctly: the client id, the secret or the callback \
             address does not fit. Its owner can mend that.",
            None,
        ),
        Failure::NotAPerson => page(
            403,
            "not_a_person",
            "The account is not one of a person.",
            None,
        ),
    }
}

/// Tells the person, and gives them a way to tell the client, which would wait otherwise.
fn not_listed<P: Ports>(
    turn: &Turn<'_, P>,
    arrival: &Arrival,
    number: u64,
    reason: &'static str,
) -> Reply {
    note(turn, arrival, reason, Some(number));
    let error = Error::new(Code::AccessDenied, "This account has no access here.");
    let url = error_url(
        turn.issuer,
        &arrival.redirect,
        arrival.payload.state.as_deref(),
        error,
    );
    let mut page = pages::problem(&Problem {
        status: 403,
        title: "This account has no access here",
        text: "GitHub knows you, but this server\u{2019}s owner has not listed the account that you used.",
        steps: &[
            "If you have another account, sign in to GitHub with that one and start again.",
            "If this server is yours, add the account to ALLOWED_GITHUB_LOGIN. Its number is in the log.",
        ],
        link: Some((&url, &format!("Return to {}", arrival.redirect.host()))),
    });
    end_cookie(arrival, &mut page);
    page
}
