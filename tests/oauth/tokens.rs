//! A40–A49: access tokens where they are used, and static tokens beside them (A90–A94).

use serde_json::json;

use crate::browser::{Browser, CLAUDE, Client, Tokens, invented};
use crate::world::{Isolate, ORIGIN, STATIC, World, environment};

fn setup() -> (Isolate, Client, Tokens) {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    let tokens = client.connect(&isolate);
    (isolate, client, tokens)
}

#[test]
fn a40_a_token_belongs_into_one_header() {
    let (isolate, _, tokens) = setup();
    let access = &tokens.access;
    assert_eq!(
        isolate
            .call_with(
                "/mcp-compat",
                &[("authorization", &format!("bearer {access}"))]
            )
            .status,
        200
    );
    let query = isolate.call_with(&format!("/mcp-compat?access_token={access}"), &[]);
    assert_eq!(query.status, 401);
    assert!(!query.header("www-authenticate").contains("error="));
    assert_eq!(
        isolate
            .call_with(
                "/mcp-compat",
                &[("authorization", &format!("Basic {access}"))]
            )
            .status,
        401
    );
    let twice = [
        ("authorization", format!("Bearer {access}")),
        ("authorization", format!("Bearer {access}")),
    ];
    let twice: Vec<_> = twice
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(isolate.call_with("/mcp-compat", &twice).status, 400);
    assert_eq!(
        isolate
            .call_with(
                "/mcp-compat",
                &[("cookie", &format!("access_token={access}"))]
            )
            .status,
        401
    );
}

#[test]
fn a41_b44c_a_token_is_good_where_it_was_granted() {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    for (resource, mcp, compat) in [
        (Some("https://mcp.example.org/mcp"), true, false),
        (Some("https://mcp.example.org/mcp-compat/"), false, true),
        (Some("https://MCP.example.org"), true, true),
        (Some("https://mcp.example.org/"), true, true),
        (None, true, true),
    ] {
        let client = Client {
            resource: resource.map(str::to_owned),
            ..client.clone()
        };
        let tokens = client.connect(&isolate);
        for (path, good) in [("/mcp", mcp), ("/mcp-compat", compat), ("/", compat)] {
            let reply = isolate.call(path, &tokens.access);
            assert_eq!(reply.status != 401, good, "{resource:?} at {path}");
            if !good {
                assert!(
                    reply
                        .header("www-authenticate")
                        .contains("error=\"invalid_token\"")
                );
            }
        }
    }
    // Another deployment's token says nothing here.
    let elsewhere = World::new().isolate(1);
    let other = Client::register(&elsewhere, CLAUDE).connect(&elsewhere);
    isolate.world.pass(10);
    assert_eq!(isolate.call("/mcp-compat", &other.access).status, 401);
}

#[test]
fn b44_b44b_mangled_paths_and_the_origin_take_the_token_too() {
    let (isolate, _, tokens) = setup();
    for path in ["/mcp-compat", "/MCP-Compat/", "/mcp-compat/", "/"] {
        assert_eq!(isolate.call(path, &tokens.access).status, 200, "{path}");
    }
}

#[test]
fn a42_a43_one_kind_of_token_is_not_another() {
    let (isolate, client, tokens) = setup();
    let code = client.code(&Browser::default().sign_in_as(&isolate, &client, crate::world::OWNER));
    for wrong in [&tokens.refresh, &code, &invented("mcpat"), "x"] {
        assert_eq!(isolate.call("/mcp-compat", wrong).status, 401);
    }
    client
        .refresh(&isolate, &tokens.access)
        .is(400, "invalid_grant");
    client.refresh(&isolate, &code).is(400, "invalid_grant");
    client
        .exchange(&isolate, &tokens.refresh)
        .is(400, "invalid_grant");
    let body = &tokens.access[..tokens.access.len() - 1];
    let good = (b'0'..=b'z')
        .map(char::from)
        .chain(['-'])
        .filter(|char| char.is_ascii_alphanumeric() || "_-".contains(*char))
        .filter(|char| isolate.call("/mcp-compat", &format!("{body}{char}")).status == 200)
        .count();
    assert_eq!(good, 1, "one spelling of a token is good");
    Tokens::of(&client.exchange(&isolate, &code));
}

#[test]
fn a44_a90_a91_a92_a93_static_tokens() {
    let world = World::new();
    let next = "fedcba9876543210fedcba9876543210";
    let mut both = environment();
    both.push(("MCP_API_TOKEN_PREVIOUS", next));
    let isolate = world.deploy(1, &both);
    assert!(
        !isolate
            .call("/mcp-compat", STATIC)
            .headers
            .contains_key("deprecation")
    );
    let previous = isolate.call("/mcp-compat", next);
    assert_eq!(previous.status, 200);
    assert!(previous.headers.contains_key("deprecation"));
    for wrong in [
        &STATIC[1..],
        &format!("{STATIC}0"),
        "",
        " ",
        &"x".repeat(5000),
        "0",
    ] {
        let reply = isolate.call("/mcp-compat", wrong);
        assert_eq!(reply.status, 401, "{wrong:.40}");
    }
    for headers in [[("x-api-key", STATIC)], [("cookie", STATIC)]] {
        assert_eq!(isolate.call_with("/mcp-compat", &headers).status, 401);
    }
    assert_eq!(
        isolate
            .call_with(&format!("/mcp-compat?token={STATIC}"), &[])
            .status,
        401
    );
    let mut short = environment();
    short.retain(|(name, _)| *name != "MCP_API_TOKEN");
    short.push(("MCP_API_TOKEN", "short"));
    let isolate = world.deploy(1, &short);
    assert_eq!(isolate.call("/mcp-compat", "short").status, 401);
    let health = isolate.get("/healthz");
    assert_eq!(health.status, 503);
    assert!(health.body.contains("MCP_API_TOKEN"));
    // The sign-in lives on.
    let client = Client::register(&isolate, CLAUDE);
    let tokens = client.connect(&isolate);
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
}

#[test]
fn a94_only_the_static_token_is_the_owner() {
    let (isolate, _, tokens) = setup();
    let send = |method: &str, path: &str, value: Option<&str>| {
        let mut request = isolate.request(method, path);
        if let Some(value) = value {
            request = request.header("authorization", format!("Bearer {value}"));
        }
        isolate.send(request.body(Vec::new()).unwrap()).status
    };
    for (method, path) in [
        ("GET", "/admin/oauth/grants"),
        ("POST", "/admin/oauth/revoke-all"),
        ("POST", "/admin/oauth/rotate-key"),
        ("DELETE", "/admin/oauth/grants/1"),
    ] {
        for value in [None, Some(tokens.access.as_str()), Some("x")] {
            assert_eq!(send(method, path, value), 401, "{method} {path}");
        }
    }
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    assert_eq!(send("GET", "/admin/oauth/grants", Some(STATIC)), 200);
}

#[test]
fn a45_a46_nothing_secret_is_logged_shown_or_kept() {
    let (isolate, client, tokens) = setup();
    let world = &isolate.world;
    let next = Tokens::of(&client.refresh(&isolate, &tokens.refresh));
    isolate.call("/mcp-compat", &next.access);
    isolate.call("/mcp-compat", &invented("mcpat"));
    let secret = Client::register_with(&isolate, &json!({"redirect_uris": [CLAUDE]}));
    let more = secret.connect(&isolate);
    let mut hidden = vec![
        "github-secret".to_owned(),
        STATIC.to_owned(),
        client.verifier.clone(),
        client.state.clone(),
    ];
    for tokens in [tokens, next, more] {
        hidden.extend([tokens.access, tokens.refresh]);
    }
    hidden.extend(secret.secret.clone());
    let log: Vec<_> = world
        .events
        .borrow()
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let log = log.join("\n");
    let (dump, cache) = (world.dump(), world.kv.dump());
    assert!(dump.len() > 500 && world.kv.len() > 2 && log.len() > 500);
    for secret in &hidden {
        assert!(!log.contains(secret.as_str()), "logged");
        assert!(
            !dump.contains(secret.as_str()) && !cache.contains(secret.as_str()),
            "kept"
        );
    }
    for prefix in ["mcpat", "mcprt", "mcpac", "mcs1_", "gho_", "octocat"] {
        assert!(!log.contains(prefix), "{prefix}");
        if prefix != "octocat" {
            assert!(
                !dump.contains(prefix) && !cache.contains(prefix),
                "{prefix}"
            );
        }
    }
}

#[test]
fn a47_b31_b25_b26_expiry_is_told_as_an_invalid_token() {
    let (isolate, client, tokens) = setup();
    assert_eq!(tokens.expires_in, 8 * 3600);
    isolate.world.pass(8 * 3600 - 1);
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    isolate.world.pass(1);
    let reply = isolate.call("/mcp-compat", &tokens.access);
    assert_eq!(reply.status, 401);
    assert!(reply.header("www-authenticate").starts_with("Bearer "));
    assert!(
        reply
            .header("www-authenticate")
            .contains("error=\"invalid_token\"")
    );
    let next = Tokens::of(&client.refresh(&isolate, &tokens.refresh));
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 200);
}

#[test]
fn a48_a_token_of_ours_never_travels_on() {
    let (isolate, _, tokens) = setup();
    isolate.call("/mcp-compat", &tokens.access);
    let credentials = isolate.world.github.credentials.borrow();
    assert!(!credentials.is_empty());
    for value in credentials.iter() {
        assert!(
            value.starts_with("Bearer gho_") || value.starts_with("Basic "),
            "{value}"
        );
    }
}

#[test]
fn a49_a_sequence_id_is_no_credential() {
    let (isolate, _, tokens) = setup();
    let thought = json!({"thought": "Mine.", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false});
    let stored = isolate.tool(&tokens.access, "sequentialthinking", &thought);
    let id = stored.json()["result"]["structuredContent"]["sequenceId"].clone();
    let history = json!({"sequenceId": id});
    let asked = |token: &str| isolate.tool(token, "get_thought_history", &history);
    assert!(asked(&tokens.access).body.contains("Mine."));
    for token in ["", "x", id.as_str().unwrap()] {
        let reply = asked(token);
        assert_eq!(reply.status, 401);
        assert!(!reply.body.contains("Mine."));
    }
}

#[test]
fn b30_b51_tokens_are_short_and_work_at_once_everywhere() {
    let isolate = World::new().isolate(1);
    let client = Client {
        resource: None,
        ..Client::register(&isolate, CLAUDE)
    };
    let tokens = client.connect(&isolate);
    assert_eq!((tokens.access.len(), tokens.refresh.len()), (49, 49));
    for location in 2..6 {
        let elsewhere = isolate.world.isolate(location);
        assert_eq!(elsewhere.call("/mcp-compat", &tokens.access).status, 200);
    }
}

#[test]
fn b46_b46b_the_challenge_comes_before_everything_else() {
    let isolate = World::new().isolate(1);
    for path in ["/mcp", "/mcp-compat"] {
        for method in ["GET", "HEAD", "POST", "DELETE", "PUT"] {
            let request = isolate.request(method, path);
            let reply = isolate.send(request.body(b"<xml>".to_vec()).unwrap());
            assert_eq!(reply.status, 401, "{method} {path}");
            assert_eq!(
                reply.header("www-authenticate"),
                format!(
                    "Bearer realm=\"Durable Thinking\", resource_metadata=\"{ORIGIN}/.well-known/oauth-protected-resource{path}\", scope=\"mcp\""
                )
            );
        }
    }
    let root = isolate.call_with("/", &[]);
    assert!(
        root.header("www-authenticate")
            .contains("/.well-known/oauth-protected-resource\"")
    );
}
