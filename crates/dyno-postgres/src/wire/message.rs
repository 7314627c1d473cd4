//! Encodes the messages that Dyno sends.

/// Appends one message: its tag, then a length word that is filled in after `body` has been written.
pub(crate) fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    counted(out, body);
}

/// Appends a message without a tag: start-up, TLS request, cancel request.
pub(crate) fn counted(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length =
        u32::try_from(out.len() - start).expect("messages are built from short parts, far below 4 GiB");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    // A zero byte inside would end the string early and turn its rest into another field.
    out.extend(text.bytes().filter(|&byte| byte != 0));
    out.push(0);
}

pub(crate) fn tls_request(out: &mut Vec<u8>) {
    counted(out, |out| out.extend_from_slice(&80_877_103u32.to_be_bytes()));
}

/// Requests the cancellation of another connection's statement.
pub(crate) fn cancel_request(out: &mut Vec<u8>, pid: i32, key: &[u8]) {
    counted(out, |out| {
        out.extend_from_slice(&80_877_102u32.to_be_bytes());
        out.extend_from_slice(&pid.to_be_bytes());
        out.extend_from_slice(key);
    });
}

/// Starts a session with protocol 3.0.
pub(crate) fn startup(out: &mut Vec<u8>, parameters: &[(&str, &str)]) {
    counted(out, |out| {
        out.extend_from_slice(&(3u32 << 16).to_be_bytes());
        for (name, value) in parameters {
            text(out, name);
            text(out, value);
        }
        out.push(0);
    });
}

/// A simple query message.
pub(crate) fn query(out: &mut Vec<u8>, sql: &str) {
    message(out, b'Q', |out| text(out, sql));
}

/// Prepares `sql` under `name` with the parameters' types; the server infers types that are missing.
pub(crate) fn parse(out: &mut Vec<u8>, name: &str, sql: &str, types: &[u32]) {
    message(out, b'P', |out| {
        text(out, name);
        text(out, sql);
        count(out, types.len());
        for oid in types {
            out.extend_from_slice(&oid.to_be_bytes());
        }
    });
}

/// Binds text values to the unnamed portal of statement `name`; results arrive as text.
pub(crate) fn bind_text(out: &mut Vec<u8>, name: &str, values: &[&str]) {
    message(out, b'B', |out| {
        out.push(0);
        text(out, name);
        count(out, 0);
        count(out, values.len());
        for value in values {
            bytes(out, value.as_bytes());
        }
        count(out, 0);
    });
}

/// Requests a description of the rows of the unnamed portal.
pub(crate) fn describe(out: &mut Vec<u8>) {
    out.extend_from_slice(b"D\0\0\0\x06P\0");
}

/// Requests a description of the parameters and rows of the prepared statement `name`.
pub(crate) fn describe_statement(out: &mut Vec<u8>, name: &str) {
    message(out, b'D', |out| {
        out.push(b'S');
        text(out, name);
    });
}

/// Executes the unnamed portal to its end.
pub(crate) fn execute(out: &mut Vec<u8>) {
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
}

/// Closes the prepared statement `name`, which need not exist.
pub(crate) fn forget(out: &mut Vec<u8>, name: &str) {
    message(out, b'C', |out| {
        out.push(b'S');
        text(out, name);
    });
}

/// Makes the server send its pending output.
pub(crate) fn flush(out: &mut Vec<u8>) {
    out.extend_from_slice(b"H\0\0\0\x04");
}

/// Ends the implicit transaction and requests ReadyForQuery.
pub(crate) fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(SYNC);
}

/// The bytes of a Sync message.
pub(crate) const SYNC: &[u8] = b"S\0\0\0\x04";

/// The Terminate message, which ends the connection.
pub(crate) fn terminate(out: &mut Vec<u8>) {
    out.extend_from_slice(b"X\0\0\0\x04");
}

/// A two-byte count of items.
pub(crate) fn count(out: &mut Vec<u8>, count: usize) {
    let count = u16::try_from(count).expect("statements here have a handful of parameters");
    out.extend_from_slice(&count.to_be_bytes());
}

/// A value: its length in four bytes, then its bytes.
pub(crate) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    let length = u32::try_from(value.len()).expect("values here are far below 4 GiB");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_length_includes_itself_and_body() {
        let mut out = Vec::new();
        query(&mut out, "SELECT 1");
        assert_eq!(out, b"Q\0\0\0\x0dSELECT 1\0");
        out.clear();
        execute(&mut out);
        assert_eq!(out.len(), 10);
        assert_eq!(out[4], 9);
    }

    #[test]
    fn zero_byte_cannot_inject_a_startup_field() {
        let mut out = Vec::new();
        startup(&mut out, &[("user", "me\0database\0other")]);
        let zeros = out[8..].iter().filter(|&&byte| byte == 0).count();
        assert_eq!(zeros, 3, "name, value and end");
    }
}
