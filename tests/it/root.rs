//! `/`, the page that an owner sees first.

use crate::support::Router;
use crate::wire::{Http, Reply, Request, TOKEN};

fn get(router: &mut Router, accept: &str) -> Reply {
    router.send(&Request::new("GET", "/").header("Accept", accept))
}

#[test]
fn people_get_a_page_and_machines_get_json() {
    let mut router = Router::with(&[("MCP_API_TOKEN", TOKEN)], "https://mine.workers.dev");
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    let page = get(&mut router, browser);
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("Content-Type"),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(page.header("Vary"), Some("Accept"));
    let policy = page.header("Content-Security-Policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    let text = String::from_utf8(page.body).unwrap();
    assert!(!text.contains("[["), "a marker is left");
    assert!(text.contains("<strong>Ready</strong>"));
    for part in [
        "https://mine.workers.dev/mcp-compat",
        "https://mine.workers.dev/mcp<",
    ] {
        assert!(text.contains(part), "{part}");
    }
    for accept in ["*/*", "application/json"] {
        let json = get(&mut router, accept).json();
        assert_eq!(
            json["endpoints"]["mcpCompat"],
            "https://mine.workers.dev/mcp-compat"
        );
        assert_eq!(json["authentication"]["token"], true);
        assert_eq!(json["problems"].as_array().unwrap().len(), 0);
    }
    assert!(!text.contains(TOKEN), "the page shows the token");
}

#[test]
fn what_is_not_set_up_is_said_with_the_way_to_set_it_up() {
    let secret = "much too short";
    for (environment, name) in [
        (&[][..], "MCP_API_TOKEN"),
        (&[("MCP_API_TOKEN", secret)], "MCP_API_TOKEN"),
        (
            &[("MCP_API_TOKEN", TOKEN), ("LOOP_GUARD", secret)],
            "LOOP_GUARD",
        ),
    ] {
        let mut router = Router::with(environment, "https://mine.workers.dev");
        let text = String::from_utf8(get(&mut router, "text/html").body).unwrap();
        assert!(text.contains("Not set up yet"), "{environment:?}");
        assert!(
            text.contains(&format!("<li><code>{name}</code>")),
            "{environment:?}"
        );
        assert!(!text.contains(secret), "a value is shown");
        let json = get(&mut router, "application/json").json();
        assert_eq!(json["problems"][0]["name"], name);
    }
}
