//! The error codes of JSON-RPC and of MCP, each with its class and advice: the only place that knows the numbers.

use serde::{Serialize, Serializer};

use crate::refusal::{Class, Retry};

/// The error codes that this server uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    /// Only before 2026-07-28, which says `InvalidParams`.
    ResourceNotFound,
    HeaderMismatch,
    MissingClientCapability,
    UnsupportedProtocolVersion,
}

impl Code {
    pub const ALL: [Self; 9] = [
        Self::Parse,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::Internal,
        Self::ResourceNotFound,
        Self::HeaderMismatch,
        Self::MissingClientCapability,
        Self::UnsupportedProtocolVersion,
    ];

    pub fn number(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::ResourceNotFound => -32002,
            Self::HeaderMismatch => -32020,
            Self::MissingClientCapability => -32021,
            Self::UnsupportedProtocolVersion => -32022,
        }
    }

    pub fn class(self) -> Class {
        match self {
            Self::MethodNotFound | Self::ResourceNotFound => Class::NotFound,
            Self::Internal => Class::Unavailable,
            Self::Parse
            | Self::InvalidRequest
            | Self::InvalidParams
            | Self::HeaderMismatch
            | Self::MissingClientCapability
            | Self::UnsupportedProtocolVersion => Class::Input,
        }
    }

    pub fn retry(self) -> Retry {
        match self.class() {
            Class::NotFound => Retry::Never,
            Class::Unavailable => Retry::Later,
            Class::Input | Class::Conflict | Class::Limit => Retry::FixInput,
        }
    }

    /// What the code means, for whoever reads the documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Parse => "The message is not valid JSON.",
            Self::InvalidRequest => {
                "The message is JSON, but no request, notification or batch that is served here."
            }
            Self::MethodNotFound => "There is no such method.",
            Self::InvalidParams => "The parameters of the method are missing or wrong.",
            Self::Internal => {
                "A fault of the server outside of a tool. The message has the request id."
            }
            Self::ResourceNotFound => {
                "There is no such resource (before 2026-07-28; since then -32602)."
            }
            Self::HeaderMismatch => {
                "A header that mirrors the message is missing, differs from it or cannot be read."
            }
            Self::MissingClientCapability => {
                "The client did not declare a capability that the call needs."
            }
            Self::UnsupportedProtocolVersion => {
                "The version is not served here; `data.supported` lists those that are."
            }
        }
    }

    /// The code as a fixed word for the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Parse => "parse_error",
            Self::InvalidRequest => "invalid_request",
            Self::MethodNotFound => "method_not_found",
            Self::InvalidParams => "invalid_params",
            Self::Internal => "internal_error",
            Self::ResourceNotFound => "resource_not_found",
            Self::HeaderMismatch => "header_mismatch",
            Self::MissingClientCapability => "missing_client_capability",
            Self::UnsupportedProtocolVersion => "unsupported_protocol_version",
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.number())
    }
}
