//! A tolerant HTML tokenizer: tags and text, one pass, no tree, no allocation.
//!
//! Reports come from Oracle's own scripts, from browsers that saved them with unquoted attributes
//! and upper-case tags, and from mail programs; some are truncated. So every byte sequence is a
//! valid sequence of tokens. A `<` that begins no tag is text, an attribute without its closing
//! quote ends with the tag, and a comment without an end is the rest.

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter};

/// One token of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AwrHtmlToken<'a> {
    /// An opening tag such as `<td align=right>`; attributes are not parsed.
    Open { name: &'a str, attributes: &'a str },
    /// A closing tag such as `</td>`.
    Close { name: &'a str },
    /// Text between tags, with references not yet decoded.
    Text(&'a str),
}

/// Elements whose content is not HTML.
const RAW: [&str; 2] = ["script", "style"];

/// Tokens of a text, each with the position of its begin.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The element whose end is searched before anything else is read.
    raw: Option<&'static str>,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, raw: None }
    }

    /// Skips the content of a script or a style sheet.
    fn skip_raw(&mut self, name: &str) {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while let Some(found) = memchr(b'<', &bytes[at..]) {
            at += found;
            let rest = &bytes[at + 1..];
            if rest.first() == Some(&b'/')
                && rest.get(1..=name.len()).is_some_and(|n| n.eq_ignore_ascii_case(name.as_bytes()))
            {
                self.at = at;
                return;
            }
            at += 1;
        }
        self.at = bytes.len();
    }

    /// The end of the tag whose name ends before `from`: the position of its `>`, outside quotes.
    fn tag_end(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        // Attributes are short; a quote without an end must not consume the rest of the file.
        const QUOTED_MAX: usize = 4_096;
        while at < bytes.len() {
            match bytes[at] {
                b'>' => return at,
                quote @ (b'"' | b'\'') if bytes[..at].ends_with(b"=") => {
                    let window = &bytes[at + 1..bytes.len().min(at + 1 + QUOTED_MAX)];
                    at += memchr(quote, window).map_or(1, |length| length + 2);
                }
                _ => at += 1,
            }
        }
        bytes.len()
    }

    /// The tag or comment at `self.at`, which is a `<`; `None` if it begins none.
    fn tag(&mut self) -> Option<Option<AwrHtmlToken<'a>>> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let rest = &bytes[start + 1..];
        match rest.first()? {
            b'!' | b'?' => {
                let comment = rest.starts_with(b"!--");
                let from = start + 1 + if comment { 3 } else { 0 };
                let end = match comment {
                    true => Finder::new("-->").find(&bytes[from..]).map(|found| from + found + 3),
                    false => memchr(b'>', &bytes[from..]).map(|found| from + found + 1),
                };
                self.at = end.unwrap_or(bytes.len());
                Some(None)
            }
            b'/' => {
                let name = self.name(start + 2)?;
                let end = self.tag_end(start + 2 + name.len());
                self.at = (end + 1).min(bytes.len());
                Some(Some(AwrHtmlToken::Close { name }))
            }
            first if first.is_ascii_alphabetic() => {
                let name = self.name(start + 1)?;
                let from = start + 1 + name.len();
                let end = self.tag_end(from);
                self.at = (end + 1).min(bytes.len());
                let attributes = &self.text[from..end];
                self.raw = RAW.into_iter().find(|raw| raw.eq_ignore_ascii_case(name));
                Some(Some(AwrHtmlToken::Open { name, attributes }))
            }
            _ => None,
        }
    }

    fn name(&self, from: usize) -> Option<&'a str> {
        let rest = &self.text.as_bytes()[from..];
        let length = rest.iter().position(|b| !is_name(b)).unwrap_or(rest.len());
        (length > 0 && rest[0].is_ascii_alphabetic()).then(|| &self.text[from..from + length])
    }

    /// Skips to the next tag that is neither a cell's nor a link's, and over all text before it.
    pub(crate) fn skip_cells(&mut self) {
        if self.raw.is_some() {
            return;
        }
        let bytes = self.text.as_bytes();
        let is_cell = |at: usize| {
            let rest = &bytes[at + 1..];
            let name = rest.strip_prefix(b"/").unwrap_or(rest);
            let length = name.iter().take(3).take_while(|b| is_name(b)).count();
            ["td", "th", "a"].iter().any(|cell| cell.as_bytes().eq_ignore_ascii_case(&name[..length]))
        };
        let mut tags = memchr_iter(b'<', &bytes[self.at..]).map(|found| self.at + found);
        self.at = tags.find(|&at| !is_cell(at)).unwrap_or(bytes.len());
    }
}

/// Whether a byte may be part of an element's name.
fn is_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':')
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, AwrHtmlToken<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(name) = self.raw.take() {
            self.skip_raw(name);
        }
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            if start >= bytes.len() {
                return None;
            }
            let mut from = start;
            if bytes[start] == b'<' {
                match self.tag() {
                    Some(Some(token)) => return Some((start, token)),
                    Some(None) => continue,
                    // This `<` is text.
                    None => from += 1,
                }
            }
            let end = memchr(b'<', &bytes[from..]).map_or(bytes.len(), |found| from + found);
            self.at = end;
            return Some((start, AwrHtmlToken::Text(&self.text[start..end])));
        }
    }
}

/// The value of an attribute, without quotes.
pub(crate) fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = attributes.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let name = rest[..end].trim();
        let after = rest[end..].trim_start();
        let Some(value) = after.strip_prefix('=') else {
            rest = if end == rest.len() { "" } else { after };
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after.trim_start();
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> Vec<AwrHtmlToken<'_>> {
        Tokens::new(text).map(|(_, token)| token).collect()
    }

    #[test]
    fn html_tags_text_and_comments_are_tokenized() {
        let read = tokens("<TABLE class=a summary=\"x > y\"><!-- <td> --><td>1 < 2</td\n></table>");
        assert_eq!(read[0], AwrHtmlToken::Open { name: "TABLE", attributes: " class=a summary=\"x > y\"" });
        assert_eq!(read[1], AwrHtmlToken::Open { name: "td", attributes: "" });
        assert_eq!(read[2..4], [AwrHtmlToken::Text("1 "), AwrHtmlToken::Text("< 2")]);
        assert_eq!(read[4..], [AwrHtmlToken::Close { name: "td" }, AwrHtmlToken::Close { name: "table" }]);
    }

    #[test]
    fn script_content_is_not_read_as_text() {
        let read = tokens("<script>if (a</b) x('<td>')</script><p>t");
        assert_eq!(read.iter().filter(|t| matches!(t, AwrHtmlToken::Text(_))).count(), 1);
        assert_eq!(read.last(), Some(&AwrHtmlToken::Text("t")));
    }

    #[test]
    fn html_attributes_are_read_with_and_without_quotes() {
        let attributes = " border=0 colSpan=\" 2\" nowrap summary='a = b'";
        assert_eq!(attribute(attributes, "colspan"), Some(" 2"));
        assert_eq!(attribute(attributes, "BORDER"), Some("0"));
        assert_eq!(attribute(attributes, "summary"), Some("a = b"));
        assert_eq!(attribute(attributes, "nowrap"), None);
        assert_eq!(attribute("x=\"open", "x"), Some("open"));
    }

    proptest! {
        #[test]
        fn html_tokenizer_handles_any_text(text in "[<>/a-z!\\-='\" &;é]{0,200}") {
            let mut last = 0;
            for (at, token) in Tokens::new(&text) {
                prop_assert!(at >= last && at < text.len());
                last = at;
                if let AwrHtmlToken::Open { attributes, .. } = token {
                    let _ = attribute(attributes, "class");
                }
            }
        }
    }
}
