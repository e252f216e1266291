//! Grants: making one when a flow completes, reading one, ending one, and clearing away what is over.

use crate::database::{Column, Database, DatabaseError, Row, Value};
use crate::oauth::allowlist::{Closed, Gate};
use crate::oauth::audience::Audience;
use crate::oauth::vault::access::tokens;
use crate::oauth::vault::message::{Answer, Bytes, Completion, Hash, Identity, Reason, Record};
use crate::oauth::vault::{
    CODE_SECONDS, DOCUMENT_SECONDS, FLOW_MEMORY_SECONDS, GRANT_IDLE_SECONDS, GRANTS_MAX, PINS_MAX,
    REVOKED_MEMORY_SECONDS, SWEEP_ROWS, SWEEP_SECONDS, integer, unsigned,
};

/// A row of `grants`, as far as decisions need it.
pub(super) struct Grant {
    pub(super) id: i64,
    pub(super) client_id: String,
    pub(super) redirect_uri: String,
    pub(super) identity: Identity,
    pub(super) audience: Audience,
    pub(super) epoch: u32,
    pub(super) last_used: u64,
    pub(super) expires: u64,
    pub(super) is_revoked: bool,
    pub(super) code_expires: u64,
    pub(super) code_used: Option<u64>,
    pub(super) code_failures: i64,
    pub(super) challenge: String,
    pub(super) refresh: Option<Vec<u8>>,
    pub(super) generation: i64,
}

impl Grant {
    /// One grant by one of its unique columns; `condition` is one of our own constants.
    pub(super) fn find<D: Database>(
        db: &D,
        condition: Condition,
        value: Value,
    ) -> Result<Option<Self>, DatabaseError> {
        let mut rows = db.query(condition.statement(), &[value])?;
        rows.first_mut().map(Self::read).transpose()
    }

    fn read(row: &mut Row) -> Result<Self, DatabaseError> {
        let column = |name| Column("grants", name);
        Ok(Self {
            id: row.integer(column("id"))?,
            client_id: row.text(column("client_id"))?,
            redirect_uri: row.text(column("redirect_uri"))?,
            identity: Identity {
                base: row.text(column("identity_base"))?,
                github_id: unsigned(row.integer(column("github_id"))?),
                login: row.text(column("login"))?,
            },
            audience: audience(row.integer(column("audience"))?)?,
            epoch: u32::try_from(row.integer(column("epoch"))?).unwrap_or(u32::MAX),
            last_used: unsigned(row.integer(column("last_used"))?),
            expires: unsigned(row.integer(column("expires"))?),
            is_revoked: row.optional_text(column("revoked"))?.is_some(),
            code_expires: unsigned(row.integer(column("code_expires"))?),
            code_used: row.optional_integer(column("code_used"))?.map(unsigned),
            code_failures: row.integer(column("code_failures"))?,
            challenge: row.text(column("challenge"))?,
            refresh: row.optional_blob(column("refresh"))?,
            generation: row.integer(column("generation"))?,
        })
    }

    /// What ends a grant beside its own state: revocation, idleness, the epoch, the allowlist.
    pub(super) fn check(&self, gate: &Gate, now: u64) -> Result<(), Reason> {
        if self.is_revoked {
            return Err(Reason::Revoked);
        }
        if self.expires <= now {
            return Err(Reason::Expired);
        }
        gate.check(self.epoch, &self.identity)
            .map_err(|closed| match closed {
                Closed::Epoch => Reason::Epoch,
                Closed::NotAllowed => Reason::NotAllowed,
            })
    }

    pub(super) fn record(&self, audience: Audience, issued: u64, expires: u64) -> Record {
        Record {
            grant: self.id,
            audience,
            issued,
            expires,
            epoch: self.epoch,
            identity: self.identity.clone(),
        }
    }
}

/// By what a grant is found.
#[derive(Clone, Copy)]
pub(super) enum Condition {
    Id,
    Code,
    Refresh,
}

macro_rules! select_grant {
    ($condition:literal) => {
        concat!(
            "SELECT id, client_id, redirect_uri, identity_base, github_id, login, audience, epoch, last_used, expires, ",
            "revoked, code_expires, code_used, code_failures, challenge, refresh, generation FROM grants WHERE ",
            $condition
        )
    };
}

impl Condition {
    const fn statement(self) -> &'static str {
        match self {
            Self::Id => select_grant!("id = ?"),
            Self::Code => select_grant!("code = ?"),
            Self::Refresh => select_grant!("refresh = ?"),
        }
    }
}

pub(super) fn audience(bits: i64) -> Result<Audience, DatabaseError> {
    u8::try_from(bits)
        .ok()
        .and_then(|bits| Audience::try_from(bits).ok())
        .ok_or(DatabaseError::Corrupt("an audience has the wrong shape"))
}

/// Makes the grant of a completed flow. A flow is good once, whatever arrives twice.
pub(super) fn complete<D: Database>(
    db: &D,
    completion: &Completion,
    now: u64,
) -> Result<Answer, DatabaseError> {
    if let Answer::AlreadyDone { age_seconds } = flow_done(db, &completion.flow, now)? {
        return Ok(Answer::AlreadyDone { age_seconds });
    }
    if is_denied(db, &completion.client_id)? {
        return Ok(Answer::Denied);
    }
    if !pin(db, completion)? {
        return Ok(Answer::OtherNumber);
    }
    let dead = make_room(db)?;
    db.execute(
        "INSERT INTO grants (client_id, client_name, redirect_uri, identity_base, github_id, login, audience, epoch, created, \
         last_used, expires, code, code_expires, challenge) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &[
            completion.client_id.as_str().into(),
            completion.client_name.as_str().into(),
            completion.redirect_uri.as_str().into(),
            completion.identity.base.as_str().into(),
            integer(completion.identity.github_id),
            completion.identity.login.as_str().into(),
            i64::from(u8::from(completion.audience)).into(),
            completion.epoch.into(),
            integer(now),
            integer(now),
            integer(now.saturating_add(GRANT_IDLE_SECONDS)),
            completion.code.0.as_slice().into(),
            integer(now.saturating_add(CODE_SECONDS)),
            completion.challenge.as_str().into(),
        ],
    )?;
    let Some(grant) = Grant::find(db, Condition::Code, completion.code.0.as_slice().into())? else {
        return Err(DatabaseError::Corrupt("a new grant is not there"));
    };
    db.execute(
        "INSERT INTO flows (id, grant_id, done) VALUES (?, ?, ?)",
        &[
            completion.flow.0.as_slice().into(),
            grant.id.into(),
            integer(now),
        ],
    )?;
    if let Some(document) = &completion.document {
        db.execute(
            "INSERT INTO documents (url, body, at) VALUES (?1, ?2, ?3) ON CONFLICT (url) DO UPDATE SET body = ?2, at = ?3",
            &[
                completion.client_id.as_str().into(),
                document.as_str().into(),
                integer(now),
            ],
        )?;
    }
    Ok(Answer::Completed {
        grant: grant.id,
        dead,
    })
}

/// Remembers which number a login had when it was first seen here, and refuses another one: logins can change hands.
fn pin<D: Database>(db: &D, completion: &Completion) -> Result<bool, DatabaseError> {
    let identity = &completion.identity;
    let key = format!("{} {}", identity.base, identity.login.to_ascii_lowercase());
    let mut rows = db.query(
        "SELECT github_id FROM pins WHERE identity = ?",
        &[key.as_str().into()],
    )?;
    if let Some(row) = rows.first_mut() {
        let pinned = unsigned(row.integer(Column("pins", "github_id"))?);
        if pinned == identity.github_id {
            return Ok(true);
        }
        if !completion.by_number {
            return Ok(false);
        }
    }
    db.execute(
        "INSERT INTO pins (identity, github_id) VALUES (?1, ?2) ON CONFLICT (identity) DO UPDATE SET github_id = ?2",
        &[key.into(), integer(identity.github_id)],
    )?;
    db.execute(
        "DELETE FROM pins WHERE rowid NOT IN (SELECT rowid FROM pins ORDER BY rowid DESC LIMIT ?)",
        &[PINS_MAX.into()],
    )?;
    Ok(true)
}

/// Ends the grants that were idle longest when there are too many.
fn make_room<D: Database>(db: &D) -> Result<Vec<Hash>, DatabaseError> {
    let mut dead = Vec::new();
    let rows = db.query(
        "SELECT id FROM grants ORDER BY (revoked IS NULL) DESC, last_used DESC, id DESC LIMIT 50 OFFSET ?",
        &[GRANTS_MAX.saturating_sub(1).into()],
    )?;
    for mut row in rows {
        dead.extend(forget(db, row.integer(Column("grants", "id"))?)?);
    }
    Ok(dead)
}

pub(super) fn flow_done<D: Database>(
    db: &D,
    flow: &Bytes<16>,
    now: u64,
) -> Result<Answer, DatabaseError> {
    let mut rows = db.query(
        "SELECT done FROM flows WHERE id = ?",
        &[flow.0.as_slice().into()],
    )?;
    match rows.first_mut() {
        None => Ok(Answer::NotDone),
        Some(row) => Ok(Answer::AlreadyDone {
            age_seconds: now.saturating_sub(unsigned(row.integer(Column("flows", "done"))?)),
        }),
    }
}

pub(super) fn document<D: Database>(db: &D, url: &str, now: u64) -> Result<Answer, DatabaseError> {
    let mut rows = db.query(
        "SELECT body FROM documents WHERE url = ? AND at > ?",
        &[url.into(), integer(now.saturating_sub(DOCUMENT_SECONDS))],
    )?;
    let body = match rows.first_mut() {
        None => None,
        Some(row) => Some(row.text(Column("documents", "body"))?),
    };
    Ok(Answer::Document { body })
}

/// A client that is denied loses its grants with that, so only a new one has to be asked about.
fn is_denied<D: Database>(db: &D, client_id: &str) -> Result<bool, DatabaseError> {
    let rows = db.query(
        "SELECT 1 FROM denied_clients WHERE client_id = ?",
        &[client_id.into()],
    )?;
    Ok(!rows.is_empty())
}

/// Ends a grant and all its tokens. Returns the access tokens that may still stand in the cache.
pub(super) fn revoke<D: Database>(
    db: &D,
    grant: i64,
    why: &'static str,
    now: u64,
) -> Result<Vec<Hash>, DatabaseError> {
    let dead = end_access(db, grant)?;
    db.execute(
        "UPDATE grants SET revoked = ?, revoked_at = ? WHERE id = ? AND revoked IS NULL",
        &[why.into(), integer(now), grant.into()],
    )?;
    Ok(dead)
}

fn end_access<D: Database>(db: &D, grant: i64) -> Result<Vec<Hash>, DatabaseError> {
    let rows = db.query(
        "DELETE FROM access WHERE grant_id = ? RETURNING token",
        &[grant.into()],
    )?;
    tokens(rows)
}

fn forget<D: Database>(db: &D, grant: i64) -> Result<Vec<Hash>, DatabaseError> {
    let dead = end_access(db, grant)?;
    for statement in [
        "DELETE FROM retired WHERE grant_id = ?",
        "DELETE FROM grants WHERE id = ?",
    ] {
        db.execute(statement, &[grant.into()])?;
    }
    Ok(dead)
}

pub(super) fn sweep<D: Database>(db: &D, now: u64) -> Result<Option<u64>, DatabaseError> {
    for (statement, before) in [
        (
            "DELETE FROM access WHERE rowid IN (SELECT rowid FROM access WHERE expires <= ? LIMIT ?)",
            now,
        ),
        (
            "DELETE FROM nonces WHERE rowid IN (SELECT rowid FROM nonces WHERE expires <= ? LIMIT ?)",
            now,
        ),
        (
            "DELETE FROM flows WHERE rowid IN (SELECT rowid FROM flows WHERE done <= ? LIMIT ?)",
            now.saturating_sub(FLOW_MEMORY_SECONDS),
        ),
        (
            "DELETE FROM documents WHERE rowid IN (SELECT rowid FROM documents WHERE at <= ? LIMIT ?)",
            now.saturating_sub(DOCUMENT_SECONDS),
        ),
    ] {
        db.execute(statement, &[integer(before), SWEEP_ROWS.into()])?;
    }
    // Over: idle too long, never redeemed, or revoked a week ago.
    let over = db.query(
        "SELECT id FROM grants WHERE expires <= ?1 OR (code_used IS NULL AND code_expires <= ?1) OR revoked_at <= ?2 LIMIT ?3",
        &[
            integer(now),
            integer(now.saturating_sub(REVOKED_MEMORY_SECONDS)),
            GRANTS_MAX.into(),
        ],
    )?;
    for mut row in over {
        forget(db, row.integer(Column("grants", "id"))?)?;
    }
    let left = db.query(
        "SELECT EXISTS (SELECT 1 FROM grants) OR EXISTS (SELECT 1 FROM nonces) OR EXISTS (SELECT 1 FROM flows) \
         OR EXISTS (SELECT 1 FROM documents)",
        &[],
    )?;
    let is_left = match left.into_iter().next() {
        Some(mut row) => row.flag(Column("grants", "left"))?,
        None => false,
    };
    Ok(is_left.then_some(SWEEP_SECONDS))
}
