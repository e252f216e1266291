//! Signs clients in without a browser: a GitHub on loopback, somebody who consents, and a client that redeems its code.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use durable_thinking::oauth::form::encode;
use durable_thinking::oauth::pkce::s256;
use serde_json::{Value, json};
use xtask::setup::npm;

use crate::client::{Client, Reply};
use crate::{Worker, root};

/// Login and number of the account that [`Person::variables`] lets in.
pub const OWNER: &str = "octocat:583231";
const REDIRECT: &str = "http://127.0.0.1:53690/callback";
const VERIFIER: &str = "a-verifier-of-the-tests-with-43-characters-0";

/// A GitHub, and somebody with accounts there who allows whatever is asked. `tests/signin/person.mjs` plays both.
pub struct Person {
    node: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    github: String,
}

impl Person {
    pub fn new() -> Self {
        let mut node = npm::set_up(&root())
            .and_then(|npm| npm.node())
            .expect("node")
            .arg(root().join("tests/signin/person.mjs"))
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the person");
        let input = node.stdin.take().unwrap();
        let mut output = BufReader::new(node.stdout.take().unwrap()).lines();
        let first = read(&mut output);
        Self {
            node,
            input,
            output,
            github: first["github"].as_str().unwrap().to_owned(),
        }
    }

    /// The environment of a Worker that lets this person in. It must [`Worker::reach_loopback`].
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("GITHUB_BASE_URL", self.github.clone()),
            ("GITHUB_API_URL", format!("{}/api", self.github)),
            ("GITHUB_CLIENT_ID", "Iv1.loopback".to_owned()),
            ("GITHUB_CLIENT_SECRET", "loopback-secret".to_owned()),
            ("ALLOWED_GITHUB_LOGIN", "octocat".to_owned()),
        ]
    }

    /// A Worker that lets this person in, with more variables or others in their place, not started yet.
    pub fn prepare(&self, variables: &[(&str, &str)]) -> Worker {
        let own = self.variables();
        let mut all: Vec<_> = own
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        all.extend(variables);
        let mut worker = Worker::prepare(&all);
        worker.reach_loopback();
        worker
    }

    /// Follows a link as `login:number`, and returns the address that its client gets.
    #[track_caller]
    pub fn consent(&mut self, link: &str, account: &str, headers: &[(&str, &str)]) -> String {
        let answer = self.ask(link, account, headers);
        match answer["address"].as_str() {
            Some(address) => address.to_owned(),
            None => panic!("{answer}"),
        }
    }

    /// What GitHub was asked for during this consent and before it, as `METHOD /path`.
    pub fn requests(&mut self, link: &str) -> Vec<String> {
        let answer = self.ask(link, OWNER, &[]);
        serde_json::from_value(answer["requests"].clone()).unwrap()
    }

    fn ask(&mut self, link: &str, account: &str, headers: &[(&str, &str)]) -> Value {
        let headers: serde_json::Map<_, _> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let asked = json!({ "link": link, "account": account, "headers": headers });
        writeln!(self.input, "{asked}").unwrap();
        read(&mut self.output)
    }

    /// From nothing to tokens for `/mcp-compat`, as the account that is let in.
    #[track_caller]
    pub fn sign_in(&mut self, worker: &Worker) -> Tokens {
        self.sign_in_as(worker, OWNER, &[])
    }

    /// The same as `login:number`, with headers that go along with every request.
    #[track_caller]
    pub fn sign_in_as(
        &mut self,
        worker: &Worker,
        account: &str,
        headers: &[(&str, &str)],
    ) -> Tokens {
        let mut app = App::register(worker, headers);
        let address = self.consent(&app.link(), account, headers);
        app.redeem(&address)
    }
}

impl Default for Person {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}

fn read(output: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let line = output.next().expect("the person lives").unwrap();
    serde_json::from_str(&line).unwrap()
}

/// What a sign-in gives to a client.
#[derive(Clone, Debug)]
pub struct Tokens {
    pub client_id: String,
    pub access: String,
    pub refresh: String,
}

/// A registered client.
pub struct App {
    client: Client,
    origin: String,
    id: String,
    headers: Vec<(String, String)>,
}

impl App {
    #[track_caller]
    pub fn register(worker: &Worker, headers: &[(&str, &str)]) -> Self {
        let mut app = Self {
            client: worker.client(),
            origin: format!("http://127.0.0.1:{}", worker.port()),
            id: String::new(),
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        };
        let body = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
        let reply = app.post("/register", "application/json", &body.to_string());
        assert_eq!(reply.status, 201, "{}", reply.text());
        reply.json()["client_id"]
            .as_str()
            .unwrap()
            .clone_into(&mut app.id);
        app
    }

    /// The same client on another connection, to the same Worker, which may listen elsewhere by now.
    #[must_use]
    pub fn again(&self, worker: &Worker) -> Self {
        Self {
            client: worker.client(),
            origin: format!("http://127.0.0.1:{}", worker.port()),
            id: self.id.clone(),
            headers: self.headers.clone(),
        }
    }

    pub fn link(&self) -> String {
        let query = encode(&[
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", REDIRECT),
            ("state", "a-state-of-the-tests"),
            ("code_challenge", &s256(VERIFIER)),
            ("code_challenge_method", "S256"),
            ("resource", &format!("{}/mcp-compat", self.origin)),
        ]);
        format!("{}/authorize?{query}", self.origin)
    }

    #[track_caller]
    pub fn redeem(&mut self, address: &str) -> Tokens {
        let reply = self.try_redeem(address);
        self.tokens(&reply)
    }

    /// Sends the code in the address that the client got.
    #[track_caller]
    pub fn try_redeem(&mut self, address: &str) -> Reply {
        let (_, query) = address.split_once('?').unwrap();
        let code = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("code="))
            .unwrap_or_else(|| panic!("no code in {address}"));
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        self.post_form("/token", &fields)
    }

    #[track_caller]
    pub fn refresh(&mut self, token: &str) -> Tokens {
        let reply = self.try_refresh(token);
        self.tokens(&reply)
    }

    pub fn try_refresh(&mut self, token: &str) -> Reply {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", token)];
        self.post_form("/token", &fields)
    }

    #[track_caller]
    fn tokens(&self, reply: &Reply) -> Tokens {
        assert_eq!(reply.status, 200, "{}", reply.text());
        let answer = reply.json();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        Tokens {
            client_id: self.id.clone(),
            access: text("access_token"),
            refresh: text("refresh_token"),
        }
    }

    /// A form with the client's id in it.
    pub fn post_form(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let mut fields = fields.to_vec();
        let id = self.id.clone();
        fields.push(("client_id", &id));
        self.post(path, "application/x-www-form-urlencoded", &encode(&fields))
    }

    fn post(&mut self, path: &str, media_type: &str, body: &str) -> Reply {
        let headers = self.headers.iter();
        let mut headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        headers.push(("content-type", media_type));
        self.client.send("POST", path, &headers, body.as_bytes())
    }
}
