//! The sign-in, as far as it goes without a person: metadata, registration, redirects, PKCE and the consent page.

use serde_json::{Value, json};

use crate::command::doctor::patient::{Answer, Patient, require, wrong};
use crate::command::doctor::{Finding, Verdict};

const CLOSED: Finding = Finding::LeftOut(
    "signing in with GitHub is not set up (GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET, ALLOWED_GITHUB_LOGIN)",
);
const ORIGIN: &str =
    "PUBLIC_ORIGIN or the first entry of ALLOWED_HOSTNAMES must be the address that clients use";
const UPDATE: &str = "deploy the newest release; if that does not help, report it as a fault";
/// Where an answer would go: to this machine, where nobody listens.
const REDIRECT: &str = "http://127.0.0.1:33418/callback";
/// The challenge of RFC 7636, appendix B.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn open(patient: &Patient<'_>) -> Result<(), Finding> {
    if patient.sign_in_is_open() {
        Ok(())
    } else {
        Err(CLOSED)
    }
}

pub(super) fn protected_resource(patient: &Patient<'_>) -> Verdict {
    open(patient)?;
    for path in ["/mcp-compat", "/mcp", ""] {
        let at = format!("/.well-known/oauth-protected-resource{path}");
        let answer = patient.get(&at, &[])?;
        let document = answer.json();
        let resource = format!("{}{path}", patient.origin);
        require(
            document.get("resource").and_then(Value::as_str) == Some(&resource),
            || {
                format!(
                    "{at} answers {} and does not name {resource} as its resource",
                    answer.status
                )
            },
            ORIGIN,
        )?;
        require(
            document.get("authorization_servers") == Some(&json!([patient.origin])),
            || format!("{at} names another authorization server"),
            ORIGIN,
        )?;
    }
    Ok("each resource is named by its exact address".to_owned())
}

pub(super) fn authorization_server(patient: &Patient<'_>) -> Verdict {
    open(patient)?;
    let answer = patient.get("/.well-known/oauth-authorization-server", &[])?;
    let document = answer.json();
    let text = |name: &str| {
        document
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    require(
        text("issuer") == patient.origin,
        || format!("the issuer is `{}`, not {}", text("issuer"), patient.origin),
        ORIGIN,
    )?;
    for name in ["authorization", "token", "registration", "revocation"] {
        let endpoint = text(&format!("{name}_endpoint")).to_owned();
        require(
            endpoint.starts_with(&format!("{}/", patient.origin)),
            || format!("the {name} endpoint is `{endpoint}`"),
            ORIGIN,
        )?;
    }
    require(
        document.get("code_challenge_methods_supported") == Some(&json!(["S256"])),
        || "PKCE with S256 is not what the metadata offers".to_owned(),
        UPDATE,
    )?;
    Ok("the issuer is the address, PKCE is S256".to_owned())
}

fn register(patient: &Patient<'_>, redirect: &str) -> Result<Answer, Finding> {
    let client = json!({
        "client_name": "durable-thinking doctor",
        "redirect_uris": [redirect],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
    });
    patient.post("/register", &[], &client)
}

/// Registers; the server keeps nothing of it.
fn client_id(patient: &Patient<'_>) -> Result<String, Finding> {
    let answer = register(patient, REDIRECT)?;
    let id = answer
        .json()
        .get("client_id")
        .and_then(Value::as_str)
        .map(str::to_owned);
    match id {
        Some(id) if answer.status == 201 => Ok(id),
        _ => Err(wrong(
            format!(
                "a client cannot register: /register answers {}",
                answer.status
            ),
            "with 429 wait a minute; with 403 or a page of Cloudflare's, take away the rule that stops it; with 503 read the Worker's log",
        )),
    }
}

pub(super) fn registration(patient: &Patient<'_>) -> Verdict {
    open(patient)?;
    client_id(patient)?;
    Ok("a client can register".to_owned())
}

pub(super) fn redirects(patient: &Patient<'_>) -> Verdict {
    open(patient)?;
    for bad in ["http://doctor.invalid/callback", "javascript:alert(1)"] {
        let answer = register(patient, bad)?;
        require(
            answer.status == 400,
            || format!("a client may register the redirect {bad}"),
            UPDATE,
        )?;
    }
    let other = authorize(patient, "https://doctor.invalid/callback", &s256())?;
    require(
        other.status == 400 && other.header("location").is_empty(),
        || {
            format!(
                "/authorize answers {} to a redirect that was never registered",
                other.status
            )
        },
        UPDATE,
    )?;
    Ok("only registered ones, https or on the client's own machine".to_owned())
}

fn s256() -> Vec<(&'static str, &'static str)> {
    vec![
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]
}

fn authorize(
    patient: &Patient<'_>,
    redirect: &str,
    more: &[(&str, &str)],
) -> Result<Answer, Finding> {
    let id = client_id(patient)?;
    let resource = format!("{}/mcp-compat", patient.origin);
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs([
        ("response_type", "code"),
        ("client_id", id.as_str()),
        ("redirect_uri", redirect),
        ("state", "doctor"),
        ("resource", resource.as_str()),
    ]);
    query.extend_pairs(more);
    patient.get(
        &format!("/authorize?{}", query.finish()),
        &[("accept", "text/html")],
    )
}

pub(super) fn pkce(patient: &Patient<'_>) -> Verdict {
    open(patient)?;
    let plain = [
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "plain"),
    ];
    for (name, more) in [
        ("without a challenge", &[][..]),
        ("with the method plain", &plain),
    ] {
        let answer = authorize(patient, REDIRECT, more)?;
        require(
            answer.status != 200 && answer.header("location").contains("error=invalid_request")
                || answer.status == 400,
            || format!("/authorize answers {} to a request {name}", answer.status),
            UPDATE,
        )?;
    }
    Ok("a request without it is refused".to_owned())
}

pub(super) fn consent_page(patient: &Patient<'_>) -> Verdict {
    open(patient)?;
    let page = authorize(patient, REDIRECT, &s256())?;
    require(
        page.status == 200 && page.header("content-type").starts_with("text/html"),
        || format!("/authorize answers {} to a good request", page.status),
        "with 503 set the GitHub settings; with a page of Cloudflare's, take away what stands before the Worker",
    )?;
    let policy = page.header("content-security-policy");
    let directive = |name: &str| {
        let mut directives = policy.split(';').map(str::trim);
        directives.find(|directive| directive.split(' ').next() == Some(name))
    };
    let form = directive("form-action").unwrap_or_default();
    let is_right = directive("default-src") == Some("default-src 'none'")
        && directive("frame-ancestors") == Some("frame-ancestors 'none'")
        && directive("script-src").is_none()
        && form.contains("'self'")
        && form.contains("https://");
    require(
        is_right,
        || format!("its Content-Security-Policy is `{policy}`"),
        "a rule of the domain's changes the header: take it out for this host. Browsers stop the sign-in on it",
    )?;
    Ok("asks first, cannot be framed, lets the browser go on to GitHub".to_owned())
}
