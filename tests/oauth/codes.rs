//! A24–A39: where answers go, PKCE, and codes.

use crate::browser::{Browser, CLAUDE, Client, Tokens, invented};
use crate::world::{Isolate, ORIGIN, OWNER, World, environment};

fn setup() -> (Isolate, Client) {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    (isolate, client)
}

fn code(isolate: &Isolate, client: &Client) -> String {
    client.code(&Browser::default().sign_in_as(isolate, client, OWNER))
}

#[test]
fn a24_an_address_that_was_not_registered_is_never_sent_to() {
    let (isolate, client) = setup();
    for redirect in [
        "",
        "https://evil.test/cb",
        "https://claude.ai/api/mcp/auth_callback/",
        "/callback",
        "javascript:alert(1)",
    ] {
        let reply = isolate.get(&client.link_with(&[("redirect_uri", redirect)]));
        assert_eq!(reply.status, 400, "{redirect}");
        assert!(!reply.headers.contains_key("location") && !reply.body.contains("evil.test"));
    }
    let twice = format!("{}&redirect_uri=https%3A%2F%2Fevil.test", client.link());
    assert_eq!(isolate.get(&twice).status, 400);
}

#[test]
fn a25_an_unknown_site_is_not_sent_to_before_anybody_agreed() {
    let (isolate, known) = setup();
    let unknown = Client::register(&isolate, "https://evil.test/cb");
    let app = Client::register(&isolate, "cursor://anysphere.cursor-mcp/oauth/callback");
    let local = Client::register(&isolate, "http://127.0.0.1:4000/cb");
    for (client, sent) in [(known, true), (local, true), (unknown, false), (app, false)] {
        let reply = isolate.get(&client.link_with(&[("response_type", "token")]));
        assert_eq!(reply.status, if sent { 303 } else { 400 });
        assert_eq!(reply.headers.contains_key("location"), sent);
        let text = if sent {
            reply.header("location")
        } else {
            &reply.body
        };
        assert!(text.contains("error=unsupported_response_type"));
    }
}

#[test]
fn a26_answers_join_an_existing_query() {
    let (isolate, _) = setup();
    let client = Client::register(&isolate, "https://claude.ai/cb?x=1&y=2");
    let reply = Browser::default().sign_in_as(&isolate, &client, OWNER);
    assert!(
        reply
            .header("location")
            .starts_with("https://claude.ai/cb?x=1&y=2&code=mcpac_")
    );
}

#[test]
fn a27_line_breaks_never_become_headers() {
    let (isolate, client) = setup();
    for (name, value) in [
        ("state", "a\r\nset-cookie: x=1"),
        ("state", "a\u{0}"),
        (
            "redirect_uri",
            "https://claude.ai/api/mcp/auth_callback\r\nx: y",
        ),
        ("resource", "https://mcp.example.org/mcp\r\nx: y"),
        ("client_id", "mc1_\r\nx"),
    ] {
        let reply = isolate.get(&client.link_with(&[(name, value)]));
        assert_ne!(reply.status, 200, "{name}");
        assert!(!reply.headers.contains_key("x"));
        assert!(!reply.headers.contains_key("set-cookie"));
    }
    let raw = isolate.get("/authorize?state=%0d%0aset-cookie:x");
    assert_eq!(raw.status, 400);
}

#[test]
fn a28_b14_the_way_to_the_client_is_a_303() {
    let (isolate, client) = setup();
    let reply = Browser::default().sign_in_as(&isolate, &client, OWNER);
    assert_eq!(reply.status, 303);
    assert_eq!(reply.header("cache-control"), "no-store");
    assert_eq!(reply.header("referrer-policy"), "no-referrer");
    assert_eq!(
        isolate
            .get(&client.link_with(&[("code_challenge", "")]))
            .status,
        303
    );
}

#[test]
fn a30_pkce_with_s256_or_nothing() {
    let (isolate, client) = setup();
    // A good one, so that each case below fails for the one reason that it names.
    let challenge = durable_thinking::oauth::pkce::s256(&client.verifier);
    let good = [
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
    ];
    assert_eq!(isolate.get(&client.link_with(&good)).status, 200);
    for changes in [
        [("code_challenge", ""), ("code_challenge_method", "")],
        [("code_challenge", ""), ("code_challenge_method", "S256")],
        [
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", ""),
        ],
        [
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "plain"),
        ],
        [
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "s256"),
        ],
        [
            ("code_challenge", &challenge[1..]),
            ("code_challenge_method", "S256"),
        ],
        [("code_challenge", "aa"), ("code_challenge_method", "S256")],
        [
            ("code_challenge", &format!("{challenge}=")),
            ("code_challenge_method", "S256"),
        ],
    ] {
        let reply = isolate.get(&client.link_with(&changes));
        assert_eq!(reply.status, 303, "{changes:?}");
        assert!(reply.header("location").contains("error=invalid_request"));
    }
    for (field, error) in [
        ("request", "request_not_supported"),
        ("request_uri", "request_uri_not_supported"),
        ("registration", "registration_not_supported"),
        ("response_mode", "invalid_request"),
    ] {
        let reply = isolate.get(&client.link_with(&[(field, "x")]));
        assert!(
            reply.header("location").contains(&format!("error={error}")),
            "{field}"
        );
    }
}

/// A code without a challenge could be redeemed without a verifier: there is no way to get one.
#[test]
fn a32_no_code_is_without_a_challenge() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let page = browser.get(&isolate, &client.link());
    let form = crate::browser::form_of(&page, "approve");
    let challenge = durable_thinking::oauth::pkce::s256(&client.verifier);
    // The form's own copy of the request is sealed with the page.
    for without in ["", "plain"] {
        let body = form.replace(&challenge, without);
        assert_ne!(body, form);
        let reply = browser.post(&isolate, &body, &[("origin", ORIGIN)]);
        assert_eq!(reply.status, 403);
        assert!(!reply.body.contains("login/oauth"));
    }
    code(&isolate, &client);
    let rows = isolate.world.count("grants WHERE length(challenge) = 43");
    assert_eq!((rows, isolate.world.count("grants")), (1, 1));
}

#[test]
fn a31_a_wrong_verifier_does_not_burn_a_code_until_the_fifth() {
    let (isolate, client) = setup();
    let code1 = code(&isolate, &client);
    let with = |code: &str, verifier: &str| {
        client.exchange_with(&isolate, code, &[("code_verifier", verifier)])
    };
    with(&code1, "").is(400, "invalid_request");
    with(&code1, &"x".repeat(42)).is(400, "invalid_request");
    with(&code1, &"x".repeat(129)).is(400, "invalid_request");
    with(&code1, &format!("{}!", "x".repeat(43))).is(400, "invalid_request");
    for _ in 0..4 {
        with(&code1, &"x".repeat(43)).is(400, "invalid_grant");
    }
    Tokens::of(&client.exchange(&isolate, &code1));
    let code2 = code(&isolate, &client);
    for _ in 0..5 {
        with(&code2, &"x".repeat(43)).is(400, "invalid_grant");
    }
    client.exchange(&isolate, &code2).is(400, "invalid_grant");
}

#[test]
fn a33_b05_a_code_is_good_once() {
    let (isolate, client) = setup();
    let code1 = code(&isolate, &client);
    let tokens = Tokens::of(&client.exchange(&isolate, &code1));
    // At once: only refused, the client may have sent twice.
    for _ in 0..50 {
        client.exchange(&isolate, &code1).is(400, "invalid_grant");
    }
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    isolate.world.pass(11);
    client.exchange(&isolate, &code1).is(400, "invalid_grant");
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 401);
    client
        .refresh(&isolate, &tokens.refresh)
        .is(400, "invalid_grant");
}

#[test]
fn a34_b06_another_client_can_neither_use_nor_end_it() {
    let (isolate, client) = setup();
    let other = Client::register(&isolate, CLAUDE);
    let code1 = code(&isolate, &client);
    client
        .exchange_with(&isolate, &code1, &[("client_id", &other.id)])
        .is(400, "invalid_grant");
    let tokens = Tokens::of(&client.exchange(&isolate, &code1));
    isolate.world.pass(11);
    client
        .exchange_with(&isolate, &code1, &[("client_id", &other.id)])
        .is(400, "invalid_grant");
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
}

#[test]
fn a35_a_code_ends_with_time_revocation_epoch_and_list() {
    let (isolate, client) = setup();
    let world = &isolate.world;
    let code1 = code(&isolate, &client);
    world.pass(300);
    client.exchange(&isolate, &code1).is(400, "invalid_grant");
    let code2 = code(&isolate, &client);
    let mut later = environment();
    later.push(("TOKEN_EPOCH", "1"));
    client
        .exchange(&world.deploy(1, &later), &code2)
        .is(400, "invalid_grant");
    let mut others = environment();
    others.retain(|(name, _)| *name != "ALLOWED_GITHUB_LOGIN");
    others.push(("ALLOWED_GITHUB_LOGIN", "hubot"));
    client
        .exchange(&world.deploy(1, &others), &code2)
        .is(400, "invalid_grant");
    // None of that burned it.
    Tokens::of(&client.exchange(&isolate, &code2));
    let code3 = code(&isolate, &client);
    let revoked = isolate
        .request("POST", "/admin/oauth/revoke-all")
        .header("authorization", format!("Bearer {}", crate::world::STATIC));
    assert_eq!(isolate.send(revoked.body(Vec::new()).unwrap()).status, 200);
    client.exchange(&isolate, &code3).is(400, "invalid_grant");
}

#[test]
fn a36_b39b_ws18_the_address_is_the_one_that_was_authorized() {
    let isolate = World::new().isolate(1);
    let client = Client::register_with(
        &isolate,
        &serde_json::json!({
            "redirect_uris": ["http://127.0.0.1:4000/cb", "https://claude.ai/api/mcp/auth_callback"],
            "token_endpoint_auth_method": "none",
        }),
    );
    let code1 = code(&isolate, &client);
    for redirect in [
        "https://claude.ai/api/mcp/auth_callback",
        "http://127.0.0.1:4001/cb",
        "http://127.0.0.1:4000/cb/",
    ] {
        let reply = client.exchange_with(&isolate, &code1, &[("redirect_uri", redirect)]);
        reply.is(400, "invalid_grant");
    }
    // OAuth 2.1 leaves the parameter out: the verifier proves enough.
    Tokens::of(&client.exchange_with(&isolate, &code1, &[("redirect_uri", "")]));
    let request = isolate.request("POST", "/token");
    isolate
        .send(request.body(b"grant_type=x".to_vec()).unwrap())
        .is(400, "invalid_request");
}

#[test]
fn a37_a38_invented_and_stolen_codes() {
    let (isolate, client) = setup();
    let code1 = code(&isolate, &client);
    let before = isolate.world.asks.get();
    let mut forged = code1.clone();
    let last = forged.pop().unwrap();
    forged.push(if last == 'A' { 'B' } else { 'A' });
    for wrong in [&invented("mcpac"), &forged, "x", "mcpac_"] {
        client.exchange(&isolate, wrong).is(400, "invalid_grant");
    }
    assert_eq!(
        isolate.world.asks.get(),
        before,
        "a forged code reaches no storage"
    );
    // The victim's code in the attacker's session: his verifier is another one.
    let thief = Client {
        verifier: "t".repeat(43),
        ..client.clone()
    };
    thief.exchange(&isolate, &code1).is(400, "invalid_grant");
    Tokens::of(&client.exchange(&isolate, &code1));
}

#[test]
fn a39_b36_nothing_leaks_a_code_and_iss_comes_last() {
    let (isolate, client) = setup();
    let reply = Browser::default().sign_in_as(&isolate, &client, OWNER);
    assert_eq!(reply.header("referrer-policy"), "no-referrer");
    assert!(reply.body.is_empty());
    assert!(
        reply
            .header("location")
            .ends_with("&iss=https%3A%2F%2Fmcp.example.org")
    );
    assert_eq!(
        isolate
            .get("/.well-known/oauth-authorization-server")
            .json()["issuer"],
        ORIGIN
    );
}

#[test]
fn b20_a_custom_scheme_gets_a_page_with_the_exact_address() {
    let (isolate, _) = setup();
    let cursor = Client::register(&isolate, "cursor://anysphere.cursor-mcp/oauth/callback");
    let reply = Browser::default().sign_in_as(&isolate, &cursor, OWNER);
    assert_eq!(reply.status, 200);
    let onward = crate::browser::refresh_of(&reply);
    assert!(onward.starts_with("cursor://anysphere.cursor-mcp/oauth/callback?code=mcpac_"));
}

#[test]
fn a56_a_code_cannot_reach_further_than_its_grant() {
    let (isolate, client) = setup();
    let code1 = code(&isolate, &client);
    for resource in ["https://mcp.example.org/mcp", "https://mcp.example.org"] {
        client
            .exchange_with(&isolate, &code1, &[("resource", resource)])
            .is(400, "invalid_target");
    }
    let own = [("resource", "https://mcp.example.org/mcp-compat")];
    Tokens::of(&client.exchange_with(&isolate, &code1, &own));
}

#[test]
fn a74_b45b_resources_are_ours_or_refused() {
    let (isolate, client) = setup();
    for resource in [
        "https://evil.test/mcp",
        "https://mcp.example.org/sse",
        "https://mcp.example.org/mcp#x",
        "mcp",
    ] {
        let reply = isolate.get(&client.link_with(&[("resource", resource)]));
        assert!(
            reply.header("location").contains("error=invalid_target"),
            "{resource}"
        );
    }
    let without = Client {
        resource: None,
        ..client
    };
    let tokens = without.connect(&isolate);
    for path in ["/mcp-compat", "/"] {
        assert_eq!(isolate.call(path, &tokens.access).status, 200);
    }
}
