//! MCP above the transports: the ports, the method table and its dispatch.
//!
//! Envelopes are left to `jsonrpc`; headers, statuses and lines to `transport`; what this product offers to
//! [`thinking`]. The dispatch is generic over [`Server`], so that a test can mount other tools on the same protocol.

pub mod error;
pub mod meta;
mod pieces;
pub mod prompt;
pub mod result;
pub mod thinking;
pub mod version;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;

use serde_json::Value;

use crate::fresh::Fresh;
use crate::json::{Json, Object, Part, json};
use crate::jsonrpc::{self, Id, Params, Request, Response};
use crate::mcp::error::Error;
use crate::mcp::meta::{Meta, SUBSCRIPTION_ID};
use crate::mcp::result::{About, Body, Caching};
use crate::mcp::version::Version;
use crate::refusal::Refusal;
use crate::tools;

/// Port: where tool calls are run. In the Worker that is the object's stub, natively the store in the same process.
pub trait ToolHost {
    fn call(
        &self,
        call: &tools::Call,
        fresh: &Fresh,
    ) -> impl Future<Output = Result<tools::Outcome, Refusal>>;

    /// Asks whether the store answers at all, for `/healthz?deep=1`.
    fn check(&self, fresh: &Fresh) -> impl Future<Output = Result<(), Refusal>>;
}

/// What is offered behind the methods of the protocol. Results are bodies without the members that an era adds.
pub trait Server {
    fn about(&self) -> &About;

    fn capabilities(&self, version: Version) -> Object;

    fn instructions(&self) -> Option<&str>;

    /// A list as the JSON text of an array, in one page; `None` when nothing of the kind is offered.
    fn list(&self, list: List) -> Option<&Json>;

    /// Whether a call is worth a stream with progress, to a client that can read one.
    fn is_long(&self, params: &Params, context: &Context<'_>) -> bool;

    fn call_tool(
        &self,
        params: &Params,
        context: &Context<'_>,
    ) -> impl Future<Output = Result<Body, Error>>;

    fn read_resource(
        &self,
        params: &Params,
        context: &Context<'_>,
    ) -> impl Future<Output = Result<Body, Error>>;

    fn get_prompt(
        &self,
        params: &Params,
        context: &Context<'_>,
    ) -> impl Future<Output = Result<Body, Error>>;

    /// Any method that is not in the table below; `None` when it does not exist.
    fn other(
        &self,
        request: &Request,
        context: &Context<'_>,
    ) -> impl Future<Output = Option<Result<Body, Error>>>;

    /// Runs a call beside the protocol, for `/export` and `/import`.
    fn run(
        &self,
        call: &tools::Call,
        fresh: &Fresh,
    ) -> impl Future<Output = Result<tools::Outcome, Refusal>>;

    /// Whether what stores the work answers.
    fn is_healthy(&self, fresh: &Fresh) -> impl Future<Output = bool>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

impl List {
    /// The member of the result that holds the list.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// What a request may know of its surroundings.
pub struct Context<'a> {
    pub version: Version,
    pub meta: Meta,
    pub fresh: &'a Fresh,
    pub outgoing: Outgoing,
    /// The code that a tool refused the call with, for the log.
    pub refused: Cell<Option<&'static str>>,
}

impl Context<'_> {
    /// Reports progress, if the client asked for it. `progress` must grow from call to call.
    pub async fn progress(&self, progress: u32, total: Option<u32>, message: &str) {
        let Some(token) = &self.meta.progress_token else {
            return;
        };
        let mut params = json!({ "progressToken": token, "progress": progress });
        if let Some(total) = total {
            params.put("total", &total);
        }
        // 2024-11-05 had no text yet; an unknown member is passed over there.
        params.put("message", message);
        self.notify("notifications/progress", &params).await;
    }

    /// Whether progress would reach somebody.
    pub fn is_heard(&self) -> bool {
        self.meta.progress_token.is_some() && self.outgoing.0.is_some()
    }

    /// Sends a notification that belongs to this request, and waits until the transport has taken it: a client that
    /// does not read, or has left, holds the work up. Where the transport cannot send, nobody would hear it.
    pub async fn notify(&self, method: &str, params: &impl Part) {
        let Some(queue) = &self.outgoing.0 else {
            return;
        };
        queue
            .borrow_mut()
            .push_back(jsonrpc::notification(method, params));
        // No waker is needed: the transport polls again after it has taken a message.
        poll_fn(|_| match queue.borrow().is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }
}

/// Notifications on their way to the client, written by the transport between two steps of the work.
#[derive(Clone, Debug, Default)]
pub struct Outgoing(Option<Rc<RefCell<VecDeque<String>>>>);

impl Outgoing {
    /// For a response that is one JSON object: nothing is kept.
    pub fn closed() -> Self {
        Self(None)
    }

    pub fn open() -> Self {
        Self(Some(Rc::default()))
    }

    pub fn pop(&self) -> Option<String> {
        self.0.as_ref()?.borrow_mut().pop_front()
    }
}

/// The methods that are answered, as fixed words for the log. Anything else is `None`.
pub fn method_word(method: &str) -> Option<&'static str> {
    const METHODS: [&str; 13] = [
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "subscriptions/listen",
        "notifications/initialized",
    ];
    METHODS.into_iter().find(|known| *known == method)
}

/// Answers one request. `_meta`, headers and the like have been checked; `subscriptions/listen` is the transport's.
pub async fn handle<S: Server>(server: &S, request: &Request, context: &Context<'_>) -> Response {
    let outcome = dispatch(server, request, context).await;
    Response {
        id: Some(request.id.clone()),
        outcome: outcome.map_err(|error| error.to_object(context.version)),
    }
}

async fn dispatch<S: Server>(
    server: &S,
    request: &Request,
    context: &Context<'_>,
) -> Result<Object, Error> {
    let none = Params::new();
    let params = request.params.as_ref().unwrap_or(&none);
    let is_modern = context.version.is_modern();
    let (body, caching) = match request.method.as_str() {
        "server/discover" if is_modern => {
            (result::discover(server, context.version), Caching::Public)
        }
        "initialize" if !is_modern => {
            let agreed = agree(params)?;
            (result::initialize(server, agreed), Caching::None)
        }
        "ping" if !is_modern => (Body::new(Object::default()), Caching::None),
        "tools/list" => return list(server, List::Tools, request, params, context),
        "resources/list" => return list(server, List::Resources, request, params, context),
        "resources/templates/list" => {
            return list(server, List::ResourceTemplates, request, params, context);
        }
        "prompts/list" => return list(server, List::Prompts, request, params, context),
        "tools/call" if server.list(List::Tools).is_some() => {
            (server.call_tool(params, context).await?, Caching::None)
        }
        "resources/read" if server.list(List::Resources).is_some() => (
            server.read_resource(params, context).await?,
            Caching::Public,
        ),
        "prompts/get" if server.list(List::Prompts).is_some() => {
            (server.get_prompt(params, context).await?, Caching::None)
        }
        method => match server.other(request, context).await {
            Some(body) => (body?, Caching::None),
            None => return Err(Error::MethodNotFound(method.to_owned())),
        },
    };
    Ok(result::from_body(server, context.version, body, caching))
}

/// The version that `initialize` agrees on.
pub fn agree(params: &Params) -> Result<Version, Error> {
    match params.get("protocolVersion") {
        Some(Value::String(requested)) => Ok(Version::negotiate(requested)),
        _ => Err(Error::InvalidParams(
            "protocolVersion must be a string, such as \"2025-11-25\"".to_owned(),
        )),
    }
}

fn list<S: Server>(
    server: &S,
    list: List,
    request: &Request,
    params: &Params,
    context: &Context<'_>,
) -> Result<Object, Error> {
    let Some(items) = server.list(list) else {
        return Err(Error::MethodNotFound(request.method.clone()));
    };
    if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
        return Err(Error::InvalidParams(
            "cursor: none was given out, the list has one page".to_owned(),
        ));
    }
    Ok(result::from_list(server, context.version, list, items))
}

/// The messages of a subscription to nothing: no list of ours changes while it is served, so the accepted set is empty.
pub fn acknowledge_listen(request: &Request) -> Result<String, Error> {
    let asked = request
        .params
        .as_ref()
        .and_then(|params| params.get("notifications"));
    if !asked.is_some_and(Value::is_object) {
        return Err(Error::InvalidParams(
            "notifications must be an object that names what to listen for".to_owned(),
        ));
    }
    Ok(jsonrpc::notification(
        "notifications/subscriptions/acknowledged",
        &json!({ "_meta": subscription(&request.id), "notifications": {} }),
    ))
}

/// Ends such a subscription in good order.
pub fn close_listen<S: Server>(server: &S, request: &Request, version: Version) -> Response {
    let body = Body {
        meta: subscription(&request.id),
        ..Body::new(Object::default())
    };
    Response {
        id: Some(request.id.clone()),
        outcome: Ok(result::from_body(server, version, body, Caching::None)),
    }
}

fn subscription(id: &Id) -> Object {
    json!({ SUBSCRIPTION_ID: *id })
}
