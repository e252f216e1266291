//! The doctor before a deployment where people can sign in: healthy, and with one answer spoiled at a time.

use durable_thinking::command::doctor::{Finding, Report, examine, parse_address};
use durable_thinking::command::https::Https;
use http::{HeaderValue, Request, Response, StatusCode};

use crate::world::{Isolate, ORIGIN, STATIC, World};

type Spoil = fn(&Request<Vec<u8>>, &mut Response<Vec<u8>>);

struct Site {
    isolate: Isolate,
    spoil: Spoil,
}

impl Https for Site {
    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        let sent = request.clone();
        let reply = self.isolate.send(request);
        let mut response = Response::new(reply.body.into_bytes());
        *response.status_mut() = StatusCode::from_u16(reply.status).unwrap();
        *response.headers_mut() = reply.headers;
        (self.spoil)(&sent, &mut response);
        Ok(response)
    }
}

fn report(spoil: Spoil) -> Report {
    let isolate = World::new().isolate(0);
    let site = Site { isolate, spoil };
    examine(parse_address(ORIGIN).unwrap(), Some(STATIC), &site)
}

#[test]
fn nothing_is_left_out_where_people_can_sign_in() {
    let report = report(|_, _| {});
    let text = report.to_string();
    assert!(text.ends_with("15 ok, 0 failed, 0 left out"), "{text}");
}

fn replace(response: &mut Response<Vec<u8>>, from: &str, to: &str) {
    let text = String::from_utf8(response.body().clone()).unwrap();
    *response.body_mut() = text.replace(from, to).into_bytes();
}

#[test]
fn what_breaks_a_sign_in_is_found_where_it_is() {
    for (names, spoil) in [
        (
            &["protected resource"][..],
            (|sent, response| {
                if sent.uri().path().ends_with("resource/mcp-compat") {
                    replace(response, "/mcp-compat\"", "/mcp-compat/\"");
                }
            }) as Spoil,
        ),
        (&["authorization server"], |sent, response| {
            if sent.uri().path().ends_with("oauth-authorization-server") {
                replace(response, "S256", "plain");
            }
        }),
        // A client that cannot register gets no further.
        (
            &["registration", "redirects", "pkce", "consent page"],
            |sent, response| {
                if sent.uri().path() == "/register" {
                    *response.status_mut() = StatusCode::FORBIDDEN;
                }
            },
        ),
        (&["pkce"], |sent, response| {
            let query = sent.uri().query().unwrap_or_default();
            if sent.uri().path() == "/authorize" && !query.contains("S256") {
                *response.status_mut() = StatusCode::OK;
                response.headers_mut().remove("location");
            }
        }),
        (&["consent page"], |sent, response| {
            let policy = HeaderValue::from_static(
                "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
            );
            if sent.uri().path() == "/authorize" {
                response
                    .headers_mut()
                    .insert("content-security-policy", policy);
            }
        }),
        (&["challenge"], |_, response| {
            if response.status() == 401 {
                let other = HeaderValue::from_static(
                    "Bearer resource_metadata=\"https://elsewhere.example/\", error=\"invalid_token\"",
                );
                response.headers_mut().insert("www-authenticate", other);
            }
        }),
    ] {
        let report = report(spoil);
        let wrong = report.findings.iter();
        let wrong = wrong.filter(|(_, finding)| matches!(finding, Finding::Wrong { .. }));
        let found: Vec<_> = wrong.map(|(name, _)| *name).collect();
        assert_eq!(found, names, "{report}");
    }
}
