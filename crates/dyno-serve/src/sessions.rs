//! Login sessions of browsers. Each has a cookie of its own, which is not the token; a logout also ends it on
//! the server.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::private_file;
use crate::token::{digest_hex, random_text};

/// How long a login lasts, s: 30 days.
pub(crate) const LOGIN_S: u64 = 30 * 24 * 3_600;

/// Maximum number of logins; the oldest is removed first.
const LOGINS_MAX: usize = 1_000;

/// A login, stored under the digest of its cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Login {
    /// Digest of the token used; if that token is removed, the login is invalid.
    token: String,
    /// Time of the login, seconds since 1970-01-01 UTC.
    at_s: u64,
}

/// Logins by the digest of their cookie. They survive a restart if the file can be written.
#[derive(Debug)]
pub(crate) struct LoginSessions {
    path: Option<PathBuf>,
    logins: Mutex<HashMap<String, Login>>,
}

impl LoginSessions {
    /// Loads the logins stored in `path`; without a path they are kept in memory only.
    pub(crate) fn open(path: Option<PathBuf>) -> Self {
        let text = path.as_deref().and_then(|path| private_file::read(path).ok().flatten());
        let logins = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { path, logins: Mutex::new(logins) }
    }

    /// Starts a login with the token of this digest; returns the value of its cookie.
    pub(crate) fn begin(&self, token_digest: &str) -> std::io::Result<String> {
        let cookie = random_text()?;
        let now_s = now_s();
        self.change(|logins| {
            logins.retain(|_, login| login.at_s + LOGIN_S > now_s);
            if logins.len() >= LOGINS_MAX
                && let Some(oldest) =
                    logins.iter().min_by_key(|(_, login)| login.at_s).map(|(key, _)| key.clone())
            {
                logins.remove(&oldest);
            }
            logins.insert(digest_hex(&cookie), Login { token: token_digest.to_owned(), at_s: now_s });
        });
        Ok(cookie)
    }

    /// Returns the digest of the token that this cookie's login used; absent if there is no such login, or it
    /// has expired.
    pub(crate) fn token_of(&self, cookie: &str) -> Option<String> {
        let logins = self.logins.lock();
        let login = logins.get(&digest_hex(cookie))?;
        (login.at_s + LOGIN_S > now_s()).then(|| login.token.clone())
    }

    /// Ends the login of this cookie.
    pub(crate) fn end(&self, cookie: &str) {
        self.change(|logins| drop(logins.remove(&digest_hex(cookie))));
    }

    fn change(&self, change: impl FnOnce(&mut HashMap<String, Login>)) {
        let mut logins = self.logins.lock();
        change(&mut logins);
        if let (Some(path), Ok(text)) = (&self.path, serde_json::to_vec(&*logins)) {
            // Without the file, browsers only have to log in again after a restart.
            let _ = private_file::replace(path, &text);
        }
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_survives_server_restart_and_ends_at_logout() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logins.json");
        let sessions = LoginSessions::open(Some(path.clone()));
        let (first, second) = (sessions.begin("token").unwrap(), sessions.begin("token").unwrap());
        let again = LoginSessions::open(Some(path.clone()));
        assert_eq!(again.token_of(&first).as_deref(), Some("token"));
        assert!(!std::fs::read_to_string(&path).unwrap().contains(&first), "the file keeps digests");
        again.end(&first);
        assert_eq!(again.token_of(&first), None);
        assert_eq!(LoginSessions::open(Some(path)).token_of(&first), None);
        assert_eq!(again.token_of(&second).as_deref(), Some("token"));
        assert_eq!(again.token_of(""), None);
    }

    #[test]
    fn login_count_is_bounded() {
        let sessions = LoginSessions::open(None);
        let first = sessions.begin("token").unwrap();
        sessions.logins.lock().values_mut().for_each(|login| login.at_s -= 1);
        for _ in 0..LOGINS_MAX {
            sessions.begin("token").unwrap();
        }
        assert_eq!(sessions.token_of(&first), None);
        assert_eq!(sessions.logins.lock().len(), LOGINS_MAX);
        sessions.logins.lock().values_mut().for_each(|login| login.at_s = 0);
        let last = sessions.begin("token").unwrap();
        assert_eq!(sessions.logins.lock().len(), 1, "expired ones are removed");
        assert!(sessions.token_of(&last).is_some());
    }
}
