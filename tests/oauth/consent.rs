//! A01–A16: consent, the browser that gave it, and pages.

use crate::browser::{Browser, CLAUDE, Client, Tokens, form_of, refresh_of};
use crate::github::GitHub;
use crate::world::{Isolate, ORIGIN, OWNER, Reply, World};

fn setup() -> (Isolate, Client) {
    let isolate = World::new().isolate(1);
    let client = Client::register(&isolate, CLAUDE);
    (isolate, client)
}

fn evil(isolate: &Isolate) -> Client {
    Client::register(isolate, "https://evil.test/cb")
}

/// The exploit: the attacker approves his own request in his own browser and sends the link that leads on to the owner,
/// whom GitHub passes through without a question.
#[test]
fn a01_ws1_a_consent_of_another_browser_gives_nothing() {
    let (isolate, _) = setup();
    let attacker = evil(&isolate);
    let (x, y) = (Browser::default(), Browser::default());
    let link = x.approve(&isolate, &attacker);
    let callback = isolate.world.github.approve(&link, OWNER.0, OWNER.1);
    let github_before = isolate.world.github.requests.get();
    let reply = y.get(&isolate, &callback);
    assert_eq!(reply.status, 403);
    assert!(!reply.headers.contains_key("location") && !reply.body.contains("mcpac_"));
    assert_eq!(isolate.world.github.requests.get(), github_before);
    assert_eq!(isolate.world.count("grants"), 0);
    assert_eq!(isolate.world.reasons("oauth.callback"), ["unbound_browser"]);
    // The owner's own browser with consent cookies of other visits does not help the attacker.
    y.get(&isolate, &attacker.link());
    assert_eq!(y.get(&isolate, &callback).status, 403);
    // And the flow of the browser that did approve is untouched.
    assert_eq!(x.get(&isolate, &callback).status, 303);
}

/// The same from a script, which is no browser: there is not even a link to send.
#[test]
fn ws1_a_script_cannot_approve() {
    let (isolate, _) = setup();
    let attacker = evil(&isolate);
    let script = Browser::default();
    let page = script.get(&isolate, &attacker.link());
    let reply = script.post(&isolate, &form_of(&page, "approve"), &[]);
    assert_eq!(reply.status, 403);
    assert!(!reply.body.contains("github.com"));
}

#[test]
fn a02_a_copied_state_with_the_cookie_of_another_flow() {
    let (isolate, client) = setup();
    let (x, y) = (Browser::default(), Browser::default());
    let first = x.approve(&isolate, &client);
    y.approve(&isolate, &client);
    let callback = isolate.world.github.approve(&first, OWNER.0, OWNER.1);
    // Its own flow's cookie does not fit, not even under the name that is asked for.
    assert_eq!(y.get(&isolate, &callback).status, 403);
    let name = {
        let cookies = x.cookies.borrow();
        cookies
            .keys()
            .find(|name| name.contains("mcpf"))
            .unwrap()
            .clone()
    };
    let value = {
        let cookies = y.cookies.borrow();
        let found = cookies.iter().find(|(name, _)| name.contains("mcpf"));
        found.unwrap().1.clone()
    };
    y.cookies.borrow_mut().insert(name, value);
    assert_eq!(y.get(&isolate, &callback).status, 403);
}

#[test]
fn a03_the_consent_cookie_alone_is_nothing_and_no_flow_cookie_comes_before_approval() {
    let (isolate, client) = setup();
    let (x, y) = (Browser::default(), Browser::default());
    let page = y.get(&isolate, &client.link());
    assert!(page.header("set-cookie").starts_with("__Host-mcp_consent="));
    assert_eq!(page.headers.get_all("set-cookie").iter().count(), 1);
    let denied = y.decide(&isolate, &page, "deny");
    assert!(!denied.headers.contains_key("set-cookie"));
    let link = x.approve(&isolate, &client);
    let callback = isolate.world.github.approve(&link, OWNER.0, OWNER.1);
    assert_eq!(y.get(&isolate, &callback).status, 403);
}

#[test]
fn a04_the_person_is_asked_every_time() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let reply = browser.sign_in_as(&isolate, &client, OWNER);
    Tokens::of(&client.exchange(&isolate, &client.code(&reply)));
    let again = browser.get(&isolate, &client.link());
    assert!(again.status == 200 && again.body.contains("name=\"decision\" value=\"approve\""));
    let silent = browser.get(&isolate, &client.link_with(&[("prompt", "none")]));
    assert_eq!(silent.status, 303);
    assert!(
        silent
            .header("location")
            .contains("error=interaction_required")
    );
    assert!(!silent.header("location").contains("code="));
}

#[test]
fn a05_b13_a_form_from_elsewhere_is_refused() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let page = browser.get(&isolate, &client.link());
    let body = form_of(&page, "approve");
    for headers in [
        vec![],
        vec![("origin", "https://evil.test")],
        vec![
            ("origin", "https://evil.test"),
            ("sec-fetch-site", "same-origin"),
        ],
        vec![("origin", "null")],
        vec![("origin", "null"), ("sec-fetch-site", "cross-site")],
        vec![("origin", ORIGIN), ("sec-fetch-site", "cross-site")],
        vec![("origin", ORIGIN), ("sec-fetch-site", "same-site")],
        vec![("sec-fetch-site", "none")],
        vec![("sec-fetch-site", "same-site")],
        vec![
            ("origin", "http://mcp.example.org"),
            ("sec-fetch-site", "same-origin"),
        ],
    ] {
        let reply = browser.post(&isolate, &body, &headers);
        assert_eq!(reply.status, 403, "{headers:?}");
        assert!(!reply.headers.contains_key("set-cookie"));
    }
    for headers in [
        vec![("origin", ORIGIN)],
        vec![("origin", "null"), ("sec-fetch-site", "same-origin")],
        vec![("sec-fetch-site", "same-origin")],
    ] {
        assert_eq!(browser.post(&isolate, &body, &headers).status, 200);
    }
}

#[test]
fn a06_a_consent_token_is_good_for_one_browser_request_and_moment() {
    let (isolate, client) = setup();
    let (x, y) = (Browser::default(), Browser::default());
    let page = x.get(&isolate, &client.link());
    y.get(&isolate, &client.link());
    let headers = [("origin", ORIGIN), ("sec-fetch-site", "same-origin")];
    let refused = |browser: &Browser, body: &str| {
        let reply = browser.post(&isolate, body, &headers);
        assert!(
            reply.status == 403 || reply.status == 400,
            "{}",
            reply.status
        );
        assert!(!reply.body.contains("login/oauth"));
    };
    let body = form_of(&page, "approve");
    refused(&y, &body);
    let other = form_of(
        &x.get(&isolate, &client.link_with(&[("state", "other")])),
        "approve",
    );
    let token = |body: &str| {
        crate::browser::parse(body)
            .one("csrf")
            .unwrap()
            .unwrap()
            .to_owned()
    };
    refused(&x, &body.replace(&token(&body), &token(&other)));
    refused(&x, &body.replace(&token(&body), &token(&body)[..30]));
    let link = x.approve(&isolate, &client);
    let state = crate::github::query(&link)
        .one("state")
        .unwrap()
        .unwrap()
        .to_owned();
    refused(&x, &body.replace(&token(&body), &state));
    refused(&x, &body.replace("decision=approve", "decision=yes"));
    refused(&x, &format!("{body}&decision=approve"));
    refused(&x, "decision=approve");
    x.cookies.borrow_mut().remove("__Host-mcp_consent");
    refused(&x, &body);
    let page = x.get(&isolate, &client.link());
    isolate.world.pass(600);
    refused(&x, &form_of(&page, "approve"));
}

#[test]
fn a07_a16_b12_every_page_has_the_headers_that_keep_it_whole() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let consent = browser.get(&isolate, &client.link());
    let onward = browser.decide(&isolate, &consent, "approve");
    let error = browser.get(&isolate, "/authorize?client_id=x");
    let stray = browser.get(&isolate, "/callback");
    for page in [&consent, &onward, &error, &stray] {
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(policy.contains("base-uri 'none'") && !policy.contains("unsafe-inline"));
        assert_eq!(page.header("x-frame-options"), "DENY");
        assert_eq!(page.header("cache-control"), "no-store");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("x-robots-tag"), "noindex");
        assert!(!page.headers.contains_key("cross-origin-opener-policy"));
        assert!(!page.headers.contains_key("access-control-allow-origin"));
        for fetched in ["<script", "<link", " src=", "@import", "url("] {
            assert!(!page.body.contains(fetched));
        }
    }
    assert!(
        consent
            .header("content-security-policy")
            .contains("form-action 'self' https://github.com;")
    );
    // With no-referrer, Chromium would send `Origin: null` with the form.
    assert_eq!(consent.header("referrer-policy"), "same-origin");
    assert_eq!(onward.header("referrer-policy"), "no-referrer");
    assert_eq!(onward.status, 200);
}

#[test]
fn a08_a10_the_page_shows_where_access_really_goes() {
    let (isolate, _) = setup();
    for (redirect, shown) in [
        ("https://claude.ai.evil.test/", "claude.ai.evil.test"),
        ("https://evil.test/claude.ai", "evil.test"),
        ("https://xn--lude-7cd.ai/cb", "xn--lude-7cd.ai"),
    ] {
        let client = Client::register(&isolate, redirect);
        let page = Browser::default().get(&isolate, &client.link());
        assert!(
            page.body.contains(&format!("<strong>{shown}</strong>")),
            "{redirect}"
        );
        assert!(page.body.contains("class=\"warn\""));
    }
    let named = Client::register_with(
        &isolate,
        &serde_json::json!({
            "client_name": "<img src=x>\u{202e} Claude",
            "redirect_uris": ["https://evil.test/cb"],
        }),
    );
    let page = Browser::default().get(&isolate, &named.link());
    assert!(page.body.contains("&lt;img src=x&gt; Claude") && !page.body.contains("<img"));
    assert!(page.body.contains("<strong>evil.test</strong>"));
}

#[test]
fn a11_b15_two_sign_ins_in_one_browser_finish_in_either_order() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let (first, second) = (
        browser.approve(&isolate, &client),
        browser.approve(&isolate, &client),
    );
    let finish = |link: &str| {
        let callback = isolate.world.github.approve(link, OWNER.0, OWNER.1);
        let code = client.code(&browser.get(&isolate, &callback));
        Tokens::of(&client.exchange(&isolate, &code))
    };
    let (late, early) = (finish(&second), finish(&first));
    assert_ne!(late.access, early.access);
    assert_eq!(isolate.world.count("grants"), 2);
}

#[test]
fn a12_double_clicks_and_reloads_are_harmless() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let page = browser.get(&isolate, &client.link());
    // Twice on Allow: two flows, each of which works.
    let first = refresh_of(&browser.decide(&isolate, &page, "approve"));
    let second = refresh_of(&browser.decide(&isolate, &page, "approve"));
    assert_ne!(first, second);
    let callback = isolate.world.github.approve(&second, OWNER.0, OWNER.1);
    let reply = browser.get(&isolate, &callback);
    let code = client.code(&reply);
    isolate.world.pass(59);
    let again = browser.get(&isolate, &callback);
    assert_eq!(again.header("location"), reply.header("location"));
    isolate.world.pass(2);
    let late = browser.get(&isolate, &callback);
    assert!(late.status == 403 || late.status == 400);
    assert_eq!(isolate.world.count("grants"), 1);
    Tokens::of(&client.exchange(&isolate, &code));
}

#[test]
fn a13_looking_ahead_uses_nothing_up() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let link = browser.approve(&isolate, &client);
    let callback = isolate.world.github.approve(&link, OWNER.0, OWNER.1);
    let send = |method: &str, purpose: Option<&str>| -> Reply {
        let mut request = isolate
            .request(method, &callback)
            .header("cookie", browser.cookie_header());
        if let Some(purpose) = purpose {
            request = request.header("sec-purpose", purpose);
        }
        isolate.send(request.body(Vec::new()).unwrap())
    };
    assert_eq!(send("HEAD", None).status, 405);
    assert_eq!(send("GET", Some("prefetch;prerender")).status, 503);
    assert_eq!(isolate.world.github.requests.get(), 0);
    let head = isolate.request("HEAD", &client.link());
    let head = isolate.send(head.body(Vec::new()).unwrap());
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(browser.get(&isolate, &callback).status, 303);
}

#[test]
fn a14_a15_cookies_are_exact_and_a_planted_second_one_is_refused() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    // `Browser` checks the attributes of every cookie that it is given.
    let link = browser.approve(&isolate, &client);
    let callback = isolate.world.github.approve(&link, OWNER.0, OWNER.1);
    let cookies = browser.cookie_header();
    for planted in [
        format!("{cookies}; {cookies}"),
        format!(
            "{cookies}; {}x",
            cookies.split("; ").find(|it| it.contains("mcpf")).unwrap()
        ),
        cookies.replace('.', ".."),
        cookies.replace("mcpf_", "mcpf-"),
        "x".repeat(20_000),
    ] {
        let request = isolate.request("GET", &callback).header("cookie", planted);
        let reply = isolate.send(request.body(Vec::new()).unwrap());
        assert_eq!(reply.status, 403);
    }
    assert_eq!(isolate.world.github.requests.get(), 0);
    assert_eq!(browser.get(&isolate, &callback).status, 303);
}

#[test]
fn cancel_and_denial_at_github_reach_the_client() {
    let (isolate, client) = setup();
    let browser = Browser::default();
    let page = browser.get(&isolate, &client.link());
    let cancel = browser.decide(&isolate, &page, "deny");
    assert_eq!(cancel.status, 200);
    let answer = refresh_of(&cancel);
    assert!(answer.starts_with(CLAUDE) && answer.contains("error=access_denied"));
    assert!(answer.ends_with("&state=st%26te%3D1+x&iss=https%3A%2F%2Fmcp.example.org"));
    for (error, told) in [
        ("access_denied", "error=access_denied"),
        ("application_suspended", "error=server_error"),
    ] {
        let link = browser.approve(&isolate, &client);
        let reply = browser.get(&isolate, &GitHub::deny(&link, error));
        assert_eq!(reply.status, 303);
        assert!(reply.header("location").contains(told));
        assert!(reply.header("location").contains("&iss="));
    }
    assert_eq!(isolate.world.count("grants"), 0);
    // Without a state from the client there is none in the answer, not even an empty one.
    let stateless = client.link_with(&[("state", "")]);
    let page = browser.get(&isolate, &stateless);
    let answer = refresh_of(&browser.decide(&isolate, &page, "deny"));
    assert!(!answer.contains("state="));
}

#[test]
fn a_stranger_is_told_and_so_is_the_client() {
    let (isolate, client) = setup();
    let reply = Browser::default().sign_in_as(&isolate, &client, ("mallory", 666));
    assert_eq!(reply.status, 403);
    assert!(reply.body.contains("error=access_denied") && !reply.body.contains("octocat"));
    assert!(!reply.headers.contains_key("location"));
    assert_eq!(isolate.world.github.discarded.get(), 1);
    // The login's first number is pinned: whoever takes the name over later is somebody else.
    client.connect(&isolate);
    let thief = Browser::default().sign_in_as(&isolate, &client, ("OctoCat", 777));
    assert_eq!(thief.status, 403);
    assert_eq!(
        isolate.world.reasons("oauth.callback").last(),
        Some(&"other_number")
    );
}

#[test]
fn wc13_a_long_state_is_refused_at_once_and_a_fair_one_comes_back() {
    let (isolate, mut client) = setup();
    client.state = "\u{e9}".repeat(750);
    client.connect(&isolate);
    client.state = "s".repeat(1501);
    let page = Browser::default().get(&isolate, &client.link());
    assert_eq!(page.status, 400);
}
