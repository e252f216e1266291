//! The cache of live access tokens, over the platform's key-value store.
//!
//! Bound by hand: three methods, where the crate `worker` brings a store for any kind of value.

use wasm_bindgen::prelude::*;
use worker::Env;
use worker::js_sys::{Object, Promise, Reflect};

use super::{host, work};
use crate::oauth::port::Trouble;

const BINDING: &str = "OAUTH_KV";
/// How long a location may keep what it read: the least that every version of the platform takes.
const CACHE_SECONDS: u32 = 60;

#[wasm_bindgen]
extern "C" {
    /// The binding (`KVNamespace`).
    type Namespace;

    #[wasm_bindgen(method, catch)]
    fn get(this: &Namespace, key: &str, options: &Object) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn put(this: &Namespace, key: &str, value: &str, options: &Object) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn delete(this: &Namespace, key: &str) -> Result<Promise, JsValue>;
}

/// The store. A deployment without the binding has no cache, which costs time and nothing else.
fn namespace(env: &Env) -> Option<Namespace> {
    let binding = host::binding(env, BINDING);
    (!binding.is_undefined()).then(|| binding.unchecked_into())
}

/// An object of one option.
fn option(name: &str, value: u32) -> Result<Object, Trouble> {
    let options = Object::new();
    Reflect::set(&options, &name.into(), &value.into()).map_err(|_| Trouble)?;
    Ok(options)
}

async fn settled(promise: Result<Promise, JsValue>) -> Result<JsValue, Trouble> {
    let promise = promise.map_err(|_| Trouble)?;
    work::settled(promise).await.map_err(|_| Trouble)
}

pub(super) async fn get(env: &Env, key: &str) -> Result<Option<String>, Trouble> {
    let Some(namespace) = namespace(env) else {
        return Ok(None);
    };
    let options = option("cacheTtl", CACHE_SECONDS)?;
    let found = settled(namespace.get(key, &options)).await?;
    Ok(found.as_string())
}

pub(super) async fn put(
    env: &Env,
    key: &str,
    value: &str,
    ttl_seconds: u64,
) -> Result<(), Trouble> {
    let Some(namespace) = namespace(env) else {
        return Ok(());
    };
    // No record lives longer than a grant.
    let ttl_seconds = u32::try_from(ttl_seconds).unwrap_or(u32::MAX);
    let options = option("expirationTtl", ttl_seconds)?;
    settled(namespace.put(key, value, &options)).await?;
    Ok(())
}

pub(super) async fn delete(env: &Env, key: &str) -> Result<(), Trouble> {
    if let Some(namespace) = namespace(env) {
        settled(namespace.delete(key)).await?;
    }
    Ok(())
}
