//! The cache of live access tokens, over the platform's key-value store.

use worker::{Env, KvStore};

use crate::oauth::port::Trouble;

const BINDING: &str = "OAUTH_KV";
/// How long a location may keep what it read: the least that every version of the platform takes.
const CACHE_SECONDS: u64 = 60;

/// The store. A deployment without the binding has no cache, which costs time and nothing else.
fn store(env: &Env) -> Result<KvStore, Trouble> {
    env.kv(BINDING).map_err(|_| Trouble)
}

pub(super) async fn get(env: &Env, key: &str) -> Result<Option<String>, Trouble> {
    let found = store(env)?.get(key).cache_ttl(CACHE_SECONDS).text().await;
    found.map_err(|_| Trouble)
}

pub(super) async fn put(
    env: &Env,
    key: &str,
    value: &str,
    ttl_seconds: u64,
) -> Result<(), Trouble> {
    let put = store(env)?.put(key, value).map_err(|_| Trouble)?;
    let put = put.expiration_ttl(ttl_seconds).execute().await;
    put.map_err(|_| Trouble)
}

pub(super) async fn delete(env: &Env, key: &str) -> Result<(), Trouble> {
    store(env)?.delete(key).await.map_err(|_| Trouble)
}
