//! What the environment says about the sign-in, read once and strictly.

use std::fmt;

use crate::oauth::allowlist::{Allowlist, Gate};
use crate::oauth::signed::AccessKey;
use crate::oauth::uri::Uri;
use crate::settings::Problem;

const REFRESH_GRACE_SECONDS: u64 = 1800;
const GITHUB: &str = "https://github.com";
const GITHUB_API: &str = "https://api.github.com";

/// The OAuth App that vouches for people.
#[derive(Clone)]
pub struct App {
    pub client_id: String,
    pub client_secret: String,
    pub base: String,
    pub api: String,
}

impl fmt::Debug for App {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "App({} at {})", self.client_id, self.base)
    }
}

impl App {
    /// Plain http to GitHub is for tests: only where this server itself is on loopback.
    pub(crate) fn is_usable_from(&self, issuer: &str) -> bool {
        let is_plain = [&self.base, &self.api]
            .iter()
            .any(|url| url.starts_with("http://"));
        !is_plain || issuer.starts_with("http://")
    }
}

#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Absent until everything that the sign-in needs is there.
    pub app: Option<App>,
    pub gate: Gate,
    /// Keys of signed requests. Empty: signing is off.
    pub access_keys: Vec<AccessKey>,
    /// Names that are still missing for the sign-in.
    pub missing: Vec<&'static str>,
}

impl Settings {
    /// Reads the variables and secrets by name. Absent and blank mean the same.
    pub fn parse(lookup: impl Fn(&str) -> Option<String>) -> (Self, Vec<Problem>) {
        let mut reader = Reader {
            lookup,
            problems: Vec::new(),
        };
        let base = reader.url("GITHUB_BASE_URL", GITHUB);
        let default_api = if base == GITHUB {
            GITHUB_API.to_owned()
        } else {
            format!("{base}/api/v3")
        };
        let api = reader.url("GITHUB_API_URL", &default_api);
        let gate = Gate {
            epoch: u32::try_from(reader.number("TOKEN_EPOCH", 0, u64::from(u32::MAX), 0))
                .unwrap_or_default(),
            allowed: reader.value("ALLOWED_GITHUB_LOGIN", Allowlist::parse),
            base: base.clone(),
            refresh_grace_seconds: reader.number(
                "REFRESH_GRACE_SECONDS",
                60,
                86_400,
                REFRESH_GRACE_SECONDS,
            ),
        };
        let access_keys = reader.value("ACCESS_KEYS", AccessKey::parse_all);
        let client_id = reader.given("GITHUB_CLIENT_ID");
        let client_secret = reader.given("GITHUB_CLIENT_SECRET");
        let missing: Vec<_> = [
            ("GITHUB_CLIENT_ID", client_id.is_none()),
            ("GITHUB_CLIENT_SECRET", client_secret.is_none()),
            ("ALLOWED_GITHUB_LOGIN", gate.allowed.is_empty()),
        ]
        .into_iter()
        .filter_map(|(name, is_missing)| is_missing.then_some(name))
        .collect();
        // Half a set-up lets nobody in and looks as if it did.
        if (1..3).contains(&missing.len()) {
            for name in &missing {
                reader.report(name, "is missing for the sign-in".to_owned());
            }
        }
        let app = client_id
            .zip(client_secret)
            .filter(|_| missing.is_empty())
            .map(|(client_id, client_secret)| App {
                client_id,
                client_secret,
                base,
                api,
            });
        let settings = Self {
            app,
            gate,
            access_keys,
            missing,
        };
        (settings, reader.problems)
    }
}

struct Reader<L> {
    lookup: L,
    problems: Vec<Problem>,
}

impl<L: Fn(&str) -> Option<String>> Reader<L> {
    fn given(&self, name: &str) -> Option<String> {
        (self.lookup)(name)
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    }

    fn report(&mut self, name: &'static str, reason: String) {
        // One reason a name is enough.
        if self.problems.iter().all(|problem| problem.name != name) {
            self.problems.push(Problem { name, reason });
        }
    }

    fn value<T: Default>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> T {
        let Some(text) = self.given(name) else {
            return T::default();
        };
        parse(&text).unwrap_or_else(|reason| {
            self.report(name, reason);
            T::default()
        })
    }

    fn url(&mut self, name: &'static str, default: &str) -> String {
        let Some(text) = self.given(name) else {
            return default.to_owned();
        };
        let text = text.trim_end_matches('/');
        if is_upstream(text) {
            return text.to_owned();
        }
        self.report(name, "must be an https address".to_owned());
        default.to_owned()
    }

    fn number(&mut self, name: &'static str, min: u64, max: u64, default: u64) -> u64 {
        let Some(text) = self.given(name) else {
            return default;
        };
        match text.parse() {
            Ok(value) if (min..=max).contains(&value) => value,
            _ => {
                self.report(name, format!("must be a whole number from {min} to {max}"));
                default
            }
        }
    }
}

fn is_upstream(text: &str) -> bool {
    Uri::parse(text).is_some_and(|uri| {
        let is_secure = uri.has_scheme("https") && !uri.host.is_empty();
        let is_local = uri.has_scheme("http") && uri.has_loopback_host();
        (is_secure || is_local) && uri.query.is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::Settings;

    fn parse(pairs: &[(&str, &str)]) -> (Settings, Vec<&'static str>) {
        let lookup = |name: &str| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let (settings, problems) = Settings::parse(lookup);
        (settings, problems.into_iter().map(|it| it.name).collect())
    }

    #[test]
    fn a85_without_everything_the_sign_in_stays_closed() {
        let (settings, problems) =
            parse(&[("GITHUB_CLIENT_ID", "id"), ("GITHUB_CLIENT_SECRET", " ")]);
        assert!(settings.app.is_none());
        assert_eq!(problems, settings.missing);
        assert_eq!(parse(&[]).1.len(), 0);
        assert_eq!(
            settings.missing,
            ["GITHUB_CLIENT_SECRET", "ALLOWED_GITHUB_LOGIN"]
        );
        assert_eq!(settings.gate.refresh_grace_seconds, 1800);
        let complete = [
            ("GITHUB_CLIENT_ID", "id"),
            ("GITHUB_CLIENT_SECRET", "secret"),
            ("ALLOWED_GITHUB_LOGIN", "octocat"),
        ];
        let (settings, _) = parse(&complete);
        let app = settings.app.unwrap();
        assert_eq!(app.api, "https://api.github.com");
        assert!(!format!("{app:?}").contains("secret"));
    }

    #[test]
    fn enterprise_addresses_and_strict_values() {
        let (settings, problems) = parse(&[
            ("GITHUB_CLIENT_ID", "id"),
            ("GITHUB_CLIENT_SECRET", "s"),
            ("ALLOWED_GITHUB_LOGIN", "id:1"),
            ("GITHUB_BASE_URL", "https://git.example.com/"),
            ("TOKEN_EPOCH", "3"),
        ]);
        assert_eq!(settings.app.unwrap().api, "https://git.example.com/api/v3");
        assert_eq!((settings.gate.epoch, problems), (3, vec![]));
        let (_, problems) = parse(&[
            ("GITHUB_BASE_URL", "http://evil.test"),
            ("GITHUB_API_URL", "nonsense"),
            ("TOKEN_EPOCH", "-1"),
            ("REFRESH_GRACE_SECONDS", "5"),
            ("ALLOWED_GITHUB_LOGIN", "a b"),
            ("ACCESS_KEYS", "{"),
        ]);
        assert_eq!(
            problems,
            [
                "GITHUB_BASE_URL",
                "GITHUB_API_URL",
                "TOKEN_EPOCH",
                "ALLOWED_GITHUB_LOGIN",
                "REFRESH_GRACE_SECONDS",
                "ACCESS_KEYS"
            ]
        );
    }
}
