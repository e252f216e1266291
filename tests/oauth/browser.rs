//! A browser as far as the sign-in can tell: cookies, forms of its pages, the refresh of its interstitials; and the
//! client application behind it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use durable_thinking::oauth::form::{Form, encode};
use durable_thinking::oauth::pkce::s256;
use serde_json::{Value, json};

use crate::github::query;
use crate::world::{Isolate, ORIGIN, OWNER, Reply};

#[derive(Default)]
pub struct Browser {
    pub cookies: RefCell<BTreeMap<String, String>>,
}

impl Browser {
    pub fn cookie_header(&self) -> String {
        let cookies = self.cookies.borrow();
        let pairs: Vec<_> = cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    fn keep(&self, reply: &Reply) {
        for value in reply.headers.get_all("set-cookie") {
            let text = value.to_str().unwrap();
            assert!(text.contains("; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age="));
            assert!(text.starts_with("__Host-") && !text.contains("Domain"));
            let (name, rest) = text.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if text.ends_with("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                let mut cookies = self.cookies.borrow_mut();
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    pub fn get(&self, isolate: &Isolate, path: &str) -> Reply {
        let request = isolate
            .request("GET", path)
            .header("cookie", self.cookie_header())
            .header("sec-fetch-site", "cross-site");
        let reply = isolate.send(request.body(Vec::new()).unwrap());
        self.keep(&reply);
        reply
    }

    pub fn post(&self, isolate: &Isolate, body: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = isolate
            .request("POST", "/authorize")
            .header("cookie", self.cookie_header())
            .header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = isolate.send(request.body(body.as_bytes().to_vec()).unwrap());
        self.keep(&reply);
        reply
    }

    /// Presses a button of the consent page.
    pub fn decide(&self, isolate: &Isolate, page: &Reply, decision: &str) -> Reply {
        let headers = [("origin", ORIGIN), ("sec-fetch-site", "same-origin")];
        self.post(isolate, &form_of(page, decision), &headers)
    }

    /// From the client's link to the address at GitHub.
    pub fn approve(&self, isolate: &Isolate, client: &Client) -> String {
        let page = self.get(isolate, &client.link());
        assert_eq!(page.status, 200, "{}", page.body);
        let onward = self.decide(isolate, &page, "approve");
        assert_eq!(onward.status, 200, "{}", onward.body);
        refresh_of(&onward)
    }

    /// The whole way to the client's own address with a code.
    pub fn sign_in_as(&self, isolate: &Isolate, client: &Client, who: (&str, u64)) -> Reply {
        let github = self.approve(isolate, client);
        let callback = isolate.world.github.approve(&github, who.0, who.1);
        self.get(isolate, &callback)
    }
}

/// The fields of the consent form, as a browser would send them.
pub fn form_of(page: &Reply, decision: &str) -> String {
    let field = |name: &str| {
        let start = format!("name=\"{name}\" value=\"");
        let (_, rest) = page.body.split_once(&start).expect("a form");
        unescape(rest.split('"').next().unwrap())
    };
    encode(&[
        ("q", &field("q")),
        ("csrf", &field("csrf")),
        ("decision", decision),
    ])
}

/// Where an interstitial page goes.
pub fn refresh_of(page: &Reply) -> String {
    let (_, rest) = page
        .body
        .split_once("content=\"0;url=")
        .unwrap_or_else(|| panic!("no refresh in {}", page.body));
    unescape(rest.split('"').next().unwrap())
}

fn unescape(text: &str) -> String {
    text.replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// An application that connects.
#[derive(Clone)]
pub struct Client {
    pub id: String,
    pub secret: Option<String>,
    pub redirect: String,
    pub verifier: String,
    pub state: String,
    pub resource: Option<String>,
}

pub const CLAUDE: &str = "https://claude.ai/api/mcp/auth_callback";

impl Client {
    pub fn register(isolate: &Isolate, redirect: &str) -> Self {
        Self::register_with(
            isolate,
            &json!({
                "client_name": "Claude",
                "redirect_uris": [redirect],
                "token_endpoint_auth_method": "none",
            }),
        )
    }

    pub fn register_with(isolate: &Isolate, metadata: &Value) -> Self {
        let reply = isolate.post_json("/register", metadata);
        assert_eq!(reply.status, 201, "{}", reply.body);
        let answer = reply.json();
        Self {
            id: answer["client_id"].as_str().unwrap().to_owned(),
            secret: answer["client_secret"].as_str().map(str::to_owned),
            redirect: metadata["redirect_uris"][0].as_str().unwrap().to_owned(),
            verifier: "v".repeat(43),
            state: "st&te=1 x".to_owned(),
            resource: Some(format!("{ORIGIN}/mcp-compat")),
        }
    }

    /// A client that is described by a document.
    pub fn described(url: &str, redirect: &str) -> Self {
        Self {
            id: url.to_owned(),
            secret: None,
            redirect: redirect.to_owned(),
            verifier: "w".repeat(64),
            state: "s".to_owned(),
            resource: None,
        }
    }

    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("response_type", "code".to_owned()),
            ("client_id", self.id.clone()),
            ("redirect_uri", self.redirect.clone()),
            ("code_challenge", s256(&self.verifier)),
            ("code_challenge_method", "S256".to_owned()),
            ("state", self.state.clone()),
            ("scope", " mcp offline_access".to_owned()),
        ];
        fields.extend(self.resource.clone().map(|it| ("resource", it)));
        fields
    }

    pub fn link(&self) -> String {
        self.link_with(&[])
    }

    /// The link with some fields replaced, or left out when empty.
    pub fn link_with(&self, changes: &[(&'static str, &str)]) -> String {
        let mut fields = self.fields();
        fields.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        for (name, value) in changes {
            if !value.is_empty() {
                fields.push((name, (*value).to_owned()));
            }
        }
        let pairs: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        format!("/authorize?{}", encode(&pairs))
    }

    /// The code that came back, after the client has checked the answer.
    pub fn code(&self, reply: &Reply) -> String {
        assert_eq!(reply.status, 303, "{}", reply.body);
        let location = reply.header("location");
        assert!(location.starts_with(&self.redirect), "{location}");
        let answer = query(location);
        assert_eq!(answer.one("state").unwrap(), Some(self.state.as_str()));
        assert_eq!(answer.one("iss").unwrap(), Some(ORIGIN));
        assert_eq!(answer.one("error").unwrap(), None);
        answer.one("code").unwrap().unwrap().to_owned()
    }

    pub fn exchange(&self, isolate: &Isolate, code: &str) -> Reply {
        self.exchange_with(isolate, code, &[])
    }

    pub fn exchange_with(
        &self,
        isolate: &Isolate,
        code: &str,
        changes: &[(&'static str, &str)],
    ) -> Reply {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect),
            ("code_verifier", &self.verifier),
        ];
        self.post(isolate, "/token", &fields, changes)
    }

    pub fn refresh(&self, isolate: &Isolate, token: &str) -> Reply {
        self.refresh_with(isolate, token, &[])
    }

    pub fn refresh_with(
        &self,
        isolate: &Isolate,
        token: &str,
        changes: &[(&'static str, &str)],
    ) -> Reply {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
        self.post(isolate, "/token", &fields, changes)
    }

    pub fn revoke(&self, isolate: &Isolate, token: &str) -> Reply {
        self.post(isolate, "/revoke", &[("token", token)], &[])
    }

    fn post(
        &self,
        isolate: &Isolate,
        path: &str,
        fields: &[(&'static str, &str)],
        changes: &[(&'static str, &str)],
    ) -> Reply {
        let mut all = fields.to_vec();
        all.push(("client_id", &self.id));
        if let Some(secret) = &self.secret {
            all.push(("client_secret", secret));
        }
        all.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        all.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
        isolate.post_form(path, &all)
    }

    /// From nothing to tokens, at one location.
    pub fn connect(&self, isolate: &Isolate) -> Tokens {
        self.connect_as(isolate, OWNER)
    }

    pub fn connect_as(&self, isolate: &Isolate, who: (&str, u64)) -> Tokens {
        let reply = Browser::default().sign_in_as(isolate, self, who);
        Tokens::of(&self.exchange(isolate, &self.code(&reply)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    pub access: String,
    pub refresh: String,
    pub expires_in: u64,
}

impl Tokens {
    #[track_caller]
    pub fn of(reply: &Reply) -> Self {
        assert_eq!(reply.status, 200, "{}", reply.body);
        let answer = reply.json();
        assert_eq!(answer["token_type"], "Bearer");
        assert_eq!(answer["scope"], "mcp");
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.header("pragma"), "no-cache");
        Self {
            access: answer["access_token"].as_str().unwrap().to_owned(),
            refresh: answer["refresh_token"].as_str().unwrap().to_owned(),
            expires_in: answer["expires_in"].as_u64().unwrap(),
        }
    }
}

pub fn basic(id: &str, secret: &str) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(format!("{id}:{secret}"));
    format!("Basic {text}")
}

/// A well-formed token that nobody issued.
pub fn invented(prefix: &str) -> String {
    format!("{prefix}_{}", URL_SAFE_NO_PAD.encode([7; 32]))
}

pub fn parse(text: &str) -> Form {
    Form::parse(text).unwrap()
}
