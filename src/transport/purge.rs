//! `POST /admin/purge`: the owner frees what nobody was at for a while. It is deleted unread, and the answer counts it.
//!
//! The router has checked that the owner asks. What goes is decided by `store`.

use http::{Request, Response};
use serde_json::Value;

use crate::fresh::Fresh;
use crate::json::json;
use crate::mcp::Server;
use crate::refusal::Refusal;
use crate::store::DAY_MILLISECONDS;
use crate::store::retention::Swept;
use crate::tools::{Call, Outcome};
use crate::transport::exchange::{another_question, refused};
use crate::transport::http::Site;
use crate::transport::status::json_response;
use crate::transport::{Access, Body};

/// Deletes one portion. `more` in the answer says that there may be another one.
pub(super) async fn purge<S: Server, A>(
    request: &Request<Vec<u8>>,
    site: &Site<S, A>,
    fresh: &Fresh,
    access: &mut Access,
) -> Response<Body> {
    match run(request.body(), &site.server, fresh).await {
        Ok(swept) => {
            access.outcome = Some("ok");
            let body = json!({
                "sequences": swept.sequences, "thoughts": swept.thoughts, "bytes": swept.bytes, "more": swept.more,
            });
            json_response(200, &body)
        }
        Err(refusal) => refused(&refusal, access),
    }
}

async fn run<S: Server>(body: &[u8], server: &S, fresh: &Fresh) -> Result<Swept, Refusal> {
    // No days at all would be everything, and nobody means that by leaving a number out.
    let days = str::from_utf8(body)
        .ok()
        .and_then(|body| {
            serde_json::from_str::<Value>(body)
                .ok()?
                .get("days")?
                .as_u64()
        })
        .filter(|days| *days >= 1)
        .ok_or_else(|| {
            Refusal::invalid("the body must be {\"days\": N}, a whole number from 1".to_owned())
        })?;
    let cutoff = fresh
        .now
        .minus_milliseconds(days.saturating_mul(DAY_MILLISECONDS));
    match server.run(&Call::Purge(cutoff), fresh).await? {
        Outcome::Purged(swept) => Ok(swept),
        _ => Err(another_question()),
    }
}
