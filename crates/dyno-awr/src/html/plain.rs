//! Extracts a text report that was embedded in a page: the text between `<pre>` and `</pre>`,
//! without tags.

use super::entity::decode;
use super::token::{AwrHtmlToken, Tokens};

/// The text of the page's `<pre>` elements, if they contain a report, which its title shows. Line
/// numbers stay the same.
pub(crate) fn plain(page: &str, is_title: fn(&str) -> bool) -> Option<String> {
    let mut text = String::with_capacity(page.len());
    let mut inside = false;
    let mut last = 0;
    for (at, token) in Tokens::new(page) {
        // Text omitted between two tokens, and tags themselves, only count as lines.
        push_lines(&mut text, &page[last..at]);
        last = at;
        match token {
            AwrHtmlToken::Open { name, .. } if name.eq_ignore_ascii_case("pre") => inside = true,
            AwrHtmlToken::Close { name } if name.eq_ignore_ascii_case("pre") => inside = false,
            AwrHtmlToken::Text(piece) => {
                last = at + piece.len();
                if inside {
                    text.push_str(&decode(piece).replace('\u{a0}', " "));
                } else {
                    push_lines(&mut text, piece);
                }
            }
            _ => {}
        }
    }
    push_lines(&mut text, &page[last..]);
    text.lines().any(is_title).then_some(text)
}

fn push_lines(text: &mut String, skipped: &str) {
    text.extend(memchr::memchr_iter(b'\n', skipped.as_bytes()).map(|_| '\n'));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::is_interval_title;

    #[test]
    fn preformatted_html_text_keeps_lines_and_columns() {
        let page = "<html>\n<body><table><tr><td>x</table>\n<PRE class=a><b>STATSPACK</b> report for\n a &lt; b\n</PRE>\n";
        assert_eq!(plain(page, is_interval_title).as_deref(), Some("\n\nSTATSPACK report for\n a < b\n\n"));
        assert_eq!(plain("<html><pre>nothing</pre>STATSPACK report for", is_interval_title), None);
        assert_eq!(plain("<html>STATSPACK report for", is_interval_title), None);
    }
}
