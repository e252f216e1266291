//! Many sequences at once: each strand writes and reads one sequence, and must never meet another one's thoughts.

#![allow(dead_code, reason = "each crate of tests uses its part")]

use serde_json::{Value, json};

use super::runner::Host;
use super::wire::MODERN;

/// One sequence among many, written a step at a time.
pub struct Strand {
    mark: String,
    sequence_id: Option<String>,
    steps: u32,
}

impl Strand {
    pub fn new(number: usize) -> Self {
        Self {
            mark: format!("strand {number} ·"),
            sequence_id: None,
            steps: 0,
        }
    }

    /// Writes the next thought.
    pub fn write(&mut self, host: &mut impl Host) {
        self.steps += 1;
        let text = format!(
            "{} step {} – 第 {} 步 🧵",
            self.mark, self.steps, self.steps
        );
        let mut arguments = json!({
            "thought": text, "thoughtNumber": self.steps, "totalThoughts": 100, "nextThoughtNeeded": true,
        });
        if let Some(id) = &self.sequence_id {
            arguments["sequenceId"] = json!(id);
        }
        let result = call(host, "sequentialthinking", &arguments);
        let structured = &result["structuredContent"];
        assert_eq!(structured["thoughtHistoryLength"], self.steps, "{result}");
        let id = structured["sequenceId"].as_str().expect("an id").to_owned();
        assert!(self.sequence_id.as_ref().is_none_or(|known| *known == id));
        self.sequence_id = Some(id);
    }

    /// Reads everything back and checks that it is this strand's, whole and in order.
    pub fn check(&self, host: &mut impl Host) {
        let arguments = json!({ "sequenceId": self.sequence_id, "limit": 100 });
        let result = call(host, "get_thought_history", &arguments);
        let thoughts = result["structuredContent"]["thoughts"]
            .as_array()
            .expect("thoughts");
        assert_eq!(thoughts.len(), self.steps as usize, "{}", self.mark);
        for (thought, number) in thoughts.iter().zip(1..) {
            let text = thought["thought"].as_str().expect("text");
            assert!(text.starts_with(&self.mark), "{} holds {text}", self.mark);
            assert_eq!(
                (&thought["ordinal"], &thought["thoughtNumber"]),
                (&json!(number), &json!(number))
            );
        }
    }

    /// What must not be found in the store's file.
    pub fn secrets(&self) -> [String; 2] {
        [
            self.mark.clone(),
            self.sequence_id.clone().unwrap_or_default(),
        ]
    }
}

fn call(host: &mut impl Host, tool: &str, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = host.exchange(MODERN, &message).expect("an answer");
    let result = answer["result"].clone();
    assert!(result["structuredContent"].is_object(), "{answer}");
    result
}
