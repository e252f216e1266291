//! The pages that people see while they sign in: plain HTML, one inline style sheet, no script, nothing fetched.
//!
//! Which page is shown is left to `authorize`, `consent` and `callback`.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderName;
use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, RETRY_AFTER, X_FRAME_OPTIONS};

use crate::oauth::audience::{Audience, Resource};
use crate::oauth::client::{Client, Origin};
use crate::oauth::keys::sha256;
use crate::oauth::redirect::{Destination, RedirectUri};
use crate::oauth::reply::{self, Cache, Reply};
use crate::oauth::uri::Uri;

/// When it is worth to come back to something that passes.
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const AGAIN_SECONDS: &str = "30";
const STYLE: &str = include_str!("pages.css");

/// Text that a person reads, with everything that HTML would take for itself escaped.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(char),
        }
    }
    escaped
}

/// Where forms of a page may go, besides nowhere.
enum Form<'a> {
    None,
    SelfAnd(&'a str),
}

fn page(status: u16, title: &str, head: &str, body: &str, form: &Form<'_>) -> Reply {
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{head}\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <p class=\"mark\">Durable Thinking</p>\n{body}</main>\n</body>\n</html>\n",
        escape(title)
    );
    let mut page = reply::new(
        status,
        "text/html; charset=utf-8",
        html.into_bytes(),
        Cache::Never,
    );
    let action = match form {
        Form::None => "'none'".to_owned(),
        Form::SelfAnd(other) => format!("'self' {other}"),
    };
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; form-action {action}; frame-ancestors 'none'; base-uri 'none'",
        STANDARD.encode(sha256(STYLE.as_bytes()))
    );
    reply::set_text(&mut page, CONTENT_SECURITY_POLICY, &policy);
    reply::set(&mut page, X_FRAME_OPTIONS, "DENY");
    reply::set(&mut page, ROBOTS, "noindex");
    // `same-origin` on the form's page: with `no-referrer`, Chromium sends `Origin: null` with the form.
    let referrer = match form {
        Form::None => "no-referrer",
        Form::SelfAnd(_) => "same-origin",
    };
    reply::set(&mut page, REFERRER_POLICY, referrer);
    page
}

/// What the consent page shows of a request.
pub struct Consent<'a> {
    pub client: &'a Client,
    pub redirect: &'a RedirectUri,
    pub audience: Audience,
    pub issuer: &'a str,
    pub github_base: &'a str,
    /// Where it will be asked for, in a person's words.
    pub vouching_host: &'a str,
    pub query: &'a str,
    pub token: &'a str,
}

/// The question. The destination stands first, because it is the one thing that the client cannot make up.
pub fn consent(consent: &Consent<'_>) -> Reply {
    let Consent {
        client, redirect, ..
    } = consent;
    let name = escape(&client.name);
    let (destination, label) = destination(redirect);
    let mut body = format!(
        "<h1>Allow access to your thinking?</h1>\n\
         <p class=\"to\"><span>{label}</span><strong>{}</strong></p>\n",
        escape(&destination)
    );
    body.push_str(&warnings(client, redirect));
    body.push_str("<dl>\n");
    let _ = writeln!(
        body,
        "<dt>Calls itself</dt><dd>{name} <span class=\"soft\">(not verified)</span></dd>"
    );
    match &client.origin {
        Origin::Document { .. } => {
            let host = Uri::parse(&client.id).map_or("", |uri| uri.host);
            let _ = writeln!(body, "<dt>Described by</dt><dd>{}</dd>", escape(host));
        }
        Origin::Registered { issued_at, .. } => {
            let date = crate::clock::Timestamp::from_milliseconds(
                u64::from(*issued_at).saturating_mul(1000),
            )
            .to_rfc3339();
            let date = date.get(..10).unwrap_or_default();
            let _ = writeln!(body, "<dt>Registered</dt><dd>{date}</dd>");
        }
    }
    let _ = writeln!(
        body,
        "<dt>May</dt><dd>add thoughts, and read or delete a sequence whose id it has, at {}</dd>",
        escape(&places(consent.audience, consent.issuer))
    );
    body.push_str("<dt>For</dt><dd>as long as it is used at least every 90 days, until you end it</dd>\n</dl>\n");
    let _ = write!(
        body,
        "<p class=\"soft\">If you allow it, {} asks who you are. Only accounts that this server\u{2019}s owner has listed get in.</p>\n\
         <form method=\"post\" action=\"/authorize\">\n\
         <input type=\"hidden\" name=\"q\" value=\"{}\">\n<input type=\"hidden\" name=\"csrf\" value=\"{}\">\n\
         <div class=\"acts\">\n<button type=\"submit\" name=\"decision\" value=\"deny\">Cancel</button>\n\
         <button type=\"submit\" name=\"decision\" value=\"approve\" class=\"go\">Allow</button>\n</div>\n</form>\n",
        escape(consent.vouching_host),
        escape(consent.query),
        escape(consent.token)
    );
    page(
        200,
        "Allow access? \u{2013} Durable Thinking",
        "",
        &body,
        &Form::SelfAnd(consent.github_base),
    )
}

fn destination(redirect: &RedirectUri) -> (String, &'static str) {
    match redirect.destination {
        Destination::KnownSite | Destination::OtherSite => {
            let origin = redirect.origin();
            let host = origin
                .strip_prefix("https://")
                .unwrap_or(&origin)
                .to_owned();
            (host, "Access goes to the site")
        }
        Destination::ThisComputer => (
            format!("this computer ({})", redirect.host()),
            "Access goes to a program on",
        ),
        Destination::App => (redirect.origin(), "Access goes to the application behind"),
    }
}

fn warnings(client: &Client, redirect: &RedirectUri) -> String {
    let mut warnings = Vec::new();
    match redirect.destination {
        Destination::KnownSite => {}
        Destination::OtherSite => warnings.push(
            "This is not one of the sites that people usually connect. Allow it only if you have just started this from there.",
        ),
        Destination::ThisComputer => warnings.push(
            "A program on this computer will receive access. Allow it only if you have just started that program yourself.",
        ),
        Destination::App => warnings.push(
            "Any application on this device can claim this address. Allow it only if you have just started this from there.",
        ),
    }
    if redirect
        .host()
        .split('.')
        .any(|label| label.starts_with("xn--"))
    {
        warnings.push("The address holds letters that can look like others.");
    }
    let is_elsewhere = matches!(client.origin, Origin::Document { .. })
        && matches!(redirect.destination, Destination::OtherSite)
        && Uri::parse(&client.id).is_none_or(|uri| uri.host != redirect.host());
    if is_elsewhere {
        warnings.push("The client is described by one site and receives access at another.");
    }
    let mut text = String::new();
    for warning in warnings {
        let _ = writeln!(text, "<p class=\"warn\" role=\"note\">{warning}</p>");
    }
    text
}

fn places(audience: Audience, issuer: &str) -> String {
    let host = issuer.split_once("://").map_or(issuer, |(_, host)| host);
    let places: Vec<_> = audience
        .resources()
        .map(|resource| match resource {
            Resource::Origin => host.to_owned(),
            Resource::Mcp | Resource::McpCompat => format!("{host}{}", resource.path()),
        })
        .collect();
    places.join(" and ")
}

/// Sends the browser on with a 200: Chromium would hold a redirect, and every later one, against the form's policy.
pub fn onward(url: &str, title: &str, text: &str, button: &str) -> Reply {
    let head = format!(
        "<meta http-equiv=\"refresh\" content=\"0;url={}\">\n",
        escape(url)
    );
    let body = format!(
        "<h1>{}</h1>\n<p>{}</p>\n<p class=\"acts\"><a class=\"act go\" href=\"{}\">{}</a></p>\n",
        escape(title),
        escape(text),
        escape(url),
        escape(button)
    );
    page(200, title, &head, &body, &Form::None)
}

/// A page that tells a person what went wrong and what to do now.
pub struct Problem<'a> {
    pub status: u16,
    pub title: &'static str,
    pub text: &'a str,
    /// What to do, in order.
    pub steps: &'a [&'a str],
    /// A way on: address and its words.
    pub link: Option<(&'a str, &'a str)>,
}

pub fn problem(problem: &Problem<'_>) -> Reply {
    let mut body = format!(
        "<h1>{}</h1>\n<p>{}</p>\n",
        escape(problem.title),
        escape(problem.text)
    );
    if !problem.steps.is_empty() {
        body.push_str("<p class=\"soft\">What to do:</p>\n<ol>\n");
        for step in problem.steps {
            let _ = writeln!(body, "<li>{}</li>", escape(step));
        }
        body.push_str("</ol>\n");
    }
    if let Some((url, words)) = problem.link {
        let _ = writeln!(
            body,
            "<p class=\"acts\"><a class=\"act go\" href=\"{}\">{}</a></p>",
            escape(url),
            escape(words)
        );
    }
    let mut page = page(problem.status, problem.title, "", &body, &Form::None);
    // It passes: a program that meets the page instead of a person is told so, too.
    if matches!(problem.status, 429 | 503) {
        reply::set(&mut page, RETRY_AFTER, AGAIN_SECONDS);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{Consent, consent, escape, onward};
    use crate::oauth::audience::Audience;
    use crate::oauth::client::{Client, Method, Origin, clean_name};
    use crate::oauth::redirect::RedirectUri;

    fn show(name: &str, redirect: &str) -> String {
        let client = Client {
            id: "mc1_x".to_owned(),
            name: clean_name(name),
            method: Method::None,
            origin: Origin::Registered {
                issued_at: 1_764_500_000,
                redirects: Vec::new(),
            },
        };
        let redirect = RedirectUri::parse(redirect, "mcp.example.org").unwrap();
        let reply = consent(&Consent {
            client: &client,
            redirect: &redirect,
            audience: Audience::ORIGIN,
            issuer: "https://mcp.example.org",
            github_base: "https://github.com",
            vouching_host: "github.com",
            query: "a=\"><script>&b='",
            token: "1.x",
        });
        String::from_utf8(reply.into_body()).unwrap()
    }

    #[test]
    fn a08_nothing_of_a_client_becomes_markup() {
        for name in [
            "<script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "\u{202e}evil\u{200b}",
            "   ",
            &"x".repeat(10_000),
            "a\nb",
        ] {
            let html = show(name, "https://evil.test/cb");
            assert!(
                !html.contains("<script") && !html.contains("<img") && !html.contains('\u{202e}')
            );
            assert!(html.contains("<strong>evil.test</strong>"), "{name:.20}");
            assert_eq!(html.matches("<form").count(), 1);
        }
        assert!(
            show("x", "https://evil.test/")
                .contains("value=\"a=&quot;&gt;&lt;script&gt;&amp;b=&#39;\"")
        );
        assert_eq!(escape("<&>\"'"), "&lt;&amp;&gt;&quot;&#39;");
    }

    #[test]
    fn a09_a67_destinations_that_need_care_are_warned_about() {
        assert!(!show("C", "https://claude.ai/cb").contains("class=\"warn\""));
        assert!(show("C", "https://xn--lude-7cd.ai/cb").contains("xn--lude-7cd.ai</strong>"));
        assert!(show("C", "https://xn--lude-7cd.ai/cb").contains("look like others"));
        assert!(show("C", "http://127.0.0.1:9/cb").contains("A program on this computer"));
        assert!(show("C", "cursor://x/cb").contains("Any application on this device"));
        assert!(show("C", "https://evil.test/cb").contains("not one of the sites"));
    }

    #[test]
    fn a07_a16_pages_cannot_be_framed_and_fetch_nothing() {
        let reply = onward("https://github.com/?a=1&b=2", "On", "Text", "Go");
        let policy = reply.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'none'"));
        assert_eq!(reply.headers()["x-frame-options"], "DENY");
        let html = String::from_utf8(reply.into_body()).unwrap();
        assert!(html.contains("content=\"0;url=https://github.com/?a=1&amp;b=2\""));
        for fetched in ["<link", "<script", " src=", "@import", "url("] {
            assert!(!html.contains(fetched), "{fetched}");
        }
    }
}
