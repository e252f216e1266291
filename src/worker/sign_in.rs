//! The ports of the sign-in, filled over the platform's bindings.

use std::cell::Cell;

use http::{Request, Response};
use wasm_bindgen::prelude::*;
use worker::Env;
use worker::js_sys::{Object, Promise, Reflect};

use super::work::{Work, settled};
use super::{fetch, host, kv, log, vault};
use crate::oauth::port::{
    Background, Event, Fetch, Journal, Kv, Limit, Limits, Task, Trouble, Vault, run,
};
use crate::oauth::vault::message::{Answer, Ask};

/// The environment, as the sign-in uses it.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) env: Env,
}

impl Vault for Edge {
    async fn ask(&self, ask: &Ask) -> Result<Answer, Trouble> {
        vault::ask(&self.env, ask).await
    }
}

impl Kv for Edge {
    async fn get(&self, key: &str) -> Result<Option<String>, Trouble> {
        kv::get(&self.env, key).await
    }

    async fn put(&self, key: &str, value: &str, ttl_seconds: u64) -> Result<(), Trouble> {
        kv::put(&self.env, key, value, ttl_seconds).await
    }

    async fn delete(&self, key: &str) -> Result<(), Trouble> {
        kv::delete(&self.env, key).await
    }
}

impl Fetch for Edge {
    async fn fetch(
        &self,
        request: Request<Vec<u8>>,
        seconds: u32,
        bytes_max: usize,
    ) -> Result<Response<Vec<u8>>, Trouble> {
        let fetched = fetch::fetch(&request, seconds, bytes_max).await;
        fetched.map_err(|_| Trouble)
    }
}

#[wasm_bindgen]
extern "C" {
    /// A rate-limit binding.
    type Limiter;

    #[wasm_bindgen(method, catch)]
    fn limit(this: &Limiter, options: &Object) -> Result<Promise, JsValue>;
}

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    /// Keeps the current request alive until the work is done, also after its response was sent.
    fn later(work: Work);
}

thread_local! {
    /// Whether this isolate has said that there are no limits. Once is enough.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

impl Limits for Edge {
    /// Without the binding, and when it fails, everything is admitted: a limit is a courtesy, not a lock.
    async fn admits(&self, limit: Limit, key: &str) -> bool {
        let outcome = self.ask_limiter(limit, key).await;
        outcome.is_none_or(|outcome| outcome != JsValue::FALSE)
    }
}

impl Edge {
    async fn ask_limiter(&self, limit: Limit, key: &str) -> Option<JsValue> {
        let limiter = host::binding(&self.env, binding(limit));
        if limiter.is_undefined() {
            if !TOLD.replace(true) {
                self.note(Event::new("limits", "no_binding"));
            }
            return None;
        }
        let options = Object::new();
        Reflect::set(&options, &"key".into(), &key.into()).ok()?;
        let promise = limiter.unchecked_ref::<Limiter>().limit(&options).ok()?;
        let outcome = settled(promise).await.ok()?;
        Reflect::get(&outcome, &"success".into()).ok()
    }
}

fn binding(limit: Limit) -> &'static str {
    match limit {
        Limit::Register => "LIMIT_REGISTER",
        Limit::Authorize => "LIMIT_AUTHORIZE",
        Limit::Callback => "LIMIT_CALLBACK",
        Limit::Document => "LIMIT_DOCUMENT",
        Limit::Dead => "LIMIT_DEAD",
    }
}

impl Background for Edge {
    fn later(&self, task: Task) {
        let edge = self.clone();
        later(Work::new(async move {
            run(task, &edge).await;
            Ok(JsValue::UNDEFINED)
        }));
    }
}

impl Journal for Edge {
    fn note(&self, event: Event) {
        log::print(&crate::log::sign_in(&event));
    }
}
