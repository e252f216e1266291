//! Refusals in the words of OAuth (RFC 6749 §5.2, RFC 7591 §3.2.2), and the one mapping to statuses.

/// The registered error codes that we send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    AccessDenied,
    InteractionRequired,
    InvalidClient,
    InvalidClientMetadata,
    InvalidGrant,
    InvalidRedirectUri,
    InvalidRequest,
    InvalidTarget,
    RegistrationNotSupported,
    RequestNotSupported,
    RequestUriNotSupported,
    ServerError,
    TemporarilyUnavailable,
    UnsupportedGrantType,
    UnsupportedResponseType,
}

impl Code {
    pub const fn text(self) -> &'static str {
        match self {
            Self::AccessDenied => "access_denied",
            Self::InteractionRequired => "interaction_required",
            Self::InvalidClient => "invalid_client",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidTarget => "invalid_target",
            Self::RegistrationNotSupported => "registration_not_supported",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
        }
    }

    /// The status of the direct answer. What goes through a redirect has none.
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            Self::TemporarilyUnavailable => 503,
            Self::ServerError => 500,
            Self::AccessDenied
            | Self::InteractionRequired
            | Self::InvalidClientMetadata
            | Self::InvalidGrant
            | Self::InvalidRedirectUri
            | Self::InvalidRequest
            | Self::InvalidTarget
            | Self::RegistrationNotSupported
            | Self::RequestNotSupported
            | Self::RequestUriNotSupported
            | Self::UnsupportedGrantType
            | Self::UnsupportedResponseType => 400,
        }
    }
}

/// One refusal. The description is fixed text: what the caller sent is never echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: Code,
    pub description: &'static str,
}

impl Error {
    pub const fn new(code: Code, description: &'static str) -> Self {
        Self { code, description }
    }

    pub const fn client_metadata(description: &'static str) -> Self {
        Self::new(Code::InvalidClientMetadata, description)
    }

    pub const fn redirect_uri(description: &'static str) -> Self {
        Self::new(Code::InvalidRedirectUri, description)
    }

    pub const fn request(description: &'static str) -> Self {
        Self::new(Code::InvalidRequest, description)
    }

    pub const fn grant(description: &'static str) -> Self {
        Self::new(Code::InvalidGrant, description)
    }

    pub const fn unavailable() -> Self {
        Self::new(
            Code::TemporarilyUnavailable,
            "The server cannot answer right now. Nothing was lost; try again.",
        )
    }
}
