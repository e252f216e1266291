//! The router in this process, on a store in memory, with a clock that the test moves.

use std::rc::Rc;

use durable_thinking::auth::TokenOnly;
use durable_thinking::clock::Timestamp;
use durable_thinking::config::Config;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::fresh::Fresh;
use durable_thinking::local::{Local, ready};
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::store::Store;
use durable_thinking::transport::Body;
use durable_thinking::transport::http::{Site, route};

use crate::wire::{Http, Reply, Request, TOKEN};

pub type Product = Site<Thinking<Local<Sqlite>>, TokenOnly>;

/// The router as a server to speak HTTP with.
pub struct Router {
    pub site: Rc<Product>,
    origin: String,
    requests: u64,
}

impl Router {
    pub fn new() -> Self {
        Self::with(&[("MCP_API_TOKEN", TOKEN)], "http://127.0.0.1:8787")
    }

    pub fn with(environment: &[(&str, &str)], origin: &str) -> Self {
        let config = Config::parse(|name| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        let settings = config.settings.clone();
        let host = Local {
            store: Store::open(Sqlite::open_in_memory().unwrap()).unwrap(),
            settings: settings.clone(),
        };
        let site = Site {
            config,
            server: Thinking { settings, host },
            authorization: TokenOnly,
        };
        Self {
            site: Rc::new(site),
            origin: origin.to_owned(),
            requests: 0,
        }
    }

    /// The store alone, for a transport of another kind.
    pub fn into_host(self) -> Local<Sqlite> {
        let site = Rc::try_unwrap(self.site).unwrap_or_else(|_| panic!("the site is shared"));
        site.server.host
    }

    /// A seed and a moment of its own for each request, the same in every run.
    pub fn fresh(&mut self) -> Fresh {
        self.requests += 1;
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&self.requests.to_be_bytes());
        Fresh::new(
            Timestamp::from_milliseconds(1_796_046_300_000 + self.requests),
            seed,
        )
    }
}

impl Http for Router {
    fn send(&mut self, request: &Request) -> Reply {
        let message = to_message(&self.origin, request);
        let fresh = self.fresh();
        let (response, _) = ready(route(message, Rc::clone(&self.site), fresh)).unwrap();
        let (parts, body) = response.into_parts();
        let body = match body {
            Body::Full(body) => body,
            Body::Stream(mut stream) => {
                let mut body = Vec::new();
                while let Some(chunk) = ready(stream.next()).unwrap().unwrap() {
                    body.extend(chunk);
                }
                body
            }
        };
        let headers = parts.headers.iter();
        Reply {
            status: parts.status.as_u16(),
            headers: headers
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
            body,
        }
    }

    fn origin(&self) -> String {
        self.origin.clone()
    }
}

/// A request as a host hands it over.
pub fn to_message(origin: &str, request: &Request) -> http::Request<Vec<u8>> {
    let mut builder = http::Request::builder()
        .method(request.method.as_str())
        .uri(format!("{origin}{}", request.path));
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    builder.body(request.body.clone()).unwrap()
}
