//! Token revocation (RFC 7009): the answer is the same whether the token was known, foreign or never there.

use crate::oauth::client_auth::{Refused, authenticate, read_form};
use crate::oauth::error::Error;
use crate::oauth::port::{Event, Ports, ask_twice};
use crate::oauth::reply::{self, Reply};
use crate::oauth::sign_in::Turn;
use crate::oauth::spelling::{self, Kind};
use crate::oauth::vault::message::{Answer, Ask, Bytes};
use crate::oauth::verify;

const SINGLE: [&str; 4] = ["token", "token_type_hint", "client_id", "client_secret"];

pub(super) async fn answer<P: Ports>(turn: &Turn<'_, P>) -> Reply {
    let form = match read_form(turn.request.headers(), turn.request.body(), &SINGLE) {
        Ok(form) => form,
        Err(error) => return reply::error(error, false),
    };
    let client_id = match authenticate(&form, turn).await {
        Ok(client) => client,
        Err(Refused { error, with_basic }) => return reply::error(error, with_basic),
    };
    let Some(token) = form.one("token").ok().flatten() else {
        return reply::error(Error::request("token is missing."), false);
    };
    let sealed = turn
        .memory
        .open(turn.ports, turn.fresh, |ring| {
            spelling::verify(Kind::Access, ring, token)
                .or_else(|_| spelling::verify(Kind::Refresh, ring, token))
        })
        .await;
    match sealed {
        Err(_) => return reply::error(Error::unavailable(), false),
        Ok(Err(_)) => return done(),
        Ok(Ok(())) => {}
    }
    let ask = Ask::Revoke {
        token: Bytes(spelling::hash(token)),
        client_id,
    };
    match ask_twice(turn.ports, turn.fresh, &ask).await {
        Ok(Answer::Revoked { dead }) => {
            turn.note(Event::new("oauth.revoke", "ok"));
            verify::purge(turn, &dead);
            done()
        }
        Ok(_) | Err(_) => reply::error(Error::unavailable(), false),
    }
}

fn done() -> Reply {
    reply::new(200, "application/json", Vec::new(), reply::Cache::Never)
}
