//! Decodes character references in HTML text.

use std::borrow::Cow;

use memchr::memchr;

/// Longest reference that is recognized, `&` and `;` included.
const LENGTH_MAX: usize = 10;

/// `text` with its references decoded; unknown ones stay unchanged.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    let next = |rest: &str| memchr(b'&', rest.as_bytes());
    let Some(first) = next(text) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(start) = next(rest) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        match reference(rest) {
            Some((character, length)) => {
                out.push(character);
                rest = &rest[length..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character of the reference at the start of `text`, and the reference's length.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(LENGTH_MAX).position(|b| b == b';')?;
    let name = &text[1..end];
    let character = match name {
        "nbsp" => '\u{a0}',
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "micro" => 'µ',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((character, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_entities_become_characters() {
        assert_eq!(decode("a &lt;b&gt; &amp; &#160;&#x41;"), "a <b> & \u{a0}A");
        assert_eq!(decode("R&D &unknown; &#; &#99999999; &"), "R&D &unknown; &#; &#99999999; &");
        assert!(matches!(decode("plain"), Cow::Borrowed("plain")));
    }
}
