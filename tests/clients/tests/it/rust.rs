//! The Rust SDK as a client: negotiating, of the newer era, and of the older one.

use std::time::Duration;

use e2e::TOKEN;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::Stage;

const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) type Client = RunningService<RoleClient, ()>;

pub(crate) async fn tool(client: &Client, name: &'static str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else {
        panic!("no object")
    };
    let params = CallToolRequestParams::new(name).with_arguments(arguments);
    let result = client.call_tool(params).await.unwrap();
    result
        .structured_content
        .unwrap_or_else(|| json!(result.content))
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}

async fn tell(client: Client) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 3);
    let mut id = Value::Null;
    for number in 1..=3 {
        let stored = tool(
            &client,
            "sequentialthinking",
            json!({
                "thought": format!("Step {number} 🦀"), "thoughtNumber": number, "totalThoughts": 3,
                "nextThoughtNeeded": number < 3, "sequenceId": id,
            }),
        )
        .await;
        assert_eq!(stored["thoughtHistoryLength"], number);
        id = stored["sequenceId"].clone();
    }
    let history = tool(&client, "get_thought_history", json!({ "sequenceId": id })).await;
    assert_eq!(history["thoughts"][2]["thought"], "Step 3 🦀");
    let deleted = tool(
        &client,
        "delete_thought_sequence",
        json!({ "sequenceId": id, "confirm": true }),
    )
    .await;
    assert_eq!(deleted["deletedThoughts"], 3);
    let gone = tool(&client, "get_thought_history", json!({ "sequenceId": id })).await;
    assert!(gone.to_string().contains("sequence_not_found"), "{gone}");
    client.cancel().await.unwrap();
}

fn modes() -> [(&'static str, ClientLifecycleMode); 3] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [
        ("legacy", ClientLifecycleMode::Initialize),
        (
            "modern",
            ClientLifecycleMode::Discover {
                preferred_versions: preferred_versions.clone(),
            },
        ),
        (
            "auto",
            ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: None,
            },
        ),
    ]
}

#[test]
fn rust_sdk() {
    let stage = Stage::set();
    block_on(async {
        for (name, mode) in modes() {
            for path in ["/mcp", "/mcp-compat"] {
                let url = format!("{}{path}", stage.origin());
                let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(TOKEN);
                let transport = StreamableHttpClientTransport::from_config(config);
                let connected = tokio::time::timeout(
                    PATIENCE,
                    ().serve_with_lifecycle(transport, mode.clone()),
                );
                match (connected.await.unwrap(), name, path) {
                    (Err(error), "legacy", "/mcp") => {
                        assert!(error.to_string().contains("/mcp-compat"), "{error}");
                    }
                    (Err(_), "modern", "/mcp-compat") => {}
                    (Ok(client), _, _) => {
                        assert!(
                            (name, path) != ("legacy", "/mcp")
                                && (name, path) != ("modern", "/mcp-compat")
                        );
                        tell(client).await;
                    }
                    (Err(error), _, _) => panic!("{name} {path}: {error}"),
                }
            }
            let mut command = Command::new(&stage.program);
            command.arg("--database").arg(stage.database());
            let transport = TokioChildProcess::new(command).unwrap();
            let client = ().serve_with_lifecycle(transport, mode).await.unwrap();
            tell(client).await;
        }
    });
}
