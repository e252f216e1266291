//! `/healthz`: whether this deployment is configured as its owner meant, and with a credential whether its store answers.

use http::{Request, Response};

use crate::auth::{Authorization, Endpoint};
use crate::fresh::Fresh;
use crate::json::{Object, json};
use crate::mcp::Server;
use crate::settings::Problem;
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
    let problems = problems(site);
    let is_deep = request
        .uri()
        .query()
        .is_some_and(|query| query.split('&').any(|pair| pair == "deep=1"));
    let store = if is_deep {
        admit(request, site, surroundings, Endpoint::Any, fresh).await?;
        Some(site.server.is_healthy(fresh).await)
    } else {
        None
    };
    let is_ok = problems.is_empty() && store != Some(false);
    let about = site.server.about();
    let mut body = json!({
        "ok": is_ok,
        "name": about.name,
        "version": about.version,
        "authentication": authentication(site),
        "thoughtRetentionDays": site.config.settings.retention_days,
        "problems": problems,
        "deepChecked": is_deep,
    });
    if let Some(is_there) = store {
        body.put("store", if is_there { "ok" } else { "unreachable" });
    }
    Ok(json_response(if is_ok { 200 } else { 503 }, &body))
}

/// Which ways in are open.
pub(super) fn authentication<S, A: Authorization>(site: &Site<S, A>) -> Object {
    json!({
        "token": site.config.tokens.is_set(),
        "signIn": site.authorization.is_open(),
        "signInMissing": site.config.sign_in.missing,
    })
}

/// What is set wrongly, and what is missing so that nobody could come in.
pub(super) fn problems<S, A: Authorization>(site: &Site<S, A>) -> Vec<Problem> {
    const TOKEN: &str = "MCP_API_TOKEN";
    let config = &site.config;
    let mut problems = config.problems.clone();
    let is_closed = !site.authorization.is_open() && !config.tokens.is_set();
    if is_closed && problems.iter().all(|problem| problem.name != TOKEN) {
        problems.push(Problem {
            name: TOKEN,
            reason: "is not set".to_owned(),
        });
    }
    problems
}
