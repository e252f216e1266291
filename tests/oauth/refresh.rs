//! A50–A60: refresh, revocation, and what ends everything.

use serde_json::json;

use crate::browser::{Browser, CLAUDE, Client, Tokens, basic};
use crate::world::{Isolate, World, environment};

fn setup() -> (Isolate, Client, Tokens) {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    let tokens = client.connect(&isolate);
    (isolate, client, tokens)
}

#[test]
fn a50_a_token_used_again_after_the_grace_ends_the_grant() {
    let (isolate, client, first) = setup();
    let next = Tokens::of(&client.refresh(&isolate, &first.refresh));
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 200);
    isolate.world.pass(1801);
    client
        .refresh(&isolate, &first.refresh)
        .is(400, "invalid_grant");
    isolate.world.pass(1);
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 401);
    client
        .refresh(&isolate, &next.refresh)
        .is(400, "invalid_grant");
    assert!(
        isolate
            .world
            .reasons("oauth.grant.refused")
            .contains(&"refresh_reused")
    );
    assert_eq!(isolate.world.kv.len(), 0);
}

#[test]
fn a51_b28_b29_many_at_once_get_the_same_tokens() {
    let (isolate, client, first) = setup();
    let all: Vec<_> = (0..20)
        .map(|_| Tokens::of(&client.refresh(&isolate, &first.refresh)))
        .collect();
    assert!(all.iter().all(|tokens| *tokens == all[0]));
    assert_ne!(all[0].refresh, first.refresh);
    assert_eq!(isolate.world.count("retired"), 1);
    assert_eq!(isolate.call("/mcp-compat", &all[0].access).status, 200);
}

#[test]
fn a52_b27_a_sibling_that_comes_late_gets_the_head() {
    let (isolate, client, r0) = setup();
    let r1 = Tokens::of(&client.refresh(&isolate, &r0.refresh));
    isolate.world.pass(300);
    assert_eq!(
        Tokens::of(&client.refresh(&isolate, &r0.refresh)).refresh,
        r1.refresh
    );
    isolate.world.pass(60);
    let r2 = Tokens::of(&client.refresh(&isolate, &r1.refresh));
    isolate.world.pass(60);
    let late = Tokens::of(&client.refresh(&isolate, &r0.refresh));
    assert_eq!((&late.refresh, &late.access), (&r2.refresh, &r2.access));
    isolate.world.pass(1381);
    client
        .refresh(&isolate, &r0.refresh)
        .is(400, "invalid_grant");
    client
        .refresh(&isolate, &r2.refresh)
        .is(400, "invalid_grant");
}

/// Six processes on one credential file: five uses within a second, one 7 minutes 45 seconds later.
#[test]
fn b27_the_logged_timeline_of_a_real_client() {
    let (isolate, client, first) = setup();
    let mut heads = Vec::new();
    for _ in 0..5 {
        heads.push(Tokens::of(&client.refresh(&isolate, &first.refresh)).refresh);
    }
    isolate.world.pass(465);
    heads.push(Tokens::of(&client.refresh(&isolate, &first.refresh)).refresh);
    heads.dedup();
    assert_eq!(heads.len(), 1);
    assert_ne!(
        Tokens::of(&client.refresh(&isolate, &heads[0])).refresh,
        heads[0]
    );
}

#[test]
fn a53_what_is_forgotten_is_only_unknown() {
    let (isolate, client, first) = setup();
    let mut head = first.clone();
    for _ in 0..9 {
        head = Tokens::of(&client.refresh(&isolate, &head.refresh));
    }
    client
        .refresh(&isolate, &first.refresh)
        .is(400, "invalid_grant");
    assert_eq!(isolate.call("/mcp-compat", &head.access).status, 200);
    Tokens::of(&client.refresh(&isolate, &head.refresh));
    assert!(isolate.world.count("retired") <= 8);
}

#[test]
fn a_walk_of_eight_steps_reaches_the_head() {
    let (isolate, client, first) = setup();
    let mut head = first.clone();
    for _ in 0..8 {
        head = Tokens::of(&client.refresh(&isolate, &head.refresh));
    }
    let walked = Tokens::of(&client.refresh(&isolate, &first.refresh));
    assert_eq!((walked.refresh, walked.access), (head.refresh, head.access));
}

#[test]
fn a_walk_near_the_end_of_an_access_token_brings_a_fresh_one() {
    let mut environment = environment();
    environment.push(("REFRESH_GRACE_SECONDS", "86400"));
    let isolate = World::new().deploy(1, &environment);
    let client = Client::register(&isolate, CLAUDE);
    let first = client.connect(&isolate);
    let next = Tokens::of(&client.refresh(&isolate, &first.refresh));
    isolate.world.pass(8 * 3600 - 300);
    let walked = Tokens::of(&client.refresh(&isolate, &first.refresh));
    assert_eq!(walked.refresh, next.refresh);
    assert_ne!(walked.access, next.access);
    assert_eq!(walked.expires_in, 8 * 3600);
    assert_eq!(isolate.call("/mcp-compat", &walked.access).status, 200);
}

#[test]
fn a54_another_client_and_a_wrong_secret_change_nothing() {
    let isolate = World::new().isolate(1);
    let client = Client::register_with(
        &isolate,
        &json!({"redirect_uris": [CLAUDE], "token_endpoint_auth_method": "client_secret_post"}),
    );
    let other = Client::register(&isolate, CLAUDE);
    let tokens = client.connect(&isolate);
    other
        .refresh(&isolate, &tokens.refresh)
        .is(400, "invalid_grant");
    client
        .refresh_with(
            &isolate,
            &tokens.refresh,
            &[("client_secret", "mcs1_wrong")],
        )
        .is(401, "invalid_client");
    client
        .refresh_with(&isolate, &tokens.refresh, &[("client_secret", "")])
        .is(401, "invalid_client");
    assert_eq!(isolate.world.count("retired"), 0);
    Tokens::of(&client.refresh(&isolate, &tokens.refresh));
}

#[test]
fn a55_b24_scopes_neither_grow_nor_refuse() {
    let (isolate, client, tokens) = setup();
    let page = Browser::default().get(&isolate, &client.link_with(&[("scope", " admin\tmcp  ")]));
    assert_eq!(page.status, 200);
    // `Tokens::of` checks that the scope is `mcp`.
    Tokens::of(&client.refresh_with(
        &isolate,
        &tokens.refresh,
        &[("scope", " admin mcp offline_access")],
    ));
}

#[test]
fn a56_a_refresh_cannot_reach_further_than_its_grant() {
    let (isolate, client, tokens) = setup();
    client
        .refresh_with(
            &isolate,
            &tokens.refresh,
            &[("resource", "https://mcp.example.org/mcp")],
        )
        .is(400, "invalid_target");
    client
        .refresh_with(
            &isolate,
            &tokens.refresh,
            &[("resource", "https://mcp.example.org")],
        )
        .is(400, "invalid_target");
    assert_eq!(isolate.world.count("retired"), 0);
    let whole = Client {
        resource: None,
        ..client
    };
    let tokens = whole.connect(&isolate);
    let narrow = [("resource", "https://mcp.example.org/mcp")];
    let next = Tokens::of(&whole.refresh_with(&isolate, &tokens.refresh, &narrow));
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 401);
    assert_ne!(isolate.call("/mcp", &next.access).status, 401);
    // The narrow one was for that token only.
    let walked = Tokens::of(&whole.refresh(&isolate, &tokens.refresh));
    assert_eq!(walked.refresh, next.refresh);
    assert_eq!(isolate.call("/mcp-compat", &walked.access).status, 200);
    let again = Tokens::of(&whole.refresh_with(&isolate, &tokens.refresh, &narrow));
    assert_eq!(again.access, next.access);
}

/// The vault decides it, whatever the Worker has looked at before.
#[test]
fn a56_the_vault_mints_nothing_beyond_a_grant() {
    use durable_thinking::oauth::audience::{Audience, Resource};
    use durable_thinking::oauth::vault::message::{Answer, Ask, Bytes};
    let (isolate, _, tokens) = setup();
    let mint = |resource| Ask::MintAccess {
        head: Bytes(durable_thinking::oauth::spelling::hash(&tokens.refresh)),
        audience: Some(Audience::only(resource)),
        access: Bytes([9; 32]),
    };
    let world = &isolate.world;
    let answer = |ask: &Ask| world.vault.answer(ask, &world.fresh()).unwrap();
    assert_eq!(answer(&mint(Resource::Mcp)), Answer::InvalidTarget);
    let Answer::Issued { audience, .. } = answer(&mint(Resource::McpCompat)) else {
        panic!("its own resource")
    };
    assert_eq!(audience, Audience::only(Resource::McpCompat));
}

#[test]
fn a57_b07_revocation_is_for_the_client_itself() {
    let (isolate, client, tokens) = setup();
    let other = Client::register(&isolate, CLAUDE);
    assert_eq!(other.revoke(&isolate, &tokens.refresh).status, 200);
    assert_eq!(other.revoke(&isolate, &tokens.access).status, 200);
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    let next = Tokens::of(&client.refresh(&isolate, &tokens.refresh));
    assert_eq!(client.revoke(&isolate, &tokens.access).status, 200);
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 401);
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 200);
    // A retired refresh token still means its whole grant.
    assert_eq!(client.revoke(&isolate, &tokens.refresh).status, 200);
    assert_eq!(isolate.call("/mcp-compat", &next.access).status, 401);
    client
        .refresh(&isolate, &next.refresh)
        .is(400, "invalid_grant");
    assert_eq!(client.revoke(&isolate, "nonsense").status, 200);
    assert_eq!(
        client
            .revoke(&isolate, &crate::browser::invented("mcprt"))
            .status,
        200
    );
    isolate
        .post_form("/revoke", &[("client_id", &client.id)])
        .is(400, "invalid_request");
    isolate
        .post_form("/revoke", &[("token", "x"), ("client_id", "mc1_x")])
        .is(401, "invalid_client");
}

/// The vault keeps ten access tokens of a grant. What it drops must not live on in the cache, where no revocation would
/// find it: whoever held a refresh token for a minute could have stocked up.
#[test]
fn a57_b10_a_token_that_newer_ones_pushed_out_is_dead_everywhere() {
    let (isolate, client, first) = setup();
    let mut head = first.clone();
    for _ in 0..12 {
        head = Tokens::of(&client.refresh(&isolate, &head.refresh));
    }
    assert_eq!(
        (isolate.world.count("access"), isolate.world.kv.len()),
        (10, 10)
    );
    let elsewhere = isolate.world.isolate(2);
    assert_eq!(elsewhere.call("/mcp-compat", &first.access).status, 401);
    assert_eq!(client.revoke(&isolate, &head.refresh).status, 200);
    assert_eq!(isolate.world.kv.len(), 0);
}

#[test]
fn a58_b08_a_second_sign_in_leaves_the_first_one_alone() {
    let (isolate, client, first) = setup();
    let second = client.connect(&isolate);
    assert_eq!(isolate.call("/mcp-compat", &first.access).status, 200);
    assert_eq!(isolate.call("/mcp-compat", &second.access).status, 200);
    Tokens::of(&client.refresh(&isolate, &first.refresh));
}

#[test]
fn a59_ws3_removal_from_the_list_ends_access_at_once() {
    let (isolate, client, tokens) = setup();
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    let mut others = environment();
    others.retain(|(name, _)| *name != "ALLOWED_GITHUB_LOGIN");
    others.push(("ALLOWED_GITHUB_LOGIN", "hubot"));
    let after = isolate.world.deploy(1, &others);
    assert_eq!(after.call("/mcp-compat", &tokens.access).status, 401);
    client
        .refresh(&after, &tokens.refresh)
        .is(400, "invalid_grant");
    // Back on the list, by number.
    others.pop();
    others.push(("ALLOWED_GITHUB_LOGIN", "id:583231"));
    let back = isolate.world.deploy(1, &others);
    assert_eq!(back.call("/mcp-compat", &tokens.access).status, 200);
}

#[test]
fn a60_b10_an_epoch_ends_everything_whatever_is_cached() {
    let (isolate, client, tokens) = setup();
    assert_eq!(isolate.call("/mcp-compat", &tokens.access).status, 200);
    let mut later = environment();
    later.push(("TOKEN_EPOCH", "1"));
    let after = isolate.world.deploy(1, &later);
    assert!(isolate.world.kv.len() > 0, "the cache still knows it");
    assert_eq!(after.call("/mcp-compat", &tokens.access).status, 401);
    client
        .refresh(&after, &tokens.refresh)
        .is(400, "invalid_grant");
    assert_eq!(
        after
            .call("/mcp-compat", &client.connect(&after).access)
            .status,
        200
    );
}

#[test]
fn b39_every_way_to_bring_a_secret() {
    let isolate = World::new().isolate(1);
    for method in ["client_secret_post", "client_secret_basic"] {
        let client = Client::register_with(
            &isolate,
            &json!({"redirect_uris": [CLAUDE], "token_endpoint_auth_method": method}),
        );
        let secret = client.secret.clone().unwrap();
        let mut tokens = client.connect(&isolate);
        let encoded = basic(&client.id.replace('_', "%5F"), &secret.replace('-', "%2D"));
        for (value, fields) in [
            (Some(basic(&client.id, &secret)), vec![]),
            (Some(encoded), vec![]),
            (
                Some(basic(&client.id, &secret)),
                vec![("client_id", client.id.as_str())],
            ),
            (
                Some(basic(&client.id, &secret)),
                vec![
                    ("client_id", client.id.as_str()),
                    ("client_secret", secret.as_str()),
                ],
            ),
            (
                None,
                vec![
                    ("client_id", client.id.as_str()),
                    ("client_secret", secret.as_str()),
                ],
            ),
        ] {
            let mut all = vec![
                ("grant_type", "refresh_token"),
                ("refresh_token", tokens.refresh.as_str()),
            ];
            all.extend(fields);
            let next = Tokens::of(&isolate.post_form_as("/token", &all, value.as_deref()));
            tokens = next;
        }
        let other = Client::register(&isolate, CLAUDE);
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh.as_str()),
            ("client_id", other.id.as_str()),
        ];
        let mixed = isolate.post_form_as("/token", &fields, Some(&basic(&client.id, &secret)));
        mixed.is(400, "invalid_request");
        let wrong = isolate.post_form_as("/token", &fields[..2], Some(&basic(&client.id, "x")));
        wrong.is(401, "invalid_client");
        assert_eq!(wrong.header("www-authenticate"), "Basic realm=\"token\"");
    }
}
