//! What anybody can see: health, the page, whom browsers may let call, and the answer to those without a credential.

use serde_json::{Value, json};

use crate::command::doctor::Verdict;
use crate::command::doctor::patient::{Patient, require, wrong};

const UPDATE: &str = "deploy the newest release; if that does not help, report it as a fault";
/// The hosted client whose pages call by default.
const HOSTED: &str = "https://claude.ai";
const STRANGER: &str = "https://doctor.invalid";

pub(super) fn health(patient: &Patient<'_>) -> Verdict {
    let health = patient.health.json();
    let problems = health.get("problems").and_then(Value::as_array);
    if let Some(problem) = problems.and_then(|problems| problems.first()) {
        let part = |name| problem.get(name).and_then(Value::as_str).unwrap_or("?");
        let all: Vec<_> = problems
            .into_iter()
            .flatten()
            .filter_map(|problem| problem.get("name")?.as_str())
            .collect();
        return Err(wrong(
            format!("{} {}", part("name"), part("reason")),
            format!(
                "set {} under Settings, Variables and Secrets of the Worker, or with `npx wrangler secret put NAME`; {}/ says how",
                all.join(", "),
                patient.origin
            ),
        ));
    }
    require(
        patient.health.status == 200,
        || format!("/healthz answers {}", patient.health.status),
        UPDATE,
    )?;
    let version = health.get("version").and_then(Value::as_str).unwrap_or("?");
    Ok(format!("version {version}, nothing is missing"))
}

pub(super) fn page(patient: &Patient<'_>) -> Verdict {
    let page = patient.get("/", &[("accept", "text/html")])?;
    let policy = page.header("content-security-policy");
    require(
        page.status == 200 && page.text().contains("/mcp-compat"),
        || format!("/ answers {}, without the addresses", page.status),
        "nothing but the Worker may answer at /: look for a route, a redirect rule or a page of the domain's",
    )?;
    require(
        policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
        || "the page has no strict Content-Security-Policy".to_owned(),
        "a rule of the domain's replaces the header: take it out for this host",
    )?;
    Ok("shows the addresses, runs nothing".to_owned())
}

pub(super) fn cors(patient: &Patient<'_>) -> Verdict {
    let preflight = |origin: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            (
                "access-control-request-headers",
                "authorization,content-type",
            ),
        ];
        patient.send("OPTIONS", "/mcp-compat", &headers, Vec::new())
    };
    let stranger = preflight(STRANGER)?;
    require(
        stranger.header("access-control-allow-origin").is_empty(),
        || "pages of any site may read answers".to_owned(),
        "a rule of the domain's adds Access-Control-Allow-Origin, or ALLOWED_ORIGIN_HOSTNAMES is too wide",
    )?;
    let hosted = preflight(HOSTED)?;
    let allowed = hosted.header("access-control-allow-origin");
    if allowed != HOSTED {
        // Its owner may have replaced the list; whether on purpose, only the owner knows.
        return Ok(format!(
            "strangers are refused, and so is {HOSTED}: ALLOWED_ORIGIN_HOSTNAMES leaves it out"
        ));
    }
    let headers = hosted
        .header("access-control-allow-headers")
        .to_ascii_lowercase();
    require(
        headers.contains("authorization"),
        || "a preflight does not allow the Authorization header".to_owned(),
        UPDATE,
    )?;
    Ok(format!("{HOSTED} may call, strangers may not"))
}

pub(super) fn challenge(patient: &Patient<'_>) -> Verdict {
    for path in ["/mcp-compat", "/mcp"] {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let answer = patient.post(path, &[], &ping)?;
        require(
            answer.status == 401,
            || {
                format!(
                    "{path} answers {} to a request without a credential, not 401",
                    answer.status
                )
            },
            "set MCP_API_TOKEN, and take away what stands before the Worker: Access, a WAF rule, \"Block AI bots\"",
        )?;
        let challenge = answer.header("www-authenticate");
        let metadata = format!(
            "resource_metadata=\"{}/.well-known/oauth-protected-resource{path}\"",
            patient.origin
        );
        let is_right = challenge.starts_with("Bearer ")
            && challenge.contains("resource_metadata=") == patient.sign_in_is_open()
            && (!patient.sign_in_is_open() || challenge.contains(&metadata));
        require(
            is_right,
            || {
                format!(
                    "the challenge of {path} is `{challenge}`, which leads no client to {metadata}"
                )
            },
            "PUBLIC_ORIGIN or the first entry of ALLOWED_HOSTNAMES must be the address that clients use",
        )?;
    }
    Ok("401, with the way to sign in where there is one".to_owned())
}
