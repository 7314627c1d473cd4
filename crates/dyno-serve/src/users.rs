//! Named tokens with roles, in addition to the owner's token.
//!
//! The file contains digests, never tokens. It is read again when it changes, so tokens can be added and
//! removed while the server runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::error::ServeError;
use crate::private_file;
use crate::roles::{Caller, UserRole};
use crate::targets::is_plain_name;
use crate::token::{AccessToken, digest_hex, random_text};

/// The name of the holder of the server's own token.
pub(crate) const OWNER: &str = "owner";

/// The file of named tokens in the state folder.
const FILE: &str = "tokens.json";

/// A named token of another user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedToken {
    role: UserRole,
    /// SHA-256 digest of the token, in hexadecimal.
    sha256: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    #[serde(default)]
    tokens: BTreeMap<String, NamedToken>,
}

/// The owner and the holders of named tokens.
#[derive(Debug)]
pub(crate) struct Users {
    owner: AccessToken,
    path: PathBuf,
    cached: Mutex<Cached>,
}

#[derive(Debug, Default)]
struct Cached {
    /// Modification time and size of the file when it was last read.
    version: Option<(SystemTime, u64)>,
    file: TokenFile,
}

impl Users {
    /// Loads the owner's token and the named tokens in the folder `state`.
    ///
    /// # Errors
    /// The file cannot be read, other users can access it, or it is not a list of tokens.
    pub(crate) fn open(state: &Path, owner: AccessToken) -> Result<Self, ServeError> {
        let path = state.join(FILE);
        read(&path)?;
        Ok(Self { owner, path, cached: Mutex::default() })
    }

    /// The owner's token, as in the URL that the server prints.
    pub(crate) fn owner(&self) -> &AccessToken {
        &self.owner
    }

    /// Whether there are tokens besides the owner's.
    pub(crate) fn has_named(&self) -> bool {
        read(&self.path).is_ok_and(|file| !file.tokens.is_empty())
    }

    /// Returns the holder of `token` and its digest; absent if no one holds it.
    pub(crate) fn holder(&self, token: &str) -> Option<(Caller, String)> {
        let digest = digest_hex(token);
        Some((self.by_digest(&digest)?, digest))
    }

    /// Returns the holder of the token with this digest.
    pub(crate) fn by_digest(&self, digest: &str) -> Option<Caller> {
        if digest == self.owner.digest() {
            return Some(Caller { name: OWNER.to_owned(), role: UserRole::Administer });
        }
        let file = self.current();
        let (name, known) = file.tokens.into_iter().find(|(_, known)| known.sha256 == digest)?;
        Some(Caller { name, role: known.role })
    }

    /// Returns the current content of the file. If it cannot be read, no named token is accepted.
    fn current(&self) -> TokenFile {
        let version =
            std::fs::metadata(&self.path).ok().and_then(|facts| Some((facts.modified().ok()?, facts.len())));
        let mut cached = self.cached.lock();
        if cached.version != version || version.is_none() {
            cached.file = read(&self.path).unwrap_or_default();
            cached.version = version;
        }
        cached.file.clone()
    }
}

fn read(path: &Path) -> Result<TokenFile, ServeError> {
    let Some(text) = private_file::read(path)? else { return Ok(TokenFile::default()) };
    let wrong = |problem: String| ServeError::file(path, &problem);
    // The parser's message could quote a digest; the position is enough.
    let file: TokenFile =
        serde_json::from_str(&text).map_err(|error| wrong(format!("line {} is not valid", error.line())))?;
    let is_hex = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match file.tokens.iter().find(|(name, token)| !is_user_name(name) || !is_hex(&token.sha256)) {
        Some((name, _)) => Err(wrong(format!("tokens.{name:?} has no valid name or sha256"))),
        None => Ok(file),
    }
}

fn is_user_name(name: &str) -> bool {
    is_plain_name(name) && name != OWNER
}

/// Adds the user `name` to the folder `state`, and returns the new token, which is stored nowhere.
///
/// # Errors
/// The name is taken or invalid, or the file cannot be written.
pub fn add_token(state: &Path, name: &str, role: UserRole) -> Result<String, ServeError> {
    let path = state.join(FILE);
    let wrong = |problem: &str| ServeError::Token { name: name.to_owned(), problem: problem.to_owned() };
    if !is_user_name(name) {
        return Err(wrong("a name is 1 to 60 letters, digits, `_`, `-` and `.`, and not `owner`"));
    }
    let failed =
        |error: std::io::Error| ServeError::State { path: state.to_owned(), detail: error.to_string() };
    dyno_record::private_file::create_folder(state).map_err(failed)?;
    let mut file = read(&path)?;
    if file.tokens.contains_key(name) {
        return Err(wrong("this name already has a token: remove that token first"));
    }
    let token = random_text()?;
    file.tokens.insert(name.to_owned(), NamedToken { role, sha256: digest_hex(&token) });
    write(&path, &file)?;
    Ok(token)
}

/// Removes the token of `name` from the folder `state`; its holder is logged out.
///
/// # Errors
/// There is no such token, or the file cannot be written.
pub fn remove_token(state: &Path, name: &str) -> Result<(), ServeError> {
    let path = state.join(FILE);
    let mut file = read(&path)?;
    if file.tokens.remove(name).is_none() {
        let problem = "no token has this name".to_owned();
        return Err(ServeError::Token { name: name.to_owned(), problem });
    }
    write(&path, &file)
}

fn write(path: &Path, file: &TokenFile) -> Result<(), ServeError> {
    let text = serde_json::to_vec_pretty(file).map_err(|error| ServeError::file(path, &error))?;
    private_file::replace(path, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(state: &Path) -> Users {
        Users::open(state, AccessToken::of_file(&state.join("token")).unwrap()).unwrap()
    }

    #[test]
    fn named_token_keeps_its_role_until_removed() {
        let state = tempfile::tempdir().unwrap();
        let users = users(state.path());
        let token = add_token(state.path(), "anna", UserRole::View).unwrap();
        let text = std::fs::read_to_string(state.path().join(FILE)).unwrap();
        assert!(!text.contains(&token), "the file keeps a digest");
        let (caller, digest) = users.holder(&token).unwrap();
        assert_eq!(caller, Caller { name: "anna".into(), role: UserRole::View });
        assert_eq!(users.by_digest(&digest), Some(caller));
        assert!(users.holder("").is_none());
        assert!(add_token(state.path(), "anna", UserRole::Run).is_err());
        remove_token(state.path(), "anna").unwrap();
        assert!(users.holder(&token).is_none());
        assert!(remove_token(state.path(), "anna").is_err());
        let (owner, _) = users.holder(users.owner().text()).unwrap();
        assert_eq!((owner.name.as_str(), owner.role), (OWNER, UserRole::Administer));
    }

    #[test]
    fn invalid_token_names_and_roles_are_refused() {
        let state = tempfile::tempdir().unwrap();
        for name in ["owner", "", "a b", "a\u{1b}[31m", "../x", &"x".repeat(61)] {
            assert!(add_token(state.path(), name, UserRole::View).is_err(), "{name:?}");
        }
        let digest = "0".repeat(64);
        let entry = |name: &str, role: &str| {
            format!("{{\"tokens\":{{\"{name}\":{{\"role\":\"{role}\",\"sha256\":\"{digest}\"}}}}}}")
        };
        for text in [entry("owner", "administer"), entry("a", "root"), "x".into()] {
            private_file::replace(&state.path().join(FILE), text.as_bytes()).unwrap();
            let token = AccessToken::of_file(&state.path().join("token")).unwrap();
            assert!(Users::open(state.path(), token).is_err(), "{text}");
        }
        private_file::replace(&state.path().join(FILE), entry("a", "view").as_bytes()).unwrap();
        assert_eq!(users(state.path()).by_digest(&digest).map(|caller| caller.role), Some(UserRole::View));
    }
}
