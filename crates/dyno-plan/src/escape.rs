//! Percent-encoding of the parts of a URL (RFC 3986, section 2.1).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode};

/// Decodes `%XX`; other characters stay as they are. Returns `None` for a broken escape, for a result that is not UTF-8, and
/// for a zero byte, which would end the text early in C interfaces.
pub fn decode(text: &str) -> Option<String> {
    let is_escape = |rest: &[u8]| rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_hexdigit);
    let is_whole = text.split('%').skip(1).all(|rest| is_escape(rest.as_bytes()));
    let decoded = percent_decode_str(text).decode_utf8().ok().filter(|_| is_whole)?;
    (!decoded.contains('\0')).then(|| decoded.into_owned())
}

/// Unreserved characters (RFC 3986, section 2.3), which are never encoded.
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Characters to encode in a name of one word: a user, a host, a database, a parameter.
pub(crate) static WORD: AsciiSet = UNRESERVED;

/// Characters to encode in an address, which may contain colons.
pub(crate) static ADDRESS: AsciiSet = UNRESERVED.remove(b':');

/// Characters to encode in a path or a parameter's value.
pub(crate) static PATH: AsciiSet = UNRESERVED.remove(b'/').remove(b':');

/// Encodes the characters of `set` and all non-ASCII characters.
pub(crate) fn encode<'a>(text: &'a str, set: &'static AsciiSet) -> PercentEncode<'a> {
    utf8_percent_encode(text, set)
}
