//! Rotation of refresh tokens: each one has one successor, which whoever holds it can derive and nobody else.
//!
//! A retired token stays good for a while, because answers get lost and processes share credentials: it leads to the
//! current head and changes nothing. After that while it is taken for stolen, and the grant ends.

use crate::database::{Column, Database, DatabaseError};
use crate::oauth::audience::Audience;
use crate::oauth::vault::access;
use crate::oauth::vault::code::refuse;
use crate::oauth::vault::grant::{Condition, Grant, audience, revoke};
use crate::oauth::vault::message::{Answer, Ask, Bytes, Hash, Reason, Walked};
use crate::oauth::vault::{GRANT_IDLE_SECONDS, RETIRED_PER_GRANT_MAX, integer, unsigned};

pub(super) fn refresh<D: Database>(db: &D, ask: &Ask, now: u64) -> Result<Answer, DatabaseError> {
    let Ask::Refresh {
        presented,
        client_id,
        audience: asked,
        gate,
        ..
    } = ask
    else {
        return refuse(Reason::Unknown);
    };
    let head = Grant::find(db, Condition::Refresh, presented.0.as_slice().into())?;
    let retired = if head.is_some() {
        None
    } else {
        Retired::find(db, presented)?
    };
    let grant = match (head, &retired) {
        (Some(grant), _) => grant,
        (None, Some(retired)) => match Grant::find(db, Condition::Id, retired.grant.into())? {
            Some(grant) => grant,
            None => return refuse(Reason::Unknown),
        },
        (None, None) => return refuse(Reason::Unknown),
    };
    if grant.client_id != *client_id {
        return refuse(Reason::OtherClient);
    }
    if let Err(reason) = grant.check(gate, now) {
        return refuse(reason);
    }
    if asked.is_some_and(|asked| !grant.audience.contains(asked)) {
        return Ok(Answer::InvalidTarget);
    }
    match retired {
        None => rotate(db, &grant, ask, now),
        Some(retired) if now.saturating_sub(retired.at) <= gate.refresh_grace_seconds => {
            walk(db, &grant, &retired, asked.unwrap_or(grant.audience), now)
        }
        Some(_) => Ok(Answer::InvalidGrant {
            reason: Reason::Reused,
            dead: revoke(db, grant.id, "refresh_reused", now)?,
        }),
    }
}

struct Retired {
    grant: i64,
    generation: i64,
    at: u64,
}

impl Retired {
    fn find<D: Database>(db: &D, token: &Hash) -> Result<Option<Self>, DatabaseError> {
        let mut rows = db.query(
            "SELECT grant_id, generation, at FROM retired WHERE refresh = ?",
            &[token.0.as_slice().into()],
        )?;
        let Some(row) = rows.first_mut() else {
            return Ok(None);
        };
        let column = |name| Column("retired", name);
        Ok(Some(Self {
            grant: row.integer(column("grant_id"))?,
            generation: row.integer(column("generation"))?,
            at: unsigned(row.integer(column("at"))?),
        }))
    }
}

fn rotate<D: Database>(
    db: &D,
    grant: &Grant,
    ask: &Ask,
    now: u64,
) -> Result<Answer, DatabaseError> {
    let Ask::Refresh {
        presented,
        audience: asked,
        next_refresh,
        next_access,
        root_key,
        ..
    } = ask
    else {
        return refuse(Reason::Unknown);
    };
    let audience = asked.unwrap_or(grant.audience);
    let generation = grant.generation.saturating_add(1);
    db.execute(
        "INSERT INTO retired (refresh, grant_id, generation, root_key, asked, at) VALUES (?, ?, ?, ?, ?, ?)",
        &[
            presented.0.as_slice().into(),
            grant.id.into(),
            grant.generation.into(),
            i64::from(*root_key).into(),
            asked.map(|asked| i64::from(u8::from(asked))).into(),
            integer(now),
        ],
    )?;
    db.execute(
        "DELETE FROM retired WHERE grant_id = ? AND generation <= ?",
        &[
            grant.id.into(),
            generation
                .saturating_sub(RETIRED_PER_GRANT_MAX)
                .saturating_sub(1)
                .into(),
        ],
    )?;
    db.execute(
        "UPDATE grants SET refresh = ?, generation = ?, expires = ?, last_used = ? WHERE id = ?",
        &[
            next_refresh.0.as_slice().into(),
            generation.into(),
            integer(now.saturating_add(GRANT_IDLE_SECONDS)),
            integer(now),
            grant.id.into(),
        ],
    )?;
    access::issue(db, grant, next_access, generation, audience, now)
}

fn walk<D: Database>(
    db: &D,
    grant: &Grant,
    from: &Retired,
    wanted: Audience,
    now: u64,
) -> Result<Answer, DatabaseError> {
    let column = |name| Column("retired", name);
    let mut root_keys = Vec::new();
    let mut asked = None;
    for mut row in db.query(
        "SELECT root_key, asked FROM retired WHERE grant_id = ? AND generation >= ? ORDER BY generation LIMIT ?",
        &[
            grant.id.into(),
            from.generation.into(),
            RETIRED_PER_GRANT_MAX.saturating_add(1).into(),
        ],
    )? {
        let key = u8::try_from(row.integer(column("root_key"))?);
        root_keys.push(key.map_err(|_| DatabaseError::Corrupt("a root key has no such number"))?);
        asked = row
            .optional_integer(column("asked"))?
            .map(audience)
            .transpose()?;
    }
    let head = grant.refresh.clone().and_then(|head| head.try_into().ok());
    let Some(head) = head.map(Bytes) else {
        return refuse(Reason::Unknown);
    };
    let mut rows = db.query(
        "SELECT expires FROM access WHERE grant_id = ? AND generation = ? AND audience = ? AND expires > ? LIMIT 1",
        &[
            grant.id.into(),
            grant.generation.into(),
            i64::from(u8::from(wanted)).into(),
            integer(now),
        ],
    )?;
    let access = match rows.first_mut() {
        None => None,
        Some(row) => Some(Walked {
            asked,
            expires: unsigned(row.integer(Column("access", "expires"))?),
        }),
    };
    Ok(Answer::Walk {
        root_keys,
        head,
        access,
    })
}

/// A fresh access token after a walk whose own one is nearly over or for another audience.
pub(super) fn mint_access<D: Database>(
    db: &D,
    head: &Hash,
    asked: Option<Audience>,
    access: &Hash,
    now: u64,
) -> Result<Answer, DatabaseError> {
    let Some(grant) = Grant::find(db, Condition::Refresh, head.0.as_slice().into())? else {
        return refuse(Reason::Unknown);
    };
    let audience = asked.unwrap_or(grant.audience);
    if grant.is_revoked || grant.expires <= now {
        return refuse(Reason::Revoked);
    }
    if !grant.audience.contains(audience) {
        return Ok(Answer::InvalidTarget);
    }
    // Generation -1: this one cannot be derived, so no later walk may hand it out.
    access::issue(db, &grant, access, -1, audience, now)
}
