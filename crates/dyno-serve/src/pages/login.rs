//! The login page, which anyone may see.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maud::{Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::frame::bare;

/// Answers with the login page; `line` stands above its form.
pub(crate) fn page(status: StatusCode, line: &str) -> Response {
    let headers = [(header::CONTENT_SECURITY_POLICY, policy())];
    (status, headers, Html(form(line).into_string())).into_response()
}

fn form(line: &str) -> Markup {
    let body = html! {
        main {
            h1 { "Dyno" }
            @if !line.is_empty() { p role="alert" { (line) } }
            p { "The address that " code { "dyno serve" } " printed contains a token, which is also in the file " code { "token" } " of its state folder." }
            form method="post" action="/login" {
                label { "Token " input type="password" name="token" required autocomplete="off"; }
                " " button type="submit" { "Log in" }
            }
        }
    };
    bare("Dyno", &html! { style { (PreEscaped(STYLE)) } }, &body)
}

/// The style of the login page, inline: before a login nothing else is answered.
const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;min-height:100vh;place-items:center}
main{box-sizing:border-box;width:min(32rem,100vw);padding:1.5rem 2rem;border:1px solid #8886;border-radius:8px}
h1{margin:0 0 .4em;font-size:1.4rem;letter-spacing:.03em}
form{display:flex;flex-wrap:wrap;gap:.6em;align-items:end}
label{display:grid;flex:1 1 14em;font-size:.9rem}
input,button{font:inherit;padding:.4em .7em;border:1px solid #888;border-radius:6px}
button{cursor:pointer;font-weight:600}
p[role=alert]{border-left:4px solid #c62828;padding-left:.6em}
";

/// The content security policy of the login page: its own style, and a form.
fn policy() -> HeaderValue {
    let digest = BASE64.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; img-src data:; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("a digest is text of a header")
}
