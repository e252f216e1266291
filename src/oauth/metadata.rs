//! The documents by which clients find everything: protected resource (RFC 9728) and authorization server (RFC 8414).

use crate::json::{Object, json};
use crate::oauth::audience::{Resource, SCOPE};
use crate::oauth::client::Method;

const PROTECTED_RESOURCE: &str = "/.well-known/oauth-protected-resource";
const AUTHORIZATION_SERVER: &str = "/.well-known/oauth-authorization-server";
const NAME: &str = "Durable Thinking";

/// Whether a path is a place where clients look for metadata, ours or not: they get JSON there, never a page.
pub fn is_well_known(path: &str) -> bool {
    ["", "/mcp", "/mcp-compat"].iter().any(|prefix| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with("/.well-known/o"))
    })
}

/// The document at a well-known path. `None`: there is none, on purpose; a document with another issuer would be worse.
pub fn document(path: &str, issuer: &str) -> Option<Object> {
    if path == AUTHORIZATION_SERVER {
        return Some(authorization_server(issuer));
    }
    let suffix = path.strip_prefix(PROTECTED_RESOURCE)?;
    let bare = suffix.strip_suffix('/').unwrap_or(suffix);
    // Some clients mangle the case of the endpoint's URL: they get their own spelling back, which they compare.
    Resource::ALL
        .into_iter()
        .find(|resource| bare.eq_ignore_ascii_case(resource.path()))
        .map(|_| protected_resource(issuer, suffix))
}

fn protected_resource(issuer: &str, suffix: &str) -> Object {
    json!({
        "resource": format!("{issuer}{suffix}"),
        "authorization_servers": [issuer],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": NAME,
    })
}

fn authorization_server(issuer: &str) -> Object {
    let methods = Method::ALL.map(Method::name);
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        // Only here: clients take it as the sign that tokens can be refreshed.
        "scopes_supported": [SCOPE, "offline_access"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    })
}

#[cfg(test)]
mod tests {
    use super::{document, is_well_known};

    const ISSUER: &str = "https://h.example.com";

    #[test]
    fn b36c_b36d_one_issuer_without_a_slash_and_everything_on_it() {
        let server = document("/.well-known/oauth-authorization-server", ISSUER)
            .unwrap()
            .to_value();
        assert_eq!(server["issuer"], ISSUER);
        for name in ["authorization", "token", "registration", "revocation"] {
            let endpoint = server[format!("{name}_endpoint")].as_str().unwrap();
            assert!(endpoint.strip_prefix(ISSUER).unwrap().starts_with('/'));
        }
        assert_eq!(server["token_endpoint_auth_methods_supported"][0], "none");
        assert_eq!(server["client_id_metadata_document_supported"], true);
        let text = server.to_string();
        for absent in ["null", "[]", "\"\"", "jwks", "plain", "userinfo"] {
            assert!(!text.contains(absent), "{absent}");
        }
    }

    #[test]
    fn a72_b45_three_resources_and_nothing_else() {
        for (suffix, resource) in [
            ("", Some(ISSUER.to_owned())),
            ("/mcp", Some(format!("{ISSUER}/mcp"))),
            ("/mcp-compat", Some(format!("{ISSUER}/mcp-compat"))),
            ("/MCP-Compat", Some(format!("{ISSUER}/MCP-Compat"))),
            ("/mcp/", Some(format!("{ISSUER}/mcp/"))),
            ("/mcp-other", None),
            ("/mcp/x", None),
            ("mcp", None),
        ] {
            let path = format!("/.well-known/oauth-protected-resource{suffix}");
            let found = document(&path, ISSUER).map(|found| found.to_value());
            assert_eq!(
                found
                    .as_ref()
                    .map(|found| found["resource"].as_str().unwrap()),
                resource.as_deref(),
                "{path}"
            );
            if let Some(found) = found {
                assert_eq!(found["authorization_servers"][0], ISSUER);
                assert_eq!(found["scopes_supported"], serde_json::json!(["mcp"]));
            }
        }
        for path in [
            "/.well-known/oauth-authorization-server/mcp",
            "/.well-known/oauth-authorization-server/mcp-compat",
            "/.well-known/openid-configuration",
            "/.well-known/openid-configuration/mcp-compat",
            "/mcp/.well-known/openid-configuration",
            "/mcp-compat/.well-known/oauth-protected-resource",
            "/mcp/.well-known/oauth-authorization-server",
        ] {
            assert!(
                is_well_known(path) && document(path, ISSUER).is_none(),
                "{path}"
            );
        }
        assert!(!is_well_known("/mcp") && !is_well_known("/.well-known/security.txt"));
    }
}
