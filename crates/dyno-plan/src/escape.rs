//! Percent-encoding of the parts of a URL (RFC 3986, section 2.1).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode};

/// Decodes `%XX`; all other characters stand for themselves. `None` if an escape is broken, the result is not UTF-8, or
/// it holds a zero byte, which would end the text early in the C interfaces behind.
pub(crate) fn decode(text: &str) -> Option<String> {
    let is_escape = |rest: &[u8]| rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_hexdigit);
    let is_whole = text.split('%').skip(1).all(|rest| is_escape(rest.as_bytes()));
    let decoded = percent_decode_str(text).decode_utf8().ok().filter(|_| is_whole)?;
    (!decoded.contains('\0')).then(|| decoded.into_owned())
}

/// Unreserved characters (RFC 3986, section 2.3), which are never encoded.
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// For a name of one word: a user, a host, a database, a parameter's name.
pub(crate) static WORD: AsciiSet = UNRESERVED;

/// For an address with colons.
pub(crate) static ADDRESS: AsciiSet = UNRESERVED.remove(b':');

/// For a path or a parameter's value.
pub(crate) static PATH: AsciiSet = UNRESERVED.remove(b'/').remove(b':');

/// Encodes the characters of `set` and all that are not ASCII.
pub(crate) fn encode<'a>(text: &'a str, set: &'static AsciiSet) -> PercentEncode<'a> {
    utf8_percent_encode(text, set)
}
