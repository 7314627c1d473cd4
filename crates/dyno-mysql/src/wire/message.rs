//! Encodes the packets that Dyno sends, and defines the bytes that identify the server's packets.

/// The protocol's command numbers.
pub(crate) mod command {
    pub(crate) const QUIT: u8 = 0x01;
    /// One or more statements as text.
    pub(crate) const QUERY: u8 = 0x03;
    pub(crate) const STMT_PREPARE: u8 = 0x16;
    pub(crate) const STMT_EXECUTE: u8 = 0x17;
    /// Deallocates a prepared statement; the server sends no reply.
    pub(crate) const STMT_CLOSE: u8 = 0x19;
}

/// First bytes of the server's packets.
pub(crate) mod mark {
    /// A row in binary, or an OK.
    pub(crate) const OK: u8 = 0x00;
    /// An OK packet that ends a result set.
    pub(crate) const END: u8 = 0xfe;
    /// An error packet from the server.
    pub(crate) const ERROR: u8 = 0xff;
}

/// The longest packet body that is not split, in bytes.
pub(crate) const PACKET_BYTES_MAX: usize = 0xff_ffff - 1;

/// Appends a packet with `sequence` in its header; `fill` appends the body.
pub(crate) fn packet(out: &mut Vec<u8>, sequence: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, sequence]);
    fill(out);
    let length = out.len() - start - 4;
    assert!(length <= PACKET_BYTES_MAX, "Dyno sends nothing that would have to be split");
    // The check above ensures that the length fits into three bytes.
    out[start..start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
}

/// Appends a length-encoded integer.
pub(crate) fn number(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends bytes with a length prefix.
pub(crate) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    number(out, value.len() as u64);
    out.extend_from_slice(value);
}

pub(crate) fn text(out: &mut Vec<u8>, value: &str) {
    out.extend_from_slice(value.as_bytes());
    out.push(0);
}

/// Appends a command with a text argument.
pub(crate) fn command(out: &mut Vec<u8>, command: u8, argument: &str) {
    packet(out, 0, |out| {
        out.push(command);
        out.extend_from_slice(argument.as_bytes());
    });
}
