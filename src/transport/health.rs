//! `/healthz`: whether this deployment is configured as its owner meant, and with a credential whether its store answers.

use http::{Request, Response};
use serde_json::{Value, json};

use crate::auth::{Authorization, Endpoint};
use crate::fresh::Fresh;
use crate::mcp::Server;
use crate::transport::Body;
use crate::transport::headers::Surroundings;
use crate::transport::http::{Site, admit};
use crate::transport::status::{Error, json_response};

/// Answers 200 when all is well, otherwise 503 with the reasons. No value of a setting is shown.
pub(super) async fn report<S: Server, A: Authorization>(
    request: &Request<Vec<u8>>,
    site: &Site<S, A>,
    surroundings: &Surroundings,
    fresh: &Fresh,
) -> Result<Response<Body>, Error> {
    let config = &site.config;
    let mut problems: Vec<Value> = config
        .problems
        .iter()
        .map(|problem| json!(problem))
        .collect();
    let is_open = site.authorization.is_open();
    if !is_open
        && !config.tokens.is_set()
        && config.problems.iter().all(|it| it.name != "MCP_API_TOKEN")
    {
        problems.push(json!({ "name": "MCP_API_TOKEN", "reason": "is not set" }));
    }
    let is_deep = request
        .uri()
        .query()
        .is_some_and(|query| query.split('&').any(|pair| pair == "deep=1"));
    let store = if is_deep {
        admit(request, site, surroundings, Endpoint::Any, fresh).await?;
        Some(site.server.is_healthy().await)
    } else {
        None
    };
    let is_ok = problems.is_empty() && store != Some(false);
    let about = site.server.about();
    let mut body = json!({
        "ok": is_ok,
        "name": about.name,
        "version": about.version,
        "authentication": { "token": config.tokens.is_set(), "signIn": is_open },
        "thoughtRetentionDays": config.settings.retention_days,
        "problems": problems,
        "deepChecked": is_deep,
    });
    if let (Some(store), Some(members)) = (store, body.as_object_mut()) {
        let state = if store { "ok" } else { "unreachable" };
        members.insert("store".to_owned(), state.into());
    }
    Ok(json_response(if is_ok { 200 } else { 503 }, &body))
}
