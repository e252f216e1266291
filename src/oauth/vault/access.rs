//! Access tokens: issuing, checking and revoking them; and the nonces of signed requests.

use crate::database::{Column, Database, DatabaseError, Row};
use crate::oauth::audience::Audience;
use crate::oauth::vault::grant::{Condition, Grant, audience, revoke as revoke_grant};
use crate::oauth::vault::message::{Answer, Bytes, Hash, Reason};
use crate::oauth::vault::{
    ACCESS_PER_GRANT_MAX, ACCESS_SECONDS, LAST_USED_STEP_SECONDS, integer, unsigned,
};

pub(super) fn issue<D: Database>(
    db: &D,
    grant: &Grant,
    token: &Hash,
    generation: i64,
    audience: Audience,
    now: u64,
) -> Result<Answer, DatabaseError> {
    let expires = now.saturating_add(ACCESS_SECONDS);
    db.execute(
        "INSERT INTO access (token, grant_id, generation, audience, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
        &[
            token.0.as_slice().into(),
            grant.id.into(),
            generation.into(),
            i64::from(u8::from(audience)).into(),
            integer(now),
            integer(expires),
        ],
    )?;
    let pushed_out = db.query(
        "DELETE FROM access WHERE grant_id = ?1 AND rowid NOT IN \
         (SELECT rowid FROM access WHERE grant_id = ?1 ORDER BY created DESC, rowid DESC LIMIT ?2) RETURNING token",
        &[grant.id.into(), ACCESS_PER_GRANT_MAX.into()],
    )?;
    Ok(Answer::Issued {
        expires,
        audience,
        record: grant.record(audience, now, expires),
        dead: tokens(pushed_out)?,
    })
}

/// The hashes in rows of `access`: what goes there goes from the cache too, or it would live on in it.
pub(super) fn tokens(rows: Vec<Row>) -> Result<Vec<Hash>, DatabaseError> {
    let mut tokens = Vec::new();
    for mut row in rows {
        let token = row.blob(Column("access", "token"))?;
        tokens.extend(token.try_into().ok().map(Bytes));
    }
    Ok(tokens)
}

/// The answer to the same attempt once more.
pub(super) fn issued_before<D: Database>(
    db: &D,
    grant: &Grant,
    token: &Hash,
) -> Result<Answer, DatabaseError> {
    Ok(match Found::find(db, token)? {
        None => Answer::InvalidGrant {
            reason: Reason::Used,
            dead: Vec::new(),
        },
        Some(found) => Answer::Issued {
            expires: found.expires,
            audience: found.audience,
            record: grant.record(found.audience, found.created, found.expires),
            dead: Vec::new(),
        },
    })
}

pub(super) fn check<D: Database>(db: &D, token: &Hash, now: u64) -> Result<Answer, DatabaseError> {
    let Some(found) = Found::find(db, token)? else {
        return Ok(Answer::Dead);
    };
    let Some(grant) = Grant::find(db, Condition::Id, found.grant.into())? else {
        return Ok(Answer::Dead);
    };
    if found.expires <= now || grant.is_revoked {
        return Ok(Answer::Dead);
    }
    // Rows written are what the platform bills: once an hour is enough for "last used".
    if now.saturating_sub(grant.last_used) >= LAST_USED_STEP_SECONDS {
        db.execute(
            "UPDATE grants SET last_used = ? WHERE id = ?",
            &[integer(now), grant.id.into()],
        )?;
    }
    Ok(Answer::Live {
        record: grant.record(found.audience, found.created, found.expires),
    })
}

struct Found {
    grant: i64,
    audience: Audience,
    created: u64,
    expires: u64,
}

impl Found {
    fn find<D: Database>(db: &D, token: &Hash) -> Result<Option<Self>, DatabaseError> {
        let mut rows = db.query(
            "SELECT grant_id, audience, created, expires FROM access WHERE token = ?",
            &[token.0.as_slice().into()],
        )?;
        let Some(row) = rows.first_mut() else {
            return Ok(None);
        };
        let column = |name| Column("access", name);
        Ok(Some(Self {
            grant: row.integer(column("grant_id"))?,
            audience: audience(row.integer(column("audience"))?)?,
            created: unsigned(row.integer(column("created"))?),
            expires: unsigned(row.integer(column("expires"))?),
        }))
    }
}

/// RFC 7009: an access token ends alone; a refresh token, current or retired, ends its whole grant. Another client's
/// token and an unknown one look the same from outside: nothing happens.
pub(super) fn revoke<D: Database>(
    db: &D,
    token: &Hash,
    client_id: &str,
    now: u64,
) -> Result<Answer, DatabaseError> {
    let value = || token.0.as_slice().into();
    if let Some(found) = Found::find(db, token)? {
        let owner = Grant::find(db, Condition::Id, found.grant.into())?;
        if owner.is_none_or(|grant| grant.client_id != client_id) {
            return Ok(Answer::Revoked { dead: Vec::new() });
        }
        db.execute("DELETE FROM access WHERE token = ?", &[value()])?;
        return Ok(Answer::Revoked { dead: vec![*token] });
    }
    let grant = match Grant::find(db, Condition::Refresh, value())? {
        Some(grant) => Some(grant),
        None => match db
            .query("SELECT grant_id FROM retired WHERE refresh = ?", &[value()])?
            .first_mut()
        {
            Some(row) => {
                let id = row.integer(Column("retired", "grant_id"))?;
                Grant::find(db, Condition::Id, id.into())?
            }
            None => None,
        },
    };
    let dead = match grant.filter(|grant| grant.client_id == client_id) {
        Some(grant) => revoke_grant(db, grant.id, "by_client", now)?,
        None => Vec::new(),
    };
    Ok(Answer::Revoked { dead })
}

pub(super) fn nonce_once<D: Database>(
    db: &D,
    access_key: &str,
    nonce: &str,
    expires: u64,
    now: u64,
) -> Result<Answer, DatabaseError> {
    let seen = db.query(
        "SELECT 1 FROM nonces WHERE access_key = ? AND nonce = ? AND expires > ?",
        &[access_key.into(), nonce.into(), integer(now)],
    )?;
    if !seen.is_empty() {
        return Ok(Answer::Replayed);
    }
    db.execute(
        "INSERT INTO nonces (access_key, nonce, expires) VALUES (?1, ?2, ?3) \
         ON CONFLICT (access_key, nonce) DO UPDATE SET expires = ?3",
        &[access_key.into(), nonce.into(), integer(expires)],
    )?;
    Ok(Answer::Fresh)
}
