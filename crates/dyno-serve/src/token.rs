//! The owner's token: its holder administers the server.
//!
//! It is made once and kept in a file for its user alone, so that bookmarks and other programs outlive a restart. Tokens of
//! others are in [`crate::users`].

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use sha2::{Digest as _, Sha256};

use crate::error::ServeError;
use crate::private_file;

/// Random bytes of a token.
const BYTES: usize = 32;

/// A token with its digest. Digests are what is compared, so that how long a comparison takes says nothing of the token.
#[derive(Clone)]
pub(crate) struct Token {
    text: String,
    digest: String,
    /// Whether a file has it.
    is_kept: bool,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl Token {
    /// The token of the file at `path`, which is made if it is not there.
    pub(crate) fn of_file(path: &Path) -> Result<Self, ServeError> {
        let Some(text) = private_file::read(path)? else {
            let text = random_text().map_err(|error| ServeError::file(path, &error))?;
            private_file::replace(path, format!("{text}\n").as_bytes())?;
            return Ok(Self::of(text, true));
        };
        Self::of_text(path, &text)
    }

    /// The token of the file at `path` in a state that cannot be written; one in memory alone where there is no such file.
    pub(crate) fn of_read_only_state(path: &Path) -> Result<Self, ServeError> {
        match private_file::read(path)? {
            Some(text) => Self::of_text(path, &text),
            None => Ok(Self::of(random_text()?, false)),
        }
    }

    fn of_text(path: &Path, text: &str) -> Result<Self, ServeError> {
        let text = text.trim().to_owned();
        match BASE64.decode(&text) {
            Ok(bytes) if bytes.len() == BYTES => Ok(Self::of(text, true)),
            _ => Err(ServeError::file(path, &"it holds no token: remove it, and the server makes another")),
        }
    }

    fn of(text: String, is_kept: bool) -> Self {
        Self { digest: digest_hex(&text), text, is_kept }
    }

    /// Whether a file has it, so that it outlives the server.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// As it stands in an address.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Its SHA-256 in hexadecimal.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }
}

/// SHA-256 of `text` in hexadecimal.
pub(crate) fn digest_hex(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 256 random bits as text for addresses and headers.
pub(crate) fn random_text() -> std::io::Result<String> {
    use std::io::Read as _;
    let mut bytes = [0; BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(BASE64.encode(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn token_is_made_once_for_its_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let made = Token::of_file(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = Token::of_file(&path).unwrap();
        assert_eq!(made.text(), again.text());
        assert_eq!(again.digest(), digest_hex(made.text()));
        assert!(!format!("{made:?}").contains(made.text()));
        let other = tempfile::tempdir().unwrap();
        assert_ne!(Token::of_file(&other.path().join("token")).unwrap().text(), made.text());
    }

    #[test]
    fn token_of_a_read_only_state_is_read_but_never_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let in_memory = Token::of_read_only_state(&path).unwrap();
        assert!(!in_memory.is_kept());
        assert!(!path.exists());
        let made = Token::of_file(&path).unwrap();
        let read = Token::of_read_only_state(&path).unwrap();
        assert!(made.is_kept() && read.is_kept());
        assert_eq!(read.text(), made.text());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::of_read_only_state(&path).is_err());
    }

    #[test]
    fn token_that_others_may_read_or_that_is_none_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let token = Token::of_file(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Token::of_file(&path).unwrap_err().to_string();
        assert!(error.contains("others may read"), "{error}");
        assert!(!error.contains(token.text()), "{error}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(Token::of_file(&path).unwrap_err().to_string().contains("no token"));
    }
}
