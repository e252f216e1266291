//! The vault: the one place that knows which codes, grants and tokens live. Decisions and SQL over the seam of `database`.
//!
//! Each question is answered in one transaction that reads, decides and writes; nothing can come between. Carrying
//! questions to it is left to the hosts, and plain tokens never reach it.

pub mod message;

mod access;
mod code;
mod grant;
mod owner;
mod refresh;
mod root_key;

use crate::database::{Column, Database, DatabaseError};
use crate::fresh::Fresh;
use crate::oauth::vault::message::{Answer, Ask};

const SCHEMA: &str = include_str!("vault/schema.sql");
const SCHEMA_VERSION: i64 = 1;

/// How long each thing lives, in seconds.
pub const ACCESS_SECONDS: u64 = 8 * 3600;
pub const CODE_SECONDS: u64 = 300;
pub const GRANT_IDLE_SECONDS: u64 = 90 * 86_400;
const CODE_REPLAY_TOLERANCE_SECONDS: u64 = 10;
const CODE_FAILURES_MAX: i64 = 5;
const FLOW_MEMORY_SECONDS: u64 = 900;
const REVOKED_MEMORY_SECONDS: u64 = 7 * 86_400;
const LAST_USED_STEP_SECONDS: u64 = 3600;
pub const DOCUMENT_SECONDS: u64 = 30 * 86_400;
/// How many of each there may be.
pub const GRANTS_MAX: i64 = 200;
const ACCESS_PER_GRANT_MAX: i64 = 10;
pub const RETIRED_PER_GRANT_MAX: i64 = 8;
const PINS_MAX: i64 = 200;
const DENIED_MAX: i64 = 500;
/// How often the alarm cleans up while there is something to clean.
const SWEEP_SECONDS: u64 = 3600;
const SWEEP_ROWS: i64 = 2000;

/// A vault on an open database.
pub struct Vault<D> {
    database: D,
}

impl<D: Database> Vault<D> {
    pub fn open(database: D) -> Result<Self, DatabaseError> {
        let vault = Self { database };
        vault.database.transaction(|| vault.make_schema())?;
        Ok(vault)
    }

    fn make_schema(&self) -> Result<(), DatabaseError> {
        for statement in statements(SCHEMA) {
            self.database.execute(statement, &[])?;
        }
        let mut rows = self.database.query(
            "SELECT value FROM vault_meta WHERE name = 'schema_version'",
            &[],
        )?;
        let Some(row) = rows.first_mut() else {
            self.database.execute(
                "INSERT INTO vault_meta (name, value) VALUES ('schema_version', ?)",
                &[SCHEMA_VERSION.into()],
            )?;
            return Ok(());
        };
        match row.integer(Column("vault_meta", "value"))? {
            found if found > SCHEMA_VERSION => Err(DatabaseError::Newer {
                found,
                known: SCHEMA_VERSION,
            }),
            _ => Ok(()),
        }
    }

    /// Answers one question. An error is a fault of ours: nothing was written.
    pub fn answer(&self, ask: &Ask, fresh: &Fresh) -> Result<Answer, DatabaseError> {
        let db = &self.database;
        let now = fresh.now.seconds();
        db.transaction(|| match ask {
            Ask::Keys => root_key::list(db, fresh),
            Ask::RotateKeys { forget } => root_key::rotate(db, *forget, fresh),
            Ask::Complete(completion) => grant::complete(db, completion, now),
            Ask::FlowDone { flow } => grant::flow_done(db, flow, now),
            Ask::Document { url } => grant::document(db, url, now),
            Ask::Redeem { .. } => code::redeem(db, ask, now),
            Ask::Refresh { .. } => refresh::refresh(db, ask, now),
            Ask::MintAccess {
                head,
                audience,
                access,
            } => refresh::mint_access(db, head, *audience, access, now),
            Ask::Check { access } => access::check(db, access, now),
            Ask::Revoke { token, client_id } => access::revoke(db, token, client_id, now),
            Ask::NonceOnce {
                access_key,
                nonce,
                expires,
            } => access::nonce_once(db, access_key, nonce, *expires, now),
            Ask::Grants => owner::grants(db, now),
            Ask::RevokeGrant { grant } => owner::revoke_grant(db, *grant, now),
            Ask::RevokeAll => owner::revoke_all(db, now),
            Ask::ClearPin { login } => owner::clear_pin(db, login),
            Ask::DenyClient { client_id, denied } => {
                owner::deny_client(db, client_id, *denied, now)
            }
        })
    }

    /// Deletes what nothing needs any more. Returns in how many seconds to come again; `None` when there is nothing left.
    pub fn sweep(&self, fresh: &Fresh) -> Result<Option<u64>, DatabaseError> {
        let db = &self.database;
        let now = fresh.now.seconds();
        db.transaction(|| grant::sweep(db, now))
    }

    pub fn database(&self) -> &D {
        &self.database
    }
}

/// One statement at a time: the seam takes no scripts. Comments of the schema hold no semicolon.
fn statements(script: &'static str) -> impl Iterator<Item = &'static str> {
    script
        .split_inclusive(';')
        .map(str::trim)
        .filter(|statement| statement.ends_with(';'))
}

/// Times and counts as SQLite holds them.
fn integer(value: u64) -> crate::database::Value {
    crate::database::Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}
