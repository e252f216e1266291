//! A80–A87: trouble with the vault, the cache and GitHub; limits; and strangers who cost nothing.

use durable_thinking::log::{Level, sign_in};
use durable_thinking::oauth::port::Limit;
use serde_json::json;

use crate::browser::{Browser, CLAUDE, Client, Tokens, invented};
use crate::github::Mode;
use crate::world::{Isolate, OWNER, Reply, Weather, World};

fn setup() -> (Isolate, Client, Tokens) {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    let tokens = client.connect(&isolate);
    (isolate, client, tokens)
}

#[test]
fn a80_trouble_with_the_vault_is_never_the_clients_fault() {
    let (isolate, client, tokens) = setup();
    let world = &isolate.world;
    let browser = Browser::default();
    let link = browser.approve(&isolate, &client);
    let callback = world.github.approve(&link, OWNER.0, OWNER.1);
    let code = client.code(&browser.get(&isolate, &callback));
    let flow = browser.approve(&isolate, &client);
    world.weather.set(Weather::Down);
    for reply in [
        client.exchange(&isolate, &code),
        client.refresh(&isolate, &tokens.refresh),
        client.revoke(&isolate, &tokens.refresh),
    ] {
        reply.is(503, "temporarily_unavailable");
        assert_eq!(reply.header("retry-after"), "2");
    }
    let callback = world.github.approve(&flow, OWNER.0, OWNER.1);
    let page = browser.get(&isolate, &callback);
    assert_eq!(page.status, 503);
    // A fresh isolate knows no key: everything waits, nothing is refused.
    let cold = world.isolate(2);
    assert_eq!(cold.get(&client.link()).status, 503);
    cold.post_json("/register", &json!({"redirect_uris": [CLAUDE]}))
        .is(503, "temporarily_unavailable");
    world.kv.is_down.set(true);
    let call = cold.call("/mcp-compat", &tokens.access);
    assert_eq!(call.status, 503);
    assert!(call.headers.contains_key("retry-after"));
    world.kv.is_down.set(false);
    world.weather.set(Weather::Fine);
    Tokens::of(&client.exchange(&isolate, &code));
    Tokens::of(&client.refresh(&isolate, &tokens.refresh));
}

#[test]
fn a80_an_answer_lost_on_the_way_loses_nothing() {
    let (isolate, client, tokens) = setup();
    let world = &isolate.world;
    let browser = Browser::default();
    let link = browser.approve(&isolate, &client);
    let callback = world.github.approve(&link, OWNER.0, OWNER.1);
    world.weather.set(Weather::LosesOneAnswer);
    let code = client.code(&browser.get(&isolate, &callback));
    world.weather.set(Weather::LosesOneAnswer);
    let first = Tokens::of(&client.exchange(&isolate, &code));
    assert_eq!(isolate.call("/mcp-compat", &first.access).status, 200);
    world.weather.set(Weather::LosesOneAnswer);
    let next = Tokens::of(&client.refresh(&isolate, &tokens.refresh));
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 200);
    // Even both tries lost: the client's own next try finds the head.
    world.weather.set(Weather::LosesAnswers);
    client
        .refresh(&isolate, &next.refresh)
        .is(503, "temporarily_unavailable");
    world.weather.set(Weather::Fine);
    let last = Tokens::of(&client.refresh(&isolate, &next.refresh));
    assert_ne!(last.refresh, next.refresh);
    assert_eq!(isolate.call("/mcp-compat", &last.access).status, 200);
}

#[test]
fn a80_github_in_every_kind_of_trouble() {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    let browser = Browser::default();
    let github = &isolate.world.github;
    for (mode, status) in [
        (Mode::TimesOut, 503),
        (Mode::Fails, 503),
        (Mode::Html, 503),
        (Mode::Redirects, 503),
        (Mode::FormEncoded, 503),
        (Mode::WrongCredentials, 500),
        (Mode::Organization, 403),
    ] {
        let link = browser.approve(&isolate, &client);
        let callback = github.approve(&link, OWNER.0, OWNER.1);
        github.mode.set(mode);
        let page = browser.get(&isolate, &callback);
        assert_eq!(page.status, status, "{mode:?}");
        assert!(!page.body.contains("github-secret") && !page.body.contains("oh no"));
        github.mode.set(Mode::Works);
        if status == 503 {
            assert_eq!(page.header("retry-after"), "30");
            // The link on the page leads through GitHub again, and the flow still holds.
            assert!(page.body.contains("login/oauth/authorize"));
            let callback = github.approve(&link, OWNER.0, OWNER.1);
            client.code(&browser.get(&isolate, &callback));
        }
    }
}

#[test]
fn a81_b04_b11_a_cache_that_fails_changes_nothing() {
    let (isolate, client, tokens) = setup();
    let world = &isolate.world;
    world.kv.is_full.set(true);
    let next = Tokens::of(&client.refresh(&isolate, &tokens.refresh));
    assert_eq!(
        world.isolate(2).call("/mcp-compat", &next.access).status,
        200
    );
    world.kv.is_down.set(true);
    assert_eq!(
        world.isolate(3).call("/mcp-compat", &next.access).status,
        200
    );
    let again = Client::register(&isolate, CLAUDE).connect(&isolate);
    assert_eq!(
        world.isolate(4).call("/mcp-compat", &again.access).status,
        200
    );
}

/// The revocation is the vault's; a cache that cannot be told of it forgets by itself before long.
#[test]
fn b10_a_token_that_the_cache_was_not_told_of_ends_within_the_hour() {
    let (isolate, client, tokens) = setup();
    let world = &isolate.world;
    let living = client.connect(&isolate);
    world.kv.is_down.set(true);
    assert_eq!(client.revoke(&isolate, &tokens.refresh).status, 200);
    world.kv.is_down.set(false);
    // An hour, and what a place may remember of the cache, and an isolate of that.
    world.pass(3600 + 60 + 30);
    for location in 1..4 {
        let elsewhere = world.isolate(location);
        assert_eq!(elsewhere.call("/mcp-compat", &tokens.access).status, 401);
        assert_eq!(elsewhere.call("/mcp-compat", &living.access).status, 200);
    }
    // And the living one was put back.
    world.weather.set(Weather::Down);
    let status = world.isolate(1).call("/mcp-compat", &living.access).status;
    assert_eq!(status, 200);
}

#[test]
fn a81_a_live_token_outlives_the_vault_in_the_cache() {
    let (isolate, _, tokens) = setup();
    let world = &isolate.world;
    world.weather.set(Weather::Down);
    assert_eq!(
        world.isolate(2).call("/mcp-compat", &tokens.access).status,
        200
    );
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
}

#[test]
fn b03_no_cache_write_shorter_than_the_platform_takes() {
    let (isolate, client, tokens) = setup();
    isolate.world.pass(8 * 3600 - 30);
    // `Kv::put` panics below a minute; with thirty seconds left nothing is written.
    let writes = isolate.world.kv.operations.get();
    assert_eq!(
        isolate
            .world
            .isolate(2)
            .call("/mcp-compat", &tokens.access)
            .status,
        200
    );
    assert_eq!(isolate.world.kv.operations.get(), writes + 1);
    Tokens::of(&client.refresh(&isolate, &tokens.refresh));
}

#[test]
fn a82_bodies_have_caps() {
    let (isolate, client, _) = setup();
    for (path, size) in [
        ("/token", 8 * 1024 + 1),
        ("/revoke", 8 * 1024 + 1),
        ("/register", 16 * 1024 + 1),
    ] {
        let request = isolate.request("POST", path).header(
            "content-type",
            if path == "/register" {
                "application/json"
            } else {
                "application/x-www-form-urlencoded"
            },
        );
        assert_eq!(
            isolate.send(request.body(vec![b'a'; size]).unwrap()).status,
            413,
            "{path}"
        );
    }
    let long = format!("{}&x={}", client.link(), "a".repeat(8 * 1024));
    assert_eq!(isolate.get(&long).status, 400);
    let many = format!("/authorize?{}", "a=1&".repeat(1000));
    assert_eq!(isolate.get(&many).status, 400);
}

#[test]
fn a83_limits_answer_429_and_never_401() {
    let (isolate, client, tokens) = setup();
    let limit = |limit| isolate.world.limited.replace(vec![limit]);
    limit(Limit::Authorize);
    let page = isolate.get(&client.link());
    assert_eq!((page.status, page.header("retry-after")), (429, "30"));
    limit(Limit::Callback);
    assert_eq!(isolate.get("/callback?state=x").status, 429);
    limit(Limit::Register);
    assert_eq!(isolate.post_json("/register", &json!({})).status, 429);
    // A dead token from an address that sent many of them: neither 401, which would make a client throw it away, nor 503.
    client.revoke(&isolate, &tokens.refresh);
    limit(Limit::Dead);
    let reply = isolate.call("/mcp-compat", &tokens.access);
    assert_eq!((reply.status, reply.header("retry-after")), (429, "5"));
    assert!(!reply.headers.contains_key("www-authenticate"));
}

/// A thousand strangers of every kind: not one operation of the cache, not one question to the vault.
#[test]
fn a86_strangers_cost_no_storage() {
    let (isolate, client, _) = setup();
    let world = &isolate.world;
    let browser = Browser::default();
    let (asks, operations) = (world.asks.get(), world.kv.operations.get());
    let forged = Tokens {
        access: invented("mcpat"),
        refresh: invented("mcprt"),
        expires_in: 0,
    };
    for n in 0..1000 {
        isolate.post_json(
            "/register",
            &json!({"redirect_uris": [format!("https://c{n}.example.com/")]}),
        );
        let page = browser.get(&isolate, &client.link());
        browser.decide(&isolate, &page, "approve");
        browser
            .cookies
            .borrow_mut()
            .retain(|name, _| name.contains("consent"));
        isolate.get("/callback?code=x&state=EBESExQVFhcYGRobHB0eHw.TEiRA7s2usGnpptbFtKT5g");
        client.exchange(&isolate, &invented("mcpac"));
        client.refresh(&isolate, &forged.refresh);
        client.revoke(&isolate, &forged.refresh);
        assert_eq!(isolate.call("/mcp-compat", &forged.access).status, 401);
        world.said.borrow_mut().clear();
    }
    assert_eq!(
        (world.asks.get(), world.kv.operations.get()),
        (asks, operations)
    );
    assert_eq!(world.github.requests.get(), 3);
}

#[test]
fn a86_a_made_up_key_number_asks_the_vault_once_in_a_while() {
    let (isolate, _, _) = setup();
    isolate.world.pass(60);
    let asks = isolate.world.asks.get();
    for _ in 0..100 {
        let reply = isolate.call("/mcp-compat", &invented("mcpat9"));
        assert!(reply.status == 401 || reply.status == 503);
    }
    assert_eq!(isolate.world.asks.get(), asks + 1);
}

#[test]
fn a86_a_dead_token_asks_the_vault_once_in_a_while() {
    let (isolate, client, tokens) = setup();
    client.revoke(&isolate, &tokens.refresh);
    let asks = isolate.world.asks.get();
    for _ in 0..100 {
        assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 401);
    }
    assert_eq!(isolate.world.asks.get(), asks + 1);
    isolate.world.pass(5);
    isolate.call("/mcp-compat", &tokens.access);
    assert_eq!(isolate.world.asks.get(), asks + 2);
}

#[test]
fn a87_a_flow_cookie_of_a_finished_or_foreign_flow() {
    let (isolate, client, _) = setup();
    let browser = Browser::default();
    let link = browser.approve(&isolate, &client);
    let before = browser.cookies.borrow().clone();
    let callback = isolate.world.github.approve(&link, OWNER.0, OWNER.1);
    client.code(&browser.get(&isolate, &callback));
    let grants = isolate.world.count("grants");
    // Replayed with a new code from GitHub: no second grant, after a minute not even an answer.
    *browser.cookies.borrow_mut() = before.clone();
    isolate.world.pass(61);
    let callback = isolate.world.github.approve(&link, OWNER.0, OWNER.1);
    assert_eq!(browser.get(&isolate, &callback).status, 400);
    assert_eq!(isolate.world.count("grants"), grants);
    isolate.world.pass(600);
    let callback = isolate.world.github.approve(&link, OWNER.0, OWNER.1);
    assert_eq!(browser.get(&isolate, &callback).status, 403);
    let elsewhere = World::new().isolate(1);
    Client::register(&elsewhere, CLAUDE);
    assert_eq!(browser.get(&elsewhere, &callback).status, 400);
}

#[test]
fn b09_thousands_of_old_rows_are_cleared_and_cost_nothing() {
    let (isolate, client, tokens) = setup();
    let world = &isolate.world;
    for n in 0..300 {
        client.connect(&isolate);
        assert_eq!(
            world.kv.len(),
            usize::try_from(world.count("access")).unwrap()
        );
        assert!(world.count("grants") <= 200, "{n}");
        assert_eq!(
            world.kv.len(),
            usize::try_from(world.count("access")).unwrap()
        );
        world.said.borrow_mut().clear();
    }
    world.pass(91 * 86_400);
    client
        .refresh(&isolate, &tokens.refresh)
        .is(400, "invalid_grant");
    assert_eq!(world.vault.sweep(&world.fresh()).unwrap(), None);
    for table in ["grants", "access", "retired", "flows"] {
        assert_eq!(world.count(table), 0, "{table}");
    }
}

/// The lines of faults that were written since the last time, by their stage and reason, each under the request's id.
#[track_caller]
fn faults(world: &World, reply: &Reply) -> Vec<String> {
    let events = world.events.take();
    let lines = events.iter().map(sign_in);
    let faults = lines.filter(|line| line.level == Level::Error);
    let request_id = reply.header("x-request-id");
    faults
        .map(|line| {
            let entry: serde_json::Value = serde_json::from_str(&line.text).unwrap();
            assert_eq!(entry["kind"], "error");
            assert_eq!(entry["requestId"], request_id, "{}", line.text);
            format!(
                "{} {}",
                entry["stage"].as_str().unwrap(),
                entry["reason"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn trouble_with_what_is_asked_is_one_line_of_the_log_and_passes() {
    let (isolate, client, tokens) = setup();
    let world = &isolate.world;
    let browser = Browser::default();
    let approved = |flow: &str| world.github.approve(flow, OWNER.0, OWNER.1);

    world.weather.set(Weather::Down);
    let reply = client.refresh(&isolate, &tokens.refresh);
    assert_eq!(faults(world, &reply), ["vault.error unreachable"]);
    world.weather.set(Weather::Fine);
    let next = client.refresh(&isolate, &tokens.refresh);
    assert_eq!(faults(world, &next), [""; 0]);
    let access = Tokens::of(&next).access;

    world.kv.is_down.set(true);
    let reply = world.isolate(2).call("/mcp-compat", &access);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(faults(world, &reply), ["cache.error unreachable"]);
    world.kv.is_down.set(false);
    let reply = world.isolate(3).call("/mcp-compat", &access);
    assert_eq!((reply.status, faults(world, &reply).len()), (200, 0));

    for (mode, status, line) in [
        (Mode::Fails, 503, "oauth.callback github_unavailable"),
        (Mode::TimesOut, 503, "oauth.callback github_unavailable"),
        (
            Mode::WrongCredentials,
            500,
            "oauth.callback github_misconfigured",
        ),
    ] {
        let flow = browser.approve(&isolate, &client);
        world.events.take();
        world.github.mode.set(mode);
        let page = browser.get(&isolate, &approved(&flow));
        assert_eq!(page.status, status, "{mode:?}");
        assert_eq!(faults(world, &page), [line], "{mode:?}");
        world.github.mode.set(Mode::Works);
        let reply = browser.get(&isolate, &approved(&flow));
        assert_eq!(faults(world, &reply), [""; 0], "{mode:?}");
        Tokens::of(&client.exchange(&isolate, &client.code(&reply)));
        world.events.take();
    }
}
