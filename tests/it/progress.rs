//! Long answers: progress on a stream, the same page as without, and nothing done for a client that has left.

use std::cell::Cell;
use std::rc::Rc;

use durable_thinking::auth::TokenOnly;
use durable_thinking::config::Config;
use durable_thinking::fresh::Fresh;
use durable_thinking::local::ready;
use durable_thinking::mcp::ToolHost;
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::refusal::Refusal;
use durable_thinking::tools::{Call, Outcome};
use durable_thinking::transport::Body;
use durable_thinking::transport::http::{Site, route};
use serde_json::json;

use crate::long::{self, call, write};
use crate::process::Process;
use crate::support::{Product, Router, to_message};
use crate::wire::{Http, MODERN, Request, TOKEN};

#[test]
fn a_long_page_is_the_same_with_progress_as_without() {
    long::check(&mut Router::new());
}

#[test]
fn an_older_client_gets_progress_too() {
    let mut router = Router::new();
    let id = write(&mut router);
    let arguments = json!({ "sequenceId": id, "limit": 100, "maxCharacters": 250_000 });
    let params = json!({ "name": "get_thought_history", "arguments": arguments, "_meta": { "progressToken": 7 } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let messages = router
        .send(&Request::message("2025-06-18", &message))
        .messages();
    assert_eq!(messages.len(), 5, "{}", messages[0]);
    assert_eq!(messages[0]["params"]["progressToken"], 7);
    assert_eq!(
        messages[4]["result"]["structuredContent"]["thoughts"]
            .as_array()
            .unwrap()
            .len(),
        100
    );
}

#[test]
fn progress_comes_before_the_answer_on_the_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::start(&folder.path().join("thoughts.db"));
    let id = write(&mut process);
    let arguments = json!({ "sequenceId": id, "limit": 100, "maxCharacters": 250_000 });
    process.write(&format!(
        "{}\n",
        call("get_thought_history", &arguments, Some(json!(1)))
    ));
    let messages = process.stop();
    assert_eq!(messages.len(), 5, "{}", messages[0]);
    assert!(
        messages[..4]
            .iter()
            .all(|message| message["method"] == "notifications/progress")
    );
    assert_eq!(messages[4]["id"], 1);
}

/// Counts the calls that reach the store.
struct Counting {
    site: Rc<Product>,
    calls: Rc<Cell<u32>>,
}

impl ToolHost for Counting {
    async fn call(&self, call: &Call, fresh: &Fresh) -> Result<Outcome, Refusal> {
        self.calls.set(self.calls.get() + 1);
        self.site.server.host.call(call, fresh).await
    }

    async fn check(&self, _: &Fresh) -> Result<(), Refusal> {
        Ok(())
    }
}

#[test]
fn a_client_that_leaves_stops_the_work() {
    let mut router = Router::new();
    let id = write(&mut router);
    let calls = Rc::new(Cell::new(0));
    let host = Counting {
        site: Rc::clone(&router.site),
        calls: Rc::clone(&calls),
    };
    let config = Config::parse(|name| (name == "MCP_API_TOKEN").then(|| TOKEN.to_owned()));
    let settings = config.settings.clone();
    let server = Thinking { settings, host };
    let authorization = TokenOnly;
    let site = Rc::new(Site {
        config,
        server,
        authorization,
    });
    let arguments = json!({ "sequenceId": id, "limit": 100, "maxCharacters": 250_000 });
    let request = Request::message(
        MODERN,
        &call("get_thought_history", &arguments, Some(json!(1))),
    );
    let start = || {
        let message = to_message("http://127.0.0.1:8787", &request);
        let (response, _) = ready(route(
            message,
            Rc::clone(&site),
            durable_thinking::local::fresh().unwrap(),
        ))
        .unwrap();
        let Body::Stream(stream) = response.into_body() else {
            panic!("no stream");
        };
        stream
    };
    assert!(ready(start().next()).unwrap().unwrap().is_some());
    let left = calls.get();
    let mut stream = start();
    while ready(stream.next()).unwrap().unwrap().is_some() {}
    let stayed = calls.get() - left;
    assert_eq!((left, stayed), (1, 5));
    assert!(
        left < stayed && stayed == 5,
        "{left} calls, {stayed} for the whole"
    );
}
