//! MCP of 2026-07-28 over HTTP: every request describes itself, in its headers and in its body.

use std::cell::Cell;
use std::rc::Rc;

use http::{HeaderMap, Request, Response};

use crate::auth::Authorization;
use crate::fresh::Fresh;
use crate::jsonrpc::{self, Code, ErrorObject, Frame, Message};
use crate::mcp::error::Error;
use crate::mcp::meta::{self, Meta};
use crate::mcp::version::Version;
use crate::mcp::{self, Context, Outgoing, Server, thinking};
use crate::transport::http::{Site, accepts};
use crate::transport::status::{empty, full};
use crate::transport::{Access, Body, headers, sse};

/// The version that this endpoint's errors speak of before the request's own is known.
const VERSION: Version = Version::V2026_07_28;

/// Answers one POST whose path, sender, media type and size are in order.
///
/// 1. JSON: 400.
/// 2. One request or notification: 400.
/// 3. A notification: 202.
/// 4. The version header, present, equal to the body's, served: 400.
/// 5. `_meta`: 400.
/// 6. `Mcp-Method` and `Mcp-Name`: 400.
/// 7. The method: 404. Its answer: 200.
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
    let message = match jsonrpc::parse(&body) {
        Frame::One(Ok(message)) => message,
        Frame::One(Err(response)) => return refuse(&response, access), // 1, 2
        Frame::Batch(_) => {
            return refuse(
                &invalid(None, "batches are not part of this protocol"),
                access,
            );
        }
    };
    let request = match message {
        Message::Request(request) => request,
        Message::Notification(_) => return empty(202), // 3
        Message::Response(id) => {
            return refuse(
                &invalid(
                    id,
                    "this server asks nothing, so there is nothing to answer",
                ),
                access,
            );
        }
    };
    access.method = mcp::method_word(&request.method);
    access.tool = thinking::tool_word(request.params.as_ref());
    let meta = match check(&parts.headers, &request) {
        Ok(meta) => meta,
        Err(error) => {
            let object = error.to_object(VERSION);
            return refuse(&jsonrpc::Response::error(Some(request.id), object), access);
        }
    };
    if request.method == "subscriptions/listen" {
        return listen(site, &request, access);
    }
    let mut context = Context {
        version: VERSION,
        meta,
        fresh: &fresh,
        outgoing: Outgoing::closed(),
        refused: Cell::default(),
    };
    let streams = request.method == "tools/call"
        && accepts(&parts.headers, "text/event-stream")
        && request
            .params
            .as_ref()
            .is_some_and(|params| site.server.is_long(params, &context));
    if streams {
        let meta = std::mem::take(&mut context.meta);
        return stream(site, request, meta, VERSION, fresh);
    }
    let response = mcp::handle(&site.server, &request, &context).await;
    let http = answer(&response, access);
    access.outcome = context.refused.get().or(access.outcome);
    http
}

/// Steps 4 to 6.
fn check(headers: &HeaderMap, request: &jsonrpc::Request) -> Result<Meta, Error> {
    let Some(header) = headers::single(headers, &headers::PROTOCOL_VERSION)? else {
        return Err(Error::HeaderMismatch(format!(
            "MCP-Protocol-Version is missing. /mcp speaks only {}; use /mcp-compat for older clients",
            VERSION.name()
        )));
    };
    if let Some(body) = meta::protocol_version(request.params.as_ref())
        && body != header
    {
        return Err(Error::HeaderMismatch(
            "MCP-Protocol-Version differs from the version in _meta".to_owned(),
        ));
    }
    if header != VERSION.name() {
        return Err(Error::UnsupportedVersion(header.to_owned()));
    }
    let meta = Meta::parse(request.params.as_ref())?; // 5
    headers::check_mirror(headers, request)?; // 6
    Ok(meta)
}

/// Runs a call while its response is being sent.
pub(super) fn stream<S, A>(
    site: &Rc<Site<S, A>>,
    request: jsonrpc::Request,
    meta: Meta,
    version: Version,
    fresh: Fresh,
) -> Response<Body>
where
    S: Server + 'static,
    A: Authorization + 'static,
{
    let (site, outgoing) = (Rc::clone(site), Outgoing::open());
    let sent = outgoing.clone();
    let work = async move {
        let context = Context {
            version,
            meta,
            fresh: &fresh,
            outgoing,
            refused: Cell::default(),
        };
        let response = mcp::handle(&site.server, &request, &context).await;
        sse::Worked {
            answer: response.to_json(),
            outcome: context.refused.get().unwrap_or(word(&response)),
        }
    };
    sse::streamed(work, sent)
}

/// A subscription: acknowledged with the empty set, and closed at once, since no list changes while it is served.
fn listen<S: Server, A>(
    site: &Site<S, A>,
    request: &jsonrpc::Request,
    access: &mut Access,
) -> Response<Body> {
    match mcp::acknowledge_listen(request) {
        Ok(first) => {
            let last = mcp::close_listen(&site.server, request, VERSION).to_json();
            sse::finished([first.as_str(), last.as_str()])
        }
        Err(error) => {
            let object = error.to_object(VERSION);
            answer(
                &jsonrpc::Response::error(Some(request.id.clone()), object),
                access,
            )
        }
    }
}

/// A message that is not served: 400.
pub(super) fn refuse(response: &jsonrpc::Response, access: &mut Access) -> Response<Body> {
    respond(400, response, access)
}

/// The answer of a method: 200, but for what the specification puts elsewhere.
fn answer(response: &jsonrpc::Response, access: &mut Access) -> Response<Body> {
    let status = match &response.outcome {
        Ok(_) => 200,
        Err(error) => match error.code {
            Code::MethodNotFound => 404,
            Code::MissingClientCapability | Code::UnsupportedProtocolVersion => 400,
            Code::Parse
            | Code::InvalidRequest
            | Code::InvalidParams
            | Code::Internal
            | Code::ResourceNotFound
            | Code::HeaderMismatch => 200,
        },
    };
    respond(status, response, access)
}

pub(super) fn respond(
    status: u16,
    response: &jsonrpc::Response,
    access: &mut Access,
) -> Response<Body> {
    access.outcome = Some(word(response));
    full(status, "application/json", response.to_bytes())
}

/// What a response says, as a fixed word for the log.
fn word(response: &jsonrpc::Response) -> &'static str {
    match &response.outcome {
        Ok(_) => "ok",
        Err(error) => error.code.word(),
    }
}

pub(super) fn invalid(id: Option<jsonrpc::Id>, what: &str) -> jsonrpc::Response {
    jsonrpc::Response::error(
        id,
        ErrorObject::new(Code::InvalidRequest, format!("Invalid request: {what}")),
    )
}
