//! An export whose store fails after the first page: the status is sent, so the transfer is broken off.

use std::cell::Cell;
use std::rc::Rc;

use durable_thinking::auth::TokenOnly;
use durable_thinking::config::Config;
use durable_thinking::fresh::Fresh;
use durable_thinking::local::{fresh, ready};
use durable_thinking::mcp::ToolHost;
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::refusal::Refusal;
use durable_thinking::tools::{Call, Outcome};
use durable_thinking::transport::http::{Site, route};
use durable_thinking::transport::{Body, Broken};
use serde_json::json;

use crate::export::routes::router;
use crate::support::{Product, to_message};
use crate::wire::{Request, TOKEN};

/// A store that answers so many calls and no more.
struct Failing {
    site: Rc<Product>,
    answers: Cell<u32>,
}

impl ToolHost for Failing {
    async fn call(&self, call: &Call, fresh: &Fresh) -> Result<Outcome, Refusal> {
        let Some(left) = self.answers.get().checked_sub(1) else {
            return Err(Refusal::unavailable("the test's"));
        };
        self.answers.set(left);
        self.site.server.host.call(call, fresh).await
    }

    async fn check(&self, _: &Fresh) -> Result<(), Refusal> {
        Ok(())
    }
}

/// What is written of an export before it ends, and how it ends.
fn export(
    site: &Rc<Product>,
    id: &str,
    format: &str,
    answers: u32,
) -> (String, Result<(), Broken>) {
    let config = Config::parse(|name| (name == "MCP_API_TOKEN").then(|| TOKEN.to_owned()));
    let host = Failing {
        site: Rc::clone(site),
        answers: Cell::new(answers),
    };
    let settings = config.settings.clone();
    let site = Rc::new(Site {
        config,
        server: Thinking { settings, host },
        authorization: TokenOnly,
    });
    let body = json!({ "sequenceId": id, "format": format }).to_string();
    let message = to_message("http://127.0.0.1:8787", &Request::post("/export", body));
    let (response, _) = ready(route(message, site, fresh().unwrap())).unwrap();
    assert_eq!(response.status(), 200, "{format}");
    let Body::Stream(mut stream) = response.into_body() else {
        panic!("{format} is not streamed");
    };
    let mut text = Vec::new();
    let end = loop {
        match ready(stream.next()).unwrap() {
            Ok(Some(chunk)) => text.extend(chunk),
            Ok(None) => break Ok(()),
            Err(broken) => {
                // However often it is asked.
                assert_eq!(ready(stream.next()).unwrap(), Err(Broken));
                break Err(broken);
            }
        }
    };
    (String::from_utf8(text).unwrap(), end)
}

#[test]
fn a_document_that_cannot_be_completed_is_broken_off() {
    let (router, id) = router(230);
    for format in ["json", "markdown", "mermaid"] {
        let (whole, end) = export(&router.site, &id, format, u32::MAX);
        assert_eq!(end, Ok(()), "{format}");
        let mut answers = 1;
        loop {
            let (text, end) = export(&router.site, &id, format, answers);
            if end == Ok(()) {
                assert!(text == whole, "{format} after {answers} pages");
                break;
            }
            assert_eq!(end, Err(Broken), "{format} after {answers} pages");
            assert!(whole.starts_with(&text) && text.len() < whole.len());
            answers += 1;
        }
        assert!(answers > 1, "{format} took {answers} pages");
    }
}
