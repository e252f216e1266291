//! The sign-in's own storage in workerd: what is done after the answer, what the alarm clears, who is held back.

use std::time::{Duration, Instant};

use e2e::Worker;
use e2e::client::Reply;
use e2e::sign_in::{App, OWNER, Person};
use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(10);
const DAY_MILLISECONDS: i64 = 86_400_000;

fn start(person: &Person) -> Worker {
    let mut worker = person.prepare(&[]);
    worker.wrap_glue("vault.mjs");
    worker.set_module("build/shifted.mjs", "shifted.mjs");
    worker.restart();
    worker
}

/// Waits until what the glue shows at `path` is as wanted. Nothing tells when an alarm has rung.
#[track_caller]
fn wait_for(worker: &Worker, path: &str, wanted: impl Fn(&Value) -> bool) {
    let start = Instant::now();
    loop {
        let shown = worker.get(path).json();
        if wanted(&shown) {
            return;
        }
        assert!(start.elapsed() < TIMEOUT, "{path}: {shown}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn call(worker: &Worker, token: &str, more: &[(&str, &str)]) -> Reply {
    let bearer = format!("Bearer {token}");
    let mut headers = vec![
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    headers.extend(more);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let mut client = worker.client();
    client.send("POST", "/mcp-compat", &headers, ping.as_bytes())
}

#[test]
fn what_is_over_goes_with_the_alarm() {
    let mut person = Person::new();
    let worker = start(&person);
    // A hundred days ago somebody came back from GitHub, and the client never redeemed its code.
    let then = (-100 * DAY_MILLISECONDS).to_string();
    let then = [("x-shift-milliseconds", then.as_str())];
    let app = App::register(&worker, &then);
    let address = person.consent(&app.link(), OWNER, &then);
    assert!(address.contains("code=mcpac_"), "{address}");
    wait_for(&worker, "/rows", |rows| {
        *rows == json!({ "grants": 0, "access": 0, "retired": 0, "flows": 0 })
    });
    // What lives stays, and stays good.
    let tokens = person.sign_in(&worker);
    assert_eq!(
        worker.get("/rows").json(),
        json!({ "grants": 1, "access": 1, "retired": 0, "flows": 1 })
    );
    assert_eq!(call(&worker, &tokens.access, &[]).status, 200);
}

#[test]
fn a81_the_cache_is_filled_after_the_answer_and_outlives_the_vault_and_the_isolate() {
    let mut person = Person::new();
    let mut worker = start(&person);
    let mut app = App::register(&worker, &[]);
    let address = person.consent(&app.link(), OWNER, &[]);
    let tokens = app.redeem(&address);
    wait_for(&worker, "/cached", |keys| *keys == 1);
    // GitHub's own token was given back, too.
    let requests = person.requests(&app.link());
    assert!(
        requests.contains(&"DELETE /api/applications/Iv1.loopback/token".to_owned()),
        "{requests:?}"
    );
    worker.restart();
    let fails = [("x-vault-fails", "yes")];
    let neither = [fails[0], ("x-cache-misses", "yes")];
    assert_eq!(call(&worker, &tokens.access, &neither).status, 503);
    assert_eq!(call(&worker, &tokens.access, &fails).status, 200);
    // What the cache does not have is no answer: neither yes nor no.
    let other = tokens.access.replacen("mcpat_", "mcpat_A", 1);
    let other = &other[..tokens.access.len()];
    assert_eq!(call(&worker, other, &fails).status, 503);

    let mut app = app.again(&worker);
    let revoked = app.post_form("/revoke", &[("token", &tokens.refresh)]);
    assert_eq!(revoked.status, 200, "{}", revoked.text());
    wait_for(&worker, "/cached", |keys| *keys == 0);
    worker.restart();
    assert_eq!(call(&worker, &tokens.access, &fails).status, 503);
    assert_eq!(call(&worker, &tokens.access, &[]).status, 401);
}

/// So many tries from one address are let through, then 429; another address is not held back.
#[track_caller]
fn hold_back(limit: usize, send: impl Fn(&str) -> Reply, passes: u16) {
    for number in 1..=limit {
        let reply = send("192.0.2.1");
        assert_eq!(reply.status, passes, "{number}: {}", reply.text());
    }
    let held = send("192.0.2.1");
    assert_eq!(held.status, 429, "{}", held.text());
    assert!(held.header("retry-after").is_some());
    assert_eq!(send("192.0.2.2").status, passes);
}

#[test]
fn a83_limits_hold_by_the_platforms_binding() {
    let person = Person::new();
    let mut worker = person.prepare(&[]);
    worker.limit();
    worker.restart();
    let send = |method: &str, path: &str, address: &str, body: &[u8]| {
        let headers = [
            ("cf-connecting-ip", address),
            ("content-type", "application/json"),
        ];
        worker.client().send(method, path, &headers, body)
    };
    let body = json!({ "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"] }).to_string();
    hold_back(
        60,
        |address| send("POST", "/register", address, body.as_bytes()),
        201,
    );
    hold_back(60, |address| send("GET", "/authorize", address, b""), 400);
    hold_back(20, |address| send("GET", "/callback", address, b""), 400);
    let log = worker.log().join("\n");
    assert!(!log.contains("no_binding"), "{log}");
}

/// A stranger may name any host for a client's document: what is asked for is counted whoever it is.
#[test]
fn a65_a83_documents_are_limited_for_all_addresses_together() {
    let person = Person::new();
    let mut worker = person.prepare(&[]);
    worker.wrap_glue("alone.mjs");
    worker.limit();
    worker.restart();
    let ask = |number: u32| {
        let client = format!("https%3A%2F%2Fc{number}.example.com%2Fclient.json");
        let address = format!("192.0.2.{number}");
        worker.client().send(
            "GET",
            &format!("/authorize?client_id={client}"),
            &[("cf-connecting-ip", &address)],
            b"",
        )
    };
    for number in 1..=30 {
        assert_eq!(ask(number).status, 503, "{number}");
    }
    let held = ask(31);
    assert_eq!(held.status, 429, "{}", held.text());
    assert!(held.header("retry-after").is_some());
}

/// Each of these costs a question to the vault, so they are counted; they are still told apart from an outage.
#[test]
fn a83_dead_tokens_are_limited_too() {
    let mut person = Person::new();
    let mut worker = person.prepare(&[]);
    worker.wrap_glue("vault.mjs");
    worker.set_module("build/shifted.mjs", "shifted.mjs");
    worker.limit();
    worker.restart();
    let mut app = App::register(&worker, &[]);
    let address = person.consent(&app.link(), OWNER, &[]);
    let mut last = app.redeem(&address);
    let mut given = vec![last.access.clone()];
    for _ in 0..31 {
        last = app.refresh(&last.refresh);
        given.push(last.access.clone());
    }
    assert_eq!(
        app.post_form("/revoke", &[("token", &last.refresh)]).status,
        200
    );
    // All of them, those too that newer ones had pushed out of the vault.
    wait_for(&worker, "/cached", |keys| *keys == 0);
    let replies: Vec<_> = given
        .iter()
        .map(|token| call(&worker, token, &[]))
        .collect();
    let (refused, held) = replies.split_at(30);
    assert!(refused.iter().all(|reply| reply.status == 401));
    for reply in held {
        assert_eq!(reply.status, 429, "{}", reply.text());
        assert!(reply.header("retry-after").is_some());
    }
}

#[test]
fn without_the_binding_nobody_is_held_back_and_the_log_says_so_once() {
    let person = Person::new();
    let mut worker = person.prepare(&[]);
    worker.restart();
    for _ in 0..70 {
        assert_eq!(worker.get("/callback").status, 400);
    }
    let log = worker.log();
    let told = log.iter().filter(|line| line.contains("no_binding"));
    assert_eq!(told.count(), 1, "{log:?}");
}

/// Twenty requests in flight at the same moment: one vault, one transaction each.
#[test]
fn a33_a51_many_at_once_in_the_real_vault() {
    let mut person = Person::new();
    let mut worker = person.prepare(&[]);
    worker.restart();
    let app = App::register(&worker, &[]);
    let at_once = |send: &(dyn Fn(&mut App) -> Reply + Sync)| -> Vec<Reply> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..20)
                .map(|_| {
                    let mut app = app.again(&worker);
                    scope.spawn(move || send(&mut app))
                })
                .collect();
            let replies = threads.into_iter().map(|thread| thread.join().unwrap());
            replies.collect()
        })
    };
    let address = person.consent(&app.link(), OWNER, &[]);
    let replies = at_once(&|app| app.try_redeem(&address));
    let mut given: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    let first = given.pop().expect("one of them").json();
    assert!(given.is_empty(), "a code was good twice");
    assert!(
        replies
            .iter()
            .all(|reply| reply.status == 200 || reply.json()["error"] == "invalid_grant")
    );
    let refresh = first["refresh_token"].as_str().unwrap();
    let replies = at_once(&|app| app.try_refresh(refresh));
    let answers: Vec<_> = replies.iter().map(Reply::json).collect();
    assert!(answers[0]["refresh_token"].is_string(), "{}", answers[0]);
    for name in ["access_token", "refresh_token"] {
        assert!(
            answers
                .iter()
                .all(|answer| answer[name] == answers[0][name]),
            "{answers:?}"
        );
    }
}
