//! What the Worker asks the vault and what it answers. `wire` says what a change of these types asks for.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::oauth::allowlist::Gate;
use crate::oauth::audience::Audience;
use crate::wire;

/// SHA-256 of a token or code, or another fixed secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bytes<const N: usize>(pub [u8; N]);

pub type Hash = Bytes<32>;

impl<const N: usize> std::fmt::Debug for Bytes<N> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Bytes(…)")
    }
}

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::bytes::serialize(&self.0, serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Bytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::bytes::deserialize(deserializer).map(Self)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Ask {
    /// The root keys; the first one is minted when there is none.
    Keys,
    /// A person that GitHub vouches for has finished the flow: make the grant and its code.
    Complete(Box<Completion>),
    /// How long ago this flow was completed.
    FlowDone {
        flow: Bytes<16>,
    },
    /// A code for the first tokens.
    Redeem {
        code: Hash,
        client_id: String,
        redirect_uri: Option<String>,
        /// S256 of the presented verifier.
        challenge: String,
        audience: Option<Audience>,
        access: Hash,
        refresh: Hash,
        gate: Gate,
    },
    Refresh {
        presented: Hash,
        client_id: String,
        audience: Option<Audience>,
        /// What follows, derived from the presented token by the key of this number.
        next_refresh: Hash,
        next_access: Hash,
        root_key: u8,
        gate: Gate,
    },
    /// One more access token of a grant whose head the caller has just proved to hold.
    MintAccess {
        head: Hash,
        audience: Option<Audience>,
        access: Hash,
    },
    Check {
        access: Hash,
    },
    Revoke {
        token: Hash,
        client_id: String,
    },
    /// Whether a signed request's nonce is new; remembers it.
    NonceOnce {
        access_key: String,
        nonce: String,
        expires: u64,
    },
    /// The last document of a client that obtained a grant.
    Document {
        url: String,
    },
    /// The owner's own questions.
    Grants,
    RevokeGrant {
        grant: i64,
    },
    RevokeAll,
    RotateKeys {
        /// Drop every older key at once: everything sealed with them ends.
        forget: bool,
    },
    ClearPin {
        login: String,
    },
    DenyClient {
        client_id: String,
        denied: bool,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Completion {
    pub flow: Bytes<16>,
    pub identity: Identity,
    /// Whether the allowlist names this person by number, so that no pin is needed.
    pub by_number: bool,
    pub client_id: String,
    pub client_name: String,
    pub redirect_uri: String,
    pub challenge: String,
    pub audience: Audience,
    pub epoch: u32,
    pub code: Hash,
    /// The client's metadata document, kept in case it cannot be fetched one day.
    pub document: Option<String>,
}

/// Who GitHub says this is. Numbers are per instance, so the instance belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub base: String,
    pub github_id: u64,
    pub login: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    Keys {
        keys: Vec<(u8, Bytes<32>)>,
    },
    Completed {
        grant: i64,
        /// Access tokens of grants that made room for it.
        dead: Vec<Hash>,
    },
    /// The flow was completed before, this many seconds ago.
    AlreadyDone {
        age_seconds: u64,
    },
    NotDone,
    /// The login belonged to another number when it was first seen here.
    OtherNumber,
    Denied,
    Issued {
        /// Of the access token.
        expires: u64,
        audience: Audience,
        record: Record,
        /// Access tokens that made room for it.
        dead: Vec<Hash>,
    },
    /// The presented token was retired not long ago: walk this many steps with these keys to the head.
    Walk {
        root_keys: Vec<u8>,
        head: Hash,
        /// The access token that was made with the head, if it lives and is for the same audience.
        access: Option<Walked>,
    },
    InvalidGrant {
        reason: Reason,
        /// Access tokens that died of it: to be purged from the cache.
        dead: Vec<Hash>,
    },
    InvalidTarget,
    Live {
        record: Record,
    },
    Dead,
    Revoked {
        dead: Vec<Hash>,
    },
    Fresh,
    Replayed,
    Document {
        body: Option<String>,
    },
    Grants {
        grants: Vec<Summary>,
    },
    Done {
        changed: bool,
    },
}

/// An access token that can be derived again, from the token before the head and what was asked then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walked {
    pub asked: Option<Audience>,
    pub expires: u64,
}

/// Why a grant was not honoured: a word for the log, never for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Unknown,
    OtherClient,
    Used,
    Replayed,
    Expired,
    Revoked,
    RedirectUri,
    Verifier,
    NotAllowed,
    Epoch,
    Reused,
}

/// What is known of a live access token; also what the cache holds of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub grant: i64,
    pub audience: Audience,
    pub issued: u64,
    pub expires: u64,
    pub epoch: u32,
    pub identity: Identity,
}

/// A grant as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub grant: i64,
    pub client_name: String,
    /// The client's own id for metadata documents, whose host says who it is; nothing for registered ones.
    pub client_host: Option<String>,
    pub redirect_origin: String,
    pub login: String,
    pub github_id: u64,
    pub audience: Vec<String>,
    pub created: u64,
    pub last_used: u64,
    pub expires: u64,
}
