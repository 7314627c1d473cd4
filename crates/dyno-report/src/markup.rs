//! Makes text safe for XML and HTML.
//!
//! A record may come from anyone. All its text passes [`clean`], which escapes control and reordering
//! characters, and then every character that markup could interpret is escaped.

use std::borrow::Cow;

use crate::text::clean;

/// Escapes `text` for the content of an element or a quoted attribute.
pub fn escape(text: &str) -> Cow<'_, str> {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | ',' | '-' | '_' | '/' | ':' | '%');
    if text.len() < 200 && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '`' => out.push_str("&#96;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Converts `text` to a name for `id` attributes and files: only letters, digits and `-`.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(60) {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c.to_ascii_lowercase()),
            _ if !out.ends_with('-') && !out.is_empty() => out.push('-'),
            _ => {}
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_encodes_markup_and_control_characters() {
        assert_eq!(escape("<script>alert('x')</script>"), "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
        assert_eq!(escape("a\" onload=\"x"), "a&quot; onload=&quot;x");
        assert_eq!(escape("a\u{0}b"), "a\\u{0}b");
        assert_eq!(slug("20 % Updates, <b>"), "20-updates-b");
    }

    proptest! {
        #[test]
        fn escape_leaves_no_markup_in_any_text(text in ".{0,300}") {
            let escaped = escape(&text);
            prop_assert!(!escaped.chars().any(|c| matches!(c, '<' | '>' | '"' | '\'' | '`')));
            prop_assert!(!escaped.chars().any(char::is_control));
        }
    }
}
