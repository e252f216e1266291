//! Is this credential good here, now: access tokens through memory, cache and vault; signed requests.
//!
//! A token's record may be cached, the decision never is: list, epoch and audience are looked at every time.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Request;

use crate::auth::{Credential, Denial, Endpoint, Kind as PrincipalKind, Principal};
use crate::oauth::audience::Resource;
use crate::oauth::keys::{Missing, Refusal};
use crate::oauth::memory::Unsure;
use crate::oauth::port::{Event, Limit, Ports, Task, ask_twice};
use crate::oauth::settings::Settings;
use crate::oauth::sign_in::Turn;
use crate::oauth::signed::{self, NONCE_SECONDS, Signature, Target};
use crate::oauth::spelling::{self, Kind};
use crate::oauth::vault::message::{Answer, Ask, Bytes, Hash, Record};
use crate::wire;

/// A cached record is not written for less: the cache refuses times to live under a minute.
const CACHE_SECONDS_MIN: u64 = 120;
/// A record leaves the cache after this, also if nobody could take it out: when a token is revoked and the cache does not
/// answer, this is how long it may live on elsewhere. The vault puts it there again.
const CACHE_SECONDS_MAX: u64 = 3600;
/// A token older than this that the cache does not hold is put there again.
const REPAIR_SECONDS: u64 = 60;

const UNKNOWN: Denial = Denial::Invalid("the token is unknown, expired or revoked");
const ELSEWHERE: Denial = Denial::Invalid("the token is for another resource");

pub(super) async fn verify<P: Ports>(
    turn: &Turn<'_, P>,
    is_open: bool,
    credential: Credential<'_>,
    endpoint: Endpoint,
) -> Result<Principal, Denial> {
    match credential {
        Credential::Bearer(token) if is_open => bearer(turn, token, endpoint).await,
        Credential::Bearer(_) => Err(Denial::Invalid("the token is not known here")),
        Credential::None if is_signed(turn.settings, turn.request) => verify_signature(turn).await,
        Credential::None => Err(Denial::Absent),
    }
}

/// Whether signing is on and used. While it is off, its headers mean nothing.
pub(super) fn is_signed(settings: &Settings, request: &Request<Vec<u8>>) -> bool {
    !settings.access_keys.is_empty() && signed::has_signature(request.headers())
}

async fn bearer<P: Ports>(
    turn: &Turn<'_, P>,
    token: &str,
    endpoint: Endpoint,
) -> Result<Principal, Denial> {
    let record = find(turn, token).await?;
    judge(turn, &record, endpoint)?;
    Ok(Principal {
        kind: PrincipalKind::OAuth,
    })
}

/// The record of a live token. Steps: 1 its seal, 2 memory, 3 cache, 4 vault. Only the vault can say that it is dead.
async fn find<P: Ports>(turn: &Turn<'_, P>, token: &str) -> Result<Record, Denial> {
    if spelling::key_id(Kind::Access, token).is_none() {
        return Err(denied(turn, "not_ours", UNKNOWN));
    }
    let opened = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| {
            spelling::verify(Kind::Access, ring, token)
        })
        .await;
    match opened {
        Ok(Err(Refusal::Forged | Refusal::Key(Missing::Newer | Missing::Dropped))) => {
            return Err(denied(turn, "forged", UNKNOWN)); // 1
        }
        // Without a key the seal cannot be judged, yet the cache can still know the token: its hash needs no key.
        Ok(Ok(())) | Err(Unsure::NoKeys) => {}
        // A number that anybody can make up must not reach the cache.
        Err(Unsure::AskedLately) => return Err(Denial::Unavailable),
    }
    let hash = Bytes(spelling::hash(token));
    let now = turn.now();
    match turn.memory.token(&hash, now) {
        Some(Some(record)) => return Ok(record), // 2
        Some(None) => return Err(denied(turn, "dead", UNKNOWN)),
        None => {}
    }
    // Records never change, so one that has expired is an answer too.
    if let Some(record) = cached(turn, &hash).await {
        turn.memory.remember_live(hash, record.clone(), now);
        return Ok(record); // 3
    }
    match ask_twice(turn.ports, turn.fresh, &Ask::Check { access: hash }).await {
        Ok(Answer::Live { record }) => {
            turn.memory.remember_live(hash, record.clone(), now);
            if now.saturating_sub(record.issued) > REPAIR_SECONDS {
                cache(turn, &hash, &record);
            }
            Ok(record) // 4
        }
        Ok(Answer::Dead) => {
            turn.memory.remember_dead(hash, now);
            if turn.is_admitted(Limit::Dead).await {
                Err(denied(turn, "dead", UNKNOWN))
            } else {
                Err(denied(turn, "limited", Denial::TooMany))
            }
        }
        Ok(_) | Err(_) => Err(Denial::Unavailable),
    }
}

async fn cached<P: Ports>(turn: &Turn<'_, P>, hash: &Hash) -> Option<Record> {
    let found = turn.ports.get(&key(hash)).await;
    let Ok(text) = found else {
        turn.note(Event::new("cache.error", "unreachable"));
        return None;
    };
    wire::read(&URL_SAFE_NO_PAD.decode(text?).ok()?).ok()
}

/// What is decided anew at each check.
fn judge<P: Ports>(turn: &Turn<'_, P>, record: &Record, endpoint: Endpoint) -> Result<(), Denial> {
    if record.expires <= turn.now() {
        return Err(denied(turn, "expired", UNKNOWN));
    }
    if turn
        .settings
        .gate
        .check(record.epoch, &record.identity)
        .is_err()
    {
        return Err(denied(turn, "gate", UNKNOWN));
    }
    let is_for = match endpoint {
        Endpoint::Mcp => record.audience.covers(Resource::Mcp),
        Endpoint::McpCompat | Endpoint::Root => record.audience.covers(Resource::McpCompat),
        Endpoint::Any => true,
    };
    if is_for {
        Ok(())
    } else {
        Err(denied(turn, "audience", ELSEWHERE))
    }
}

fn denied<P: Ports>(turn: &Turn<'_, P>, reason: &'static str, denial: Denial) -> Denial {
    let mut event = Event::new("auth.denied", reason);
    event.agent = crate::oauth::authorize::agent(turn.request);
    turn.note(event);
    denial
}

/// Steps: 1 shape, 2 time, 3 signature and key, 4 the nonce, last, so that strangers cannot fill the table.
async fn verify_signature<P: Ports>(turn: &Turn<'_, P>) -> Result<Principal, Denial> {
    const REFUSED: Denial = Denial::Invalid("the signature is not valid");
    let now = turn.now();
    let Some(signature) = Signature::parse(turn.request.headers()) else {
        return Err(denied(turn, "signature_shape", REFUSED)); // 1
    };
    if !signature.is_timely(now) {
        return Err(denied(turn, "signature_time", REFUSED)); // 2
    }
    let path = canonical_path(turn.request.uri().path());
    let target = Target {
        host: turn.own_host(),
        path: &path,
    };
    let Some(key) = signature.verify(&turn.settings.access_keys, turn.request, target, now) else {
        return Err(denied(turn, "signature", REFUSED)); // 3
    };
    let ask = Ask::NonceOnce {
        access_key: signature.access_key.to_owned(),
        nonce: signature.nonce.to_owned(),
        expires: now.saturating_add(NONCE_SECONDS),
    };
    // Once: a second try would take the first one's nonce for a replay.
    match turn.ports.ask(&ask).await {
        Ok(Answer::Fresh) => Ok(Principal {
            kind: key.not_after.map_or(PrincipalKind::Signed, |until| {
                PrincipalKind::SignedRetiring { until }
            }),
        }), // 4
        Ok(Answer::Replayed) => Err(denied(turn, "signature_replayed", REFUSED)),
        Ok(_) | Err(_) => Err(Denial::Unavailable),
    }
}

/// The two tolerated spellings of our paths are signed as the canonical one.
fn canonical_path(path: &str) -> String {
    let bare = path.strip_suffix('/').unwrap_or(path);
    for resource in [Resource::Mcp, Resource::McpCompat] {
        if bare.eq_ignore_ascii_case(resource.path()) {
            return resource.path().to_owned();
        }
    }
    path.to_owned()
}

fn key(hash: &Hash) -> String {
    format!("at:1:{}", URL_SAFE_NO_PAD.encode(hash.0))
}

fn cache<P: Ports>(turn: &Turn<'_, P>, hash: &Hash, record: &Record) {
    let ttl_seconds = record.expires.saturating_sub(turn.now());
    if ttl_seconds < CACHE_SECONDS_MIN {
        return;
    }
    if let Ok(record) = wire::write(record) {
        turn.ports.later(Task::Remember {
            key: key(hash),
            record: URL_SAFE_NO_PAD.encode(record),
            ttl_seconds: ttl_seconds.min(CACHE_SECONDS_MAX),
        });
    }
}

/// A token that was just issued: put into the cache, so that the next location finds it.
pub(super) fn remember<P: Ports>(turn: &Turn<'_, P>, token: &str, record: &Record) {
    cache(turn, &Bytes(spelling::hash(token)), record);
}

/// Tokens that just died: out of memory and cache.
pub(super) fn purge<P: Ports>(turn: &Turn<'_, P>, dead: &[Hash]) {
    if dead.is_empty() {
        return;
    }
    for hash in dead {
        turn.memory.forget_token(hash);
    }
    turn.ports.later(Task::Purge {
        keys: dead.iter().map(key).collect(),
    });
}
