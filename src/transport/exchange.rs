//! `POST /export` and `POST /import`: a whole process out as a document, and in again as a new sequence.
//!
//! The router has checked who asks, the method, the type and the size. An export is streamed: one bounded call to the store
//! for each page, and one page in memory. What the documents look like is left to `view`.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, Request, Response};
use serde_json::{Map, Value};

use crate::fresh::Fresh;
use crate::json::json;
use crate::mcp::Server;
use crate::page::Page;
use crate::refusal::{Class, Code, Refusal};
use crate::sequence_id::SequenceId;
use crate::store;
use crate::store::import::{Import, Imported, refuse};
use crate::tools::{Call, Outcome};
use crate::transport::http::Site;
use crate::transport::status::{full, json_response};
use crate::transport::{Access, Body, Broken, Chunk, Chunks, Stream};
use crate::view::document::read::read_part;
use crate::view::export::{Export, Format};

struct Asked {
    sequence_id: SequenceId,
    format: Format,
}

impl Asked {
    fn read(body: &[u8]) -> Result<Self, Refusal> {
        let wrong = |what: &str| {
            Refusal::invalid(format!(
                "the body must be {{\"sequenceId\": \"seq_…\", \"format\": \"markdown\" | \"mermaid\" | \"json\"}}: {what}"
            ))
        };
        let body: Map<String, Value> = str::from_utf8(body)
            .map_err(|error| wrong(&error.to_string()))
            .and_then(|body| {
                serde_json::from_str(body).map_err(|error| wrong(&error.to_string()))
            })?;
        let text = |name: &str| match body.get(name) {
            Some(Value::String(text)) => Ok(text.as_str()),
            Some(_) => Err(wrong(&format!("{name} must be a text"))),
            None => Err(wrong(&format!("missing field {name}"))),
        };
        let format = text("format")?;
        let format = Format::ALL
            .into_iter()
            .find(|known| known.name() == format)
            .ok_or_else(|| wrong("there is no such format"))?;
        let sequence_id = SequenceId::parse(text("sequenceId")?)
            .map_err(|damaged| Refusal::invalid(format!("sequenceId: {damaged}")))?;
        match body.len() {
            2 => Ok(Self {
                sequence_id,
                format,
            }),
            _ => Err(wrong("it holds an unknown field")),
        }
    }
}

/// Answers with the first page at once, so that a refusal still has a status; the others follow while they are read.
pub(super) async fn export<S, A>(
    request: &Request<Vec<u8>>,
    site: &Rc<Site<S, A>>,
    fresh: Fresh,
    access: &mut Access,
) -> Response<Body>
where
    S: Server + 'static,
    A: 'static,
{
    match begin(request, site, fresh).await {
        Ok(response) => {
            if matches!(response.body(), Body::Full(_)) {
                access.outcome = Some("ok");
            }
            response
        }
        Err(refusal) => refused(&refusal, access),
    }
}

async fn begin<S, A>(
    request: &Request<Vec<u8>>,
    site: &Rc<Site<S, A>>,
    fresh: Fresh,
) -> Result<Response<Body>, Refusal>
where
    S: Server + 'static,
    A: 'static,
{
    let asked = Asked::read(request.body())?;
    let mut pages = Pages {
        site: Rc::clone(site),
        export: Export::new(asked.sequence_id, asked.format),
        fresh,
    };
    let first = pages.read().await?;
    let mut response = full(200, asked.format.media_type(), first.clone());
    if pages.export.next().is_some() {
        *response.body_mut() = Body::Stream(Stream::new(Rest {
            first: Some(first),
            pages,
            outcome: "ok",
        }));
    }
    let disposition = format!("attachment; filename=\"{}\"", asked.format.file_name());
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

struct Pages<S, A> {
    site: Rc<Site<S, A>>,
    export: Export,
    fresh: Fresh,
}

impl<S: Server, A> Pages<S, A> {
    /// Reads one page; what it makes of it may be nothing.
    async fn read(&mut self) -> Result<Vec<u8>, Refusal> {
        let Some(query) = self.export.next().cloned() else {
            return Ok(Vec::new());
        };
        let call = Call::History(Box::new(query));
        let page: Box<Page> = match self.site.server.run(&call, &self.fresh).await? {
            Outcome::History(page) => page,
            _ => return Err(another_question()),
        };
        Ok(self.export.take(&page).into_bytes())
    }
}

struct Rest<S, A> {
    first: Option<Vec<u8>>,
    pages: Pages<S, A>,
    outcome: &'static str,
}

impl<S: Server, A> Rest<S, A> {
    async fn chunk(&mut self) -> Chunk {
        let mut chunk = self.first.take().unwrap_or_default();
        while chunk.is_empty() && self.pages.export.next().is_some() {
            chunk = self.pages.read().await.map_err(|refusal| {
                self.outcome = refusal.code.name();
                Broken
            })?;
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}

impl<S: Server, A> Chunks for Rest<S, A> {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Chunk> + '_>> {
        Box::pin(self.chunk())
    }

    fn outcome(&self) -> Option<&'static str> {
        Some(self.outcome)
    }
}

/// Makes a new sequence of a document, and answers with its id.
///
/// A document that does not fit into one message comes in parts: each is the document with a slice of its thoughts and, but for
/// the last, `"more": true`. The answer to the first gives the `upload` that all others carry. A part may be sent again.
pub(super) async fn import<S, A>(
    request: &Request<Vec<u8>>,
    site: &Rc<Site<S, A>>,
    fresh: &Fresh,
    access: &mut Access,
) -> Response<Body>
where
    S: Server,
{
    match take(request.body(), &site.server, fresh).await {
        Ok((imported, more)) => {
            access.outcome = Some("ok");
            let id = imported.sequence_id;
            let body = if more {
                json!({ "upload": id, "thoughts": imported.thoughts })
            } else {
                json!({ "sequenceId": id, "thoughts": imported.thoughts, "branches": imported.branches })
            };
            json_response(if more { 202 } else { 201 }, &body)
        }
        Err(refusal) => refused(&refusal, access),
    }
}

async fn take<S: Server>(
    body: &[u8],
    server: &S,
    fresh: &Fresh,
) -> Result<(Imported, bool), Refusal> {
    let mut entries = Vec::new();
    let body = str::from_utf8(body).map_err(|error| refuse("/", error))?;
    let source = read_part(body, &mut entries, fresh.now).map_err(|error| match error {
        store::Error::Refused(refusal) => refusal,
        store::Error::Fault(fault) => store::shown(&fault, &fresh.request_id()),
    })?;
    let sequence_id = match &source.upload {
        None => SequenceId::new(fresh.draw()),
        Some(upload) => SequenceId::parse(upload).map_err(|damaged| refuse("/upload", damaged))?,
    };
    let call = Call::Import(Box::new(Import {
        sequence_id,
        origin: source.origin,
        entries,
        first: source.first,
        more: source.more,
    }));
    match server.run(&call, fresh).await? {
        Outcome::Imported(imported) => Ok((imported, source.more)),
        _ => Err(another_question()),
    }
}

pub(super) fn another_question() -> Refusal {
    Refusal::new(
        Code::Unavailable,
        "the store answered another question than the one asked. Repeat the call in a moment",
    )
}

pub(super) fn refused(refusal: &Refusal, access: &mut Access) -> Response<Body> {
    access.outcome = Some(refusal.code.name());
    let status = match refusal.code.class() {
        Class::Input => 400,
        Class::NotFound => 404,
        Class::Conflict => 409,
        Class::Limit => 507,
        Class::Unavailable => 503,
    };
    json_response(
        status,
        &json!({
            "error": refusal.code.name(),
            "class": refusal.code.class().name(),
            "retry": refusal.code.retry().name(),
            "message": refusal.message,
        }),
    )
}
