//! `GET /`: what stands here, as a short page for people and as JSON for machines.

use http::header::{CONTENT_SECURITY_POLICY, VARY};
use http::{HeaderMap, HeaderValue, Response};
use serde_json::json;

use crate::mcp::result::About;
use crate::mcp::version::{MODERN, Version};
use crate::tools::TOOLS;
use crate::transport::Body;
use crate::transport::http::accepts;
use crate::transport::status::{full, json_response};

pub(super) fn page(headers: &HeaderMap, about: &About) -> Response<Body> {
    let mut response = if accepts(headers, "text/html") {
        html(about)
    } else {
        description(about)
    };
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("Accept"));
    response
}

fn description(about: &About) -> Response<Body> {
    let tools: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
    let compat: Vec<_> = Version::assumed().served_beside().collect();
    json_response(
        200,
        &json!({
            "name": about.name,
            "version": about.version,
            "description": about.description,
            "tools": tools,
            "endpoints": { "mcp": "/mcp", "mcpCompat": "/mcp-compat", "health": "/healthz" },
            "protocolVersions": { "mcp": MODERN, "mcpCompat": compat },
        }),
    )
}

fn html(about: &About) -> Response<Body> {
    let title = about.title.unwrap_or(about.name);
    let description = about.description.unwrap_or_default();
    let body = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
<title>{title}</title>\n<style>:root{{color-scheme:light dark}}body{{font:1rem/1.6 system-ui,sans-serif;max-width:38rem;margin:15vh auto;padding:0 1.25rem}}\
h1{{font-size:1.5rem;letter-spacing:-.02em}}code{{font-size:.95em}}footer{{opacity:.65;font-size:.875rem}}</style>\n\
<h1>{title}</h1>\n<p>{description}</p>\n\
<p>This is a server of the Model Context Protocol. Add its address to your client:</p>\n\
<ul><li><code>/mcp-compat</code> for today’s clients</li><li><code>/mcp</code> for clients that speak {modern}</li></ul>\n\
<footer>Version {version} · <a href=\"/healthz\">health</a></footer>\n</html>\n",
        modern = MODERN[0],
        version = about.version,
    );
    let mut response = full(200, "text/html; charset=utf-8", body.into_bytes());
    response.headers_mut().insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    );
    response
}
