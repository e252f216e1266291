//! The Inspector's command line, in both eras and on both transports.

use std::process::Command;

use e2e::TOKEN;
use serde_json::{Value, json};

use crate::{Stage, run, script};

const CLI: &str = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// One way to reach a server.
struct Way<'a> {
    stage: &'a Stage,
    path: Option<&'a str>,
    era: &'a str,
}

impl Way<'_> {
    /// Runs one method and returns what it printed.
    fn call(&self, arguments: &[&str]) -> Value {
        let mut command: Command = script(CLI);
        // It keeps its settings in the home folder.
        command.env("HOME", self.stage.folder.path()).arg("--cli");
        if let Some(path) = self.path {
            let url = format!("{}{path}", self.stage.origin());
            let bearer = format!("Authorization: Bearer {TOKEN}");
            command.args([
                "--server-url",
                &url,
                "--transport",
                "http",
                "--header",
                &bearer,
            ]);
        }
        command
            .args(["--protocol-era", self.era, "--format", "json"])
            .args(arguments);
        if self.path.is_none() {
            command
                .arg(&self.stage.program)
                .arg("--database")
                .arg(self.stage.database());
        }
        let text = run(&mut command);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn tool(&self, name: &str, arguments: &Value) -> Value {
        let text = arguments.to_string();
        let printed = self.call(&[
            "--method",
            "tools/call",
            "--tool-name",
            name,
            "--tool-args-json",
            &text,
        ]);
        let result = if printed.get("result").is_some() {
            &printed["result"]
        } else {
            &printed
        };
        assert!(result["structuredContent"].is_object(), "{printed}");
        result["structuredContent"].clone()
    }

    fn tell(&self) {
        let listed = self.call(&["--method", "tools/list", "--strict"]);
        assert!(
            listed.to_string().contains("delete_thought_sequence"),
            "{listed}"
        );
        let mut id = Value::Null;
        for number in 1..=2 {
            let thought = json!({
                "thought": format!("Step {number} 🔎"), "thoughtNumber": number, "totalThoughts": 2,
                "nextThoughtNeeded": number < 2, "sequenceId": id,
            });
            id = self.tool("sequentialthinking", &thought)["sequenceId"].clone();
        }
        let history = self.tool("get_thought_history", &json!({ "sequenceId": id }));
        assert_eq!(history["thoughts"][1]["thought"], "Step 2 🔎");
        let deleted = self.tool(
            "delete_thought_sequence",
            &json!({ "sequenceId": id, "confirm": true }),
        );
        assert_eq!(deleted["deletedThoughts"], 2);
    }
}

#[test]
fn inspector() {
    let stage = Stage::set();
    for (path, era) in [
        (Some("/mcp"), "modern"),
        (Some("/mcp"), "auto"),
        (Some("/mcp-compat"), "legacy"),
        (Some("/mcp-compat"), "auto"),
        (None, "modern"),
        (None, "legacy"),
    ] {
        Way {
            stage: &stage,
            path,
            era,
        }
        .tell();
    }
    // A client of MCP Apps finds the card.
    let way = Way {
        stage: &stage,
        path: Some("/mcp"),
        era: "modern",
    };
    let thought = json!({ "thought": "a", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false }).to_string();
    let printed = way.call(&[
        "--advertise-apps",
        "--method",
        "tools/call",
        "--tool-name",
        "sequentialthinking",
        "--tool-args-json",
        &thought,
        "--app-info",
    ]);
    assert!(
        printed
            .to_string()
            .contains("ui://sequential-thinking/process.html"),
        "{printed}"
    );
}
