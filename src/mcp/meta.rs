//! What a request says about itself in `params._meta`. Since 2026-07-28 that is all a server may know of its client.

use serde_json::{Map, Value};

use crate::jsonrpc::Params;
use crate::mcp::error::Error;

pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
const PROGRESS_TOKEN: &str = "progressToken";

const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The checked members of `_meta` that change what is answered.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    /// What the client declared; empty before 2026-07-28, where a later request cannot know it.
    pub capabilities: Map<String, Value>,
    pub log_level: Option<String>,
    /// A string or an integer that the client wants to see in progress notifications.
    pub progress_token: Option<Value>,
}

impl Meta {
    /// Reads what 2026-07-28 demands on every request.
    pub fn parse(params: Option<&Params>) -> Result<Self, Error> {
        let Some(meta) = params.and_then(|params| params.get("_meta")) else {
            return Err(Error::InvalidParams(format!(
                "_meta is required, with \"{PROTOCOL_VERSION}\" and \"{CLIENT_CAPABILITIES}\""
            )));
        };
        let Value::Object(meta) = meta else {
            return Err(Error::InvalidParams("_meta must be an object".to_owned()));
        };
        match meta.get(PROTOCOL_VERSION) {
            Some(Value::String(_)) => {}
            Some(_) => return Err(wrong(PROTOCOL_VERSION, "a string")),
            None => return Err(missing(PROTOCOL_VERSION)),
        }
        let capabilities = match meta.get(CLIENT_CAPABILITIES) {
            Some(Value::Object(capabilities)) => capabilities.clone(),
            Some(_) => return Err(wrong(CLIENT_CAPABILITIES, "an object")),
            None => return Err(missing(CLIENT_CAPABILITIES)),
        };
        if meta.get(CLIENT_INFO).is_some_and(|info| !info.is_object()) {
            return Err(wrong(CLIENT_INFO, "an object"));
        }
        let log_level = match meta.get(LOG_LEVEL) {
            None => None,
            Some(Value::String(level)) if LOG_LEVELS.contains(&level.as_str()) => {
                Some(level.clone())
            }
            Some(_) => {
                return Err(wrong(
                    LOG_LEVEL,
                    "one of debug, info, notice, warning, error, critical, alert, emergency",
                ));
            }
        };
        Ok(Self {
            capabilities,
            log_level,
            progress_token: progress_token(meta),
        })
    }

    /// Reads what the versions before that allow.
    pub fn parse_legacy(params: Option<&Params>) -> Self {
        let meta = params
            .and_then(|params| params.get("_meta"))
            .and_then(Value::as_object);
        Self {
            progress_token: meta.and_then(progress_token),
            ..Self::default()
        }
    }
}

/// The version that a request names, if it describes itself at all.
pub fn protocol_version(params: Option<&Params>) -> Option<&str> {
    params?.get("_meta")?.get(PROTOCOL_VERSION)?.as_str()
}

fn progress_token(meta: &Map<String, Value>) -> Option<Value> {
    meta.get(PROGRESS_TOKEN)
        .filter(|token| token.is_string() || token.is_i64() || token.is_u64())
        .cloned()
}

fn missing(key: &str) -> Error {
    Error::InvalidParams(format!("_meta[\"{key}\"] is required"))
}

fn wrong(key: &str, expected: &str) -> Error {
    Error::InvalidParams(format!("_meta[\"{key}\"] must be {expected}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Meta, protocol_version};
    use crate::jsonrpc::Params;

    fn params(meta: &Value) -> Params {
        let mut params = Params::new();
        params.insert("_meta".to_owned(), meta.clone());
        params
    }

    #[test]
    fn both_keys_are_demanded_with_their_types() {
        const V: &str = "io.modelcontextprotocol/protocolVersion";
        const C: &str = "io.modelcontextprotocol/clientCapabilities";
        const I: &str = "io.modelcontextprotocol/clientInfo";
        const L: &str = "io.modelcontextprotocol/logLevel";
        for (meta, word) in [
            (json!(null), "_meta must be an object"),
            (json!([]), "_meta must be an object"),
            (json!({}), V),
            (json!({C: {}}), V),
            (json!({V: 1, C: {}}), "a string"),
            (json!({V: "2026-07-28"}), C),
            (json!({V: "2026-07-28", C: []}), "an object"),
            (json!({V: "2026-07-28", C: {}, I: "me"}), I),
            (json!({V: "2026-07-28", C: {}, L: "loud"}), L),
        ] {
            let text = format!("{:?}", Meta::parse(Some(&params(&meta))).unwrap_err());
            assert!(text.contains(word), "{meta}: {text}");
        }
        assert!(Meta::parse(None).is_err());
        let full =
            json!({V: "2026-07-28", C: {"sampling": {}}, L: "info", "progressToken": 5, "x/y": 1});
        let meta = Meta::parse(Some(&params(&full))).unwrap();
        assert!(meta.capabilities.contains_key("sampling"));
        assert_eq!(meta.progress_token, Some(json!(5)));
        assert_eq!(protocol_version(Some(&params(&full))), Some("2026-07-28"));
    }

    #[test]
    fn a_token_that_is_none_is_passed_over() {
        for token in [json!(null), json!(1.5), json!({}), json!(true)] {
            let meta = Meta::parse_legacy(Some(&params(&json!({"progressToken": token}))));
            assert_eq!(meta.progress_token, None);
        }
    }
}
