//! The sign-in as the router sees it: which paths are its own, and how each one is reached.
//!
//! Host and transport rules are left to the router; what each endpoint does stands in a module of its name.

use std::rc::Rc;

use http::header::ALLOW;
use http::{HeaderName, Method, Request, Response};

use crate::auth::{Authorization, Credential, Denial, Endpoint, Principal, StaticTokens};
use crate::fresh::Fresh;
use crate::json;
use crate::oauth::memory::Memory;
use crate::oauth::pages::{self, Problem};
use crate::oauth::port::{Event, Limit, Ports};
use crate::oauth::reply::{self, Cache, Cors, Reply};
use crate::oauth::settings::{App, Settings};
use crate::oauth::{callback, consent, metadata, owner, registration, revocation, token, verify};

/// The address that the platform saw.
pub const ADDRESS: HeaderName = HeaderName::from_static("cf-connecting-ip");
pub const PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");
const REGISTER_BYTES_MAX: usize = 16 * 1024;
const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// The sign-in of one deployment, with everything that it may use.
pub struct SignIn<P> {
    pub settings: Rc<Settings>,
    pub tokens: StaticTokens,
    pub memory: Rc<Memory>,
    pub ports: P,
}

/// One request, with everything that its endpoint may use.
pub struct Turn<'a, P> {
    pub request: &'a Request<Vec<u8>>,
    pub settings: &'a Settings,
    pub issuer: &'a str,
    pub memory: &'a Memory,
    pub ports: &'a P,
    pub fresh: &'a Fresh,
}

impl<P: Ports> Turn<'_, P> {
    /// Reports what happened in this request.
    pub fn note(&self, mut event: Event) {
        event.request_id = self.fresh.request_id();
        self.ports.note(event);
    }

    pub fn now(&self) -> u64 {
        self.fresh.now.seconds()
    }

    /// Host and port of our origin.
    pub fn own_host(&self) -> &str {
        self.issuer
            .split_once("://")
            .map_or(self.issuer, |(_, host)| host)
    }

    pub fn callback(&self) -> String {
        format!("{}/callback", self.issuer)
    }

    /// The address that the platform saw. Behind nothing else, it cannot be made up.
    fn address(&self) -> &str {
        self.request
            .headers()
            .get(ADDRESS)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("unknown")
    }

    pub async fn is_admitted(&self, limit: Limit) -> bool {
        self.ports.admits(limit, self.address()).await
    }
}

/// The endpoints. Exact paths only: nothing here is tolerant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    WellKnown,
    Register,
    Authorize,
    Callback,
    Token,
    Revoke,
    Owner,
}

impl Place {
    fn find(path: &str) -> Option<Self> {
        match path {
            "/register" => Some(Self::Register),
            "/authorize" => Some(Self::Authorize),
            "/callback" => Some(Self::Callback),
            "/token" => Some(Self::Token),
            "/revoke" => Some(Self::Revoke),
            _ if owner::is_path(path) => Some(Self::Owner),
            _ if metadata::is_well_known(path) => Some(Self::WellKnown),
            _ => None,
        }
    }

    const fn allow(self) -> &'static str {
        match self {
            Self::WellKnown => "GET, HEAD, OPTIONS",
            Self::Register | Self::Token | Self::Revoke => "POST, OPTIONS",
            Self::Authorize => "GET, HEAD, POST",
            Self::Callback => "GET",
            Self::Owner => "GET, POST, DELETE",
        }
    }

    const fn cors(self) -> Cors {
        match self {
            Self::WellKnown => Cors::Document,
            Self::Register | Self::Token | Self::Revoke => Cors::Endpoint,
            Self::Authorize | Self::Callback | Self::Owner => Cors::Nobody,
        }
    }
}

impl<P: Ports> SignIn<P> {
    fn app(&self, issuer: &str) -> Option<&App> {
        let app = self.settings.app.as_ref();
        app.filter(|app| app.is_usable_from(issuer))
    }

    async fn answer(&self, place: Place, turn: &Turn<'_, P>) -> Reply {
        let method = turn.request.method();
        if method == Method::OPTIONS && place.cors() != Cors::Nobody {
            return reply::no_content();
        }
        if !place
            .allow()
            .split(", ")
            .any(|allowed| allowed == method.as_str())
        {
            return refuse_method(place);
        }
        if place == Place::Owner {
            return owner::answer(turn, &self.tokens).await;
        }
        let Some(app) = self.app(turn.issuer) else {
            return not_configured(place, &self.settings);
        };
        match place {
            Place::WellKnown => match metadata::document(turn.request.uri().path(), turn.issuer) {
                Some(document) => reply::new(
                    200,
                    "application/json",
                    json::bytes(&document),
                    Cache::FiveMinutes,
                ),
                None => reply::not_found(),
            },
            Place::Register => register(turn).await,
            Place::Authorize => authorize(turn, app).await,
            Place::Callback => receive(turn, app).await,
            Place::Token | Place::Revoke if turn.request.body().len() > TOKEN_BYTES_MAX => {
                too_large()
            }
            Place::Token => token::answer(turn).await,
            Place::Revoke => revocation::answer(turn).await,
            Place::Owner => reply::not_found(),
        }
    }
}

async fn register<P: Ports>(turn: &Turn<'_, P>) -> Reply {
    if !turn.is_admitted(Limit::Register).await {
        return reply::too_many();
    }
    if turn.request.body().len() > REGISTER_BYTES_MAX {
        return too_large();
    }
    if !crate::oauth::github::is_json(turn.request.headers()) {
        return reply::problem(
            415,
            "invalid_client_metadata",
            "The body must be application/json.",
        );
    }
    let Ok(ring) = turn.memory.ring(turn.ports, turn.fresh).await else {
        return reply::error(crate::oauth::error::Error::unavailable(), false);
    };
    match registration::register(turn.request.body(), turn.own_host(), &ring, turn.fresh) {
        Ok(answer) => {
            let mut event = Event::new("oauth.register", "ok");
            event.agent = crate::oauth::authorize::agent(turn.request);
            turn.note(event);
            reply::json(201, &answer)
        }
        Err(error) => {
            let event = Event::new("oauth.register", error.code.text());
            turn.note(event);
            reply::error(error, false)
        }
    }
}

async fn authorize<P: Ports>(turn: &Turn<'_, P>, app: &App) -> Reply {
    if !turn.is_admitted(Limit::Authorize).await {
        return slow_down();
    }
    if turn.request.method() == Method::POST {
        consent::decide(turn, app).await
    } else {
        consent::show(turn, app).await
    }
}

async fn receive<P: Ports>(turn: &Turn<'_, P>, app: &App) -> Reply {
    // What a browser fetches ahead of a click must not use up a sign-in.
    let is_ahead = turn
        .request
        .headers()
        .get(PURPOSE)
        .is_some_and(|value| value.as_bytes().starts_with(b"prefetch"));
    if is_ahead {
        return reply::problem(503, "temporarily_unavailable", "Not ahead of time.");
    }
    if !turn.is_admitted(Limit::Callback).await {
        return slow_down();
    }
    callback::receive(turn, app).await
}

fn too_large() -> Reply {
    reply::problem(413, "invalid_request", "The body is too large.")
}

fn slow_down() -> Reply {
    pages::problem(&Problem {
        status: 429,
        title: "Too many tries in a short time",
        text: "Nothing was lost.",
        steps: &["Wait half a minute and load this page again."],
        link: None,
    })
}

fn refuse_method(place: Place) -> Reply {
    if matches!(place, Place::Authorize | Place::Callback) {
        let mut page = pages::problem(&Problem {
            status: 405,
            title: "This page cannot be used that way",
            text: "Open it by starting a sign-in from your application.",
            steps: &[],
            link: None,
        });
        reply::set(&mut page, ALLOW, place.allow());
        return page;
    }
    reply::method_not_allowed(place.allow())
}

/// Says so in plain words, and without the values. Metadata is simply absent, so that no client begins what must fail.
fn not_configured(place: Place, settings: &Settings) -> Reply {
    let missing = settings.missing.join(", ");
    let text = if missing.is_empty() {
        "Sign-in is not available on this server.".to_owned()
    } else {
        format!(
            "Sign-in is not set up on this server. Missing: {missing}. A bearer token still works."
        )
    };
    match place {
        Place::WellKnown => reply::not_found(),
        Place::Authorize | Place::Callback => pages::problem(&Problem {
            status: 503,
            title: "Sign-in is not set up here",
            text: &text,
            steps: &[
                "If this server is yours, its documentation tells how to connect it to GitHub.",
            ],
            link: None,
        }),
        Place::Register | Place::Token | Place::Revoke | Place::Owner => {
            reply::problem(503, "temporarily_unavailable", &text)
        }
    }
}

impl<P: Ports> Authorization for SignIn<P> {
    fn is_open(&self) -> bool {
        self.settings.app.is_some()
    }

    async fn route(
        &self,
        request: &Request<Vec<u8>>,
        issuer: &str,
        fresh: &Fresh,
    ) -> Option<Response<Vec<u8>>> {
        let place = Place::find(request.uri().path())?;
        let turn = self.turn(request, issuer, fresh);
        let mut reply = self.answer(place, &turn).await;
        place.cors().apply(reply.headers_mut());
        reply::secure(&mut reply, issuer);
        if request.method() == Method::HEAD {
            reply.body_mut().clear();
        }
        Some(reply)
    }

    fn has_own_credential(&self, request: &Request<Vec<u8>>) -> bool {
        verify::is_signed(&self.settings, request)
    }

    async fn verify(
        &self,
        credential: Credential<'_>,
        request: &Request<Vec<u8>>,
        issuer: &str,
        endpoint: Endpoint,
        fresh: &Fresh,
    ) -> Result<Principal, Denial> {
        verify::verify(
            &self.turn(request, issuer, fresh),
            self.is_open(),
            credential,
            endpoint,
        )
        .await
    }
}

impl<P: Ports> SignIn<P> {
    fn turn<'a>(
        &'a self,
        request: &'a Request<Vec<u8>>,
        issuer: &'a str,
        fresh: &'a Fresh,
    ) -> Turn<'a, P> {
        Turn {
            request,
            settings: &self.settings,
            issuer,
            memory: &self.memory,
            ports: &self.ports,
            fresh,
        }
    }
}
