//! The router: which path is whose, and the checks that every route shares, in their order.
//!
//! MCP over HTTP is left to `streamable` and `compat`, the sign-in's routes to `oauth` behind [`Authorization`].

use std::rc::Rc;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, Request, Response};

use crate::auth::{self, Authorization, Endpoint, Kind, Principal};
use crate::config::{Config, Origin};
use crate::fresh::Fresh;
use crate::mcp::Server;
use crate::transport::headers::{self, Surroundings};
use crate::transport::status::{Error, empty};
use crate::transport::{
    Access, BODY_BYTES_MAX, Body, Late, compat, exchange, health, purge, root, streamable,
};

/// One deployment: what it is told, what it offers and who may come in. A host makes one for each request.
#[derive(Debug)]
pub struct Site<S, A> {
    pub config: Config,
    pub server: S,
    pub authorization: A,
}

/// Whose a path is. MCP paths are taken in any case and with one slash too many, because clients mangle them and
/// lose their credentials on a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Mcp(Endpoint),
    Root,
    Health,
    Export,
    Import,
    Purge,
    View,
    Other,
}

impl Route {
    fn of(request: &Request<Vec<u8>>) -> Self {
        let path = request.uri().path();
        let bare = path.strip_suffix('/').unwrap_or(path);
        if bare.eq_ignore_ascii_case("/mcp") {
            Self::Mcp(Endpoint::Mcp)
        } else if bare.eq_ignore_ascii_case("/mcp-compat") {
            Self::Mcp(Endpoint::McpCompat)
        } else if path == "/" || path.is_empty() {
            if is_mcp_at_root(request) {
                Self::Mcp(Endpoint::Root)
            } else {
                Self::Root
            }
        } else if path == "/healthz" {
            Self::Health
        } else if path == "/export" {
            Self::Export
        } else if path == "/import" {
            Self::Import
        } else if path == "/admin/purge" {
            Self::Purge
        } else if path == "/view" {
            Self::View
        } else {
            Self::Other
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Mcp(Endpoint::Mcp) => "/mcp",
            Self::Mcp(_) => "/mcp-compat",
            Self::Root => "/",
            Self::Health => "/healthz",
            Self::Export => "/export",
            Self::Import => "/import",
            Self::Purge => "/admin/purge",
            Self::View => "/view",
            Self::Other => "other",
        }
    }
}

/// Whether a request for `/` takes the origin for the endpoint, as some clients do after a sign-in.
fn is_mcp_at_root(request: &Request<Vec<u8>>) -> bool {
    match *request.method() {
        Method::GET | Method::HEAD => {
            request.headers().contains_key(AUTHORIZATION)
                || accepts(request.headers(), "text/event-stream")
        }
        _ => true,
    }
}

/// Whether the `Accept` header names a media type. It is never a reason to refuse.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|item| item.split(';').next())
        .any(|name| name.trim().eq_ignore_ascii_case(media_type))
}

/// Answers one request.
///
/// 1. A host that is not ours: 403. A body that did not come: 408.
/// 2. The sign-in's own routes.
/// 3. An `Origin` that is not allowed: 403 for every method.
/// 4. `OPTIONS`: 204.
/// 5. No such path: 404.
/// 6. Who asks: 401 before anything about the request is judged.
/// 7. Method: 405.
/// 8. Media type: 415.
/// 9. Size: 413. Then the endpoint.
pub async fn route<S, A>(
    request: Request<Vec<u8>>,
    site: Rc<Site<S, A>>,
    fresh: Fresh,
) -> (Response<Body>, Access)
where
    S: Server + 'static,
    A: Authorization + 'static,
{
    let route = Route::of(&request);
    let mut access = Access {
        route: route.name(),
        ..Access::default()
    };
    let request_id = fresh.request_id();
    let is_late = request.extensions().get::<Late>().is_some();
    let surroundings = match Surroundings::of(&request, &site.config) {
        Some(surroundings) if !is_late => surroundings,
        found => {
            let error = found.as_ref().map_or(Error::Host, |_| Error::Late);
            access.outcome = Some(error.word());
            let mut response = error.to_response(); // 1
            headers::finish(&mut response, found.as_ref(), &request_id, false);
            return (response, access);
        }
    };
    let is_head = request.method() == Method::HEAD;
    let signed_in = site
        .authorization
        .route(&request, &surroundings.issuer, &fresh)
        .await;
    let mut response = match signed_in {
        Some(response) => {
            access.route = "oauth";
            response.map(Body::Full) // 2
        }
        None => ours(request, route, &site, &surroundings, fresh, &mut access)
            .await
            .unwrap_or_else(|error| {
                access.outcome = Some(error.word());
                error.to_response()
            }),
    };
    headers::finish(
        &mut response,
        Some(&surroundings),
        &request_id,
        matches!(route, Route::Mcp(_)),
    );
    if is_head {
        *response.body_mut() = Body::Full(Vec::new());
    }
    (response, access)
}

async fn ours<S, A>(
    request: Request<Vec<u8>>,
    route: Route,
    site: &Rc<Site<S, A>>,
    surroundings: &Surroundings,
    fresh: Fresh,
    access: &mut Access,
) -> Result<Response<Body>, Error>
where
    S: Server + 'static,
    A: Authorization + 'static,
{
    if surroundings.origin_is_refused {
        return Err(Error::Origin); // 3
    }
    if request.method() == Method::OPTIONS && route != Route::Other {
        return Ok(empty(204)); // 4
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match route {
        Route::Root if is_read => Ok(root::page(request.headers(), site, surroundings)),
        Route::Health if is_read => health::report(&request, site, surroundings, &fresh).await,
        Route::View if is_read => Ok(root::view()),
        Route::Root | Route::Health | Route::View => Err(Error::Method("GET, HEAD, OPTIONS")),
        Route::Other => Err(Error::NotFound), // 5
        Route::Mcp(endpoint) => {
            let kind = check(&request, site, surroundings, endpoint, &fresh, access).await?;
            let is_strict = endpoint == Endpoint::Mcp
                && !(site.config.legacy_on_strict && compat::is_legacy(&request));
            let mut response = if is_strict {
                streamable::handle(request, site, fresh, access).await
            } else {
                compat::handle(request, site, fresh, access).await
            };
            headers::deprecate(&mut response, kind);
            Ok(response)
        }
        Route::Export | Route::Import | Route::Purge => {
            let kind = check(&request, site, surroundings, Endpoint::Any, &fresh, access).await?;
            let mut response = match route {
                Route::Export => exchange::export(&request, site, fresh, access).await,
                Route::Purge if !kind.is_operator() => return Err(Error::NotOwner),
                Route::Purge => purge::purge(&request, site, &fresh, access).await,
                _ => exchange::import(&request, site, &fresh, access).await,
            };
            headers::deprecate(&mut response, kind);
            Ok(response)
        }
    }
}

/// What every route that takes a message asks first.
async fn check<S: Server, A: Authorization>(
    request: &Request<Vec<u8>>,
    site: &Site<S, A>,
    surroundings: &Surroundings,
    endpoint: Endpoint,
    fresh: &Fresh,
    access: &mut Access,
) -> Result<Kind, Error> {
    let principal = admit(request, site, surroundings, endpoint, fresh).await?; // 6
    access.credential = Some(principal.kind.name());
    if request.method() != Method::POST {
        return Err(Error::Method("POST")); // 7
    }
    if !is_json(request.headers()) {
        return Err(Error::MediaType); // 8
    }
    if request.body().len() > BODY_BYTES_MAX {
        return Err(Error::TooLarge {
            bytes_max: BODY_BYTES_MAX,
        }); // 9
    }
    Ok(principal.kind)
}

/// Lets somebody in, or says why not.
pub(crate) async fn admit<S: Server, A: Authorization>(
    request: &Request<Vec<u8>>,
    site: &Site<S, A>,
    surroundings: &Surroundings,
    endpoint: Endpoint,
    fresh: &Fresh,
) -> Result<Principal, Error> {
    let is_open = site.authorization.is_open();
    if !is_open && !site.config.tokens.is_set() {
        return Err(Error::NotConfigured);
    }
    auth::authenticate(
        &site.config.tokens,
        &site.authorization,
        request,
        &surroundings.issuer,
        endpoint,
        fresh,
    )
    .await
    .map_err(|denial| Error::Denied {
        denial,
        endpoint,
        sign_in: is_open.then(|| surroundings.issuer.clone()),
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|name| name.trim().eq_ignore_ascii_case("application/json"))
}

/// The origin at which the client reached this server.
pub(crate) fn own_origin(request: &Request<Vec<u8>>) -> Option<Origin> {
    let scheme = request.uri().scheme_str().unwrap_or("http");
    let mut hosts = request.headers().get_all(HOST).iter();
    let authority = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok()?,
        (None, _) => request.uri().authority()?.as_str(),
        (Some(_), Some(_)) => return None,
    };
    Origin::of(scheme, authority.trim())
}

/// The page's origin: `Ok(None)` when no browser asks, `Err` when it names none that could be allowed.
pub(crate) fn page_origin(headers: &HeaderMap) -> Result<Option<(Origin, HeaderValue)>, ()> {
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(()),
        (Some(value), None) => {
            let origin = value.to_str().ok().and_then(Origin::parse).ok_or(())?;
            Ok(Some((origin, value.clone())))
        }
    }
}
