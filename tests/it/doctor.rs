//! The doctor, before the router in this process, healthy and with one answer spoiled at a time.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use durable_thinking::command::doctor::{Finding, Report, examine, parse_address};
use durable_thinking::command::https::{Https, Network};

use crate::support::Router;
use crate::wire::{Http, Request, TOKEN};

const ORIGIN: &str = "https://mine.workers.dev";

type Spoil = fn(&http::Request<Vec<u8>>, &mut http::Response<Vec<u8>>);

struct Site {
    router: RefCell<Router>,
    spoil: Spoil,
}

impl Https for Site {
    fn send(&self, sent: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, String> {
        let path = sent.uri().path_and_query().unwrap().as_str();
        let mut request = Request::new(sent.method().as_str(), path);
        for (name, value) in sent.headers() {
            request = request.header(name.as_str(), value.to_str().unwrap());
        }
        request.body.clone_from(sent.body());
        let reply = self.router.borrow_mut().send(&request);
        let mut builder = http::Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            builder = builder.header(name, value);
        }
        let mut response = builder.body(reply.body).unwrap();
        (self.spoil)(&sent, &mut response);
        Ok(response)
    }
}

fn report(environment: &[(&str, &str)], token: Option<&str>, spoil: Spoil) -> Report {
    let site = Site {
        router: RefCell::new(Router::with(environment, ORIGIN)),
        spoil,
    };
    examine(parse_address(ORIGIN).unwrap(), token, &site)
}

fn spoiled(spoil: Spoil) -> Vec<&'static str> {
    let report = report(&[("MCP_API_TOKEN", TOKEN)], Some(TOKEN), spoil);
    assert!(!report.is_well(), "{report}");
    let wrong = report.findings.iter();
    wrong
        .filter(|(_, finding)| matches!(finding, Finding::Wrong { .. }))
        .map(|(name, _)| *name)
        .collect()
}

#[test]
fn a_healthy_deployment_passes() {
    let report = report(&[("MCP_API_TOKEN", TOKEN)], Some(TOKEN), |_, _| {});
    assert!(report.is_well(), "{report}");
    let text = report.to_string();
    assert!(text.ends_with("9 ok, 0 failed, 6 left out"), "{text}");
    assert!(!text.contains(TOKEN) && !text.contains("seq_"), "{text}");
}

#[test]
fn without_the_token_what_needs_it_is_left_out() {
    let report = report(&[("MCP_API_TOKEN", TOKEN)], None, |_, _| {});
    assert!(report.is_well(), "{report}");
    assert!(
        report
            .to_string()
            .contains("store: left out, the token was not given")
    );
}

#[test]
fn a_deployment_without_its_token_is_told_so() {
    let report = report(&[], Some(TOKEN), |_, _| {});
    let text = report.to_string();
    assert!(
        text.contains("FAIL  health: MCP_API_TOKEN is not set"),
        "{text}"
    );
    assert!(text.contains("npx wrangler secret put"), "{text}");
}

#[test]
fn a_wrong_token_is_told_from_a_sick_deployment() {
    let wrong = "0123456789abcdef0123456789abcdef";
    let report = report(&[("MCP_API_TOKEN", TOKEN)], Some(wrong), |_, _| {});
    let text = report.to_string();
    assert!(
        text.contains("FAIL  token: the token is answered with 401"),
        "{text}"
    );
    assert!(!text.contains(wrong), "{text}");
}

#[test]
fn every_kind_of_fault_is_found_where_it_is() {
    for (names, spoil) in [
        (
            &["address"][..],
            (|sent, response| {
                if sent.uri().path() == "/healthz" {
                    *response.body_mut() = b"<html>blocked</html>".to_vec();
                }
            }) as Spoil,
        ),
        (&["page"], |sent, response| {
            if sent.uri().path() == "/" {
                response.headers_mut().remove("content-security-policy");
            }
        }),
        (&["cors"], |_, response| {
            let any = http::HeaderValue::from_static("*");
            response
                .headers_mut()
                .insert("access-control-allow-origin", any);
        }),
        (&["challenge"], |sent, response| {
            if response.status() == 401 && sent.headers().get("authorization").is_none() {
                response.headers_mut().remove("www-authenticate");
            }
        }),
        (&["/mcp"], |sent, response| {
            if sent.uri().path() == "/mcp" && response.status() == 200 {
                *response.status_mut() = http::StatusCode::NOT_FOUND;
                *response.body_mut() = b"{}".to_vec();
            }
        }),
        (&["write, read, delete"], |_, response| {
            let text = String::from_utf8(response.body().clone()).unwrap();
            let text = text.replace("The doctor writes this", "Somebody else wrote this");
            *response.body_mut() = text.into_bytes();
        }),
    ] {
        assert_eq!(spoiled(spoil), names);
    }
}

#[test]
fn the_network_brings_every_answer_and_follows_no_redirect() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let answer = "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngone";
        let (mut stream, _) = listener.accept().unwrap();
        let mut start = [0; 512];
        let length = stream.read(&mut start).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&start[..length]).into_owned()
    });
    let request = http::Request::builder().uri(&url).header("X-Own", "1");
    let response = Network::default()
        .send(request.body(Vec::new()).unwrap())
        .unwrap();
    let sent = server.join().unwrap();
    assert!(sent.starts_with("GET /x HTTP/1.1\r\n"), "{sent}");
    assert!(sent.to_ascii_lowercase().contains("x-own: 1"), "{sent}");
    assert_eq!(
        (response.status().as_u16(), response.body().as_slice()),
        (302, &b"gone"[..])
    );
    assert_eq!(response.headers()["location"], "/y");
    // Nobody listens there any more.
    let request = http::Request::builder().uri(&url).body(Vec::new()).unwrap();
    assert!(Network::default().send(request).is_err());
}
