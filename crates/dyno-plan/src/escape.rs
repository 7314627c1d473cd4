//! Percent-encoding of the parts of a URL (RFC 3986, section 2.1).

/// Decodes `%XX`; all other characters stand for themselves. `None` if an escape is broken, the result is not UTF-8, or
/// it holds a zero byte, which would end the text early in the C interfaces behind.
pub(crate) fn decode(text: &str) -> Option<String> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let value = digit(tail.first()?)? * 16 + digit(tail.get(1)?)?;
            bytes.push(u8::try_from(value).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Encodes everything but unreserved characters (RFC 3986, section 2.3) and the bytes of `keep`.
pub(crate) fn encode(text: &str, keep: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
