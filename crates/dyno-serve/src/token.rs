//! The owner's token, whose holder administers the server.
//!
//! It is created once and stored in a file that only its user can read. So bookmarks and other programs still
//! work after a restart. [`crate::users`] holds the tokens of other users.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use sha2::{Digest as _, Sha256};

use crate::error::ServeError;
use crate::private_file;

/// Number of random bytes in a token.
const BYTES: usize = 32;

/// A token with its digest. Digests are compared, so the duration of a comparison reveals nothing about the
/// token.
#[derive(Clone)]
pub(crate) struct AccessToken {
    text: String,
    digest: String,
    /// Whether the token is stored in a file.
    is_kept: bool,
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl AccessToken {
    /// Reads the token from the file at `path`; creates the file if it is missing.
    pub(crate) fn of_file(path: &Path) -> Result<Self, ServeError> {
        let Some(text) = private_file::read(path)? else {
            let text = random_text().map_err(|error| ServeError::file(path, &error))?;
            private_file::replace(path, format!("{text}\n").as_bytes())?;
            return Ok(Self::of(text, true));
        };
        Self::of_text(path, &text)
    }

    /// Reads the token from a state folder that cannot be written. If there is no file, creates a token in
    /// memory only.
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
            _ => Err(ServeError::file(
                path,
                &"it contains no token: remove it, and the server creates another",
            )),
        }
    }

    fn of(text: String, is_kept: bool) -> Self {
        Self { digest: digest_hex(&text), text, is_kept }
    }

    /// Whether the token is stored in a file and survives a restart.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// The token as it appears in URLs.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256 digest of the token, in hexadecimal.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }
}

/// SHA-256 digest of `text`, in hexadecimal.
pub(crate) fn digest_hex(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns 256 random bits as text for URLs and headers.
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
    fn token_is_created_once_and_private_to_its_user() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let made = AccessToken::of_file(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = AccessToken::of_file(&path).unwrap();
        assert_eq!(made.text(), again.text());
        assert_eq!(again.digest(), digest_hex(made.text()));
        assert!(!format!("{made:?}").contains(made.text()));
        let other = tempfile::tempdir().unwrap();
        assert_ne!(AccessToken::of_file(&other.path().join("token")).unwrap().text(), made.text());
    }

    #[test]
    fn token_of_read_only_state_is_read_but_never_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let in_memory = AccessToken::of_read_only_state(&path).unwrap();
        assert!(!in_memory.is_kept());
        assert!(!path.exists());
        let made = AccessToken::of_file(&path).unwrap();
        let read = AccessToken::of_read_only_state(&path).unwrap();
        assert!(made.is_kept());
        assert!(read.is_kept());
        assert_eq!(read.text(), made.text());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(AccessToken::of_read_only_state(&path).is_err());
    }

    #[test]
    fn invalid_or_world_readable_token_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let token = AccessToken::of_file(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = AccessToken::of_file(&path).unwrap_err().to_string();
        assert!(error.contains("other users can read"), "{error}");
        assert!(!error.contains(token.text()), "{error}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(AccessToken::of_file(&path).unwrap_err().to_string().contains("no token"));
    }
}
