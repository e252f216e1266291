//! What the sign-in reads of strangers: redirect URIs and form bodies.

use durable_thinking::oauth::form::{Form, decode, encode};
use durable_thinking::oauth::redirect::{Destination, RedirectUri};
use url::{Host, Url};

const OWN_HOST: &str = "mine.workers.dev";

/// A text as a redirect URI. One that is allowed is kept to the byte, and a browser takes the answer to where a person was told
/// that it goes: another reader of URIs agrees on the host.
pub fn redirect(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Some(uri) = RedirectUri::parse(text, OWN_HOST) else {
        return;
    };
    assert_eq!(uri.text(), text);
    let again = RedirectUri::parse(uri.text(), OWN_HOST).expect("what was allowed is allowed");
    assert_eq!(
        (again.normal(), again.digest()),
        (uri.normal(), uri.digest())
    );
    let answer = uri.with_answer("code=c&state=s");
    assert!(answer.starts_with(text), "{answer}");
    // The other reader, built as for tests, ends at some encoded international names instead of refusing them.
    if answer.to_ascii_lowercase().contains("xn--") {
        return;
    }
    // What no browser reads leads nowhere.
    let Ok(read) = Url::parse(&answer) else {
        return;
    };
    assert_eq!(read.fragment(), None, "{answer}");
    assert!(
        read.username().is_empty() && read.password().is_none(),
        "{answer}"
    );
    let pairs = read.query_pairs();
    let codes: Vec<_> = pairs.filter(|(name, _)| name == "code").collect();
    assert_eq!(codes.len(), 1, "{answer}");
    if uri.destination == Destination::App {
        assert!(
            !matches!(read.scheme(), "http" | "https" | "javascript" | "data"),
            "{answer}"
        );
        return;
    }
    let host = read.host_str().expect("a host");
    assert_eq!(host, uri.host(), "{answer}");
    assert_ne!(host, OWN_HOST, "{answer}");
    match uri.destination {
        Destination::ThisComputer => {
            assert_eq!(read.scheme(), "http", "{answer}");
            let is_loopback = match read.host().expect("a host") {
                Host::Domain(name) => name == "localhost",
                Host::Ipv4(address) => address.is_loopback(),
                Host::Ipv6(address) => address.is_loopback(),
            };
            assert!(is_loopback, "{answer}");
        }
        _ => assert_eq!(read.scheme(), "https", "{answer}"),
    }
}

/// A text as a form. What is understood is written and read again with the same fields.
pub fn form(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let encoded = encode(&[("a", text), (text, "b")]);
    if !text.is_empty() && text != "a" {
        let form = Form::parse(&encoded).expect("what this program writes it reads");
        assert_eq!(form.one("a"), Ok(Some(text)));
        assert_eq!(form.all(text), ["b"]);
    }
    let Some(form) = Form::parse(text) else {
        return;
    };
    for name in ["client_id", "redirect_uri", "code", "state", "scope"] {
        let all = form.all(name);
        match form.one(name) {
            Ok(one) => assert!(all.len() <= 1 && one == all.first().copied(), "{name}"),
            Err(repeated) => assert!(repeated.0 == name && form.has(name)),
        }
    }
    for part in text.split(['&', '=']) {
        // Every part of a form that was read is good by itself.
        assert!(decode(part).is_some() || part.is_empty(), "{part}");
    }
}
