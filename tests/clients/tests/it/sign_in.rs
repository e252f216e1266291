//! The Rust SDK's own sign-in: from the challenge of a 401 to a stored thought, and on through a token that ended.

use e2e::sign_in::{OWNER, Person};
use rmcp::model::ProtocolVersion;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, AuthorizationRequest, OAuthState};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};

use crate::rust::{block_on, tool};

const REDIRECT: &str = "http://127.0.0.1:53691/callback";
const NINE_HOURS: &str = "32400000";

#[test]
fn rust_sdk_signs_in_and_refreshes() {
    let mut person = Person::new();
    for (path, mode) in [
        ("/mcp-compat", ClientLifecycleMode::Initialize),
        (
            "/mcp",
            ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        ),
    ] {
        let mut worker = person.prepare(&[]);
        worker.wrap_glue("shifted.mjs");
        worker.restart();
        let url = format!("http://127.0.0.1:{}{path}", worker.port());
        let refused = worker.client().send("POST", path, &[], b"");
        assert_eq!(refused.status, 401);
        let challenge = refused.header("www-authenticate").unwrap();
        block_on(async {
            let mut state = OAuthState::new(&url, None).await.unwrap();
            let request = AuthorizationRequest::new(REDIRECT)
                .with_client_name("The Rust SDK")
                .with_challenge(challenge);
            state.start_authorization(request).await.unwrap();
            let link = state.get_authorization_url().await.unwrap();
            let address = person.consent(&link, OWNER, &[]);
            state.handle_callback_url(&address).await.unwrap();
            let manager = state.into_authorization_manager().unwrap();
            let http = AuthClient::new(reqwest::Client::default(), manager);
            let transport = StreamableHttpClientTransport::with_client(
                http.clone(),
                StreamableHttpClientTransportConfig::with_uri(url),
            );
            let client = ().serve_with_lifecycle(transport, mode).await.unwrap();
            let think = |id: Value, number: u32| {
                let thought = json!({
                    "thought": "Signed in.", "thoughtNumber": number, "totalThoughts": 2,
                    "nextThoughtNeeded": number < 2, "sequenceId": id,
                });
                tool(&client, "sequentialthinking", thought)
            };
            let first = think(Value::Null, 1).await;
            let before = http.get_access_token().await.unwrap();
            let shift = [
                ("x-shift-milliseconds", NINE_HOURS),
                ("x-shift-stays", "yes"),
            ];
            worker.client().send("GET", "/healthz", &shift, b"");
            let second = think(first["sequenceId"].clone(), 2).await;
            assert_eq!(second["thoughtHistoryLength"], 2, "{second}");
            assert_ne!(http.get_access_token().await.unwrap(), before);
            client.cancel().await.unwrap();
        });
    }
}
