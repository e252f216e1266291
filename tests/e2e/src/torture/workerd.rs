//! The Worker in workerd as the victim.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Line, Victim};
use crate::client::Client;
use crate::mcp::Tools;
use crate::{TOKEN, Worker};

pub struct Workerd {
    worker: Mutex<Worker>,
}

impl Workerd {
    pub fn start() -> Self {
        Self {
            worker: Mutex::new(Worker::start_with(&[("LOG_LEVEL", "error")])),
        }
    }

    /// Everything that it printed.
    pub fn log(&self) -> Vec<String> {
        self.worker.lock().unwrap().log()
    }
}

impl Victim for Workerd {
    fn connect(&self) -> Box<dyn Line + '_> {
        Box::new(Tools::new(&self.worker.lock().unwrap()))
    }

    fn kill(&self) {
        self.worker.lock().unwrap().kill();
    }

    fn start(&mut self) {
        self.worker.get_mut().unwrap().restart();
    }

    fn export(&self, sequence: &str) -> Value {
        let address = ([127, 0, 0, 1], self.worker.lock().unwrap().port()).into();
        let bearer = format!("Bearer {TOKEN}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        let body = json!({ "sequenceId": sequence, "format": "json" }).to_string();
        let reply = Client::new(address).send("POST", "/export", &headers, body.as_bytes());
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }
}

impl Line for Tools {
    fn call(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        let params = json!({ "name": tool, "arguments": arguments });
        let reply = self.try_post("tools/call", &params, &[]).ok()?;
        assert_eq!(reply.status, 200, "{}", reply.text());
        Some(reply.json()["result"].take())
    }
}
