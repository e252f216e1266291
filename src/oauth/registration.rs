//! Dynamic client registration (RFC 7591), stateless: what was registered comes back sealed in the client id.
//!
//! Sealing is left to `client`; rate limits and statuses are left to the route.

use serde_json::{Map, Value};

use crate::fresh::Fresh;
use crate::json::{Object, json};
use crate::oauth::audience::SCOPE;
use crate::oauth::client::{self, Method, REDIRECTS_MAX, Registration, clean_name};
use crate::oauth::error::Error;
use crate::oauth::form;
use crate::oauth::keys::Keyring;
use crate::oauth::redirect::RedirectUri;

/// Answers the body of `POST /register`. Unknown members are ignored, known ones are checked.
pub fn register(
    body: &[u8],
    own_host: &str,
    ring: &Keyring,
    fresh: &Fresh,
) -> Result<Object, Error> {
    let Some(Value::Object(request)) = form::json(body) else {
        return Err(Error::client_metadata("The body must be a JSON object."));
    };
    let redirects = redirect_uris(&request, own_host)?;
    let method = method(&request)?;
    let grant_types = grant_types(&request)?;
    if let Some(types) = strings(&request, "response_types")?
        && !types.contains(&"code")
    {
        return Err(Error::client_metadata(
            "response_types must contain \"code\".",
        ));
    }
    let name = request
        .get("client_name")
        .and_then(Value::as_str)
        .map(clean_name)
        .filter(|name| !name.is_empty())
        .or_else(|| redirects.first().map(RedirectUri::host))
        .unwrap_or_default();
    let issued_at = u32::try_from(fresh.now.seconds()).unwrap_or(u32::MAX);
    let registration = Registration {
        name: clean_name(&name),
        method,
        issued_at,
        redirects: redirects.iter().map(RedirectUri::digest).collect(),
    };
    let id = client::seal(&registration, ring.current(), fresh.draw());
    let mut answer = json!({
        "client_id": id,
        "client_id_issued_at": issued_at,
        "client_name": registration.name,
        "redirect_uris": redirects.iter().map(RedirectUri::text).collect::<Vec<_>>(),
        "grant_types": grant_types,
        "response_types": ["code"],
        "token_endpoint_auth_method": method.name(),
        "scope": SCOPE,
    });
    if method != Method::None
        && let Ok(secret) = client::secret(&id, ring)
    {
        answer.put("client_secret", &secret);
        answer.put("client_secret_expires_at", &0);
    }
    Ok(answer)
}

fn redirect_uris(request: &Map<String, Value>, own_host: &str) -> Result<Vec<RedirectUri>, Error> {
    let listed = request
        .get("redirect_uris")
        .and_then(Value::as_array)
        .filter(|listed| (1..=REDIRECTS_MAX).contains(&listed.len()))
        .ok_or(Error::redirect_uri(
            "redirect_uris must be an array of 1 to 10 URIs.",
        ))?;
    let mut uris: Vec<RedirectUri> = Vec::new();
    for value in listed {
        let uri = value
            .as_str()
            .and_then(|text| RedirectUri::parse(text, own_host))
            .ok_or(Error::redirect_uri(
                "Each redirect URI must be https, http on this computer, or an application's own scheme; \
                 without fragment, user, wildcard or the parameters of an answer.",
            ))?;
        if uris.iter().all(|known| known.text() != uri.text()) {
            uris.push(uri);
        }
    }
    Ok(uris)
}

/// RFC 7591 makes `client_secret_basic` the default. A client that can also do something we know is met there.
fn method(request: &Map<String, Value>) -> Result<Method, Error> {
    const UNKNOWN: Error = Error::client_metadata(
        "token_endpoint_auth_method must be none, client_secret_post or client_secret_basic.",
    );
    let Some(name) = text(request, "token_endpoint_auth_method")? else {
        return Ok(Method::Basic);
    };
    if let Some(method) = Method::parse(name) {
        return Ok(method);
    }
    let offered = strings(request, "token_endpoint_auth_methods_supported")?.unwrap_or_default();
    Method::ALL
        .into_iter()
        .find(|method| offered.contains(&method.name()))
        .ok_or(UNKNOWN)
}

/// What is kept of the list. Every client may refresh; one that did not ask simply never does.
fn grant_types(request: &Map<String, Value>) -> Result<[&'static str; 2], Error> {
    match strings(request, "grant_types")? {
        Some(types) if !types.is_empty() && !types.contains(&"authorization_code") => Err(
            Error::client_metadata("grant_types must contain \"authorization_code\"."),
        ),
        _ => Ok(["authorization_code", "refresh_token"]),
    }
}

/// A text member; `""` and `null` count as absent, since clients send them for fields that they do not have.
fn text<'a>(request: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Error> {
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(Error::client_metadata("A member has the wrong type.")),
    }
}

fn strings<'a>(request: &'a Map<String, Value>, name: &str) -> Result<Option<Vec<&'a str>>, Error> {
    const WRONG: Error = Error::client_metadata("A list has the wrong type.");
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(values)) => values
            .iter()
            .map(|value| value.as_str().ok_or(WRONG))
            .collect::<Result<_, _>>()
            .map(Some),
        Some(_) => Err(WRONG),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::register;
    use crate::clock::Timestamp;
    use crate::fresh::Fresh;
    use crate::oauth::client::{self, Method};
    use crate::oauth::error::{Code, Error};
    use crate::oauth::keys::Keyring;
    use crate::oauth::keys::tests::vector_key;

    fn ring() -> Keyring {
        Keyring::new(vec![vector_key()]).unwrap()
    }

    fn post(body: &Value) -> Result<Value, Error> {
        let fresh = Fresh::new(Timestamp::from_milliseconds(1_764_500_000_123), [3; 32]);
        register(
            body.to_string().as_bytes(),
            "mcp.example.org",
            &ring(),
            &fresh,
        )
        .map(|answer| answer.to_value())
    }

    #[test]
    fn b38_the_answer_has_the_exact_shape() {
        let answer = post(&json!({
            "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
            "token_endpoint_auth_method": "none",
            "client_name": "Claude",
            "client_uri": "", "logo_uri": "https://evil.test/logo.png", "unknown": {"a": 1},
        }))
        .unwrap();
        let id = answer["client_id"].as_str().unwrap().to_owned();
        assert_eq!(
            answer,
            json!({
                "client_id": id,
                "client_id_issued_at": 1_764_500_000,
                "client_name": "Claude",
                "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
                "scope": "mcp",
            })
        );
        assert!(id.len() <= 255, "{}", id.len());
        assert_eq!(client::open(&id, &ring()).unwrap().name, "Claude");
    }

    #[test]
    fn b18_empty_members_count_as_absent_and_a_secret_is_given_when_wanted() {
        let answer = post(&json!({
            "redirect_uris": ["http://localhost/cb"], "token_endpoint_auth_method": "", "client_name": "\u{200b}",
            "scope": " offline_access", "jwks": null,
        }))
        .unwrap();
        assert_eq!(answer["token_endpoint_auth_method"], "client_secret_basic");
        assert_eq!(answer["client_secret_expires_at"], 0);
        assert_eq!(answer["client_name"], "localhost");
        assert!(
            answer["client_secret"]
                .as_str()
                .unwrap()
                .starts_with("mcs1_")
        );
        assert!(!answer.to_string().contains("null") && !answer.to_string().contains("\"\""));
    }

    #[test]
    fn b20_cursors_mixed_list_and_the_longest_list_are_accepted() {
        let answer = post(&json!({"redirect_uris": [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "http://localhost:8787/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
        ]}))
        .unwrap();
        assert_eq!(answer["redirect_uris"].as_array().unwrap().len(), 3);
        let ten: Vec<_> = (0..10)
            .map(|n| format!("https://h.example.com/{n}"))
            .collect();
        let id = post(&json!({"redirect_uris": ten})).unwrap()["client_id"].clone();
        let client = client::open(id.as_str().unwrap(), &ring()).unwrap();
        assert_eq!(client.method, Method::Basic);
    }

    #[test]
    fn b21b_a_client_with_keys_is_met_where_it_can_do_less() {
        let mut request = json!({
            "redirect_uris": ["https://chatgpt.com/connector/oauth/x"],
            "token_endpoint_auth_method": "private_key_jwt",
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_post", "none"],
        });
        assert_eq!(
            post(&request).unwrap()["token_endpoint_auth_method"],
            "none"
        );
        request["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
        assert_eq!(
            post(&request).unwrap_err().code,
            Code::InvalidClientMetadata
        );
    }

    #[test]
    fn a63_refusals_name_their_code_and_never_echo() {
        use Code::{InvalidClientMetadata, InvalidRedirectUri};
        let uri = "https://h.example.com/";
        for (body, code) in [
            (json!({}), InvalidRedirectUri),
            (json!({"redirect_uris": []}), InvalidRedirectUri),
            (json!({"redirect_uris": uri}), InvalidRedirectUri),
            (json!({"redirect_uris": [uri, 3]}), InvalidRedirectUri),
            (json!({"redirect_uris": vec![uri; 11]}), InvalidRedirectUri),
            (
                json!({"redirect_uris": ["http://evil-echo.test/cb"]}),
                InvalidRedirectUri,
            ),
            (
                json!({"redirect_uris": [uri], "grant_types": ["implicit"]}),
                InvalidClientMetadata,
            ),
            (
                json!({"redirect_uris": [uri], "grant_types": "x"}),
                InvalidClientMetadata,
            ),
            (
                json!({"redirect_uris": [uri], "response_types": ["token"]}),
                InvalidClientMetadata,
            ),
            (
                json!({"redirect_uris": [uri], "token_endpoint_auth_method": "tls_client_auth"}),
                InvalidClientMetadata,
            ),
            (json!([1]), InvalidClientMetadata),
            (json!(null), InvalidClientMetadata),
        ] {
            let error = post(&body).unwrap_err();
            assert_eq!(error.code, code, "{body}");
            assert!(!error.description.contains("evil-echo"));
        }
        let fresh = Fresh::new(Timestamp::from_milliseconds(1), [3; 32]);
        let deep = "[".repeat(100_000);
        for body in ["", "{", "NaN", "{\"a\":\"\\ud800\"}", &deep, "\u{0}"] {
            let error = register(body.as_bytes(), "", &ring(), &fresh).unwrap_err();
            assert_eq!(error.code, InvalidClientMetadata, "{body:.20}");
        }
    }
}
