//! What the owner may ask: who has access, and to end it.

use crate::database::{Column, Database, DatabaseError};
use crate::oauth::redirect::RedirectUri;
use crate::oauth::uri::Uri;
use crate::oauth::vault::grant::{Condition, Grant, audience, revoke};
use crate::oauth::vault::message::{Answer, Summary};
use crate::oauth::vault::{DENIED_MAX, GRANTS_MAX, integer, unsigned};

/// The grants that can still be used, last used first. No hash of anything.
pub(super) fn grants<D: Database>(db: &D, now: u64) -> Result<Answer, DatabaseError> {
    let column = |name| Column("grants", name);
    let grants = db
        .query(
            "SELECT id, client_name, client_id, redirect_uri, login, github_id, audience, created, last_used, expires FROM grants \
             WHERE revoked IS NULL AND expires > ? AND code_used IS NOT NULL ORDER BY last_used DESC, id DESC LIMIT ?",
            &[integer(now), GRANTS_MAX.into()],
        )?
        .into_iter()
        .map(|mut row| {
            Ok(Summary {
                grant: row.integer(column("id"))?,
                client_name: row.text(column("client_name"))?,
                client_host: Uri::parse(&row.text(column("client_id"))?)
                    .filter(|uri| uri.has_scheme("https"))
                    .map(|uri| uri.host.to_owned()),
                redirect_origin: RedirectUri::parse(&row.text(column("redirect_uri"))?, "")
                    .map_or_else(String::new, |uri| uri.origin()),
                login: row.text(column("login"))?,
                github_id: unsigned(row.integer(column("github_id"))?),
                audience: audience(row.integer(column("audience"))?)?
                    .names()
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
                created: unsigned(row.integer(column("created"))?),
                last_used: unsigned(row.integer(column("last_used"))?),
                expires: unsigned(row.integer(column("expires"))?),
            })
        })
        .collect::<Result<Vec<_>, DatabaseError>>()?;
    Ok(Answer::Grants { grants })
}

pub(super) fn revoke_grant<D: Database>(
    db: &D,
    grant: i64,
    now: u64,
) -> Result<Answer, DatabaseError> {
    match Grant::find(db, Condition::Id, grant.into())? {
        Some(grant) if !grant.is_revoked => Ok(Answer::Revoked {
            dead: revoke(db, grant.id, "by_owner", now)?,
        }),
        _ => Ok(Answer::Done { changed: false }),
    }
}

pub(super) fn revoke_all<D: Database>(db: &D, now: u64) -> Result<Answer, DatabaseError> {
    let mut dead = Vec::new();
    let rows = db.query(
        "SELECT id FROM grants WHERE revoked IS NULL LIMIT ?",
        &[GRANTS_MAX.into()],
    )?;
    for mut row in rows {
        let id = row.integer(Column("grants", "id"))?;
        dead.extend(revoke(db, id, "by_owner", now)?);
    }
    Ok(Answer::Revoked { dead })
}

/// Forgets which number a login belonged to, on any GitHub instance.
pub(super) fn clear_pin<D: Database>(db: &D, login: &str) -> Result<Answer, DatabaseError> {
    let gone = db.query(
        "DELETE FROM pins WHERE substr(identity, instr(identity, ' ') + 1) = ? RETURNING 1",
        &[login.to_ascii_lowercase().into()],
    )?;
    Ok(Answer::Done {
        changed: !gone.is_empty(),
    })
}

/// Client ids cannot be taken back, since nothing is stored of them: the ones that may not come any more are listed.
pub(super) fn deny_client<D: Database>(
    db: &D,
    client_id: &str,
    denied: bool,
    now: u64,
) -> Result<Answer, DatabaseError> {
    if !denied {
        let gone = db.query(
            "DELETE FROM denied_clients WHERE client_id = ? RETURNING 1",
            &[client_id.into()],
        )?;
        return Ok(Answer::Done {
            changed: !gone.is_empty(),
        });
    }
    db.execute(
        "INSERT INTO denied_clients (client_id, at) VALUES (?1, ?2) ON CONFLICT (client_id) DO UPDATE SET at = ?2",
        &[client_id.into(), integer(now)],
    )?;
    db.execute(
        "DELETE FROM denied_clients WHERE client_id NOT IN (SELECT client_id FROM denied_clients ORDER BY at DESC LIMIT ?)",
        &[DENIED_MAX.into()],
    )?;
    let mut dead = Vec::new();
    let rows = db.query(
        "SELECT id FROM grants WHERE client_id = ? AND revoked IS NULL LIMIT ?",
        &[client_id.into(), GRANTS_MAX.into()],
    )?;
    for mut row in rows {
        let id = row.integer(Column("grants", "id"))?;
        dead.extend(revoke(db, id, "client_denied", now)?);
    }
    Ok(Answer::Revoked { dead })
}
