//! How a client proves itself at `/token` and `/revoke` (RFC 6749 §2.3): by its secret, in the header or in the form, or not at all.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE};

use crate::oauth::client::{self, Method};
use crate::oauth::document;
use crate::oauth::error::{Code, Error};
use crate::oauth::form::{Form, decode};
use crate::oauth::keys::{Missing, Refusal, same};
use crate::oauth::port::Ports;
use crate::oauth::sign_in::Turn;

const NOT_A_FORM: Error =
    Error::request("The body must be application/x-www-form-urlencoded, each parameter once.");
const UNKNOWN: Error = Error::new(
    Code::InvalidClient,
    "The client is not known here, or its secret is wrong. Register again.",
);

/// The form of a request to `/token` or `/revoke`; parameters in the query are ignored.
pub(super) fn read_form(
    headers: &HeaderMap,
    body: &[u8],
    single: &[&'static str],
) -> Result<Form, Error> {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    if !media_type
        .trim()
        .eq_ignore_ascii_case("application/x-www-form-urlencoded")
    {
        return Err(NOT_A_FORM);
    }
    let form = std::str::from_utf8(body)
        .ok()
        .and_then(Form::parse)
        .ok_or(NOT_A_FORM)?;
    for name in single {
        form.one(name).map_err(|_| NOT_A_FORM)?;
    }
    Ok(form)
}

/// What the client presented.
struct Presented {
    id: String,
    secret: Option<String>,
}

/// A refusal, and whether the client spoke through the header.
pub(super) struct Refused {
    pub error: Error,
    pub with_basic: bool,
}

/// The proven client id. Trouble with storage is never the client's fault.
pub(super) async fn authenticate<P: Ports>(
    form: &Form,
    turn: &Turn<'_, P>,
) -> Result<String, Refused> {
    let headers = turn.request.headers();
    let with_basic = headers.contains_key(AUTHORIZATION);
    let refused = |error| Refused { error, with_basic };
    // The form's own values, and each reading of the header: some clients encode both halves, some do not.
    let readings = presented(headers, form).map_err(refused)?;
    let mut last = UNKNOWN;
    for presented in readings {
        match prove(&presented, turn).await {
            Ok(()) => return Ok(presented.id),
            Err(error) => last = error,
        }
    }
    Err(refused(last))
}

fn presented(headers: &HeaderMap, form: &Form) -> Result<Vec<Presented>, Error> {
    let one = |name| form.one(name).ok().flatten();
    let (id, secret) = (one("client_id"), one("client_secret"));
    if !headers.contains_key(AUTHORIZATION) {
        let id = id.ok_or(UNKNOWN)?.to_owned();
        let secret = secret.map(str::to_owned);
        return Ok(vec![Presented { id, secret }]);
    }
    let readings = read_basic(headers).ok_or(UNKNOWN)?;
    let agreeing: Vec<_> = readings
        .into_iter()
        .filter(|basic| id.is_none_or(|id| id == basic.id))
        .filter(|basic| secret.is_none() || basic.secret.as_deref() == secret)
        .collect();
    if agreeing.is_empty() {
        return Err(Error::request(
            "The Authorization header and the form name different clients.",
        ));
    }
    Ok(agreeing)
}

fn read_basic(headers: &HeaderMap) -> Option<Vec<Presented>> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, text) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let present = |id: String, secret: String| Presented {
        id,
        secret: Some(secret).filter(|secret| !secret.is_empty()),
    };
    let mut readings = Vec::new();
    if let (Some(id), Some(secret)) = (decode(id), decode(secret)) {
        readings.push(present(id, secret));
    }
    readings.push(present(id.to_owned(), secret.to_owned()));
    Some(readings)
}

/// A registered client with a secret must bring it, one without must not; header and form are one for that.
async fn prove<P: Ports>(presented: &Presented, turn: &Turn<'_, P>) -> Result<(), Error> {
    if document::is_url(&presented.id) {
        return if presented.secret.is_none() {
            Ok(())
        } else {
            Err(UNKNOWN)
        };
    }
    let opened = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| {
            let client = client::open(&presented.id, ring)?;
            let secret = client::secret(&presented.id, ring)?;
            Ok((client.method, secret))
        })
        .await
        .map_err(|_| Error::unavailable())?;
    let (method, secret) = match opened {
        Ok(found) => found,
        Err(Refusal::Forged | Refusal::Key(Missing::Newer | Missing::Dropped)) => {
            return Err(UNKNOWN);
        }
    };
    let given = presented.secret.as_deref();
    let is_right = match method {
        Method::None => given.is_none(),
        Method::Post | Method::Basic => {
            given.is_some_and(|given| same(given.as_bytes(), secret.as_bytes()))
        }
    };
    if is_right { Ok(()) } else { Err(UNKNOWN) }
}
