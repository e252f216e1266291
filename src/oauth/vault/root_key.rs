//! Minting, keeping and rotating the root keys.

use crate::database::{Column, Database, DatabaseError};
use crate::fresh::Fresh;
use crate::oauth::keys::{KEYS_MAX, KeyId};
use crate::oauth::vault::integer;
use crate::oauth::vault::message::{Answer, Bytes};

/// The keys, newest first. The first question of all mints the first key.
pub(super) fn list<D: Database>(db: &D, fresh: &Fresh) -> Result<Answer, DatabaseError> {
    let mut keys = read(db)?;
    if keys.is_empty() {
        keys.push(mint(db, KeyId::FIRST, fresh)?);
    }
    Ok(Answer::Keys { keys })
}

pub(super) fn rotate<D: Database>(
    db: &D,
    forget: bool,
    fresh: &Fresh,
) -> Result<Answer, DatabaseError> {
    let newest = read(db)?
        .first()
        .and_then(|(number, _)| KeyId::new(*number));
    let Some(next) = newest.map_or(Some(KeyId::FIRST), KeyId::next) else {
        return Err(DatabaseError::Corrupt(
            "the root key cannot be rotated any more",
        ));
    };
    mint(db, next, fresh)?;
    let kept = if forget { 1 } else { KEYS_MAX };
    db.execute(
        "DELETE FROM root_keys WHERE id NOT IN (SELECT id FROM root_keys ORDER BY id DESC LIMIT ?)",
        &[integer(u64::try_from(kept).unwrap_or(1))],
    )?;
    list(db, fresh)
}

fn read<D: Database>(db: &D) -> Result<Vec<(u8, Bytes<32>)>, DatabaseError> {
    db.query(
        "SELECT id, bytes FROM root_keys ORDER BY id DESC LIMIT ?",
        &[integer(u64::try_from(KEYS_MAX).unwrap_or(1))],
    )?
    .into_iter()
    .map(|mut row| {
        let id = row.integer(Column("root_keys", "id"))?;
        let bytes = row.blob(Column("root_keys", "bytes"))?;
        let key = u8::try_from(id).ok().zip(bytes.try_into().ok().map(Bytes));
        key.ok_or(DatabaseError::Corrupt("a root key has the wrong shape"))
    })
    .collect()
}

fn mint<D: Database>(db: &D, id: KeyId, fresh: &Fresh) -> Result<(u8, Bytes<32>), DatabaseError> {
    let bytes: [u8; 32] = fresh.draw();
    db.execute(
        "INSERT INTO root_keys (id, bytes, made) VALUES (?, ?, ?)",
        &[
            i64::from(id.number()).into(),
            bytes.as_slice().into(),
            integer(fresh.now.seconds()),
        ],
    )?;
    Ok((id.number(), Bytes(bytes)))
}
