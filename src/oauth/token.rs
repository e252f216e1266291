//! The token endpoint (RFC 6749 §3.2): a code for the first tokens, a refresh token for the next ones.
//!
//! Tokens are made and derived here; whether they may be is decided by the vault, which sees hashes only.

use crate::json::json;
use crate::oauth::audience::{Audience, SCOPE};
use crate::oauth::client_auth::{Refused, authenticate, read_form};
use crate::oauth::error::{Code, Error};
use crate::oauth::form::Form;
use crate::oauth::keys::{KeyId, Keyring, Refusal};
use crate::oauth::pkce;
use crate::oauth::port::{Event, Ports, Trouble, ask_twice};
use crate::oauth::reply::{self, Reply};
use crate::oauth::sign_in::Turn;
use crate::oauth::spelling::{self, Kind};
use crate::oauth::vault::RETIRED_PER_GRANT_MAX;
use crate::oauth::vault::message::{Answer, Ask, Bytes, Hash, Reason, Walked};
use crate::oauth::verify;

const SINGLE: [&str; 9] = [
    "grant_type",
    "code",
    "redirect_uri",
    "code_verifier",
    "client_id",
    "client_secret",
    "refresh_token",
    "scope",
    "audience",
];
/// With less left, a walk hands out a fresh access token instead.
const ACCESS_SECONDS_MIN: u64 = 600;

const NO_GRANT: Error = Error::grant(
    "The code or token is not valid for this client: unknown, used, expired or revoked.",
);

/// What a client gets.
struct Tokens {
    access: String,
    refresh: String,
    expires_in: u64,
}

pub(super) async fn answer<P: Ports>(turn: &Turn<'_, P>) -> Reply {
    let form = match read_form(turn.request.headers(), turn.request.body(), &SINGLE) {
        Ok(form) => form,
        Err(error) => return fail(turn, "form", error, false),
    };
    let grant_type = form.one("grant_type").ok().flatten();
    let client = match authenticate(&form, turn).await {
        Ok(client) => client,
        Err(Refused { error, with_basic }) => return fail(turn, "client", error, with_basic),
    };
    let outcome = match grant_type {
        Some("authorization_code") => redeem(turn, &form, client).await,
        Some("refresh_token") => refresh(turn, &form, client).await,
        None => Err(Error::request("grant_type is missing.")),
        Some(_) => Err(Error::new(
            Code::UnsupportedGrantType,
            "Only authorization_code and refresh_token are offered.",
        )),
    };
    let stage = match grant_type {
        Some("authorization_code") => "oauth.token.code",
        Some("refresh_token") => "oauth.token.refresh",
        _ => "oauth.token.other",
    };
    match outcome {
        Ok(tokens) => {
            turn.note(Event::new(stage, "ok"));
            reply::tokens(&json!({
                "access_token": tokens.access,
                "token_type": "Bearer",
                "expires_in": tokens.expires_in,
                "refresh_token": tokens.refresh,
                "scope": SCOPE,
            }))
        }
        Err(error) => {
            turn.note(Event::new(stage, error.code.text()));
            reply::error(error, false)
        }
    }
}

fn fail<P: Ports>(
    turn: &Turn<'_, P>,
    reason: &'static str,
    error: Error,
    with_basic: bool,
) -> Reply {
    turn.note(Event::new("oauth.token.refused", reason));
    reply::error(error, with_basic)
}

fn asked_audience<P: Ports>(form: &Form, turn: &Turn<'_, P>) -> Result<Option<Audience>, Error> {
    Audience::parse(&form.all("resource"), turn.issuer).map_err(|_| NOT_GRANTED)
}

const NOT_GRANTED: Error = Error::new(
    Code::InvalidTarget,
    "The resource is not within what was granted.",
);

/// Checks everything that needs no storage first: a wrong attempt must not touch a code.
async fn redeem<P: Ports>(
    turn: &Turn<'_, P>,
    form: &Form,
    client_id: String,
) -> Result<Tokens, Error> {
    let one = |name| form.one(name).ok().flatten();
    let code = one("code").ok_or(Error::request("code is missing."))?;
    let verifier = one("code_verifier")
        .filter(|verifier| pkce::is_verifier(verifier))
        .ok_or(Error::request(
            "code_verifier must be 43 to 128 unreserved characters.",
        ))?;
    let audience = asked_audience(form, turn)?;
    check_seal(turn, Kind::Code, code).await?;
    let ring = turn.memory.ring(turn.ports, turn.fresh).await;
    let ring = ring.map_err(|_| Error::unavailable())?;
    let access = spelling::seal(Kind::Access, ring.current(), &turn.fresh.draw());
    let refresh = spelling::seal(Kind::Refresh, ring.current(), &turn.fresh.draw());
    let ask = Ask::Redeem {
        code: hash(code),
        client_id,
        redirect_uri: one("redirect_uri").map(str::to_owned),
        challenge: pkce::s256(verifier),
        audience,
        access: hash(&access),
        refresh: hash(&refresh),
        gate: turn.settings.gate.clone(),
    };
    give(
        turn,
        ask_twice(turn.ports, turn.fresh, &ask).await,
        access,
        refresh,
    )
}

async fn refresh<P: Ports>(
    turn: &Turn<'_, P>,
    form: &Form,
    client_id: String,
) -> Result<Tokens, Error> {
    let one = |name| form.one(name).ok().flatten();
    let presented = one("refresh_token").ok_or(Error::request("refresh_token is missing."))?;
    let audience = asked_audience(form, turn)?;
    check_seal(turn, Kind::Refresh, presented).await?;
    let ring = turn.memory.ring(turn.ports, turn.fresh).await;
    let ring = ring.map_err(|_| Error::unavailable())?;
    let key = ring.current();
    let next = spelling::next_refresh(key, presented);
    let access = spelling::next_access(key, presented, &audience_text(audience), SCOPE);
    let ask = Ask::Refresh {
        presented: hash(presented),
        client_id,
        audience,
        next_refresh: hash(&next),
        next_access: hash(&access),
        root_key: key.id.number(),
        gate: turn.settings.gate.clone(),
    };
    match ask_twice(turn.ports, turn.fresh, &ask).await {
        Ok(Answer::Walk {
            root_keys,
            head,
            access,
        }) => {
            turn.note(Event::new("oauth.token.refresh", "walked"));
            let steps = Steps {
                root_keys: &root_keys,
                head: &head,
            };
            walk(turn, presented, &steps, access, audience).await
        }
        answered => give(turn, answered, access, next),
    }
}

/// Hands out what the vault has just taken down, and takes what it pushed out of the cache.
fn give<P: Ports>(
    turn: &Turn<'_, P>,
    answered: Result<Answer, Trouble>,
    access: String,
    refresh: String,
) -> Result<Tokens, Error> {
    match answered {
        Ok(Answer::Issued {
            expires,
            record,
            dead,
            ..
        }) => {
            verify::purge(turn, &dead);
            verify::remember(turn, &access, &record);
            Ok(Tokens {
                access,
                refresh,
                expires_in: expires.saturating_sub(turn.now()),
            })
        }
        Ok(answer) => Err(refusal(turn, answer)),
        Err(_) => Err(Error::unavailable()),
    }
}

struct Steps<'a> {
    root_keys: &'a [u8],
    head: &'a Hash,
}

/// From a retired token to the head, which everybody who held that token may have. Nothing rotates.
async fn walk<P: Ports>(
    turn: &Turn<'_, P>,
    presented: &str,
    steps: &Steps<'_>,
    access: Option<Walked>,
    audience: Option<Audience>,
) -> Result<Tokens, Error> {
    let ring = turn.memory.ring(turn.ports, turn.fresh).await;
    let ring = ring.map_err(|_| Error::unavailable())?;
    let reached = match follow(presented, steps.root_keys, &ring) {
        Ok(reached) => Some(reached),
        // Another isolate rotated with a key that this one has not met.
        Err(Refusal::Key(_)) => {
            let followed = turn
                .memory
                .open(turn.ports, turn.fresh, |ring| {
                    follow(presented, steps.root_keys, ring)
                })
                .await;
            followed.map_err(|_| Error::unavailable())?.ok()
        }
        Err(Refusal::Forged) => None,
    };
    let (last, refresh, key) = reached.ok_or(NO_GRANT)?;
    if hash(&refresh) != *steps.head {
        return Err(NO_GRANT);
    }
    let ring = turn.memory.ring(turn.ports, turn.fresh).await;
    let ring = ring.map_err(|_| Error::unavailable())?;
    if let Some(walked) = access
        && walked.expires.saturating_sub(turn.now()) >= ACCESS_SECONDS_MIN
        && let Ok(key) = ring.find(key)
    {
        return Ok(Tokens {
            access: spelling::next_access(key, &last, &audience_text(walked.asked), SCOPE),
            refresh,
            expires_in: walked.expires.saturating_sub(turn.now()),
        });
    }
    let access = spelling::seal(Kind::Access, ring.current(), &turn.fresh.draw());
    let ask = Ask::MintAccess {
        head: *steps.head,
        audience,
        access: hash(&access),
    };
    // Once: a second try would collide with what the first one may have written.
    give(turn, turn.ports.ask(&ask).await, access, refresh)
}

/// The token before the head, the head, and the key that derived it.
fn follow(
    presented: &str,
    root_keys: &[u8],
    ring: &Keyring,
) -> Result<(String, String, KeyId), Refusal> {
    let (mut last, mut head) = (String::new(), presented.to_owned());
    let mut id = KeyId::FIRST;
    let most = usize::try_from(RETIRED_PER_GRANT_MAX)
        .unwrap_or_default()
        .saturating_add(1);
    for number in root_keys.iter().take(most) {
        id = KeyId::new(*number).ok_or(Refusal::Forged)?;
        let key = ring.find(id).map_err(Refusal::Key)?;
        let next = spelling::next_refresh(key, &head);
        last = std::mem::replace(&mut head, next);
    }
    Ok((last, head, id))
}

/// What derived access tokens are bound to: the audience as it was asked for, nothing when it was not.
fn audience_text(asked: Option<Audience>) -> String {
    asked.map_or_else(String::new, Audience::text)
}

async fn check_seal<P: Ports>(turn: &Turn<'_, P>, kind: Kind, token: &str) -> Result<(), Error> {
    let opened = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| {
            spelling::verify(kind, ring, token)
        })
        .await;
    match opened {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(NO_GRANT),
        Err(_) => Err(Error::unavailable()),
    }
}

fn hash(token: &str) -> Hash {
    Bytes(spelling::hash(token))
}

fn refusal<P: Ports>(turn: &Turn<'_, P>, answer: Answer) -> Error {
    match answer {
        Answer::InvalidGrant { reason, dead } => {
            let word = match reason {
                Reason::Replayed => "code_replayed",
                Reason::Reused => "refresh_reused",
                Reason::NotAllowed => "not_listed",
                Reason::Epoch => "epoch",
                Reason::Verifier => "verifier",
                Reason::RedirectUri => "redirect_uri",
                Reason::OtherClient => "other_client",
                Reason::Used => "used",
                Reason::Expired => "expired",
                Reason::Revoked => "revoked",
                Reason::Unknown => "unknown",
            };
            turn.note(Event::new("oauth.grant.refused", word));
            verify::purge(turn, &dead);
            NO_GRANT
        }
        Answer::InvalidTarget => NOT_GRANTED,
        _ => Error::unavailable(),
    }
}
