//! Refusals in the words of OAuth (RFC 6749 §5.2, RFC 7591 §3.2.2), and the one mapping to statuses.

use crate::refusal::{Class, Retry};

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

    pub const ALL: [Self; 15] = [
        Self::AccessDenied,
        Self::InteractionRequired,
        Self::InvalidClient,
        Self::InvalidClientMetadata,
        Self::InvalidGrant,
        Self::InvalidRedirectUri,
        Self::InvalidRequest,
        Self::InvalidTarget,
        Self::RegistrationNotSupported,
        Self::RequestNotSupported,
        Self::RequestUriNotSupported,
        Self::ServerError,
        Self::TemporarilyUnavailable,
        Self::UnsupportedGrantType,
        Self::UnsupportedResponseType,
    ];

    pub const fn advice(self) -> (Class, Retry) {
        match self {
            Self::ServerError | Self::TemporarilyUnavailable => (Class::Unavailable, Retry::Later),
            // A grant that is over comes back by a new sign-in only.
            Self::AccessDenied | Self::InvalidGrant => (Class::Input, Retry::Never),
            Self::InteractionRequired
            | Self::InvalidClient
            | Self::InvalidClientMetadata
            | Self::InvalidRedirectUri
            | Self::InvalidRequest
            | Self::InvalidTarget
            | Self::RegistrationNotSupported
            | Self::RequestNotSupported
            | Self::RequestUriNotSupported
            | Self::UnsupportedGrantType
            | Self::UnsupportedResponseType => (Class::Input, Retry::FixInput),
        }
    }

    /// What the code means here, for whoever reads the documentation.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::AccessDenied => {
                "The person said no, or the account is not one that the owner has listed."
            }
            Self::InteractionRequired => {
                "Consent is asked for every time; `prompt=none` cannot be."
            }
            Self::InvalidClient => {
                "The client is not known here, or its secret is wrong: register again."
            }
            Self::InvalidClientMetadata => "The registration is not acceptable.",
            Self::InvalidGrant => {
                "The code or refresh token is over, was used or belongs to another client: sign in again."
            }
            Self::InvalidRedirectUri => "A redirect URI is not acceptable.",
            Self::InvalidRequest => "A parameter is missing, repeated or malformed.",
            Self::InvalidTarget => {
                "The resource is not served here, or not within what was granted."
            }
            Self::RegistrationNotSupported => {
                "A registration inside the request is not taken: use `/register`."
            }
            Self::RequestNotSupported => "Request objects are not taken.",
            Self::RequestUriNotSupported => "Request objects by reference are not taken.",
            Self::ServerError => "Something failed on the way, here or at GitHub.",
            Self::TemporarilyUnavailable => {
                "The vault or GitHub cannot be asked, or there were too many requests. Keep the tokens and try again."
            }
            Self::UnsupportedGrantType => {
                "Only `authorization_code` and `refresh_token` are served."
            }
            Self::UnsupportedResponseType => "Only `response_type=code` is served.",
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
