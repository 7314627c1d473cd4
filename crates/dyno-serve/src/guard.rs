//! Who may ask, and what every answer carries.
//!
//! In this order: the `Host` is one of ours, a foreign page did not send it, the sender has a token, the server does not only
//! read where something would change, and the token's role allows it. Nothing is answered before, not even a style sheet.

use std::net::IpAddr;

use axum::extract::{ConnectInfo, Form, Request, State as FromState};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::action_log::Action;
use crate::pages::frame::bare;
use crate::reply::Trouble;
use crate::roles::{Caller, is_safe, required};
use crate::sessions::LOGIN_S;
use crate::state::{Shared, State};
use crate::tls::Client;

/// The largest form; a plan has some kilobytes.
pub(crate) const BODY_BYTES_MAX: usize = 256 << 10;

/// What pages may do: our own files, nothing inline, nothing of anybody else's, and nobody may frame them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Without any, browsers send no origin of forms either.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// Browsers keep to TLS for a year, once they have used it.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The largest answer of the API that is made into JSON because it is an error in other words.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// Lets a request through, or not, and notes what it asked for.
pub(crate) async fn guard(
    FromState(state): Shared,
    ConnectInfo(Client(place)): ConnectInfo<Client>,
    request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let is_api = path.starts_with("/api/");
    let from = sender(&state, place.peer.ip(), request.headers());
    let judged = judge(&state, request.method(), request.uri(), request.headers());
    let (judged, mut request) = match received(&state, judged, request).await {
        Ok(both) => both,
        Err(trouble) => (Err(trouble), Request::default()),
    };
    place.begin_answer();
    let by = match &judged {
        Ok(Judged::Known(caller) | Judged::Entered(caller, ..)) => Some(caller.name.clone()),
        Ok(Judged::Refused(caller, _)) => Some(caller.name.clone()),
        _ => None,
    };
    let is_login = matches!(judged, Ok(Judged::Entered(..)));
    let mut response = match judged {
        Ok(Judged::Known(caller)) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Ok(Judged::Entered(_, token, uri)) => entered(&state, &token, &uri),
        Ok(Judged::Asking) if is_api => {
            let hint = "send it in the header `Authorization: Bearer TOKEN`";
            Trouble::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong", hint).json()
        }
        Ok(Judged::Asking) => (StatusCode::UNAUTHORIZED, Html(ask("").into_string())).into_response(),
        Ok(Judged::Knocking) => next.run(request).await,
        Ok(Judged::Refused(_, trouble)) | Err(trouble) if is_api => trouble.json(),
        Ok(Judged::Refused(_, trouble)) => trouble.into_response(),
        Err(trouble) => (trouble.status, trouble.problem).into_response(),
    };
    let is_refused = matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if is_login || is_refused || !is_safe(&method) {
        let by = by.or_else(|| response.extensions().get::<Caller>().map(|caller| caller.name.clone()));
        let status = response.status().as_u16();
        state.actions.note(Action::new(by, Some(from), method.as_str(), &path, status));
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

/// The request with its whole body, which has as long to arrive as its head had. Of a request that is refused nothing more is
/// read.
async fn received(
    state: &State,
    judged: Result<Judged, Trouble>,
    request: Request,
) -> Result<(Result<Judged, Trouble>, Request), Trouble> {
    if !matches!(judged, Ok(Judged::Known(_) | Judged::Knocking)) {
        return Ok((judged, Request::default()));
    }
    let (parts, body) = request.into_parts();
    let whole = tokio::time::timeout(state.setup.limits.request, axum::body::to_bytes(body, BODY_BYTES_MAX));
    let late = || {
        Trouble::new(StatusCode::REQUEST_TIMEOUT, "the rest of the request did not arrive", "send it at once")
    };
    let large = |_| {
        let problem = format!("the request has more than {BODY_BYTES_MAX} bytes");
        Trouble::new(StatusCode::PAYLOAD_TOO_LARGE, problem, "a plan has some kilobytes")
    };
    let bytes = whole.await.map_err(|_| late())?.map_err(large)?;
    Ok((judged, Request::from_parts(parts, bytes.into())))
}

/// Where a request comes from: behind a proxy what that says last, which the client cannot forge.
fn sender(state: &State, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let forwarded = headers.get_all("x-forwarded-for").into_iter().next_back();
    let last = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    last.filter(|_| state.setup.behind_proxy).unwrap_or(peer)
}

/// An error of the API as JSON, also where a part of the HTTP library words it.
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
    Trouble::new(status, dyno_report::text::clean(&problem), "/api/v1/openapi.json describes every address")
        .json()
}

/// What is made of a request.
enum Judged {
    /// The sender is known.
    Known(Caller),
    /// The sender has just shown this token in an address, and continues at this one.
    Entered(Caller, String, String),
    /// The sender is not known.
    Asking,
    /// The sender is about to show a token in a form.
    Knocking,
    /// The sender is known, and may not ask for this.
    Refused(Caller, Trouble),
}

fn judge(state: &State, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Judged, Trouble> {
    // HTTP/2 is not spoken, so there is always a header.
    let host = text(headers, &header::HOST).unwrap_or_default();
    if !state.hosts.knows(host) {
        let hint = "start it with --host NAME if that is its name";
        return Err(Trouble::new(StatusCode::MISDIRECTED_REQUEST, "this server has another name", hint));
    }
    let is_safe = is_safe(method);
    let bearer =
        text(headers, &header::AUTHORIZATION).and_then(bearer).and_then(|token| state.users.holder(token));
    match text(headers, &header::ORIGIN) {
        Some(origin) if !state.hosts.is_own(origin) => {
            return Err(Trouble::refused("another site may not ask this server", ""));
        }
        // A browser always says where a form comes from; other programs have the token in hand.
        None if !is_safe && bearer.is_none() => {
            return Err(Trouble::refused("it is not known from which page this comes", "send an Origin"));
        }
        _ => {}
    }
    // A page of another site may lead here, and nothing else of it may ask.
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    let mode = headers.get("sec-fetch-mode").and_then(|value| value.to_str().ok());
    if matches!(site, Some("cross-site" | "same-site")) && mode != Some("navigate") {
        return Err(Trouble::refused("another site may not ask this server", ""));
    }
    if uri.path() == "/login" {
        return Ok(Judged::Knocking);
    }
    let caller = bearer.map(|(caller, _)| caller).or_else(|| {
        let token = state.sessions.token_of(cookie_in(state, headers)?)?;
        state.users.by_digest(&token)
    });
    let Some(caller) = caller else {
        let shown = token_in(uri).filter(|_| is_safe);
        let known = shown.and_then(|(token, rest)| Some((state.users.holder(&token)?, rest)));
        return Ok(
            known.map_or(Judged::Asking, |((caller, digest), rest)| Judged::Entered(caller, digest, rest))
        );
    };
    let is_logout = uri.path() == "/logout";
    if !is_safe && state.setup.read_only && !is_logout {
        let trouble = Trouble::refused("this server only reads", "it was started with --read-only");
        return Ok(Judged::Refused(caller, trouble));
    }
    let needed = required(method, uri.path());
    if caller.role < needed {
        let problem =
            format!("{} has the role {}, and this needs {}", caller.name, caller.role.name(), needed.name());
        let trouble = Trouble::refused(problem, "ask an administrator of this server for another token");
        return Ok(Judged::Refused(caller, trouble));
    }
    match token_in(uri).filter(|_| is_safe) {
        // A token that is shown again counts, as the browser may have been another user's.
        Some((token, rest)) => Ok(match state.users.holder(&token) {
            Some((caller, digest)) => Judged::Entered(caller, digest, rest),
            None => Judged::Asking,
        }),
        None => Ok(Judged::Known(caller)),
    }
}

/// The token of an `Authorization` header; the scheme's name is in any case (RFC 9110, 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The value of the cookie of a login.
fn cookie_in<'h>(state: &State, headers: &'h HeaderMap) -> Option<&'h str> {
    let name = state.cookie_name();
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The token in an address, and the address without it.
fn token_in(uri: &Uri) -> Option<(String, String)> {
    let query = uri.query()?;
    let token = query.split('&').find_map(|pair| pair.strip_prefix("token="))?.to_owned();
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    let path = uri.path();
    let rest = if rest.is_empty() { path.to_owned() } else { format!("{path}?{}", rest.join("&")) };
    // An address that begins with two slashes would lead to another server.
    Some((token, if rest.starts_with("//") { "/".to_owned() } else { rest }))
}

/// Gives the cookie, and continues from a page of our own: a browser that came from elsewhere would not send it at once.
fn entered(state: &State, token_digest: &str, to: &str) -> Response {
    let on = html! { meta http-equiv="refresh" content={"0;url=" (to)}; };
    let page = bare("Dyno", &on, &html! { p { a href=(to) { "Continue" } } });
    match state.sessions.begin(token_digest) {
        Ok(value) => {
            ([(header::SET_COOKIE, cookie(state, &value, LOGIN_S))], Html(page.into_string())).into_response()
        }
        Err(_) => Trouble::ended().into_response(),
    }
}

fn cookie(state: &State, value: &str, seconds: u64) -> String {
    let secure = if state.hosts.scheme() == "https" { "; Secure" } else { "" };
    let name = state.cookie_name();
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
}

/// The form in which somebody shows the token.
#[derive(Deserialize)]
pub(crate) struct Knock {
    token: String,
}

/// `POST /login`: the token in a form.
pub(crate) async fn login(FromState(state): Shared, Form(knock): Form<Knock>) -> Response {
    let Some((caller, digest)) = state.users.holder(knock.token.trim()) else {
        return (StatusCode::UNAUTHORIZED, Html(ask("That is not the token.").into_string())).into_response();
    };
    let mut response = entered(&state, &digest, "/");
    // For the log of actions.
    response.extensions_mut().insert(caller);
    response
}

/// `GET /login`.
pub(crate) async fn login_page() -> Html<String> {
    Html(ask("").into_string())
}

/// `POST /logout`: the login ends, here and in the browser.
pub(crate) async fn logout(FromState(state): Shared, headers: HeaderMap) -> Response {
    if let Some(value) = cookie_in(&state, &headers) {
        state.sessions.end(value);
    }
    let gone = cookie(&state, "", 0);
    ([(header::SET_COOKIE, gone)], Html(ask("You are logged out.").into_string())).into_response()
}

fn ask(line: &str) -> Markup {
    let body = html! {
        main {
            h1 { "Dyno" }
            @if !line.is_empty() { p role="alert" { (line) } }
            p { "The address that " code { "dyno serve" } " printed has a token, which is also in the file " code { "token" } " of its state." }
            form method="post" action="/login" {
                label { "Token " input type="password" name="token" required autocomplete="off"; }
                " " button type="submit" { "Go on" }
            }
        }
    };
    bare("Dyno", &html! {}, &body)
}
