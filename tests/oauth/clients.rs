//! A61–A69: registrations, documents, and what clients send.

use serde_json::json;

use crate::browser::{Browser, CLAUDE, Client, Tokens, form_of};
use crate::github::answer;
use crate::world::{Isolate, ORIGIN, OWNER, World};

const URL: &str = "https://claude.ai/oauth/mcp-oauth-client-metadata";

fn publish(isolate: &Isolate, url: &str, redirects: &[&str]) {
    let body =
        json!({"client_id": url, "client_name": "Claude", "redirect_uris": redirects}).to_string();
    let document = answer(200, "application/json", &body);
    isolate
        .world
        .documents
        .borrow_mut()
        .insert(url.to_owned(), document);
}

#[test]
fn a61_b37_an_unknown_client_is_told_what_to_do() {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    let elsewhere = World::new().isolate(1);
    let foreign = Client::register(&elsewhere, CLAUDE);
    let cut = client.id[..client.id.len() - 1].to_owned();
    for id in [
        "mc1_x",
        &cut,
        &format!("{}A", client.id),
        &foreign.id,
        "Iv1.github",
    ] {
        let page = isolate.get(&client.link_with(&[("client_id", id)]));
        assert_eq!(page.status, 400);
        assert!(page.body.contains("mcp-remote") && !page.headers.contains_key("location"));
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", "x"),
            ("client_id", id),
        ];
        isolate
            .post_form("/token", &fields)
            .is(401, "invalid_client");
    }
}

#[test]
fn a62_b22_ten_thousand_registrations_store_nothing() {
    let isolate = World::new().isolate(1);
    let first = Client::register(&isolate, CLAUDE);
    let (asks, writes) = (isolate.world.asks.get(), isolate.world.kv.operations.get());
    for _ in 0..10_000 {
        isolate.post_json("/register", &json!({"redirect_uris": [CLAUDE]}));
        isolate.world.said.borrow_mut().clear();
    }
    assert_eq!(
        (isolate.world.asks.get(), isolate.world.kv.operations.get()),
        (asks, writes)
    );
    assert_eq!(isolate.get(&first.link()).status, 200);
}

#[test]
fn a63_bodies_that_are_no_registration() {
    let isolate = World::new().isolate(1);
    let send = |body: &[u8], media_type: &str| {
        let request = isolate
            .request("POST", "/register")
            .header("content-type", media_type);
        isolate.send(request.body(body.to_vec()).unwrap())
    };
    let deep = "[".repeat(16_000);
    for body in [
        "",
        "{",
        "[]",
        "null",
        "NaN",
        "{\"a\":\"\\ud800\"}",
        &deep,
        "\u{0}",
    ] {
        send(body.as_bytes(), "application/json").is(400, "invalid_client_metadata");
    }
    send(&[0xff; 100], "application/json").is(400, "invalid_client_metadata");
    assert_eq!(send(b"{}", "text/plain").status, 415);
    assert_eq!(
        send(&vec![b' '; 16 * 1024 + 1], "application/json").status,
        413
    );
    assert_eq!(isolate.get("/register").status, 405);
    assert_eq!(isolate.get("/register").header("allow"), "POST, OPTIONS");
}

#[test]
fn a64_a65_b35_a_document_is_fetched_once_and_its_absence_survived() {
    let isolate = World::new().isolate(1);
    let world = &isolate.world;
    publish(&isolate, URL, &[CLAUDE]);
    let client = Client::described(URL, CLAUDE);
    for _ in 0..100 {
        assert_eq!(isolate.get(&client.link()).status, 200);
    }
    assert_eq!(world.document_fetches.get(), 1);
    let tokens = client.connect(&isolate);
    client.refresh(&isolate, &tokens.refresh);
    assert_eq!(world.document_fetches.get(), 1, "/token never fetches");
    // Its host serves nonsense for hours: whoever was here before still comes in.
    for broken in [
        answer(404, "text/html", ""),
        answer(200, "text/html", "<html>"),
        answer(302, "application/json", "{}"),
    ] {
        world.documents.borrow_mut().insert(URL.to_owned(), broken);
        let fresh = world.isolate(2);
        assert_eq!(fresh.get(&client.link()).status, 200);
    }
    // Nobody was here before with these, and nothing of what their hosts said is passed on.
    for (name, broken) in [
        ("302", answer(302, "application/json", "{}")),
        ("404", answer(404, "application/json", "{}")),
        ("html", answer(200, "text/html", "<b>oh no</b>")),
        ("json", answer(200, "application/json", "oh no")),
        ("list", answer(200, "application/json", "[]")),
    ] {
        let url = format!("https://c.example.com/{name}");
        world.documents.borrow_mut().insert(url.clone(), broken);
        let page = isolate.get(&Client::described(&url, CLAUDE).link());
        assert!(
            page.status == 503 || page.status == 400,
            "{name}: {}",
            page.status
        );
        assert!(!page.body.contains("oh no") && !page.body.contains("name=\"csrf\""));
    }
    let never = Client::described("https://new.example.com/c.json", CLAUDE);
    assert_eq!(isolate.get(&never.link()).status, 503);
    let fetches = world.document_fetches.get();
    assert_eq!(isolate.get(&never.link()).status, 503);
    assert_eq!(
        world.document_fetches.get(),
        fetches,
        "a failure is remembered for a moment"
    );
}

#[test]
fn a64_documents_that_are_never_fetched_or_never_believed() {
    let isolate = World::new().isolate(1);
    for url in [
        "https://127.0.0.1/c.json",
        "https://localhost/c.json",
        "https://a.internal/c.json",
        "https://x@claude.ai/c.json",
        "https://claude.ai:444/c.json",
        "https://claude.ai/",
        "https://mcp.example.org/c.json",
    ] {
        let client = Client::described(url, CLAUDE);
        assert_eq!(isolate.get(&client.link()).status, 400, "{url}");
    }
    assert_eq!(isolate.world.document_fetches.get(), 0);
    // What the platform must be told, because a host's name says nothing of where it leads.
    let manifest = include_str!("../../wrangler.toml");
    assert!(manifest.contains("\n  \"global_fetch_strictly_public\",\n"));
    for (name, body) in [
        (
            "mismatch",
            json!({"client_id": "https://c.example.com/other", "redirect_uris": [CLAUDE]}),
        ),
        (
            "secret",
            json!({"client_id": "https://c.example.com/secret", "redirect_uris": [CLAUDE], "client_secret": "x"}),
        ),
        ("empty", json!({"client_id": "https://c.example.com/empty"})),
        (
            "http",
            json!({"client_id": "https://c.example.com/http", "redirect_uris": ["http://evil.test/"]}),
        ),
    ] {
        let url = format!("https://c.example.com/{name}");
        let document = answer(200, "application/json", &body.to_string());
        isolate
            .world
            .documents
            .borrow_mut()
            .insert(url.clone(), document);
        assert_eq!(
            isolate.get(&Client::described(&url, CLAUDE).link()).status,
            400,
            "{name}"
        );
    }
    let url = "https://c.example.com/large".to_owned();
    let large = answer(200, "application/json", &" ".repeat(5 * 1024 + 1));
    isolate
        .world
        .documents
        .borrow_mut()
        .insert(url.clone(), large);
    assert_eq!(
        isolate.get(&Client::described(&url, CLAUDE).link()).status,
        503
    );
}

#[test]
fn a65_many_documents_meet_the_limit() {
    use durable_thinking::oauth::port::Limit;
    let isolate = World::new().isolate(1);
    isolate.world.limited.borrow_mut().push(Limit::Document);
    let client = Client::described("https://c.example.com/1.json", CLAUDE);
    let page = isolate.get(&client.link());
    assert_eq!((page.status, page.header("retry-after")), (429, "30"));
    assert_eq!(isolate.world.document_fetches.get(), 0);
}

#[test]
fn a66_a_document_that_changed_between_page_and_answer() {
    let isolate = World::new().isolate(1);
    publish(&isolate, URL, &[CLAUDE, "https://claude.ai/other"]);
    let client = Client::described(URL, CLAUDE);
    let browser = Browser::default();
    let page = browser.get(&isolate, &client.link());
    publish(&isolate, URL, &[CLAUDE]);
    let after = isolate.world.isolate(2);
    let again = browser.decide(&after, &page, "approve");
    assert!(
        again.status == 200 && again.body.contains("name=\"csrf\""),
        "asked again"
    );
    assert!(!again.body.contains("login/oauth"));
    publish(&isolate, URL, &["https://claude.ai/other"]);
    let last = isolate.world.isolate(3);
    assert_eq!(browser.decide(&last, &again, "approve").status, 400);
}

#[test]
fn a67_b16_a_program_on_this_computer_is_warned_about() {
    let isolate = World::new().isolate(1);
    let url = "https://claude.ai/oauth/claude-code-client-metadata";
    publish(
        &isolate,
        url,
        &["http://localhost/callback", "http://127.0.0.1/callback"],
    );
    let client = Client::described(url, "http://localhost:53682/callback");
    let page = Browser::default().get(&isolate, &client.link());
    assert!(page.body.contains("A program on this computer") && page.body.contains("claude.ai"));
    Tokens::of(&client.exchange(
        &isolate,
        &client.code(&Browser::default().sign_in_as(&isolate, &client, OWNER)),
    ));
}

#[test]
fn a68_secrets_where_none_belong_and_none_where_one_does() {
    let isolate = World::new().isolate(1);
    let public = Client::register(&isolate, CLAUDE);
    let tokens = public.connect(&isolate);
    public
        .refresh_with(&isolate, &tokens.refresh, &[("client_secret", "x")])
        .is(401, "invalid_client");
    Tokens::of(&isolate.post_form(
        "/token",
        &[
            ("grant_type", "refresh_token"),
            ("refresh_token", &tokens.refresh),
            ("client_id", &public.id),
            ("client_secret", ""),
        ],
    ));
    let url_client = [
        ("grant_type", "refresh_token"),
        ("refresh_token", "x"),
        ("client_id", URL),
        ("client_secret", "x"),
    ];
    isolate
        .post_form("/token", &url_client)
        .is(401, "invalid_client");
}

#[test]
fn a69_repeated_and_misplaced_parameters() {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    for name in [
        "client_id",
        "redirect_uri",
        "response_type",
        "state",
        "code_challenge",
        "code_challenge_method",
        "scope",
    ] {
        let reply = isolate.get(&format!("{}&{name}=x", client.link()));
        assert_eq!(reply.status, 400, "{name}");
        assert!(!reply.headers.contains_key("location"));
    }
    let twice = [
        ("grant_type", "refresh_token"),
        ("grant_type", "refresh_token"),
        ("client_id", &client.id),
    ];
    isolate
        .post_form("/token", &twice)
        .is(400, "invalid_request");
    isolate
        .post_form(
            "/revoke",
            &[("token", "a"), ("token", "b"), ("client_id", &client.id)],
        )
        .is(400, "invalid_request");
    let query = format!("/token?grant_type=refresh_token&client_id={}", client.id);
    isolate
        .post_form(&query, &[("x", "y")])
        .is(401, "invalid_client");
    let browser = Browser::default();
    let page = browser.get(&isolate, &client.link());
    let body = format!("{}&q=x", form_of(&page, "approve"));
    assert_eq!(
        browser.post(&isolate, &body, &[("origin", ORIGIN)]).status,
        400
    );
    isolate
        .post_form("/token", &[("client_id", &client.id)])
        .is(400, "invalid_request");
    isolate
        .post_form(
            "/token",
            &[("client_id", &client.id), ("grant_type", "password")],
        )
        .is(400, "unsupported_grant_type");
}

#[test]
fn b17_b19_addresses_that_real_clients_register_and_use() {
    let isolate = World::new().isolate(1);
    let vscode = Client::register_with(
        &isolate,
        &json!({"redirect_uris": ["http://127.0.0.1:33418/", "http://127.0.0.1/", "https://vscode.dev/redirect", "https://insiders.vscode.dev/redirect"], "token_endpoint_auth_method": "none"}),
    );
    let vscode = Client {
        redirect: "http://127.0.0.1:54321/".to_owned(),
        ..vscode
    };
    vscode.connect(&isolate);
    for redirect in [
        "https://chatgpt.com/connector/oauth/abc",
        "https://chatgpt.com/connector_platform_oauth_redirect",
    ] {
        Client::register(&isolate, redirect).connect(&isolate);
    }
}

#[test]
fn b34_many_registrations_from_one_address_pass_until_the_limit_says_so() {
    use durable_thinking::oauth::port::Limit;
    let isolate = World::new().isolate(1);
    for _ in 0..30 {
        Client::register(&isolate, CLAUDE);
    }
    isolate.world.limited.borrow_mut().push(Limit::Register);
    let reply = isolate.post_json("/register", &json!({"redirect_uris": [CLAUDE]}));
    assert_eq!((reply.status, reply.header("retry-after")), (429, "30"));
}

#[test]
fn two_people_and_many_clients_at_once_stay_apart() {
    let mut environment = crate::world::environment();
    environment.retain(|(name, _)| *name != "ALLOWED_GITHUB_LOGIN");
    environment.push(("ALLOWED_GITHUB_LOGIN", "octocat, hubot"));
    let isolate = World::new().deploy(1, &environment);
    let people = [OWNER, ("hubot", 480_938)];
    let browser = Browser::default();
    let flows: Vec<_> = (0..20)
        .map(|n| {
            let client = Client::register(&isolate, &format!("https://c{n}.example.com/cb"));
            let link = browser.approve(&isolate, &client);
            (client, link, people[n % 2])
        })
        .collect();
    let codes: Vec<_> = flows
        .iter()
        .rev()
        .map(|(client, link, who)| {
            let callback = isolate.world.github.approve(link, who.0, who.1);
            (client, client.code(&browser.get(&isolate, &callback)))
        })
        .collect();
    let mut all = Vec::new();
    for (at, (client, code)) in codes.iter().enumerate() {
        let (_, other) = &codes[(at + 1) % codes.len()];
        client.exchange(&isolate, other).is(400, "invalid_grant");
        all.push(Tokens::of(&client.exchange(&isolate, code)));
    }
    // Each refreshes with its own token and no other's; what each one thinks is found under its own id alone.
    let mut ids = Vec::new();
    for (at, (client, _)) in codes.iter().enumerate() {
        let other = all[(at + 1) % all.len()].refresh.clone();
        client.refresh(&isolate, &other).is(400, "invalid_grant");
        all[at] = Tokens::of(&client.refresh(&isolate, &all[at].refresh));
        let thought = json!({"thought": format!("Of client {at}."), "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false});
        let stored = isolate.tool(&all[at].access, "sequentialthinking", &thought);
        ids.push(stored.json()["result"]["structuredContent"]["sequenceId"].clone());
    }
    for (at, id) in ids.iter().enumerate() {
        let history = isolate.tool(
            &all[at].access,
            "get_thought_history",
            &json!({"sequenceId": id}),
        );
        let history = history.json()["result"]["structuredContent"]["thoughts"].clone();
        assert_eq!(history.as_array().unwrap().len(), 1);
        assert_eq!(history[0]["thought"], format!("Of client {at}."));
    }
    let distinct = |values: Vec<&str>| {
        values
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    assert_eq!(
        distinct(all.iter().map(|tokens| tokens.access.as_str()).collect()),
        20
    );
    assert_eq!(
        distinct(ids.iter().map(|id| id.as_str().unwrap()).collect()),
        20
    );
    // One of them leaves: every token of the other still works, and none of the one's.
    let mut environment = crate::world::environment();
    environment.retain(|(name, _)| *name != "ALLOWED_GITHUB_LOGIN");
    environment.push(("ALLOWED_GITHUB_LOGIN", "octocat"));
    let after = isolate.world.deploy(2, &environment);
    for (tokens, (_, _, who)) in all.iter().zip(flows.iter().rev()) {
        let status = after.call("/mcp-compat", &tokens.access).status;
        assert_eq!(status, if *who == OWNER { 200 } else { 401 });
    }
    assert_eq!(isolate.world.count("grants"), 20);
}
