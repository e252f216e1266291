//! Why a request gets an error object, and the one mapping to it.
//!
//! What a tool refuses or fails at is no such error: it is a result, made in `thinking`.

use crate::json::{Json, Object};
use crate::jsonrpc::{Code, ErrorObject};
use crate::mcp::version::Version;

/// Text of a client is echoed up to this length.
const ECHO_CHARACTERS_MAX: usize = 100;

#[derive(Clone, Debug)]
pub enum Error {
    MethodNotFound(String),
    /// The text says what is wrong and what would be right.
    InvalidParams(String),
    ResourceNotFound(String),
    /// A header that should mirror the body is missing, differs or cannot be read.
    HeaderMismatch(String),
    UnsupportedVersion(String),
    /// The capability that the client would have to declare, as an object.
    MissingClientCapability(Object),
    /// Ours. It has been logged; the id is what the log calls the request.
    Fault {
        request_id: String,
    },
}

impl Error {
    /// The error object, as `version` spells it.
    pub fn to_object(&self, version: Version) -> ErrorObject {
        match self {
            Self::MethodNotFound(method) => ErrorObject::new(
                Code::MethodNotFound,
                format!("Method not found: {}", echo(method)),
            ),
            Self::InvalidParams(text) => {
                ErrorObject::new(Code::InvalidParams, format!("Invalid params: {text}"))
            }
            Self::ResourceNotFound(uri) => {
                ErrorObject::new(version.resource_not_found(), "Resource not found")
                    .with("uri", &echo(uri))
            }
            Self::HeaderMismatch(text) => {
                ErrorObject::new(Code::HeaderMismatch, format!("Header mismatch: {text}"))
                    .with("supported", &supported(version))
            }
            Self::UnsupportedVersion(requested) => ErrorObject::new(
                Code::UnsupportedProtocolVersion,
                "Unsupported protocol version",
            )
            .with("supported", &supported(version))
            .with("requested", &echo(requested)),
            Self::MissingClientCapability(required) => ErrorObject::new(
                Code::MissingClientCapability,
                "The client did not declare a capability that this needs",
            )
            .with("requiredCapabilities", required),
            Self::Fault { request_id } => ErrorObject::new(
                Code::Internal,
                format!("Internal error. Try again later; request {request_id}"),
            ),
        }
    }
}

fn supported(version: Version) -> Json {
    Json::array(version.served_beside())
}

/// A client's own text, short enough to send back.
pub fn echo(text: &str) -> String {
    text.chars().take(ECHO_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Error, echo};
    use crate::jsonrpc::Code;
    use crate::mcp::version::Version;

    #[test]
    fn every_error_has_its_code_and_data() {
        let text = || "x".to_owned();
        let supported = json!({"supported": ["2026-07-28"]});
        let requested = json!({"supported": ["2026-07-28"], "requested": "x"});
        let sampling = json!({"sampling": {}});
        let fault = Error::Fault { request_id: text() };
        for (error, code, data) in [
            (
                Error::MethodNotFound(text()),
                Code::MethodNotFound,
                json!({}),
            ),
            (Error::InvalidParams(text()), Code::InvalidParams, json!({})),
            (
                Error::ResourceNotFound(text()),
                Code::InvalidParams,
                json!({"uri": "x"}),
            ),
            (
                Error::HeaderMismatch(text()),
                Code::HeaderMismatch,
                supported,
            ),
            (
                Error::UnsupportedVersion(text()),
                Code::UnsupportedProtocolVersion,
                requested,
            ),
            (
                Error::MissingClientCapability(crate::json::json!({ "sampling": {} })),
                Code::MissingClientCapability,
                json!({"requiredCapabilities": sampling}),
            ),
            (fault, Code::Internal, json!({})),
        ] {
            let object = error.to_object(Version::V2026_07_28);
            assert_eq!(object.code, code, "{error:?}");
            let mut found = object.data.to_value();
            let members = found.as_object_mut().unwrap();
            assert_eq!(members.remove("class").unwrap(), code.class().name());
            assert_eq!(members.remove("retry").unwrap(), code.retry().name());
            assert_eq!(found, data, "{error:?}");
            assert!(!object.message.is_empty());
        }
        let old = Error::ResourceNotFound(text()).to_object(Version::V2025_11_25);
        assert_eq!(old.code, Code::ResourceNotFound);
    }

    #[test]
    fn a_client_s_text_is_echoed_within_bounds() {
        assert_eq!(echo(&"é".repeat(1000)).chars().count(), 100);
    }
}
