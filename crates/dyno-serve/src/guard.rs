//! Decides which requests are answered, and sets the headers of every answer.
//!
//! The checks in order: `Host` names this server, no foreign page sent the request, and the sender has a
//! token. Then a read-only server refuses changes, and the token's role must allow the request. Before that
//! nothing is answered, not even a style sheet.

use std::net::IpAddr;

use axum::extract::{ConnectInfo, Form, Request, State as FromState};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use maud::html;
use serde::Deserialize;

use crate::action_log::Action;
use crate::pages::frame::bare;
use crate::pages::login;
use crate::reply::HttpError;
use crate::roles::{Caller, is_safe, required};
use crate::sessions::LOGIN_S;
use crate::state::{ServeState, SharedServeState};
use crate::tls::Client;

/// Maximum size of a request body, bytes; a plan has a few kilobytes.
pub(crate) const BODY_BYTES_MAX: usize = 256 << 10;

/// The content security policy: only files of this server, no inline code, and no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Without a referrer policy that allows it, browsers do not send the origin of forms either.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// Browsers that have used TLS once use only TLS for one year.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Largest error text that is converted to JSON for the API, bytes.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// Answers or refuses a request, and writes it to the action log.
pub(crate) async fn guard(
    FromState(state): SharedServeState,
    ConnectInfo(Client(place)): ConnectInfo<Client>,
    request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let is_api = path.starts_with("/api/");
    let from = client_address(&state, place.peer.ip(), request.headers());
    let judged = authorize(&state, request.method(), request.uri(), request.headers());
    let (judged, mut request) = match received(&state, judged, request).await {
        Ok(both) => both,
        Err(trouble) => (Err(trouble), Request::default()),
    };
    place.begin_answer();
    let caller_name = match &judged {
        Ok(AccessDecision::Authorized(caller) | AccessDecision::TokenLogin(caller, ..)) => {
            Some(caller.name.clone())
        }
        Ok(AccessDecision::Refused(caller, _)) => Some(caller.name.clone()),
        _ => None,
    };
    let is_login = matches!(judged, Ok(AccessDecision::TokenLogin(..)));
    let mut response = match judged {
        Ok(AccessDecision::Authorized(caller)) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Ok(AccessDecision::TokenLogin(_, token, uri)) => token_login_response(&state, &token, &uri),
        Ok(AccessDecision::NeedsLogin) if is_api => {
            let hint = "send it in the header `Authorization: Bearer TOKEN`";
            HttpError::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong", hint).json()
        }
        Ok(AccessDecision::NeedsLogin) => login::page(StatusCode::UNAUTHORIZED, ""),
        Ok(AccessDecision::LoginAttempt) => next.run(request).await,
        Ok(AccessDecision::Refused(_, trouble)) | Err(trouble) if is_api => trouble.json(),
        Ok(AccessDecision::Refused(_, trouble)) => trouble.into_response(),
        Err(trouble) => (trouble.status, trouble.problem).into_response(),
    };
    let is_refused = matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if is_login || is_refused || !is_safe(&method) {
        let actor =
            caller_name.or_else(|| response.extensions().get::<Caller>().map(|caller| caller.name.clone()));
        let status = response.status().as_u16();
        state.actions.note(Action::new(actor, Some(from), method.as_str(), &path, status));
    }
    if is_api {
        response = json_error(response).await;
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if state.hosts.scheme() == "https" {
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert(HSTS);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Reads the body of an accepted request; it has the same time limit as the head. The body of a refused
/// request is not read.
async fn received(
    state: &ServeState,
    judged: Result<AccessDecision, HttpError>,
    request: Request,
) -> Result<(Result<AccessDecision, HttpError>, Request), HttpError> {
    if !matches!(judged, Ok(AccessDecision::Authorized(_) | AccessDecision::LoginAttempt)) {
        return Ok((judged, Request::default()));
    }
    let (parts, body) = request.into_parts();
    let whole = tokio::time::timeout(state.setup.limits.request, axum::body::to_bytes(body, BODY_BYTES_MAX));
    let late = || {
        HttpError::new(StatusCode::REQUEST_TIMEOUT, "the request is incomplete", "send it without a pause")
    };
    let large = |_| {
        let problem = format!("the request exceeds {BODY_BYTES_MAX} bytes");
        HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, problem, "a plan has some kilobytes")
    };
    let bytes = whole.await.map_err(|_| late())?.map_err(large)?;
    Ok((judged, Request::from_parts(parts, bytes.into())))
}

/// Returns the client's address. Behind a proxy that is the last forwarded address, which the client cannot
/// forge.
fn client_address(state: &ServeState, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let forwarded = headers.get_all("x-forwarded-for").into_iter().next_back();
    let last = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    last.filter(|_| state.setup.behind_proxy).unwrap_or(peer)
}

/// Converts an error of the API to JSON, also if the HTTP library created it.
async fn json_error(response: Response) -> Response {
    let status = response.status();
    let is_json = |headers: &HeaderMap| {
        headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
    };
    if !(status.is_client_error() || status.is_server_error()) || is_json(response.headers()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let is_text = parts
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    let words = match is_text {
        true => axum::body::to_bytes(body, ERROR_BYTES_MAX).await.unwrap_or_default(),
        false => Default::default(),
    };
    let problem = match String::from_utf8_lossy(&words).trim() {
        "" => status.canonical_reason().unwrap_or("the request failed").to_lowercase(),
        words => words.to_owned(),
    };
    HttpError::new(status, dyno_report::text::clean(&problem), "/api/v1/openapi.json describes every address")
        .json()
}

/// The decision about a request.
enum AccessDecision {
    /// The sender is known and may send this request.
    Authorized(Caller),
    /// The sender has sent this token in the address, and continues at this address without it.
    TokenLogin(Caller, String, String),
    /// The sender is unknown and must log in.
    NeedsLogin,
    /// The sender is about to submit a token in the login form.
    LoginAttempt,
    /// The sender is known, but may not send this request.
    Refused(Caller, HttpError),
}

fn authorize(
    state: &ServeState,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<AccessDecision, HttpError> {
    // The server does not speak HTTP/2, so the header is always present.
    let host = text(headers, &header::HOST).unwrap_or_default();
    if !state.hosts.knows(host) {
        let hint = "start it with --host NAME if that is its name";
        return Err(HttpError::new(StatusCode::MISDIRECTED_REQUEST, "this server has another name", hint));
    }
    let is_safe = is_safe(method);
    let bearer =
        text(headers, &header::AUTHORIZATION).and_then(bearer).and_then(|token| state.users.holder(token));
    match text(headers, &header::ORIGIN) {
        Some(origin) if !state.hosts.is_own(origin) => {
            return Err(HttpError::forbidden("requests from other sites are not allowed", ""));
        }
        // Browsers always send the origin of a form; other programs send a bearer token.
        None if !is_safe && bearer.is_none() => {
            return Err(HttpError::forbidden(
                "the origin of the request is unknown",
                "send the header `Origin` or a bearer token",
            ));
        }
        _ => {}
    }
    // Pages of other sites may link here; all other requests from them are refused.
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    let mode = headers.get("sec-fetch-mode").and_then(|value| value.to_str().ok());
    if matches!(site, Some("cross-site" | "same-site")) && mode != Some("navigate") {
        return Err(HttpError::forbidden("requests from other sites are not allowed", ""));
    }
    if uri.path() == "/login" {
        return Ok(AccessDecision::LoginAttempt);
    }
    let caller = bearer.map(|(caller, _)| caller).or_else(|| {
        let token = state.sessions.token_of(session_cookie(state, headers)?)?;
        state.users.by_digest(&token)
    });
    let Some(caller) = caller else {
        let shown = query_token(uri).filter(|_| is_safe);
        let token_holder = shown.and_then(|(token, rest)| Some((state.users.holder(&token)?, rest)));
        return Ok(token_holder.map_or(AccessDecision::NeedsLogin, |((caller, digest), rest)| {
            AccessDecision::TokenLogin(caller, digest, rest)
        }));
    };
    let is_logout = uri.path() == "/logout";
    if !is_safe && state.setup.read_only && !is_logout {
        let trouble = HttpError::forbidden("this server is read-only", "it was started with --read-only");
        return Ok(AccessDecision::Refused(caller, trouble));
    }
    let needed = required(method, uri.path());
    if caller.role < needed {
        let problem =
            format!("{} has the role {}, and this needs {}", caller.name, caller.role.name(), needed.name());
        let trouble = HttpError::forbidden(problem, "ask an administrator of this server for another token");
        return Ok(AccessDecision::Refused(caller, trouble));
    }
    match query_token(uri).filter(|_| is_safe) {
        // A token that is sent again counts, because the browser may have been another user's.
        Some((token, rest)) => Ok(match state.users.holder(&token) {
            Some((caller, digest)) => AccessDecision::TokenLogin(caller, digest, rest),
            None => AccessDecision::NeedsLogin,
        }),
        None => Ok(AccessDecision::Authorized(caller)),
    }
}

/// Returns the token of an `Authorization` header; the scheme is case-insensitive (RFC 9110, 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns the value of the session cookie.
fn session_cookie<'h>(state: &ServeState, headers: &'h HeaderMap) -> Option<&'h str> {
    let name = state.cookie_name();
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// Returns the token in an address, and the address without it.
fn query_token(uri: &Uri) -> Option<(String, String)> {
    let query = uri.query()?;
    let token = query.split('&').find_map(|pair| pair.strip_prefix("token="))?.to_owned();
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    let path = uri.path();
    let rest = if rest.is_empty() { path.to_owned() } else { format!("{path}?{}", rest.join("&")) };
    // An address that begins with two slashes would lead to another server.
    Some((token, if rest.starts_with("//") { "/".to_owned() } else { rest }))
}

/// Sets the cookie, and redirects from a page of this server. A browser that comes from another site would
/// not send the cookie at once.
fn token_login_response(state: &ServeState, token_digest: &str, to: &str) -> Response {
    let on = html! { meta http-equiv="refresh" content={"0;url=" (to)}; };
    let page = bare("Dyno", &on, &html! { p { a href=(to) { "Continue" } } });
    match state.sessions.begin(token_digest) {
        Ok(value) => {
            ([(header::SET_COOKIE, cookie(state, &value, LOGIN_S))], Html(page.into_string())).into_response()
        }
        Err(_) => HttpError::task_failed().into_response(),
    }
}

fn cookie(state: &ServeState, value: &str, seconds: u64) -> String {
    let secure = if state.hosts.scheme() == "https" { "; Secure" } else { "" };
    let name = state.cookie_name();
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
}

/// The login form, with the token that a user enters.
#[derive(Deserialize)]
pub(crate) struct LoginForm {
    token: String,
}

/// Answers `POST /login`, whose form contains the token.
pub(crate) async fn login(FromState(state): SharedServeState, Form(knock): Form<LoginForm>) -> Response {
    let Some((caller, digest)) = state.users.holder(knock.token.trim()) else {
        return login::page(StatusCode::UNAUTHORIZED, "Wrong token.");
    };
    let mut response = token_login_response(&state, &digest, "/");
    // Needed for the action log.
    response.extensions_mut().insert(caller);
    response
}

/// Answers `GET /login` with the login form.
pub(crate) async fn login_page() -> Response {
    login::page(StatusCode::OK, "")
}

/// Answers `POST /logout`: ends the login on the server and in the browser.
pub(crate) async fn logout(FromState(state): SharedServeState, headers: HeaderMap) -> Response {
    if let Some(value) = session_cookie(&state, &headers) {
        state.sessions.end(value);
    }
    let expired_cookie = cookie(&state, "", 0);
    ([(header::SET_COOKIE, expired_cookie)], login::page(StatusCode::OK, "You are logged out."))
        .into_response()
}
