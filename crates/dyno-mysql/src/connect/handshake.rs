//! Reads the server's greeting and builds Dyno's reply to it.

use crate::wire::{Greeting, MySqlFieldReader, MySqlWireError, message};

/// Capability flags of the protocol; MariaDB's own flags begin at bit 32.
pub(super) mod capability {
    pub(in super::super) const LONG_PASSWORD: u64 = 1;
    pub(in super::super) const LONG_FLAG: u64 = 1 << 2;
    pub(in super::super) const CONNECT_WITH_DB: u64 = 1 << 3;
    pub(in super::super) const LOCAL_FILES: u64 = 1 << 7;
    pub(in super::super) const PROTOCOL_41: u64 = 1 << 9;
    pub(in super::super) const SSL: u64 = 1 << 11;
    pub(in super::super) const TRANSACTIONS: u64 = 1 << 13;
    pub(in super::super) const SECURE_CONNECTION: u64 = 1 << 15;
    pub(in super::super) const MULTI_STATEMENTS: u64 = 1 << 16;
    pub(in super::super) const MULTI_RESULTS: u64 = 1 << 17;
    pub(in super::super) const PS_MULTI_RESULTS: u64 = 1 << 18;
    pub(in super::super) const PLUGIN_AUTH: u64 = 1 << 19;
    pub(in super::super) const CONNECT_ATTRS: u64 = 1 << 20;
    pub(in super::super) const LENENC_AUTH: u64 = 1 << 21;
    pub(in super::super) const DEPRECATE_EOF: u64 = 1 << 24;
    pub(in super::super) const OPTIONAL_METADATA: u64 = 1 << 25;
    pub(in super::super) const CACHE_METADATA: u64 = 1 << 36;
}

use capability as c;

/// Capabilities that Dyno requires.
const NEEDED: u64 = c::PROTOCOL_41
    | c::SECURE_CONNECTION
    | c::PLUGIN_AUTH
    | c::CONNECT_WITH_DB
    | c::MULTI_STATEMENTS
    | c::MULTI_RESULTS
    | c::DEPRECATE_EOF;

/// Capabilities that Dyno uses if the server has them.
const WELCOME: u64 = c::LONG_FLAG
    | c::LOCAL_FILES
    | c::TRANSACTIONS
    | c::PS_MULTI_RESULTS
    | c::CONNECT_ATTRS
    | c::LENENC_AUTH
    | c::OPTIONAL_METADATA
    | c::CACHE_METADATA;

/// The collation of the connection: `utf8mb4_general_ci`, which every server supports.
const COLLATION: u8 = 45;

/// The longest packet that Dyno announces, in bytes; the server's `max_allowed_packet` is the effective
/// limit.
const PACKET_BYTES: u32 = 1 << 30;

/// The server's greeting with its capabilities and scramble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MySqlHandshake {
    pub(super) greeting: Greeting,
    pub(super) capabilities: u64,
    pub(super) scramble: Vec<u8>,
    pub(super) plugin: String,
}

impl MySqlHandshake {
    /// Reads the handshake packet (protocol version 10).
    pub(super) fn read(body: &[u8]) -> Result<Self, MySqlWireError> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut fields = MySqlFieldReader::new(body);
        if fields.u8() != Some(10) {
            return Err(MySqlWireError::protocol("a greeting of another protocol version than 10"));
        }
        let printed = text(fields.text());
        let mut read = || {
            let id = fields.u32()?;
            let mut scramble = fields.take(8)?.to_vec();
            fields.u8()?;
            let low = u64::from(fields.u16()?);
            fields.u8()?;
            fields.u16()?;
            let high = u64::from(fields.u16()?);
            let length = usize::from(fields.u8()?);
            fields.take(6)?;
            let extended_bits = u64::from(fields.u32()?);
            let rest = fields.take(length.saturating_sub(8).max(13))?;
            scramble.extend_from_slice(rest.strip_suffix(&[0]).unwrap_or(rest));
            let capabilities = low | high << 16;
            // This bit is off if MariaDB's own flags are present.
            let extended_capabilities =
                if capabilities & c::LONG_PASSWORD == 0 { extended_bits << 32 } else { 0 };
            Some((id, scramble, capabilities | extended_capabilities, text(fields.text())))
        };
        let (id, scramble, capabilities, plugin) =
            read().ok_or_else(|| MySqlWireError::protocol("a truncated greeting"))?;
        // MariaDB 10 prepends `5.5.5-` for old replicas.
        let version = printed.strip_prefix("5.5.5-").unwrap_or(&printed).to_owned();
        let mariadb = version.contains("MariaDB") || printed.starts_with("5.5.5-");
        Ok(Self { greeting: Greeting { version, mariadb, id }, capabilities, scramble, plugin })
    }

    pub(super) fn has(&self, capability: u64) -> bool {
        self.capabilities & capability != 0
    }
}

/// The capabilities to request from this server.
pub(super) fn requested_capabilities(hello: &MySqlHandshake) -> Result<u64, MySqlWireError> {
    if hello.capabilities & NEEDED != NEEDED {
        let version = &hello.greeting.version;
        return Err(MySqlWireError::protocol(format!(
            "the greeting of version {version}, which is older than MySQL 5.7 or MariaDB 10.2"
        )));
    }
    // MariaDB offers its extensions only if this bit is off, and MySQL ignores the bit.
    let long_password = if hello.greeting.mariadb { 0 } else { c::LONG_PASSWORD };
    Ok(NEEDED | long_password | (WELCOME & hello.capabilities))
}

/// Whether results state if definitions of their columns follow.
pub(super) fn has_metadata_flag(wanted: u64) -> bool {
    wanted & (c::CACHE_METADATA | c::OPTIONAL_METADATA) != 0
}

/// The start of every reply to the greeting.
fn head(out: &mut Vec<u8>, wanted: u64) {
    // Each cast keeps the lower 32 bits of its half.
    out.extend_from_slice(&(wanted as u32).to_le_bytes());
    out.extend_from_slice(&PACKET_BYTES.to_le_bytes());
    out.push(COLLATION);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&((wanted >> 32) as u32).to_le_bytes());
}

/// Appends the request for TLS.
pub(super) fn ask_for_tls(out: &mut Vec<u8>, sequence: u8, wanted: u64) {
    message::packet(out, sequence, |out| head(out, wanted));
}

pub(super) struct Login<'a> {
    pub(super) user: &'a str,
    pub(super) database: &'a str,
    pub(super) plugin: &'a str,
    pub(super) proof: &'a [u8],
    /// Attributes of the program that the server's views show.
    pub(super) attributes: &'a [(&'a str, &'a str)],
}

/// Appends the reply to the greeting.
pub(super) fn log_in(out: &mut Vec<u8>, sequence: u8, wanted: u64, login: &Login<'_>) {
    message::packet(out, sequence, |out| {
        head(out, wanted);
        message::text(out, login.user);
        if wanted & c::LENENC_AUTH != 0 {
            message::bytes(out, login.proof);
        } else {
            // The proof of a first plugin is never longer than 255 bytes.
            out.push(login.proof.len() as u8);
            out.extend_from_slice(login.proof);
        }
        message::text(out, login.database);
        message::text(out, login.plugin);
        if wanted & c::CONNECT_ATTRS != 0 {
            let mut all = Vec::new();
            for (name, value) in login.attributes {
                message::bytes(&mut all, name.as_bytes());
                message::bytes(&mut all, value.as_bytes());
            }
            message::bytes(out, &all);
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn greeting(version: &str, capabilities: u64) -> Vec<u8> {
        let mut body = vec![10];
        message::text(&mut body, version);
        body.extend_from_slice(&7u32.to_le_bytes());
        body.extend_from_slice(b"12345678\0");
        body.extend_from_slice(&(capabilities as u16).to_le_bytes());
        body.extend_from_slice(&[45, 2, 0]);
        body.extend_from_slice(&((capabilities >> 16) as u16).to_le_bytes());
        body.push(21);
        body.extend_from_slice(&[0; 6]);
        body.extend_from_slice(&((capabilities >> 32) as u32).to_le_bytes());
        body.extend_from_slice(b"901234567890\0");
        message::text(&mut body, "mysql_native_password");
        body
    }

    #[test]
    fn server_greeting_is_read_completely() {
        let hello =
            MySqlHandshake::read(&greeting("5.5.5-10.11.6-MariaDB", NEEDED | c::CACHE_METADATA)).unwrap();
        assert_eq!((hello.greeting.version.as_str(), hello.greeting.id), ("10.11.6-MariaDB", 7));
        assert!(hello.greeting.mariadb);
        assert!(hello.has(c::CACHE_METADATA));
        assert_eq!(hello.scramble, b"12345678901234567890");
        assert_eq!(hello.plugin, "mysql_native_password");
        assert!(has_metadata_flag(requested_capabilities(&hello).unwrap()));
        let mysql = MySqlHandshake::read(&greeting("9.7.4-2", NEEDED | c::LONG_PASSWORD | c::CACHE_METADATA))
            .unwrap();
        assert!(!mysql.greeting.mariadb);
        assert!(!mysql.has(c::CACHE_METADATA));
    }

    #[test]
    fn too_old_server_version_is_named() {
        let hello = MySqlHandshake::read(&greeting("5.5.62", NEEDED & !c::DEPRECATE_EOF)).unwrap();
        let Err(MySqlWireError::Protocol(what)) = requested_capabilities(&hello) else {
            panic!("it was taken")
        };
        assert!(what.contains("5.5.62"), "{what}");
    }

    proptest! {
        #[test]
        fn row_reader_never_panics_on_any_bytes(body: Vec<u8>) {
            let _ = MySqlHandshake::read(&body);
        }
    }
}
