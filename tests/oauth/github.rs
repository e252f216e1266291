//! A GitHub of our own: it checks what a real one checks, and fails in every way that a real one does.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use durable_thinking::oauth::form::Form;
use durable_thinking::oauth::pkce::s256;
use durable_thinking::oauth::port::Trouble;
use http::{Request, Response};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Works,
    TimesOut,
    Fails,
    Html,
    Redirects,
    FormEncoded,
    WrongCredentials,
    Organization,
}

#[derive(Default)]
pub struct GitHub {
    pub mode: Cell<Mode>,
    codes: RefCell<BTreeMap<String, (String, String, u64)>>,
    tokens: RefCell<BTreeMap<String, (String, u64)>>,
    minted: Cell<u64>,
    pub requests: Cell<u64>,
    pub discarded: Cell<u64>,
    /// The values of `Authorization` that arrived.
    pub credentials: RefCell<Vec<String>>,
}

impl GitHub {
    /// A person signs in there: the address that GitHub sends the browser to.
    pub fn approve(&self, authorize_url: &str, login: &str, number: u64) -> String {
        let form = query(authorize_url);
        let one = |name| form.one(name).unwrap().unwrap().to_owned();
        assert_eq!(one("code_challenge_method"), "S256");
        assert_eq!(form.one("scope").unwrap(), None);
        let code = format!("gh{}", self.minted.replace(self.minted.get() + 1));
        self.codes.borrow_mut().insert(
            code.clone(),
            (one("code_challenge"), login.to_owned(), number),
        );
        format!("{}?code={code}&state={}", one("redirect_uri"), one("state"))
    }

    pub fn deny(authorize_url: &str, error: &str) -> String {
        let form = query(authorize_url);
        let one = |name| form.one(name).unwrap().unwrap().to_owned();
        format!(
            "{}?error={error}&state={}",
            one("redirect_uri"),
            one("state")
        )
    }

    pub fn fetch(&self, request: &Request<Vec<u8>>) -> Result<Response<Vec<u8>>, Trouble> {
        self.requests.set(self.requests.get() + 1);
        if let Some(value) = request.headers().get("authorization") {
            let value = value.to_str().unwrap().to_owned();
            self.credentials.borrow_mut().push(value);
        }
        assert!(request.headers().contains_key("user-agent"));
        match self.mode.get() {
            Mode::TimesOut => return Err(Trouble),
            // Whatever such an answer says besides, it is none.
            Mode::Fails => {
                let body =
                    r#"{"access_token":"gho_oh_no","id":583231,"login":"octocat","type":"User"}"#;
                return Ok(answer(500, "application/json", body));
            }
            Mode::Html => return Ok(answer(200, "text/html", "<html>hello</html>")),
            Mode::Redirects => return Ok(answer(302, "text/html", "")),
            Mode::FormEncoded => {
                return Ok(answer(
                    200,
                    "application/x-www-form-urlencoded",
                    "access_token=x",
                ));
            }
            Mode::WrongCredentials => {
                return Ok(json_answer(
                    &json!({"error": "incorrect_client_credentials"}),
                ));
            }
            Mode::Works | Mode::Organization => {}
        }
        let path = request.uri().path();
        match (request.method().as_str(), path) {
            ("POST", "/login/oauth/access_token") => Ok(self.exchange(request)),
            ("GET", "/user") => Ok(self.user(request)),
            ("DELETE", _) if path.ends_with("/token") => {
                self.discarded.set(self.discarded.get() + 1);
                Ok(answer(204, "text/plain", ""))
            }
            _ => Ok(answer(404, "text/plain", "")),
        }
    }

    fn exchange(&self, request: &Request<Vec<u8>>) -> Response<Vec<u8>> {
        let form = Form::parse(std::str::from_utf8(request.body()).unwrap()).unwrap();
        let one = |name| form.one(name).unwrap().unwrap_or_default().to_owned();
        assert_eq!(one("client_secret"), "github-secret");
        // One use only, as GitHub has it.
        let Some((challenge, login, number)) = self.codes.borrow_mut().remove(&one("code")) else {
            return json_answer(&json!({"error": "bad_verification_code"}));
        };
        if s256(&one("code_verifier")) != challenge {
            return json_answer(&json!({"error": "bad_verification_code"}));
        }
        let token = format!("gho_{}{login}", self.requests.get());
        self.tokens
            .borrow_mut()
            .insert(token.clone(), (login, number));
        json_answer(&json!({"access_token": token, "scope": "", "token_type": "bearer"}))
    }

    fn user(&self, request: &Request<Vec<u8>>) -> Response<Vec<u8>> {
        let value = request.headers()["authorization"].to_str().unwrap();
        let token = value.strip_prefix("Bearer ").unwrap();
        let Some((login, number)) = self.tokens.borrow().get(token).cloned() else {
            return answer(401, "application/json", "{}");
        };
        let kind = match self.mode.get() {
            Mode::Organization => "Organization",
            _ => "User",
        };
        json_answer(&json!({"id": number, "login": login, "type": kind}))
    }
}

pub fn query(url: &str) -> Form {
    Form::parse(url.split_once('?').map_or("", |(_, query)| query)).unwrap()
}

pub fn answer(status: u16, media_type: &str, body: &str) -> Response<Vec<u8>> {
    Response::builder()
        .status(status)
        .header("content-type", media_type)
        .body(body.as_bytes().to_vec())
        .unwrap()
}

fn json_answer(value: &Value) -> Response<Vec<u8>> {
    answer(200, "application/json; charset=utf-8", &value.to_string())
}
