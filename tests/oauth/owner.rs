//! What the owner can see and end.

use durable_thinking::command::https::Https;
use durable_thinking::command::owner::{self, Task};
use durable_thinking::config::Origin;
use http::{Request, Response};
use serde_json::{Value, json};

use crate::browser::{Browser, CLAUDE, Client, Tokens};
use crate::world::{Isolate, OWNER, Reply, STATIC, World};

fn ask(isolate: &Isolate, method: &str, path: &str, body: &Value) -> Reply {
    let request = isolate
        .request(method, &format!("/admin/oauth/{path}"))
        .header("authorization", format!("Bearer {STATIC}"));
    let body = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    isolate.send(request.body(body).unwrap())
}

fn setup() -> (Isolate, Client, Tokens) {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    let tokens = client.connect(&isolate);
    (isolate, client, tokens)
}

#[test]
fn grants_are_listed_without_anything_that_lets_somebody_in() {
    let (isolate, client, tokens) = setup();
    let local = Client::register(&isolate, "http://127.0.0.1:5000/cb");
    isolate.world.pass(7200);
    local.connect(&isolate);
    // A code that nobody redeemed is no access yet.
    Browser::default().sign_in_as(&isolate, &client, OWNER);
    let listed = ask(&isolate, "GET", "grants", &Value::Null);
    let grants = listed.json()["grants"].as_array().unwrap().clone();
    assert_eq!(grants.len(), 2);
    assert_eq!(
        grants[1],
        json!({
            "grant": 1, "clientName": "Claude", "clientHost": null, "redirectOrigin": "https://claude.ai",
            "login": "octocat", "githubId": 583_231, "audience": ["mcp-compat"],
            "created": 1_796_046_300, "lastUsed": 1_796_046_300, "expires": 1_796_046_300 + 90 * 86_400,
        })
    );
    assert_eq!(grants[0]["redirectOrigin"], "http://127.0.0.1");
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    for hidden in ["mcpat_", "mcprt_", "mc1_"] {
        assert!(!listed.body.contains(hidden));
    }
}

#[test]
fn one_grant_or_all_are_ended() {
    let (isolate, client, first) = setup();
    let second = client.connect(&isolate);
    assert_eq!(
        ask(&isolate, "DELETE", "grants/1", &Value::Null).status,
        200
    );
    assert_eq!(isolate.call("/mcp-compat", &first.access).status, 401);
    client
        .refresh(&isolate, &first.refresh)
        .is(400, "invalid_grant");
    assert_eq!(isolate.call("/mcp-compat", &second.access).status, 200);
    assert_eq!(
        ask(&isolate, "DELETE", "grants/1", &Value::Null).status,
        404
    );
    assert_eq!(
        ask(&isolate, "DELETE", "grants/x", &Value::Null).status,
        404
    );
    assert_eq!(
        ask(&isolate, "POST", "revoke-all", &Value::Null).status,
        200
    );
    assert_eq!(isolate.call("/mcp-compat", &second.access).status, 401);
    assert_eq!(isolate.world.kv.len(), 0);
    client.connect(&isolate);
}

#[test]
fn b23_a_rotation_of_the_root_key_ends_nothing_and_a_forgetting_one_everything() {
    let (isolate, client, tokens) = setup();
    let elsewhere = isolate.world.isolate(2);
    assert_eq!(elsewhere.call("/mcp-compat", &tokens.access).status, 200);
    let link = Browser::default();
    let flow = link.approve(&elsewhere, &client);
    isolate.world.pass(10);
    let rotated = ask(&isolate, "POST", "rotate-key", &Value::Null);
    assert_eq!(rotated.json(), json!({"currentKey": 2, "keysKept": 2}));
    // What was sealed before is good everywhere; what is sealed now is good where the new key was never seen.
    let next = Tokens::of(&client.refresh(&isolate, &tokens.refresh));
    assert!(next.access.starts_with("mcpat2_") && next.refresh.starts_with("mcprt2_"));
    assert_eq!(elsewhere.call("/mcp-compat", &next.access).status, 200);
    assert_eq!(elsewhere.call("/mcp-compat", &tokens.access).status, 200);
    let new = Client::register(&isolate, CLAUDE);
    isolate.world.pass(10);
    assert_eq!(isolate.world.isolate(3).get(&new.link()).status, 200);
    let callback = isolate.world.github.approve(&flow, OWNER.0, OWNER.1);
    client.code(&link.get(&isolate, &callback));
    // A chain that crosses the rotation is still walked.
    let walked = Tokens::of(&client.refresh(&elsewhere, &tokens.refresh));
    assert_eq!(
        (walked.refresh, walked.access),
        (next.refresh.clone(), next.access.clone())
    );
    let forgot = ask(&isolate, "POST", "rotate-key", &json!({"forget": true}));
    assert_eq!(forgot.json(), json!({"currentKey": 3, "keysKept": 1}));
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 401);
    client
        .refresh(&isolate, &next.refresh)
        .is(401, "invalid_client");
    let again = Client::register(&isolate, CLAUDE).connect(&isolate);
    assert_eq!(isolate.call("/mcp-compat", &again.access).status, 200);
}

#[test]
fn a_pin_is_cleared_by_the_owner_or_by_a_number() {
    let (isolate, client, _) = setup();
    let moved = ("octocat", 999);
    assert_eq!(
        Browser::default()
            .sign_in_as(&isolate, &client, moved)
            .status,
        403
    );
    let cleared = ask(&isolate, "POST", "clear-pin", &json!({"login": "OctoCat"}));
    assert_eq!(cleared.json(), json!({"changed": true}));
    client.connect_as(&isolate, moved);
    let mut by_number = crate::world::environment();
    by_number.retain(|(name, _)| *name != "ALLOWED_GITHUB_LOGIN");
    by_number.push(("ALLOWED_GITHUB_LOGIN", "id:1234"));
    let after = isolate.world.deploy(1, &by_number);
    client.connect_as(&after, ("octocat", 1234));
}

#[test]
fn a_client_can_be_kept_out() {
    let (isolate, client, tokens) = setup();
    let denied = json!({"clientId": client.id, "denied": true});
    assert_eq!(ask(&isolate, "POST", "clients", &denied).status, 200);
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 401);
    assert_eq!(
        Browser::default()
            .sign_in_as(&isolate, &client, OWNER)
            .status,
        403
    );
    let allowed = json!({"clientId": client.id, "denied": false});
    assert_eq!(
        ask(&isolate, "POST", "clients", &allowed).json(),
        json!({"changed": true})
    );
    client.connect(&isolate);
    assert_eq!(ask(&isolate, "POST", "nonsense", &Value::Null).status, 404);
    assert_eq!(ask(&isolate, "GET", "", &Value::Null).status, 404);
}

impl Https for Isolate {
    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        let reply = Isolate::send(self, request);
        let response = Response::builder().status(reply.status);
        Ok(response.body(reply.body.into_bytes()).unwrap())
    }
}

#[test]
fn the_native_commands_reach_all_of_it() {
    let (isolate, _, tokens) = setup();
    let origin = Origin::parse(crate::world::ORIGIN).unwrap();
    let ask = |task: Task| owner::ask(&origin, STATIC, &task, &isolate);
    assert_eq!(
        ask(Task::Grants).unwrap(),
        "   1  Claude at https://claude.ai, octocat; since 2026-11-30 13:45, last used 2026-11-30 13:45"
    );
    assert_eq!(
        ask(Task::RotateKey { forget: false }).unwrap(),
        "Root key 2 is in use. Older keys still verify."
    );
    let login = "octocat".to_owned();
    let cleared = ask(Task::ClearPin {
        login: login.clone(),
    })
    .unwrap();
    assert_eq!(
        cleared,
        "Whoever signs in as octocat next is taken for octocat."
    );
    assert!(
        ask(Task::ClearPin { login })
            .unwrap()
            .starts_with("No account number")
    );
    assert_eq!(ask(Task::Revoke { grant: 1 }).unwrap(), "Grant 1 is over.");
    assert!(
        ask(Task::Revoke { grant: 1 })
            .unwrap_err()
            .contains("no such grant")
    );
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 401);
    assert_eq!(ask(Task::RevokeAll).unwrap(), "Every grant is over.");
    assert_eq!(ask(Task::Grants).unwrap(), "Nobody has signed in.");
    let refused = owner::ask(&origin, "x", &Task::Grants, &isolate).unwrap_err();
    assert!(refused.contains("does not take this token"));
}

fn think(isolate: &Isolate, token: &str, text: &str) -> Value {
    let thought = json!({"thought": text, "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false});
    let stored = isolate.tool(token, "sequentialthinking", &thought).json();
    stored["result"]["structuredContent"]["sequenceId"].clone()
}

/// Nobody can list sequences; the owner can still free those that nobody was at.
#[test]
fn the_owner_purges_by_age_and_learns_counts_alone() {
    let (isolate, client, _) = setup();
    let purge = |token: &str, body: &Value| {
        let request = isolate
            .request("POST", "/admin/purge")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        isolate.send(request.body(body.to_string().into_bytes()).unwrap())
    };
    let old: Vec<_> = (0..401)
        .map(|_| think(&isolate, STATIC, "forgotten"))
        .collect();
    isolate.world.pass(3 * 86_400);
    let fresh = client.connect(&isolate);
    let young = think(&isolate, &fresh.access, "kept");
    // Nobody but the owner, and no number left out.
    let days = json!({"days": 2});
    assert_eq!(purge(&fresh.access, &days).status, 403);
    assert_eq!(purge("x", &days).status, 401);
    for wrong in [
        json!({}),
        json!({"days": 0}),
        json!({"days": -1}),
        json!({"days": "2"}),
        json!(2),
    ] {
        assert_eq!(purge(STATIC, &wrong).status, 400, "{wrong}");
    }
    let far = purge(STATIC, &json!({"days": u64::MAX}));
    assert_eq!((far.status, &far.json()["sequences"]), (200, &json!(0)));

    let first = purge(STATIC, &days);
    let sealed = "forgotten".len() + 41;
    assert_eq!(
        first.json(),
        json!({"sequences": 200, "thoughts": 200, "bytes": 200 * sealed, "more": true})
    );
    let origin = Origin::parse(crate::world::ORIGIN).unwrap();
    let told = owner::ask(&origin, STATIC, &Task::Purge { days: 2 }, &isolate).unwrap();
    assert_eq!(
        told,
        format!(
            "Deleted: 201 sequences with 201 thoughts, {} bytes of sealed text.",
            201 * sealed
        )
    );
    let history =
        |id: &Value| isolate.tool(STATIC, "get_thought_history", &json!({"sequenceId": id}));
    for id in &old {
        assert!(history(id).body.contains("sequence_not_found"));
    }
    assert!(history(&young).body.contains("kept"));
}

/// What lets people in has nothing to do with what opens a sequence: that is its id alone.
#[test]
fn every_history_outlives_the_token_the_app_and_the_root_key() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    *world.thoughts.borrow_mut() = Some(folder.path().join("thoughts.db"));
    let isolate = world.isolate(1);
    let tokens = Client::register(&isolate, CLAUDE).connect(&isolate);
    let sequence = think(&isolate, &tokens.access, "Kept.");
    assert_eq!(
        ask(&isolate, "POST", "rotate-key", &json!({"forget": true})).status,
        200
    );
    let token = "another-token-0123456789abcdef01234567";
    let rotated = [
        ("MCP_API_TOKEN", token),
        ("PUBLIC_ORIGIN", crate::world::ORIGIN),
        ("GITHUB_CLIENT_ID", "Iv1.another"),
        ("GITHUB_CLIENT_SECRET", "github-secret"),
        ("ALLOWED_GITHUB_LOGIN", "octocat"),
        ("TOKEN_EPOCH", "7"),
    ];
    let after = world.deploy(2, &rotated);
    assert_eq!(after.call("/mcp-compat", STATIC).status, 401);
    assert_eq!(after.call("/mcp-compat", &tokens.access).status, 401);
    let signed_in = Client::register(&after, CLAUDE).connect(&after);
    for token in [token, &signed_in.access] {
        let history = after.tool(
            token,
            "get_thought_history",
            &json!({"sequenceId": sequence}),
        );
        assert!(
            history.status == 200 && history.body.contains("Kept."),
            "{}",
            history.body
        );
    }
}
