//! What breaks around the Worker: what the client is told, that nothing acknowledged is lost, that the next call works,
//! and that the log has one line of it.

mod database;
mod trap;
mod way;

use e2e::Worker;
use e2e::client::Reply;
use e2e::mcp::Tools;
use serde_json::{Value, json};

const KEPT: &str = "acknowledged before the fault";
const TEXT: &str = "written in the middle of the fault 思考";

/// A Worker that can be broken, and one sequence in it.
struct Scene {
    worker: Worker,
    tools: Tools,
    sequence: String,
}

impl Scene {
    fn set() -> Self {
        let worker = Worker::start_breakable(&[("LOG_LEVEL", "debug")]);
        let mut tools = Tools::new(&worker);
        let mut stored = tools.think(None, 1, 9, KEPT);
        let sequence = stored["sequenceId"].take().as_str().unwrap().to_owned();
        Self {
            worker,
            tools,
            sequence,
        }
    }

    fn append(&self) -> Value {
        json!({ "name": "sequentialthinking", "arguments": {
            "thought": TEXT, "thoughtNumber": 2, "totalThoughts": 9, "nextThoughtNeeded": true,
            "sequenceId": self.sequence,
        } })
    }

    /// Appends while `fault` is in force.
    fn append_during(&mut self, fault: &str) -> Reply {
        let params = self.append();
        self.tools
            .post("tools/call", &params, &[("x-fault", fault)])
    }

    /// Appends with nothing broken any more, as a client does that repeats its call, and reads it all back.
    #[track_caller]
    fn repeat(&mut self, is_stored: bool) {
        let reply = self.append_during("none none 0");
        let stored = &reply.json()["result"]["structuredContent"];
        assert_eq!(stored["thoughtHistoryLength"], 2, "{}", reply.text());
        let warning = stored["warnings"][0]["code"].as_str();
        assert_eq!(warning == Some("deduplicated"), is_stored, "{stored}");
        assert_eq!(self.tools.read_texts(&self.sequence, 50), [KEPT, TEXT]);
    }

    /// The lines of faults. No line of any kind tells what was thought, or where.
    #[track_caller]
    fn errors(&self) -> Vec<Value> {
        let log = self.worker.whole_log();
        let id = self.sequence.strip_prefix("seq_").unwrap();
        for secret in [KEPT, TEXT, id, e2e::TOKEN] {
            assert!(!log.iter().any(|line| line.contains(secret)), "{log:?}");
        }
        let entries = log
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok());
        entries
            .filter(|entry: &Value| entry["kind"] == "error")
            .collect()
    }

    /// That the tool was refused with this code and advice, and that one line tells the owner why, under the id that
    /// the client has too.
    #[track_caller]
    fn is_refused(&self, reply: &Reply, advice: [&str; 3], cause: [&str; 2]) {
        assert_eq!(reply.status, 200, "{}", reply.text());
        let answer = reply.json();
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        assert_eq!(result["structuredContent"], Value::Null);
        let text = result["content"][0]["text"].as_str().unwrap();
        let [code, class, retry] = advice;
        assert!(text.starts_with(&format!("{code}: ")), "{text}");
        assert!(
            text.ends_with(&format!("\nclass: {class} · retry: {retry}")),
            "{text}"
        );
        let request_id = reply.header("x-request-id").unwrap();
        assert!(text.contains(&request_id), "{text}");
        assert_eq!(self.errors(), [error(&request_id, cause)]);
    }
}

fn error(request_id: &str, [stage, reason]: [&str; 2]) -> Value {
    json!({ "kind": "error", "requestId": request_id, "stage": stage, "reason": reason })
}

const UNAVAILABLE: [&str; 3] = ["unavailable", "unavailable", "later"];
