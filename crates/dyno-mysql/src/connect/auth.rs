//! Authenticates the client with the plugin that the server requests.
//!
//! The exchanges follow the MySQL internals manual ("Authentication Phase") and the MariaDB knowledge base
//! ("Authentication Plugins"). A password is sent in clear text only inside TLS or a Unix socket.

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::config::MySqlConnectConfig;
use super::failure::MySqlConnectFailure;
use super::handshake::{self, Login, MySqlHandshake};
use super::{ed25519, explain, rsa};
use crate::wire::{MySqlConnection, MySqlFieldReader, MySqlWireError, message, refused};

const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";
const ED25519: &str = "client_ed25519";
const CLEAR: &str = "mysql_clear_password";

/// The most exchanges before Dyno gives up.
const ROUNDS_MAX: u32 = 8;

/// First byte of the server's packets during authentication.
const OK: u8 = 0x00;
const MORE: u8 = 0x01;
const SWITCH: u8 = 0xfe;

/// The codes that `caching_sha2_password` sends in a packet of more data.
const FAST_DONE: u8 = 3;
const FULL_NEEDED: u8 = 4;
const SEND_KEY: u8 = 2;

/// Logs in; `secure` states that nobody else can read the connection.
pub(super) fn authenticate(
    connection: &mut MySqlConnection,
    hello: &MySqlHandshake,
    wanted: u64,
    mut sequence: u8,
    config: &MySqlConnectConfig,
    name: &str,
    secure: bool,
) -> Result<(), MySqlConnectFailure> {
    let password = config.password.as_ref().map_or("", |secret| secret.expose()).as_bytes();
    let mut exchange =
        Exchange { plugin: hello.plugin.clone(), scramble: hello.scramble.clone(), password, secure };
    if !exchange.is_known() {
        // The server's default plugin may differ from this user's plugin; the server then requests the user's
        // plugin.
        exchange.plugin = NATIVE.to_owned();
    }
    let version = env!("CARGO_PKG_VERSION");
    let pid = std::process::id().to_string();
    let attributes =
        [("program_name", name), ("_client_name", "dyno"), ("_client_version", version), ("_pid", &pid)];
    let proof = exchange.proof()?;
    let login = Login {
        user: &config.user,
        database: &config.database,
        plugin: &exchange.plugin,
        proof: &proof,
        attributes: &attributes,
    };
    handshake::log_in(&mut connection.line.out, sequence, wanted, &login);
    connection.line.send()?;
    for _ in 0..ROUNDS_MAX {
        let (their_sequence, range) = connection.line.receive()?;
        sequence = their_sequence.wrapping_add(1);
        let body = connection.line.body(range);
        match body.split_first() {
            Some((&OK, _)) => return Ok(()),
            Some((&0xff, _)) => return Err(refused(body).into()),
            Some((&SWITCH, rest)) => {
                exchange.switch(rest)?;
                if !exchange.is_known() {
                    return Err(explain::unknown_plugin(&exchange.plugin, config).into());
                }
                let proof = exchange.proof()?;
                reply(&mut connection.line.out, sequence, &proof);
                connection.line.send()?;
            }
            Some((&MORE, rest)) if exchange.plugin == SHA2 => {
                let rest = rest.to_vec();
                exchange.continue_sha2(connection, sequence, &rest)?;
            }
            _ => return Err(MySqlWireError::protocol("an unknown packet during login").into()),
        }
    }
    Err(MySqlWireError::protocol("too many login requests").into())
}

/// The state of the authentication exchange.
struct Exchange<'a> {
    plugin: String,
    scramble: Vec<u8>,
    password: &'a [u8],
    secure: bool,
}

impl Exchange<'_> {
    fn is_known(&self) -> bool {
        [NATIVE, SHA2, ED25519, CLEAR].contains(&self.plugin.as_str())
    }

    /// Switches to the plugin and the scramble that the server requests.
    fn switch(&mut self, rest: &[u8]) -> Result<(), MySqlWireError> {
        let mut fields = MySqlFieldReader::new(rest);
        self.plugin = String::from_utf8_lossy(fields.text()).into_owned();
        let scramble = fields.rest();
        self.scramble = scramble.strip_suffix(&[0]).unwrap_or(scramble).to_vec();
        if self.plugin.is_empty() {
            return Err(MySqlWireError::protocol(
                "a request for the password exchange of versions before \
                MySQL 4.1",
            ));
        }
        Ok(())
    }

    /// The bytes that prove knowledge of the password; empty without a password.
    fn proof(&self) -> Result<Vec<u8>, MySqlConnectFailure> {
        let Self { scramble, password, .. } = self;
        if password.is_empty() && self.plugin != CLEAR && self.plugin != ED25519 {
            return Ok(Vec::new());
        }
        Ok(match self.plugin.as_str() {
            SHA2 => scrambled_sha256(password, scramble),
            ED25519 => ed25519::sign(password, scramble).to_vec(),
            CLEAR if self.secure => with_zero(password),
            CLEAR => return Err(explain::clear_text(&self.plugin).into()),
            _ => scrambled_sha1(password, scramble),
        })
    }

    /// Continues `caching_sha2_password` after the first proof: the server accepts it, or requests the
    /// password itself.
    fn continue_sha2(
        &self,
        connection: &mut MySqlConnection,
        sequence: u8,
        payload: &[u8],
    ) -> Result<(), MySqlConnectFailure> {
        match payload {
            [FAST_DONE] => {}
            [FULL_NEEDED] if self.secure => {
                reply(&mut connection.line.out, sequence, &with_zero(self.password));
                connection.line.send()?;
            }
            [FULL_NEEDED] => {
                reply(&mut connection.line.out, sequence, &[SEND_KEY]);
                connection.line.send()?;
            }
            // The server's public key, which the line above requests.
            [b'-', ..] => {
                let hidden = xor(&with_zero(self.password), &self.scramble);
                let encrypted = rsa::encrypt(payload, &hidden)
                    .ok_or_else(|| MySqlWireError::protocol("an unreadable public key"))?;
                reply(&mut connection.line.out, sequence, &encrypted);
                connection.line.send()?;
            }
            _ => return Err(MySqlWireError::protocol("an unknown status during login").into()),
        }
        Ok(())
    }
}

fn with_zero(password: &[u8]) -> Vec<u8> {
    [password, &[0]].concat()
}

/// XOR of `text` with `mask`, which is repeated as needed.
fn xor(text: &[u8], mask: &[u8]) -> Vec<u8> {
    text.iter().zip(mask.iter().cycle()).map(|(a, b)| a ^ b).collect()
}

/// The proof of `mysql_native_password`: `SHA1(password) XOR SHA1(scramble, SHA1(SHA1(password)))`.
fn scrambled_sha1(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    xor(&once, &Sha1::new().chain_update(scramble).chain_update(twice).finalize())
}

/// The proof of `caching_sha2_password`: `SHA256(password) XOR SHA256(SHA256(SHA256(password)), scramble)`.
fn scrambled_sha256(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    xor(&once, &Sha256::new().chain_update(twice).chain_update(scramble).finalize())
}

/// Appends a packet of the authentication exchange.
fn reply(out: &mut Vec<u8>, sequence: u8, bytes: &[u8]) {
    message::packet(out, sequence, |out| out.extend_from_slice(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_proofs_match_the_server_verification() {
        // The server stores the password hashed twice. XOR of the proof with the hash of that and the
        // scramble gives the password hashed once.
        let (password, scramble) = (b"secret".as_slice(), b"12345678901234567890".as_slice());
        let twice = Sha1::digest(Sha1::digest(password));
        let mask = Sha1::new().chain_update(scramble).chain_update(twice).finalize();
        assert_eq!(Sha1::digest(xor(&scrambled_sha1(password, scramble), &mask)), twice);
        let twice = Sha256::digest(Sha256::digest(password));
        let mask = Sha256::new().chain_update(twice).chain_update(scramble).finalize();
        assert_eq!(Sha256::digest(xor(&scrambled_sha256(password, scramble), &mask)), twice);
    }

    #[test]
    fn cleartext_password_is_sent_only_over_secure_connection() {
        let mut exchange =
            Exchange { plugin: CLEAR.into(), scramble: vec![1; 20], password: b"secret", secure: false };
        assert!(exchange.proof().is_err());
        exchange.secure = true;
        assert!(exchange.proof().is_ok_and(|proof| proof == b"secret\0"));
    }
}
