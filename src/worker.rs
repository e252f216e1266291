//! The Worker: it reads a request, its environment, its clock and its chance, and hands them to the router.
//!
//! Decisions are left to the layers below; answering when Wasm traps is left to `entry.mjs`.

mod message;
pub mod object;

use worker::{Context, Env, Result, event, web_sys};

#[event(fetch)]
async fn fetch(
    request: web_sys::Request,
    env: Env,
    _context: Context,
) -> Result<web_sys::Response> {
    let message = message::read(&request).await?;
    if message.uri().path() == "/healthz" {
        let stub = env
            .durable_object("THOUGHT_STORE")?
            .get_by_name("personal")?;
        let mut answer = stub.fetch_with_str("https://object/ping").await?;
        let text = answer.text().await?;
        return message::write(&http::Response::new(()), text.as_bytes());
    }
    let mut response = http::Response::new(());
    *response.status_mut() = http::StatusCode::NOT_FOUND;
    message::write(&response, b"")
}
