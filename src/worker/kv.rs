//! The cache of live access tokens, over the platform's key-value store.

use worker::{Env, KvStore};

use crate::oauth::port::Trouble;

const BINDING: &str = "OAUTH_KV";
/// How long a location may keep what it read: the least that every version of the platform takes.
const CACHE_SECONDS: u64 = 60;

/// The store. A deployment without the binding has no cache, which costs time and nothing else.
fn store(env: &Env) -> Option<KvStore> {
    env.kv(BINDING).ok()
}

pub(super) async fn get(env: &Env, key: &str) -> Result<Option<String>, Trouble> {
    let Some(store) = store(env) else {
        return Ok(None);
    };
    let found = store.get(key).cache_ttl(CACHE_SECONDS).text().await;
    found.map_err(|_| Trouble)
}

pub(super) async fn put(
    env: &Env,
    key: &str,
    value: &str,
    ttl_seconds: u64,
) -> Result<(), Trouble> {
    let Some(store) = store(env) else {
        return Ok(());
    };
    let put = store.put(key, value).map_err(|_| Trouble)?;
    let put = put.expiration_ttl(ttl_seconds).execute().await;
    put.map_err(|_| Trouble)
}

pub(super) async fn delete(env: &Env, key: &str) -> Result<(), Trouble> {
    match store(env) {
        Some(store) => store.delete(key).await.map_err(|_| Trouble),
        None => Ok(()),
    }
}
