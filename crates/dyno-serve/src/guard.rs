//! Who may ask, and what every answer carries.
//!
//! In this order: the `Host` is one of ours, a foreign page did not send it, whoever asks knows the token, and what would change
//! something is not asked of a server that only reads. Nothing is answered before, not even a style sheet.

use axum::extract::{Form, Request, State as FromState};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::pages::frame::bare;
use crate::reply::Trouble;
use crate::state::{Shared, State};

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

/// How long a browser keeps the cookie, s: a month.
const COOKIE_S: u32 = 30 * 24 * 3_600;

/// Lets a request through, or not.
pub(crate) async fn guard(FromState(state): Shared, request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = match judge(&state, request.method(), request.uri(), request.headers()) {
        Ok(Judged::Known) => next.run(request).await,
        Ok(Judged::Entered(uri)) => entered(&state, &uri),
        Ok(Judged::Asking) if is_api => {
            Trouble::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong", "send it as a bearer's")
                .json()
        }
        Ok(Judged::Asking) => (StatusCode::UNAUTHORIZED, Html(ask("").into_string())).into_response(),
        Ok(Judged::Knocking) => next.run(request).await,
        Err(trouble) if is_api => trouble.json(),
        Err(trouble) => (trouble.status, trouble.problem).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What is made of whoever asks.
enum Judged {
    /// They know the token.
    Known,
    /// They have just shown it in an address, and go on without it to this one.
    Entered(String),
    /// They do not know it.
    Asking,
    /// They show it in a form.
    Knocking,
}

fn judge(state: &State, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Judged, Trouble> {
    // HTTP/2 is not spoken, so there is always a header.
    let host = text(headers, &header::HOST).unwrap_or_default();
    if !state.hosts.knows(host) {
        let hint = "start it with --host NAME if that is its name";
        return Err(Trouble::new(StatusCode::MISDIRECTED_REQUEST, "this server has another name", hint));
    }
    let is_safe = matches!(*method, Method::GET | Method::HEAD);
    let bearer = text(headers, &header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let is_bearer = bearer.is_some_and(|token| state.token.is(token.trim()));
    match text(headers, &header::ORIGIN) {
        Some(origin) if !state.hosts.is_own(origin) => {
            return Err(Trouble::refused("another site may not ask this server", ""));
        }
        // A browser always says where a form comes from; other programs have the token in hand.
        None if !is_safe && !is_bearer => {
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
    if is_bearer || has_cookie(state, headers) {
        if !is_safe && state.setup.read_only {
            return Err(Trouble::refused("this server only reads", "it was started with --read-only"));
        }
        if is_safe && let Some((_, rest)) = token_in(uri) {
            return Ok(Judged::Entered(rest));
        }
        return Ok(Judged::Known);
    }
    match token_in(uri).filter(|_| is_safe) {
        Some((token, rest)) if state.token.is(&token) => Ok(Judged::Entered(rest)),
        _ => Ok(Judged::Asking),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn has_cookie(state: &State, headers: &HeaderMap) -> bool {
    let name = state.cookie_name();
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.into_iter().any(|(known, value)| known == name && state.token.is_cookie(value))
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

/// Gives the cookie, and goes on from a page of our own: a browser that came from elsewhere would not send it at once.
fn entered(state: &State, to: &str) -> Response {
    let on = html! { meta http-equiv="refresh" content={"0;url=" (to)}; };
    let page = bare("Dyno", &on, &html! { p { a href=(to) { "Go on" } } });
    ([(header::SET_COOKIE, cookie(state))], Html(page.into_string())).into_response()
}

fn cookie(state: &State) -> String {
    let secure = if state.hosts.scheme() == "https" { "; Secure" } else { "" };
    let (name, value) = (state.cookie_name(), state.token.cookie());
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_S}{secure}")
}

/// The form in which somebody shows the token.
#[derive(Deserialize)]
pub(crate) struct Knock {
    token: String,
}

/// `POST /login`: the token in a form.
pub(crate) async fn login(FromState(state): Shared, Form(knock): Form<Knock>) -> Response {
    if state.token.is(knock.token.trim()) {
        return entered(&state, "/");
    }
    (StatusCode::UNAUTHORIZED, Html(ask("That is not the token.").into_string())).into_response()
}

/// `GET /login`.
pub(crate) async fn login_page() -> Html<String> {
    Html(ask("").into_string())
}

/// `POST /logout`: the browser forgets the cookie.
pub(crate) async fn logout(FromState(state): Shared) -> Response {
    let gone = format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", state.cookie_name());
    ([(header::SET_COOKIE, gone)], Html(ask("This browser has forgotten the token.").into_string()))
        .into_response()
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
