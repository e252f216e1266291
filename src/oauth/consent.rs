//! Asking the person, every time, and what follows from the answer.
//!
//! Nothing is stored here: who approves is nobody yet. What was approved travels in a cookie of this one browser.

use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderName};

use crate::oauth::audience::Audience;
use crate::oauth::authorize::{self, Asked, Stop, answer_error, error_url, unavailable};
use crate::oauth::client::Origin;
use crate::oauth::error::{Code, Error};
use crate::oauth::flow::{
    CONSENT_COOKIE, CONSENT_SECONDS, FLOW_SECONDS, Flow, Payload, check_consent_token,
    consent_cookie, consent_token, new_consent_cookie, set_cookie,
};
use crate::oauth::form::Form;
use crate::oauth::github;
use crate::oauth::pages::{self, Consent, Problem};
use crate::oauth::port::{Event, Ports};
use crate::oauth::reply::{self, Reply};
use crate::oauth::settings::App;
use crate::oauth::sign_in::Turn;

pub(crate) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const COOKIE_SECONDS: u64 = 3600;
const BODY_BYTES_MAX: usize = 12 * 1024;

/// `GET /authorize`: the question, or why there is none.
pub(super) async fn show<P: Ports>(turn: &Turn<'_, P>, app: &App) -> Reply {
    let query = turn.request.uri().query().unwrap_or_default();
    match authorize::read(query, turn).await {
        Ok(asked) => ask(turn, app, query, &asked).await,
        Err(Stop::Page(page)) => page,
        Err(Stop::Answer {
            redirect,
            state,
            error,
        }) => answer_error(turn, &redirect, state.as_deref(), error),
    }
}

async fn ask<P: Ports>(turn: &Turn<'_, P>, app: &App, query: &str, asked: &Asked) -> Reply {
    let Ok(ring) = turn.memory.ring(turn.ports, turn.fresh).await else {
        return unavailable();
    };
    let known = consent_cookie(turn.request.headers());
    let cookie = known
        .clone()
        .unwrap_or_else(|| new_consent_cookie(&turn.fresh.draw()));
    let expires = turn.now().saturating_add(CONSENT_SECONDS);
    let token = consent_token(
        ring.current(),
        &cookie,
        expires,
        query,
        &asked.client.snapshot(),
    );
    let mut page = pages::consent(&Consent {
        client: &asked.client,
        redirect: &asked.redirect,
        audience: asked.audience,
        issuer: turn.issuer,
        github_base: &app.base,
        vouching_host: app.base.split_once("://").map_or("", |(_, host)| host),
        query,
        token: &token,
    });
    // A second tab must not lose its cookie to the first one.
    if known.is_none() {
        reply::add_cookie(
            &mut page,
            &set_cookie(CONSENT_COOKIE, &cookie, COOKIE_SECONDS),
        );
    }
    turn.note(Event::new("oauth.authorize.shown", "ok").with_host(asked.redirect.host()));
    page
}

/// `POST /authorize`: 1 a form of ours, 2 from our own page, 3 in the browser that saw it, 4 about a request that still
/// holds, 5 the decision. A failure stores nothing and redirects nowhere.
pub(super) async fn decide<P: Ports>(turn: &Turn<'_, P>, app: &App) -> Reply {
    let headers = turn.request.headers();
    let Some((query, token, decision)) = read_form(headers, turn.request.body()) else {
        return refuse(turn, 400, "form"); // 1
    };
    if !is_from_own_page(headers, turn.issuer) {
        return refuse(turn, 403, "cross_site"); // 2
    }
    let Some(cookie) = consent_cookie(headers) else {
        return refuse(turn, 403, "no_cookie"); // 3
    };
    let asked = match authorize::read(&query, turn).await {
        Ok(asked) => asked,
        Err(Stop::Page(page)) => return page, // 4
        // A page was only shown for a request that could be answered: this is not the one.
        Err(Stop::Answer { .. }) => return refuse(turn, 403, "request"),
    };
    let snapshot = asked.client.snapshot();
    let now = turn.now();
    let checked = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| {
            check_consent_token(ring, &token, &cookie, &query, &snapshot, now)
        })
        .await;
    match checked {
        Err(_) => return unavailable(),
        Ok(Err(_)) if is_changed_document(&asked) => return ask(turn, app, &query, &asked).await,
        Ok(Err(_)) => return refuse(turn, 403, "token"),
        Ok(Ok(())) => {}
    }
    match decision.as_str() {
        "approve" => approve(turn, app, &asked).await, // 5
        "deny" => deny(turn, &asked),
        _ => refuse(turn, 400, "decision"),
    }
}

/// A client described by a document may have changed since the page was shown: then the person is asked again.
fn is_changed_document(asked: &Asked) -> bool {
    matches!(asked.client.origin, Origin::Document { .. })
}

fn read_form(headers: &HeaderMap, body: &[u8]) -> Option<(String, String, String)> {
    let media_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let media_type = media_type.split(';').next()?.trim();
    if !media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded")
        || body.len() > BODY_BYTES_MAX
    {
        return None;
    }
    let form = Form::parse(std::str::from_utf8(body).ok()?)?;
    let one = |name| form.one(name).ok().flatten().map(str::to_owned);
    Some((one("q")?, one("csrf")?, one("decision")?))
}

/// Browsers say where a form was sent from. Whoever says nothing is no browser and has nothing to approve.
fn is_from_own_page(headers: &HeaderMap, issuer: &str) -> bool {
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().and_then(|value| value.to_str().ok());
        if values.next().is_some() {
            Some("")
        } else {
            value
        }
    };
    let site = one(FETCH_SITE);
    match one(ORIGIN) {
        Some(origin) if origin != "null" => {
            origin == issuer && site.is_none_or(|site| site == "same-origin")
        }
        _ => site == Some("same-origin"),
    }
}

fn refuse<P: Ports>(turn: &Turn<'_, P>, status: u16, reason: &'static str) -> Reply {
    turn.note(Event::new("oauth.consent", reason));
    pages::problem(&Problem {
        status,
        title: "This answer could not be taken",
        text: "The page was open for too long, or the answer did not come from it. Nothing was shared.",
        steps: &[
            "Allow cookies for this site.",
            "Start again from the application that you want to connect.",
        ],
        link: None,
    })
}

async fn approve<P: Ports>(turn: &Turn<'_, P>, app: &App, asked: &Asked) -> Reply {
    let Ok(ring) = turn.memory.ring(turn.ports, turn.fresh).await else {
        return unavailable();
    };
    let client_name =
        matches!(asked.client.origin, Origin::Document { .. }).then(|| asked.client.name.clone());
    let payload = Payload {
        client_id: asked.client.id.clone(),
        client_name,
        redirect_uri: asked.redirect.text().to_owned(),
        state: asked.state.clone(),
        challenge: asked.challenge.clone(),
        audience: names(asked.audience),
        expires: turn.now().saturating_add(FLOW_SECONDS),
    };
    let Some((flow, cookie)) = Flow::begin(ring.current(), turn.fresh.draw(), &payload) else {
        return refuse(turn, 400, "too_large");
    };
    let url = github::authorize_url(
        app,
        &turn.callback(),
        &flow.state(turn.issuer),
        &flow.github_verifier(),
    );
    let mut page = pages::onward(
        &url,
        "One moment: GitHub asks who you are",
        "GitHub brings you back here afterwards.",
        "Continue to GitHub",
    );
    reply::add_cookie(
        &mut page,
        &set_cookie(&flow.cookie_name(), &cookie, FLOW_SECONDS),
    );
    turn.note(Event::new("oauth.consent", "approve").with_host(asked.redirect.host()));
    page
}

fn names(audience: Audience) -> Vec<String> {
    audience.names().into_iter().map(str::to_owned).collect()
}

/// Through a page as well: the form's policy would hold a redirect to the client.
fn deny<P: Ports>(turn: &Turn<'_, P>, asked: &Asked) -> Reply {
    turn.note(Event::new("oauth.consent", "deny").with_host(asked.redirect.host()));
    let error = Error::new(Code::AccessDenied, "The person said no.");
    let url = error_url(turn.issuer, &asked.redirect, asked.state.as_deref(), error);
    pages::onward(
        &url,
        "Nothing was shared",
        "You said no. The application is told.",
        &format!("Return to {}", asked.redirect.host()),
    )
}
