//! Whom the owner lets in: logins or numbers of GitHub, evaluated anew at every check.

use serde::{Deserialize, Serialize};

use crate::oauth::vault::message::Identity;

/// The configured list. Empty means nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowlist {
    logins: Vec<String>,
    numbers: Vec<u64>,
}

impl Allowlist {
    /// A comma list of logins (any case, with or without `@`) and of `id:123`. The error is the entry that is neither.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut list = Self::default();
        for entry in text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            if let Some(number) = entry.strip_prefix("id:") {
                let number = number
                    .trim()
                    .parse()
                    .map_err(|_| format!("{entry:?} is no number of an account"))?;
                list.numbers.push(number);
            } else {
                let login = entry.strip_prefix('@').unwrap_or(entry);
                if !is_login(login) {
                    return Err(format!("{entry:?} is neither a login nor id:NUMBER"));
                }
                list.logins.push(login.to_ascii_lowercase());
            }
        }
        Ok(list)
    }

    pub fn is_empty(&self) -> bool {
        self.logins.is_empty() && self.numbers.is_empty()
    }

    pub fn has_number(&self, number: u64) -> bool {
        self.numbers.contains(&number)
    }

    pub fn admits(&self, login: &str, number: u64) -> bool {
        self.has_number(number)
            || self
                .logins
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(login))
    }
}

/// GitHub's own rule, and the suffix that managed accounts have.
fn is_login(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Everything of the configuration that can end a grant without touching it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub epoch: u32,
    pub allowed: Allowlist,
    /// The GitHub instance that vouches.
    pub base: String,
    pub refresh_grace_seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    Epoch,
    NotAllowed,
}

impl Gate {
    pub fn check(&self, epoch: u32, identity: &Identity) -> Result<(), Closed> {
        if epoch != self.epoch {
            return Err(Closed::Epoch);
        }
        if identity.base != self.base || !self.allowed.admits(&identity.login, identity.github_id) {
            return Err(Closed::NotAllowed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Allowlist;

    #[test]
    fn entries_are_logins_or_numbers() {
        let list = Allowlist::parse(" Octo-Cat, @hubot ,id:583231,").unwrap();
        assert!(list.admits("octo-cat", 1) && list.admits("HUBOT", 2));
        assert!(list.admits("renamed", 583_231) && list.has_number(583_231));
        assert!(!list.admits("octocat", 58323) && !list.has_number(1));
        let nobody = Allowlist::parse("").unwrap();
        assert!(nobody.is_empty() && !nobody.admits("", 0));
        for wrong in ["a b", "id:", "id:x", "id:-1", "a.b", "ü"] {
            assert!(Allowlist::parse(wrong).is_err(), "{wrong}");
        }
    }
}
