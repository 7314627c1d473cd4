//! A line of text, with what stands in backticks as code.

use maud::{Markup, html};

use crate::text::clean;

/// The line for a page. A line with a single backtick, such as foreign text may have, is shown as it is.
pub(super) fn prose(line: &str) -> Markup {
    let line = clean(line);
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (line) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_backticks_is_code_and_stays_escaped() {
        assert_eq!(
            prose("run `dyno run <x>`, then").into_string(),
            "run <code>dyno run &lt;x&gt;</code>, then"
        );
        assert_eq!(prose("one ` only").into_string(), "one ` only");
        assert_eq!(prose("plain").into_string(), "plain");
    }
}
