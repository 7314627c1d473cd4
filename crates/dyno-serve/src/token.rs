//! The token: who knows it may ask.
//!
//! It is made once and kept in a file for its user alone, so that bookmarks and other programs outlive a restart. Browsers get a
//! cookie that is made of it and is no token: what a browser keeps cannot be used as a bearer's.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use sha2::{Digest as _, Sha256};

use crate::error::ServeError;

/// Random bytes of a token.
const BYTES: usize = 32;

/// What is compared: digests, so that how long a comparison takes says nothing of the token.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    text: String,
    digest: [u8; 32],
    cookie: String,
    cookie_digest: [u8; 32],
}

impl Token {
    /// The token of the file at `path`, which is made if it is not there.
    pub(crate) fn of_file(path: &Path) -> Result<Self, ServeError> {
        let broken = |detail: String| ServeError::file(path, &detail);
        match std::fs::File::open(path) {
            Ok(file) => {
                let mode = file.metadata().map_err(|error| broken(error.to_string()))?.mode() & 0o777;
                if mode & 0o077 != 0 {
                    let detail =
                        format!("others may read the token (mode {mode:o}): remove it, and another is made");
                    return Err(broken(detail));
                }
                let text = std::fs::read_to_string(path).map_err(|error| broken(error.to_string()))?;
                let text = text.trim().to_owned();
                match BASE64.decode(&text) {
                    Ok(bytes) if bytes.len() == BYTES => Ok(Self::of(text)),
                    _ => Err(broken("it holds no token: remove it, and another is made".into())),
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let text = BASE64.encode(random()?);
                let mut options = std::fs::OpenOptions::new();
                let made = options.write(true).create_new(true).mode(0o600).open(path);
                made.and_then(|mut file| writeln!(file, "{text}"))
                    .map_err(|error| broken(error.to_string()))?;
                Ok(Self::of(text))
            }
            Err(error) => Err(broken(error.to_string())),
        }
    }

    fn of(text: String) -> Self {
        let cookie = BASE64.encode(Sha256::digest(format!("dyno serve cookie {text}")));
        Self {
            digest: Sha256::digest(&text).into(),
            cookie_digest: Sha256::digest(&cookie).into(),
            text,
            cookie,
        }
    }

    /// As it stands in an address.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What a browser keeps.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.digest == <[u8; 32]>::from(Sha256::digest(text))
    }

    pub(crate) fn is_cookie(&self, text: &str) -> bool {
        self.cookie_digest == <[u8; 32]>::from(Sha256::digest(text))
    }
}

fn random() -> std::io::Result<[u8; BYTES]> {
    use std::io::Read as _;
    let mut bytes = [0; BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_made_once_for_its_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let made = Token::of_file(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = Token::of_file(&path).unwrap();
        assert_eq!(made.text(), again.text());
        assert!(again.is(made.text()) && again.is_cookie(made.cookie()));
        assert!(!again.is(made.cookie()) && !again.is_cookie(made.text()) && !again.is(""));
        let other = tempfile::tempdir().unwrap();
        assert_ne!(Token::of_file(&other.path().join("token")).unwrap().text(), made.text());
    }

    #[test]
    fn one_that_others_may_read_or_that_is_none_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let token = Token::of_file(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Token::of_file(&path).unwrap_err().to_string();
        assert!(error.contains("others may read") && !error.contains(token.text()), "{error}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(Token::of_file(&path).unwrap_err().to_string().contains("no token"));
    }
}
