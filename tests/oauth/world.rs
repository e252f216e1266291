//! One deployment: isolates at different locations, one vault, one cache, one GitHub, one clock that the test moves.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use durable_thinking::clock::Timestamp;
use durable_thinking::config::Config;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::database::{Database, Value as Cell_};
use durable_thinking::fresh::Fresh;
use durable_thinking::local::{Local, ready};
use durable_thinking::log;
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::oauth::memory::Memory;
use durable_thinking::oauth::port::{
    Background, Event, Fetch, Journal, Kv as KvPort, Limit, Limits, Task, Trouble,
    Vault as VaultPort, run,
};
use durable_thinking::oauth::sign_in::SignIn;
use durable_thinking::oauth::vault::Vault;
use durable_thinking::oauth::vault::message::{Answer, Ask};
use durable_thinking::store::Store;
use durable_thinking::transport::Body;
use durable_thinking::transport::http::{Site, route};
use durable_thinking::wire;
use http::{Request, Response};
use serde_json::Value;

use crate::github::GitHub;
use crate::kv::Kv;
use crate::secrets::Secrets;

pub const ORIGIN: &str = "https://mcp.example.org";
pub const STATIC: &str = "0123456789abcdef0123456789abcdef";
pub const OWNER: (&str, u64) = ("octocat", 583_231);

static WORLDS: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weather {
    #[default]
    Fine,
    Down,
    /// What is asked is done, and the answer is lost on the way.
    LosesAnswers,
    /// The same, once.
    LosesOneAnswer,
}

pub struct World {
    pub seconds: Cell<u64>,
    /// Where all isolates keep their thoughts; without it each keeps its own.
    pub thoughts: RefCell<Option<PathBuf>>,
    /// No two worlds draw the same.
    number: u64,
    seeds: Cell<u64>,
    pub vault: Vault<Sqlite>,
    pub asks: Cell<u64>,
    pub weather: Cell<Weather>,
    pub kv: Kv,
    pub github: GitHub,
    /// Client documents by address.
    pub documents: RefCell<BTreeMap<String, Response<Vec<u8>>>>,
    pub document_fetches: Cell<u64>,
    pub limited: RefCell<Vec<Limit>>,
    pub tasks: RefCell<Vec<(usize, Task)>>,
    /// Whether work for later is done at once.
    pub is_prompt: Cell<bool>,
    pub events: RefCell<Vec<Event>>,
    /// Every body and header that left the server.
    pub said: RefCell<Vec<String>>,
    secrets: Secrets,
}

impl Drop for World {
    /// Whatever a test was about: nothing secret is in the log, and no credential is kept.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.secrets.check(&(self.dump() + &self.kv.dump()));
        }
    }
}

/// One location's view of the world.
#[derive(Clone)]
pub struct Edge {
    pub world: Rc<World>,
    pub location: usize,
}

pub struct Isolate {
    pub world: Rc<World>,
    site: Rc<Site<Thinking<Local<Sqlite>>, SignIn<Edge>>>,
    origin: String,
}

pub fn environment() -> Vec<(&'static str, &'static str)> {
    vec![
        ("MCP_API_TOKEN", STATIC),
        ("PUBLIC_ORIGIN", ORIGIN),
        ("GITHUB_CLIENT_ID", "Iv1.github"),
        ("GITHUB_CLIENT_SECRET", "github-secret"),
        ("ALLOWED_GITHUB_LOGIN", "octocat"),
    ]
}

impl World {
    pub fn new() -> Rc<Self> {
        Rc::new(Self {
            seconds: Cell::new(1_796_046_300),
            thoughts: RefCell::default(),
            number: WORLDS.fetch_add(1, Ordering::Relaxed),
            seeds: Cell::new(0),
            vault: Vault::open(Sqlite::open_in_memory().unwrap()).unwrap(),
            asks: Cell::new(0),
            weather: Cell::default(),
            kv: Kv::default(),
            github: GitHub::default(),
            documents: RefCell::default(),
            document_fetches: Cell::new(0),
            limited: RefCell::default(),
            tasks: RefCell::default(),
            is_prompt: Cell::new(true),
            events: RefCell::default(),
            said: RefCell::default(),
            secrets: Secrets::default(),
        })
    }

    pub fn isolate(self: &Rc<Self>, location: usize) -> Isolate {
        self.deploy(location, &environment())
    }

    /// A fresh isolate with this environment, as after a deployment.
    pub fn deploy(self: &Rc<Self>, location: usize, environment: &[(&str, &str)]) -> Isolate {
        self.deploy_at(location, environment, ORIGIN)
    }

    pub fn deploy_at(
        self: &Rc<Self>,
        location: usize,
        environment: &[(&str, &str)],
        origin: &str,
    ) -> Isolate {
        let lookup = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let config = Config::parse(lookup);
        let edge = Edge {
            world: Rc::clone(self),
            location,
        };
        let store_settings = config.settings.clone();
        let site = Site {
            server: Thinking {
                settings: store_settings.clone(),
                host: Local {
                    store: Store::open(self.open_thoughts()).unwrap(),
                    settings: store_settings,
                },
            },
            authorization: SignIn {
                settings: Rc::clone(&config.sign_in),
                tokens: config.tokens.clone(),
                memory: Rc::new(Memory::default()),
                ports: edge,
            },
            config,
        };
        Isolate {
            world: Rc::clone(self),
            site: Rc::new(site),
            origin: origin.to_owned(),
        }
    }

    fn open_thoughts(&self) -> Sqlite {
        match &*self.thoughts.borrow() {
            Some(path) => Sqlite::open(path).unwrap(),
            None => Sqlite::open_in_memory().unwrap(),
        }
    }

    pub fn now(&self) -> u64 {
        self.seconds.get()
    }

    pub fn pass(&self, seconds: u64) {
        self.seconds.set(self.seconds.get() + seconds);
    }

    pub fn fresh(&self) -> Fresh {
        self.seeds.set(self.seeds.get() + 1);
        let mut seed = [9; 32];
        seed[..8].copy_from_slice(&self.seeds.get().to_be_bytes());
        seed[8..16].copy_from_slice(&self.number.to_be_bytes());
        Fresh::new(Timestamp::from_milliseconds(self.now() * 1000), seed)
    }

    /// Everything that the vault holds, as text.
    pub fn dump(&self) -> String {
        let mut text = String::new();
        for (table, columns) in [
            (
                "grants",
                "id || client_id || client_name || redirect_uri || login || challenge || hex(code) || hex(refresh)",
            ),
            ("retired", "hex(refresh)"),
            ("access", "hex(token)"),
            ("flows", "hex(id)"),
            ("documents", "url || body"),
            ("pins", "identity"),
            ("nonces", "access_key || nonce"),
        ] {
            let sql = format!("SELECT coalesce({columns}, '') FROM {table}");
            for mut row in self.vault.database().query(&sql, &[]).unwrap() {
                let column = durable_thinking::database::Column("dump", "text");
                text.push_str(&row.text(column).unwrap());
                text.push('\n');
            }
        }
        text
    }

    pub fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        let mut rows = self.vault.database().query(&sql, &[] as &[Cell_]).unwrap();
        let column = durable_thinking::database::Column("count", "n");
        rows[0].integer(column).unwrap()
    }

    pub fn reasons(&self, event: &str) -> Vec<&'static str> {
        let events = self.events.borrow();
        let found = events.iter().filter(|it| it.event == event);
        found.map(|it| it.reason).collect()
    }
}

impl VaultPort for Edge {
    async fn ask(&self, ask: &Ask) -> Result<Answer, Trouble> {
        let world = &self.world;
        world.asks.set(world.asks.get() + 1);
        // Over the wire, as it really goes.
        let question = wire::write(ask).unwrap();
        let text = String::from_utf8_lossy(&question);
        assert!(!text.contains("mcpat_") && !text.contains("mcprt_") && !text.contains("mcpac_"));
        let ask: Ask = wire::read(&question).unwrap();
        if world.weather.get() == Weather::Down {
            return Err(Trouble);
        }
        let answer = world.vault.answer(&ask, &world.fresh()).unwrap();
        let answer = wire::write(&answer).unwrap();
        match world.weather.get() {
            Weather::Fine | Weather::Down => Ok(wire::read(&answer).unwrap()),
            Weather::LosesAnswers => Err(Trouble),
            Weather::LosesOneAnswer => {
                world.weather.set(Weather::Fine);
                Err(Trouble)
            }
        }
    }
}

impl KvPort for Edge {
    async fn get(&self, key: &str) -> Result<Option<String>, Trouble> {
        self.world.kv.get(self.location, key, self.world.now())
    }

    async fn put(&self, key: &str, value: &str, ttl_seconds: u64) -> Result<(), Trouble> {
        let now = self.world.now();
        self.world
            .kv
            .put(self.location, key, value, ttl_seconds, now)
    }

    async fn delete(&self, key: &str) -> Result<(), Trouble> {
        self.world.kv.delete(self.location, key)
    }
}

impl Fetch for Edge {
    async fn fetch(
        &self,
        request: Request<Vec<u8>>,
        seconds: u32,
        bytes_max: usize,
    ) -> Result<Response<Vec<u8>>, Trouble> {
        assert!(seconds <= 8 && bytes_max <= 64 * 1024);
        let url = request.uri().to_string();
        if url.starts_with("https://github.com/") || url.starts_with("https://api.github.com/") {
            return self.world.github.fetch(&request);
        }
        let fetches = &self.world.document_fetches;
        fetches.set(fetches.get() + 1);
        assert!(!request.headers().contains_key("authorization"));
        let documents = self.world.documents.borrow();
        let found = documents.get(&url).ok_or(Trouble)?;
        if found.body().len() > bytes_max {
            return Err(Trouble);
        }
        Ok(found.clone())
    }
}

impl Limits for Edge {
    async fn admits(&self, limit: Limit, _: &str) -> bool {
        !self.world.limited.borrow().contains(&limit)
    }
}

impl Background for Edge {
    fn later(&self, task: Task) {
        if self.world.is_prompt.get() {
            ready(run(task, self)).unwrap();
        } else {
            self.world.tasks.borrow_mut().push((self.location, task));
        }
    }
}

impl Journal for Edge {
    fn note(&self, event: Event) {
        let line = log::sign_in(&event);
        self.world.secrets.of_log(&event.request_id, &line.text);
        self.world.events.borrow_mut().push(event);
    }
}

impl Isolate {
    pub fn send(&self, request: Request<Vec<u8>>) -> Reply {
        self.world.secrets.of_request(&request);
        let fresh = self.world.fresh();
        let request_id = fresh.request_id();
        let (response, learned) = ready(route(request, Rc::clone(&self.site), fresh)).unwrap();
        let (parts, body) = response.into_parts();
        for line in log::access(&request_id, parts.status.as_u16(), 0, &learned) {
            self.world.secrets.of_log(&request_id, &line.text);
        }
        let Body::Full(body) = body else {
            panic!("a stream");
        };
        let reply = Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: String::from_utf8(body).unwrap(),
        };
        self.world.secrets.of_reply(&reply);
        let said = format!("{:?}\n{}", reply.headers, reply.body);
        self.world.said.borrow_mut().push(said);
        reply
    }

    pub fn request(&self, method: &str, path: &str) -> http::request::Builder {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.origin)
        };
        Request::builder().method(method).uri(url)
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send(self.request("GET", path).body(Vec::new()).unwrap())
    }

    pub fn post_json(&self, path: &str, body: &Value) -> Reply {
        let request = self
            .request("POST", path)
            .header("content-type", "application/json");
        self.send(request.body(body.to_string().into_bytes()).unwrap())
    }

    pub fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.post_form_as(path, fields, None)
    }

    pub fn post_form_as(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        authorization: Option<&str>,
    ) -> Reply {
        let mut request = self
            .request("POST", path)
            .header("content-type", "application/x-www-form-urlencoded");
        if let Some(value) = authorization {
            request = request.header("authorization", value);
        }
        let body = durable_thinking::oauth::form::encode(fields);
        self.send(request.body(body.into_bytes()).unwrap())
    }

    /// A call of MCP with this token, at this path.
    pub fn call(&self, path: &str, token: &str) -> Reply {
        self.call_with(path, &[("authorization", &format!("Bearer {token}"))])
    }

    pub fn tool(&self, token: &str, name: &str, arguments: &Value) -> Reply {
        let call = serde_json::json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": name, "arguments": arguments },
        });
        let request = self
            .request("POST", "/mcp-compat")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        self.send(request.body(call.to_string().into_bytes()).unwrap())
    }

    pub fn call_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = self
            .request("POST", path)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        self.send(request.body(body.as_bytes().to_vec()).unwrap())
    }
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: http::HeaderMap,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }

    pub fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn is(&self, status: u16, error: &str) {
        assert_eq!(self.status, status, "{}", self.body);
        assert_eq!(self.error(), error);
    }
}
