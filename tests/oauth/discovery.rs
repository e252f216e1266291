//! A70–A75: issuer, hosts, and what clients probe; and a server without a sign-in.

use crate::browser::{Browser, CLAUDE, Client, Tokens};
use crate::github::query;
use crate::world::{ORIGIN, OWNER, STATIC, World, environment};

const PROBES: [&str; 9] = [
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/oauth-authorization-server/mcp-compat",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/mcp",
    "/.well-known/openid-configuration/mcp-compat",
    "/mcp/.well-known/openid-configuration",
    "/mcp-compat/.well-known/oauth-protected-resource",
    "/mcp/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource/mcp-other",
];

#[test]
fn a70_b36b_b36c_the_issuer_is_the_same_everywhere() {
    let isolate = World::new().isolate(1);
    let server = isolate.get("/.well-known/oauth-authorization-server");
    assert_eq!(
        (server.status, server.json()["issuer"].as_str()),
        (200, Some(ORIGIN))
    );
    assert_eq!(server.header("cache-control"), "public, max-age=300");
    for suffix in ["", "/mcp", "/mcp-compat"] {
        let document = isolate
            .get(&format!("/.well-known/oauth-protected-resource{suffix}"))
            .json();
        assert_eq!(
            document["authorization_servers"],
            serde_json::json!([ORIGIN])
        );
        assert_eq!(document["resource"], format!("{ORIGIN}{suffix}"));
    }
    let client = Client::register(&isolate, CLAUDE);
    let error = isolate.get(&client.link_with(&[("code_challenge", "")]));
    assert_eq!(
        query(error.header("location")).one("iss").unwrap(),
        Some(ORIGIN)
    );
    let good = Browser::default().sign_in_as(&isolate, &client, OWNER);
    assert_eq!(
        query(good.header("location")).one("iss").unwrap(),
        Some(ORIGIN)
    );
}

#[test]
fn a71_b45c_b50_headers_of_the_request_change_no_address() {
    let isolate = World::new().isolate(1);
    for (name, value) in [
        ("x-forwarded-host", "evil.test"),
        ("forwarded", "host=evil.test;proto=http"),
        ("x-forwarded-proto", "http"),
        ("x-original-host", "evil.test"),
    ] {
        let request = isolate
            .request("GET", "/.well-known/oauth-authorization-server")
            .header(name, value);
        let reply = isolate.send(request.body(Vec::new()).unwrap());
        assert!(
            reply.status == 200 && !reply.body.contains("evil.test"),
            "{name}"
        );
    }
    for url in [
        "https://evil.test/.well-known/oauth-authorization-server",
        "https://evil.test/authorize",
        "http://evil.test/token",
    ] {
        let reply = isolate.get(url);
        assert_eq!(reply.status, 403, "{url}");
        assert!(!reply.body.contains("issuer"));
    }
}

#[test]
fn a72_b45_b46c_unknown_documents_are_plain_404s() {
    let isolate = World::new().isolate(1);
    for path in PROBES {
        let reply = isolate.get(path);
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        assert!(!reply.headers.contains_key("www-authenticate"));
    }
}

#[test]
fn a73_paths_near_ours_are_not_ours() {
    let isolate = World::new().isolate(1);
    for path in [
        "/mcp-other",
        "/mcpx",
        "/mcp/x",
        "/mcp%2Dcompat",
        "//mcp",
        "/mcp/../mcp-compat",
        "/Authorize",
        "/token/",
        "/register/x",
        "/admin",
        "/admin/oauthx",
    ] {
        let reply = isolate.call(path, STATIC);
        assert!(
            reply.status == 404 || reply.status == 401,
            "{path}: {}",
            reply.status
        );
    }
}

#[test]
fn a75_b40_options_and_head_say_nothing_and_open_nothing() {
    let isolate = World::new().isolate(1);
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/token",
        "/revoke",
        "/mcp",
        "/mcp-compat",
    ] {
        let request = isolate
            .request("OPTIONS", path)
            .header("origin", "https://claude.ai")
            .header("access-control-request-method", "POST");
        let reply = isolate.send(request.body(Vec::new()).unwrap());
        assert_eq!((reply.status, reply.body.as_str()), (204, ""), "{path}");
        let allowed = reply
            .header("access-control-allow-headers")
            .to_ascii_lowercase();
        assert!(allowed.contains("authorization") && allowed.contains("mcp-protocol-version"));
        assert!(
            !reply
                .headers
                .contains_key("access-control-allow-credentials")
        );
    }
    let head = isolate.request("HEAD", "/.well-known/oauth-authorization-server");
    let head = isolate.send(head.body(Vec::new()).unwrap());
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let options = isolate.request("OPTIONS", "/authorize");
    let options = isolate.send(options.body(Vec::new()).unwrap());
    assert_eq!(options.status, 405);
    assert!(!options.headers.contains_key("access-control-allow-origin"));
    let token = isolate.post_form("/token", &[("client_id", "x")]);
    assert_eq!(
        token.header("access-control-expose-headers"),
        "WWW-Authenticate, Retry-After"
    );
}

#[test]
fn a85_b49_without_github_the_sign_in_says_so_and_tokens_work() {
    let world = World::new();
    let isolate = world.deploy(1, &[("MCP_API_TOKEN", STATIC), ("PUBLIC_ORIGIN", ORIGIN)]);
    for path in PROBES.iter().chain(&[
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
    ]) {
        assert_eq!(isolate.get(path).status, 404, "{path}");
    }
    for path in ["/authorize", "/callback"] {
        let page = isolate.get(path);
        assert_eq!(page.status, 503);
        assert!(page.body.contains("GITHUB_CLIENT_ID") && page.body.contains("bearer token"));
    }
    for path in ["/token", "/register", "/revoke"] {
        isolate
            .post_form(path, &[])
            .is(503, "temporarily_unavailable");
    }
    assert!(
        !isolate
            .call_with("/mcp", &[])
            .header("www-authenticate")
            .contains("resource_metadata")
    );
    assert_eq!(isolate.call("/mcp-compat", STATIC).status, 200);
    assert_eq!(world.asks.get(), 0);
}

/// What each client asks for, in its order, up to a working token.
#[test]
fn b45_the_probes_of_real_clients_lead_to_a_token() {
    let isolate = World::new().isolate(1);
    // Which documents a client tries until one answers, and the resource that it then asks for.
    for (probes, resource) in [
        (
            vec!["/.well-known/oauth-protected-resource/mcp-compat"],
            "https://mcp.example.org/mcp-compat",
        ),
        (
            vec![
                "/mcp-compat/.well-known/oauth-protected-resource",
                "/.well-known/oauth-protected-resource",
            ],
            "https://mcp.example.org/",
        ),
    ] {
        let found = probes
            .iter()
            .map(|path| isolate.get(path))
            .find(|reply| reply.status == 200)
            .unwrap();
        assert_eq!(found.json()["authorization_servers"][0], ORIGIN);
        for path in [
            "/.well-known/oauth-authorization-server/mcp-compat",
            "/.well-known/openid-configuration/mcp-compat",
        ] {
            assert_eq!(isolate.get(path).status, 404);
        }
        let server = isolate
            .get("/.well-known/oauth-authorization-server")
            .json();
        assert_eq!(
            server["code_challenge_methods_supported"],
            serde_json::json!(["S256"])
        );
        let client = Client::register(&isolate, CLAUDE);
        let client = Client {
            resource: Some(resource.to_owned()),
            ..client
        };
        let tokens: Tokens = client.connect(&isolate);
        assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    }
}

#[test]
fn b43_with_the_switch_old_clients_pass_on_mcp() {
    let world = World::new();
    let mut environment = environment();
    environment.push(("MCP_LEGACY_ON_STRICT", "on"));
    let isolate = world.deploy(1, &environment);
    let client = Client::register(&isolate, CLAUDE);
    let client = Client {
        resource: Some(format!("{ORIGIN}/mcp")),
        ..client
    };
    let tokens = client.connect(&isolate);
    let headers = [
        ("authorization", format!("Bearer {}", tokens.access)),
        ("mcp-protocol-version", "2025-11-25".to_owned()),
    ];
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(isolate.call_with("/mcp", &headers).status, 200);
}

/// No code can mend a bot rule of the zone in front of the server, so the person who meets it must find it named.
#[test]
fn b33_the_documentation_names_the_rule_that_stops_clients() {
    let text = include_str!("../../docs/connect.md");
    let (_, after) = text.split_once("\n10. ").unwrap();
    let entry = after.lines().next().unwrap();
    for word in [
        "Block AI bots",
        "Bot Fight Mode",
        "`Claude-User`",
        "160.79.104.0/21",
    ] {
        assert!(entry.contains(word), "{word}");
    }
}
