//! The Worker: it reads a request, its environment, its clock and its chance, and hands them to the router.
//!
//! Decisions are left to the layers below; answering when Wasm traps is left to `entry.mjs`.

mod alarm;
mod fetch;
mod header;
mod host;
mod kv;
mod log;
mod message;
pub mod object;
mod remote;
mod sign_in;
mod stub;
pub mod vault;
pub mod work;

use std::cell::OnceCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use worker::{Env, web_sys};

use crate::config::Config;
use crate::log::Level;
use crate::mcp::thinking::Thinking;
use crate::oauth::memory::Memory;
use crate::oauth::sign_in::SignIn;
use crate::transport::http::{Site as AnySite, route};

use log::Answered;
use remote::Remote;
use sign_in::Edge;
use work::Work;

/// The standard one takes 3 KB more after gzip and is no faster.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

type Site = AnySite<Thinking<Remote>, SignIn<Edge>>;

thread_local! {
    // The environment of an isolate never changes, so what it says is read once.
    static SITE: OnceCell<Rc<Site>> = const { OnceCell::new() };
}

/// Answers a request, for `entry.mjs`.
#[wasm_bindgen]
pub fn fetch(request: web_sys::Request, body: Option<Vec<u8>>, env: Env) -> Work {
    Work::new(async move {
        let response = answer(&request, body, &env).await?;
        Ok(response.into())
    })
}

async fn answer(
    request: &web_sys::Request,
    body: Option<Vec<u8>>,
    env: &Env,
) -> Result<web_sys::Response, JsValue> {
    let site = site(env);
    let message = message::read(request, body)?;
    let fresh = host::fresh()?;
    let (start, request_id) = (fresh.now, fresh.request_id());
    let (response, access) = route(message, site, fresh).await;
    let answered = Answered {
        request_id,
        start,
        status: response.status().as_u16(),
        access,
    };
    message::write(response, answered)
}

fn site(env: &Env) -> Rc<Site> {
    if let Some(site) = SITE.with(|cell| cell.get().cloned()) {
        return site;
    }
    let lookup = |name: &str| host::variable(env, name);
    let mut config = Config::parse(lookup);
    let (level, problem) = Level::parse(lookup);
    config.problems.extend(problem);
    log::set_level(level);
    let site = Rc::new(Site {
        server: Thinking {
            settings: config.settings.clone(),
            host: Remote {
                objects: host::binding(env, "THOUGHT_STORE"),
            },
        },
        authorization: SignIn {
            settings: Rc::clone(&config.sign_in),
            tokens: config.tokens.clone(),
            memory: Rc::new(Memory::default()),
            ports: Edge { env: env.clone() },
        },
        config,
    });
    SITE.with(|cell| Rc::clone(cell.get_or_init(|| site)))
}
