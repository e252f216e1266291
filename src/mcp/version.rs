//! The protocol versions, how one is agreed on, and everything that differs between them.
//!
//! No other file compares versions.

use crate::jsonrpc::Code;

/// A published revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Served as its successor is, for old clients that still ask for it over HTTP.
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// What `/mcp` and `server/discover` name.
pub const MODERN: [&str; 1] = ["2026-07-28"];

impl Version {
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Reads the name of a version that has the handshake.
    pub fn parse_legacy(name: &str) -> Option<Self> {
        Self::parse(name).filter(|version| !version.is_modern())
    }

    /// The answer to `initialize`: what the client asked for, or our newest version that has a handshake.
    pub fn negotiate(requested: &str) -> Self {
        Self::parse_legacy(requested).unwrap_or(Self::V2025_11_25)
    }

    /// What a request without a version header speaks.
    pub fn assumed() -> Self {
        Self::V2025_03_26
    }

    /// Whether every request describes itself, instead of a handshake for the whole connection.
    pub fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether a body may be an array of messages.
    pub fn has_batches(self) -> bool {
        self <= Self::V2025_03_26
    }

    pub fn has_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether the server's description, website and icons have a place.
    pub fn has_icons(self) -> bool {
        self >= Self::V2025_11_25
    }

    pub fn resource_not_found(self) -> Code {
        if self.is_modern() {
            Code::InvalidParams
        } else {
            Code::ResourceNotFound
        }
    }

    /// The versions that the endpoint serving this one serves.
    pub fn served_beside(self) -> impl Iterator<Item = &'static str> {
        Self::ALL
            .into_iter()
            .filter(move |other| other.is_modern() == self.is_modern())
            .map(Self::name)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn what_was_asked_for_is_agreed_on_when_it_is_known() {
        for (requested, agreed) in [
            ("2025-11-25", "2025-11-25"),
            ("2025-06-18", "2025-06-18"),
            ("2025-03-26", "2025-03-26"),
            ("2024-11-05", "2024-11-05"),
            ("1999-01-01", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("", "2025-11-25"),
        ] {
            assert_eq!(Version::negotiate(requested).name(), agreed, "{requested}");
        }
    }
}
