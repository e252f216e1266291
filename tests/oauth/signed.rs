//! K01–K20: signed requests.

use durable_thinking::oauth::keys::{hmac, sha256};
use http::Request;

use crate::world::{Isolate, ORIGIN, STATIC, Weather, World, environment};

const AK: &str = "ak_test_0123456789abcd";
const KEYS: &str = r#"[{"ak":"ak_test_0123456789abcd","sk":"sk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","label":"ci"},
    {"ak":"ak_old_00123456789abcd","sk":"sk_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE","label":"ci","not_after":1796046400}]"#;

fn setup() -> Isolate {
    let mut environment = environment();
    environment.push(("ACCESS_KEYS", KEYS));
    World::new().deploy(1, &environment)
}

#[derive(Clone)]
struct Call {
    method: String,
    path: String,
    body: Vec<u8>,
    secret: Vec<u8>,
    headers: Vec<(String, String)>,
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Signs as the documentation says, independently of the server's own code but for the hash.
fn text(
    timestamp: &str,
    nonce: &str,
    target: (&str, &str, &str, &str),
    protocol: &str,
    body: &[u8],
    ak: &str,
) -> String {
    let (method, host, path, query) = target;
    format!(
        "MCP-HMAC-SHA256-V1\n{ak}\n{timestamp}\n{nonce}\n{method}\n{host}\n{path}\n{query}\n{protocol}\n{}",
        hex(&sha256(body))
    )
}

impl Call {
    fn new(isolate: &Isolate, nonce: &str) -> Self {
        Self::at(isolate.world.now(), nonce, AK, &[0; 32])
    }

    fn at(now: u64, nonce: &str, ak: &str, secret: &[u8]) -> Self {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec();
        let target = ("POST", "mcp.example.org", "/mcp-compat", "");
        let text = text(&now.to_string(), nonce, target, "2025-11-25", &body, ak);
        let signature = hex(&hmac(secret, &[text.as_bytes()]));
        Self {
            method: "POST".to_owned(),
            path: "/mcp-compat".to_owned(),
            body,
            secret: secret.to_vec(),
            headers: [
                ("x-mcp-access-key", ak.to_owned()),
                ("x-mcp-timestamp", now.to_string()),
                ("x-mcp-nonce", nonce.to_owned()),
                ("x-mcp-signature", format!("v1={signature}")),
                ("mcp-protocol-version", "2025-11-25".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn header(&self, name: &str) -> String {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .unwrap()
            .1
            .clone()
    }

    fn send(&self, isolate: &Isolate) -> crate::world::Reply {
        let mut request = Request::builder()
            .method(self.method.as_str())
            .uri(format!("{ORIGIN}{}", self.path))
            .header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        isolate.send(request.body(self.body.clone()).unwrap())
    }
}

#[test]
fn the_published_vector() {
    let target = ("POST", "mcp.example.com", "/mcp-compat", "");
    let text = text(
        "1764500000",
        "nonce_0123456789abcdef",
        target,
        "2025-11-25",
        b"{}",
        AK,
    );
    assert_eq!(
        hex(&hmac(&[0; 32], &[text.as_bytes()])),
        "bec4aaf1e3e3af4cd9ebdd83818d4738c90f7b18e48b1d5b5d4930bdf87900a3"
    );
}

#[test]
fn k01_k02_a_request_is_good_once() {
    let isolate = setup();
    let call = Call::new(&isolate, "nonce_0123456789abcdef");
    assert_eq!(call.send(&isolate).status, 200);
    assert_eq!(call.send(&isolate).status, 401);
    isolate.world.pass(299);
    assert_eq!(call.send(&isolate).status, 401);
    let other = Call {
        body: b"{}".to_vec(),
        ..call
    };
    assert_eq!(other.send(&isolate).status, 401);
}

#[test]
fn k03_the_time_is_near_and_written_one_way() {
    let isolate = setup();
    let now = isolate.world.now();
    for (time, good) in [
        (now - 301, false),
        (now + 301, false),
        (now - 300, true),
        (now + 300, true),
    ] {
        let call = Call::at(time, &format!("nonce_0000000{time}"), AK, &[0; 32]);
        assert_eq!(call.send(&isolate).status == 200, good, "{time}");
    }
    for text in [
        "x",
        "0796046300",
        "-179604630",
        "17960463000",
        "179604630.",
        "+179604630",
        "",
    ] {
        let call = Call::new(&isolate, "nonce_times_0123456").with("x-mcp-timestamp", text);
        assert_eq!(call.send(&isolate).status, 401, "{text}");
    }
}

#[test]
fn k04_k05_k06_k07_k08_everything_that_matters_is_covered() {
    let isolate = setup();
    let call = |nonce: &str| Call::new(&isolate, nonce);
    let mut at_mcp = call("nonce_k04_0123456789");
    at_mcp.path = "/mcp".to_owned();
    let mut by_get = call("nonce_k05_0123456789");
    by_get.method = "GET".to_owned();
    let mut with_query = call("nonce_k06_0123456789");
    with_query.path = "/mcp-compat?x=1".to_owned();
    let mut other_body = call("nonce_k08_0123456789");
    other_body.body[0] = b' ';
    let protocol = call("nonce_k08b_0123456789").with("mcp-protocol-version", "2025-06-18");
    for (name, call) in [
        ("path", at_mcp),
        ("method", by_get),
        ("query", with_query),
        ("body", other_body),
        ("protocol", protocol),
    ] {
        assert_eq!(call.send(&isolate).status, 401, "{name}");
    }
    let mut elsewhere = environment();
    elsewhere.retain(|(name, _)| *name != "PUBLIC_ORIGIN");
    elsewhere.extend([
        ("ACCESS_KEYS", KEYS),
        ("PUBLIC_ORIGIN", "https://other.example.org"),
    ]);
    let other = isolate
        .world
        .deploy_at(1, &elsewhere, "https://other.example.org");
    let call = call("nonce_k07_0123456789");
    let mut request = other
        .request("POST", "/mcp-compat")
        .header("content-type", "application/json");
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    assert_eq!(
        other.send(request.body(call.body.clone()).unwrap()).status,
        401
    );
    assert_eq!(call.send(&isolate).status, 200);
}

#[test]
fn k09_k10_k11_headers_have_one_shape() {
    let isolate = setup();
    let call = Call::new(&isolate, "nonce_k09_0123456789");
    for name in [
        "x-mcp-access-key",
        "x-mcp-timestamp",
        "x-mcp-nonce",
        "x-mcp-signature",
    ] {
        let mut twice = call.clone();
        twice.headers.push((name.to_owned(), call.header(name)));
        assert_eq!(twice.send(&isolate).status, 401, "{name} twice");
        let mut without = call.clone();
        without.headers.retain(|(known, _)| known != name);
        assert_eq!(without.send(&isolate).status, 401, "without {name}");
    }
    let signature = call.header("x-mcp-signature");
    for (name, value) in [
        ("x-mcp-access-key", "ak_test:0123456789abcd".to_owned()),
        ("x-mcp-access-key", "ak_short".to_owned()),
        ("x-mcp-access-key", "test_0123456789abcd".to_owned()),
        ("x-mcp-nonce", "short".to_owned()),
        ("x-mcp-nonce", "n".repeat(65)),
        ("x-mcp-nonce", "nonce with spaces in it".to_owned()),
        (
            "x-mcp-signature",
            signature.to_ascii_uppercase().replace("V1", "v1"),
        ),
        ("x-mcp-signature", signature.replace("v1=", "v0=")),
        ("x-mcp-signature", signature.replace("v1=", "v2=")),
        ("x-mcp-signature", signature.replace("v1=", "")),
        ("x-mcp-signature", format!("{signature}0")),
        (
            "x-mcp-signature",
            signature[..signature.len() - 1].to_owned(),
        ),
        ("x-mcp-signature", format!("{signature},{signature}")),
    ] {
        let reply = call.clone().with(name, &value).send(&isolate);
        assert_eq!(reply.status, 401, "{name}: {value}");
    }
    assert_eq!(call.send(&isolate).status, 200);
}

#[test]
fn k12_an_unknown_key_looks_like_a_wrong_signature() {
    let isolate = setup();
    let unknown = Call::at(
        isolate.world.now(),
        "nonce_k12_0123456789",
        "ak_nobody_0123456789",
        &[0; 32],
    );
    let wrong = Call::at(isolate.world.now(), "nonce_k12_0123456789", AK, &[9; 32]);
    let (unknown, wrong) = (unknown.send(&isolate), wrong.send(&isolate));
    assert_eq!((unknown.status, &unknown.body), (wrong.status, &wrong.body));
    assert_eq!(
        unknown.header("www-authenticate"),
        wrong.header("www-authenticate")
    );
    assert_eq!(isolate.world.count("nonces"), 0);
}

#[test]
fn k13_a_key_that_is_being_replaced_says_so_and_ends() {
    let isolate = setup();
    let call = |nonce: &str| {
        Call::at(
            isolate.world.now(),
            nonce,
            "ak_old_00123456789abcd",
            &[1; 32],
        )
    };
    let reply = call("nonce_k13_0123456789").send(&isolate);
    assert_eq!(reply.status, 200);
    assert!(reply.headers.contains_key("deprecation"));
    assert_eq!(reply.header("x-mcp-key-expires"), "1796046400");
    assert_eq!(reply.header("sunset"), "Mon, 30 Nov 2026 13:46:40 GMT");
    isolate.world.pass(100);
    assert_eq!(call("nonce_k13b_123456789").send(&isolate).status, 401);
}

#[test]
fn k14_a_token_beside_a_signature_is_refused() {
    let isolate = setup();
    let call = Call::new(&isolate, "nonce_k14_0123456789");
    let both = call
        .clone()
        .with("authorization", &format!("Bearer {STATIC}"));
    assert_eq!(both.send(&isolate).status, 400);
    assert_eq!(call.send(&isolate).status, 200);
}

#[test]
fn k15_nonces_are_cleared() {
    let isolate = setup();
    for n in 0..50 {
        assert_eq!(
            Call::new(&isolate, &format!("nonce_k15_01234567{n:02}"))
                .send(&isolate)
                .status,
            200
        );
    }
    assert_eq!(isolate.world.count("nonces"), 50);
    isolate.world.pass(661);
    assert_eq!(
        isolate.world.vault.sweep(&isolate.world.fresh()).unwrap(),
        None
    );
    assert_eq!(isolate.world.count("nonces"), 0);
}

/// Who asks is judged before the size (rule 4), and a body that was cut off at the cap cannot carry its signature.
#[test]
fn k16_a_body_over_the_cap_is_not_let_in() {
    let isolate = setup();
    let mut call = Call::new(&isolate, "nonce_k16_0123456789");
    call.body = vec![b' '; 256 * 1024 + 1];
    assert_eq!(call.send(&isolate).status, 401);
    assert_eq!(isolate.world.count("nonces"), 0);
}

#[test]
fn k17_while_signing_is_off_its_headers_mean_nothing() {
    let isolate = World::new().isolate(1);
    let call = Call::new(&isolate, "nonce_k17_0123456789");
    let reply = call.send(&isolate);
    assert_eq!(reply.status, 401);
    assert!(!reply.header("www-authenticate").contains("error="));
    let both = call.with("authorization", &format!("Bearer {STATIC}"));
    assert_eq!(both.send(&isolate).status, 200);
}

#[test]
fn k18_the_secret_is_its_bytes_not_its_text() {
    let isolate = setup();
    let wrong = Call::at(
        isolate.world.now(),
        "nonce_k18_0123456789",
        AK,
        b"sk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    );
    assert_eq!(wrong.send(&isolate).status, 401);
    assert_eq!(wrong.secret.len(), 46);
}

#[test]
fn k19_trouble_is_503() {
    let isolate = setup();
    isolate.world.weather.set(Weather::Down);
    let reply = Call::new(&isolate, "nonce_k19_0123456789").send(&isolate);
    assert_eq!(reply.status, 503);
    assert!(reply.headers.contains_key("retry-after"));
}

#[test]
fn k20_the_tolerated_spellings_sign_the_canonical_path() {
    let isolate = setup();
    for (n, path) in ["/mcp-compat/", "/MCP-Compat"].iter().enumerate() {
        let mut call = Call::new(&isolate, &format!("nonce_k20_01234567{n}"));
        call.path = (*path).to_owned();
        assert_eq!(call.send(&isolate).status, 200, "{path}");
    }
}

#[test]
fn keys_that_cannot_be_understood_are_reported_and_not_used() {
    for keys in [
        "{",
        "[{}]",
        r#"[{"ak":"ak_x","sk":"sk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","label":"a"}]"#,
        r#"[{"ak":"ak_test_0123456789abcd","sk":"sk_AAAA","label":"a"}]"#,
        r#"[{"ak":"ak_test_0123456789abcd","sk":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","label":"a"}]"#,
    ] {
        let mut environment = environment();
        environment.push(("ACCESS_KEYS", keys));
        let isolate = World::new().deploy(1, &environment);
        assert_eq!(
            Call::new(&isolate, "nonce_bad_0123456789")
                .send(&isolate)
                .status,
            401
        );
        let health = isolate.get("/healthz");
        assert!(
            health.status == 503 && health.body.contains("ACCESS_KEYS"),
            "{}",
            health.body
        );
        assert!(!health.body.contains("AAAA"));
    }
}
