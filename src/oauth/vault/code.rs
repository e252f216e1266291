//! Redeeming an authorization code: once, by its own client, with its verifier.

use crate::database::{Database, DatabaseError};
use crate::oauth::keys::same;
use crate::oauth::vault::access;
use crate::oauth::vault::grant::{Condition, Grant, revoke};
use crate::oauth::vault::message::{Answer, Ask, Reason};
use crate::oauth::vault::{CODE_FAILURES_MAX, CODE_REPLAY_TOLERANCE_SECONDS, integer};

/// Steps, of which only the last two write something that matters: 1 the code is known, 2 it is this client's,
/// 3 it is unused, 4 it is alive, 5 the redirect URI is the same, 6 the verifier fits, 7 the resource was granted, 8 issue.
/// A wrong attempt never burns a code, and a stranger can never end a grant: replay counts only from its own client.
pub(super) fn redeem<D: Database>(db: &D, ask: &Ask, now: u64) -> Result<Answer, DatabaseError> {
    let Ask::Redeem {
        code,
        client_id,
        redirect_uri,
        challenge,
        audience,
        access,
        refresh,
        gate,
    } = ask
    else {
        return refuse(Reason::Unknown);
    };
    let Some(grant) = Grant::find(db, Condition::Code, code.0.as_slice().into())? else {
        return refuse(Reason::Unknown); // 1
    };
    if grant.client_id != *client_id {
        return refuse(Reason::OtherClient); // 2
    }
    if let Some(used) = grant.code_used {
        let is_same_attempt =
            grant.refresh.as_deref() == Some(refresh.0.as_slice()) && !grant.is_revoked;
        return if is_same_attempt {
            access::issued_before(db, &grant, access)
        } else {
            used_before(db, &grant, used, now) // 3
        };
    }
    let alive = if grant.code_expires <= now {
        Err(Reason::Expired)
    } else {
        grant.check(gate, now)
    };
    if let Err(reason) = alive {
        return refuse(reason); // 4
    }
    if redirect_uri
        .as_ref()
        .is_some_and(|uri| *uri != grant.redirect_uri)
    {
        return refuse(Reason::RedirectUri); // 5
    }
    if !same(challenge.as_bytes(), grant.challenge.as_bytes()) {
        return wrong_verifier(db, &grant); // 6
    }
    let audience = audience.unwrap_or(grant.audience);
    if !grant.audience.contains(audience) {
        return Ok(Answer::InvalidTarget); // 7
    }
    db.execute(
        "UPDATE grants SET code_used = ?, refresh = ?, last_used = ? WHERE id = ?",
        &[
            integer(now),
            refresh.0.as_slice().into(),
            integer(now),
            grant.id.into(),
        ],
    )?;
    access::issue(db, &grant, access, 0, audience, now) // 8
}

/// The Worker's own second try brings the same new tokens and is the same attempt. Anything else is a replay:
/// refused, and after a moment in which an honest client may have sent twice, the end of the grant.
fn used_before<D: Database>(
    db: &D,
    grant: &Grant,
    used: u64,
    now: u64,
) -> Result<Answer, DatabaseError> {
    if now.saturating_sub(used) <= CODE_REPLAY_TOLERANCE_SECONDS {
        return refuse(Reason::Used);
    }
    Ok(Answer::InvalidGrant {
        reason: Reason::Replayed,
        dead: revoke(db, grant.id, "code_replayed", now)?,
    })
}

fn wrong_verifier<D: Database>(db: &D, grant: &Grant) -> Result<Answer, DatabaseError> {
    let failures = grant.code_failures.saturating_add(1);
    // A code that nobody can prove to own is over.
    let statement = if failures >= CODE_FAILURES_MAX {
        "UPDATE grants SET code_failures = ?, code_expires = 0 WHERE id = ?"
    } else {
        "UPDATE grants SET code_failures = ? WHERE id = ?"
    };
    db.execute(statement, &[failures.into(), grant.id.into()])?;
    refuse(Reason::Verifier)
}

/// The same shape as the other steps, so that a refusal is one line.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn refuse(reason: Reason) -> Result<Answer, DatabaseError> {
    Ok(Answer::InvalidGrant {
        reason,
        dead: Vec::new(),
    })
}
