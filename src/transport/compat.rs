//! MCP before 2026-07-28 over HTTP, without sessions: each request is served as its version header says.
//!
//! Errors of JSON-RPC ride on 200 here; only what could not be read as a request gets 400.

use std::cell::Cell;
use std::rc::Rc;

use http::{Request, Response};
use serde_json::value::RawValue;

use crate::auth::Authorization;
use crate::fresh::Fresh;
use crate::jsonrpc::{self, Frame, Id, Message};
use crate::mcp::meta::Meta;
use crate::mcp::version::Version;
use crate::mcp::{self, Context, Outgoing, Server, thinking};
use crate::transport::http::{Site, accepts};
use crate::transport::status::{empty, full};
use crate::transport::streamable::{invalid, refuse, respond, stream};
use crate::transport::{Access, Body, headers};

/// A batch holds at most this many messages.
pub const BATCH_MESSAGES_MAX: usize = 50;

/// Whether a request to `/mcp` speaks an older protocol, for deployments that serve them there too.
pub(super) fn is_legacy(request: &Request<Vec<u8>>) -> bool {
    match headers::single(request.headers(), &headers::PROTOCOL_VERSION) {
        Ok(Some(name)) => Version::parse_legacy(name).is_some(),
        Ok(None) => true,
        Err(_) => false,
    }
}

/// Answers one POST whose path, sender, media type and size are in order.
///
/// 1. JSON: 400.
/// 2. The version header: 400 with the id, which tells clients of both eras to shake hands instead.
/// 3. A notification or a response: 202.
/// 4. A request: 200.
/// 5. A batch, where the version has them: 200.
pub(super) async fn handle<S, A>(
    request: Request<Vec<u8>>,
    site: &Rc<Site<S, A>>,
    fresh: Fresh,
    access: &mut Access,
) -> Response<Body>
where
    S: Server + 'static,
    A: Authorization + 'static,
{
    let (parts, body) = request.into_parts();
    let frame = match jsonrpc::parse(&body) {
        Frame::One(Err(response)) => return refuse(&response, access), // 1
        frame => frame,
    };
    let version = match headers::single(&parts.headers, &headers::PROTOCOL_VERSION) {
        Ok(None) => Version::assumed(),
        Ok(Some(name)) => match Version::parse_legacy(name) {
            Some(version) => version,
            None => return refuse(&unsupported(name, &frame), access), // 2
        },
        Err(_) => return refuse(&unsupported("that is unreadable", &frame), access),
    };
    match frame {
        Frame::Batch(members) => batch(&members, version, site, &fresh, access).await, // 5
        Frame::One(Ok(Message::Request(request))) => {
            access.method = mcp::method_word(&request.method);
            access.tool = thinking::tool_word(request.params.as_ref());
            let context = context(&request, version, &fresh);
            let streams = request.method == "tools/call"
                && accepts(&parts.headers, "text/event-stream")
                && request
                    .params
                    .as_ref()
                    .is_some_and(|params| site.server.is_long(params, &context));
            if streams {
                let meta = context.meta;
                return stream(site, request, meta, version, fresh);
            }
            let response = mcp::handle(&site.server, &request, &context).await;
            let http = respond(200, &response, access); // 4
            access.outcome = context.refused.get().or(access.outcome);
            http
        }
        Frame::One(_) => empty(202), // 3
    }
}

fn context<'a>(request: &jsonrpc::Request, version: Version, fresh: &'a Fresh) -> Context<'a> {
    Context {
        version,
        meta: Meta::parse_legacy(request.params.as_ref()),
        fresh,
        outgoing: Outgoing::closed(),
        refused: Cell::default(),
    }
}

fn unsupported(name: &str, frame: &Frame<'_>) -> jsonrpc::Response {
    let id = match frame {
        Frame::One(Ok(Message::Request(request))) => Some(request.id.clone()),
        Frame::One(_) | Frame::Batch(_) => None,
    };
    let served: Vec<_> = Version::assumed().served_beside().collect();
    invalid(
        id,
        &format!(
            "unsupported protocol version {} (supported: {})",
            mcp::error::echo(name),
            served.join(", ")
        ),
    )
}

async fn batch<S: Server, A>(
    members: &[&RawValue],
    version: Version,
    site: &Site<S, A>,
    fresh: &Fresh,
    access: &mut Access,
) -> Response<Body> {
    if !version.has_batches() {
        return refuse(&invalid(None, "batches ended with 2025-03-26"), access);
    }
    if members.is_empty() || members.len() > BATCH_MESSAGES_MAX {
        return refuse(
            &invalid(
                None,
                &format!("a batch holds 1 to {BATCH_MESSAGES_MAX} messages"),
            ),
            access,
        );
    }
    let messages: Vec<_> = members
        .iter()
        .map(|member| jsonrpc::parse_member(member))
        .collect();
    let initialize = messages.iter().find_map(initialize_id);
    if let Some(id) = initialize {
        return refuse(
            &invalid(Some(id), "initialize stands alone, not in a batch"),
            access,
        );
    }
    access.method = Some("batch");
    let mut answers = Vec::new();
    for message in messages {
        match message {
            Ok(Message::Request(request)) => {
                let context = context(&request, version, fresh);
                answers.push(
                    mcp::handle(&site.server, &request, &context)
                        .await
                        .to_json(),
                );
            }
            Ok(Message::Notification(_) | Message::Response(_)) => {}
            Err(response) => answers.push(response.to_json()),
        }
    }
    if answers.is_empty() {
        return empty(202);
    }
    access.outcome = Some("ok");
    full(
        200,
        "application/json",
        format!("[{}]", answers.join(",")).into_bytes(),
    )
}

fn initialize_id(message: &Result<Message, jsonrpc::Response>) -> Option<Id> {
    match message {
        Ok(Message::Request(request)) if request.method == "initialize" => Some(request.id.clone()),
        _ => None,
    }
}
