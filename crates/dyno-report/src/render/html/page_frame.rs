//! Start and end of every page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::text::clean;

use super::{PageFrame, SCRIPT, policy, style};

/// A whole page with this body. A standalone page includes its policy, style and script; in a server's frame
/// the server provides them.
pub(super) fn page(frame: Option<&PageFrame>, title: &str, body: &Markup) -> Markup {
    let style = style();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if frame.is_none() { meta http-equiv="Content-Security-Policy" content=(policy(&style)); }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="Dyno";
                title { (clean(title)) }
                @if let Some(frame) = frame { (PreEscaped(&frame.head)) } @else { style { (PreEscaped(&style)) } }
            }
            body {
                @if let Some(frame) = frame { (PreEscaped(&frame.top)) }
                (body)
                @if frame.is_none() { script { (PreEscaped(SCRIPT)) } }
            }
        }
    }
}

/// The visible head: brand, title, and subject.
pub(super) fn header(brand: &str, title: &str, about: &Markup) -> Markup {
    html! {
        header {
            p class="brand" { (brand) }
            h1 { (clean(title)) }
            p class="dim" { (about) }
            button id="theme" type="button" hidden { "light / dark" }
        }
    }
}
