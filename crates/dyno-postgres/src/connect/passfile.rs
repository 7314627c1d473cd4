//! Reads the password file, `~/.pgpass` or `PGPASSFILE`, by libpq's rules.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::config::PostgresConnectConfig;
use super::from_url::{is_default_socket_dir, socket_dir};
use dyno_engine::net::Address;
use dyno_engine::{Secret, TargetError, TargetErrorKind};

/// The ways to supply a password, for hints.
pub(super) const WAYS: &str =
    "give the password by target.password_env, target.password_file, PGPASSWORD, ~/.pgpass or the prompt";

/// The password for the server and user of `config`.
///
/// # Errors
/// [`TargetErrorKind::PasswordNeeded`]: there is no password. If a file cannot be used, the error states the
/// reason.
pub(super) fn look_up(config: &PostgresConnectConfig) -> Result<Secret, TargetError> {
    let needed = |note: &str| {
        let message =
            format!("the server requires a password for user {:?}, but none is given{note}", config.user);
        TargetError::new(TargetErrorKind::PasswordNeeded, message)
    };
    let Some(path) = &config.passfile else { return Err(needed("").hint(WAYS)) };
    let text = match read(path) {
        Ok(text) => text,
        Err(Some(why)) => {
            let note = format!(" (the password file {} is ignored: {why})", path.display());
            return Err(needed(&note).hint(format!("chmod 600 {}, or {WAYS}", path.display())));
        }
        Err(None) => return Err(needed("").hint(WAYS)),
    };
    let hosts: Vec<String> = config.addresses.iter().map(host_name).collect();
    let port = config.port.to_string();
    for host in &hosts {
        let wanted = [host.as_str(), &port, &config.database, &config.user];
        if let Some(password) = text.lines().find_map(|line| matching(line, wanted)) {
            return Ok(Secret::new(password));
        }
    }
    let note = format!(" (the password file {} has no line for it)", path.display());
    Err(needed(&note).hint(WAYS))
}

/// The contents; `Err(None)` if the file does not exist.
fn read(path: &Path) -> Result<String, Option<String>> {
    let facts = std::fs::metadata(path).map_err(|_| None)?;
    if !facts.is_file() {
        return Err(Some("it is not a regular file".to_owned()));
    }
    if facts.permissions().mode() & 0o077 != 0 {
        return Err(Some("users other than its owner can read it".to_owned()));
    }
    std::fs::read_to_string(path).map_err(|error| Some(error.to_string()))
}

/// The name of an address in the file: the directory of a socket; the default directory is `localhost`.
fn host_name(address: &Address) -> String {
    match address {
        Address::Unix(socket) => match socket_dir(socket) {
            dir if is_default_socket_dir(dir) => "localhost".to_owned(),
            dir => dir.display().to_string(),
        },
        Address::Tcp(host, ..) => host.clone(),
    }
}

/// The password of `line` (`host:port:database:user:password`) if each of its first four fields is `*` or the
/// wanted value.
fn matching(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line.strip_suffix('\r').unwrap_or(line);
    for value in wanted {
        let (field, wild, tail) = field(rest)?;
        if !wild && field != value {
            return None;
        }
        rest = tail;
    }
    // The password extends to the end of the line: a colon in it needs no escape, but may have one.
    Some(unescape(rest)).filter(|password| !password.is_empty())
}

/// The field before the next unescaped colon, whether it is the wildcard, and the rest.
fn field(text: &str) -> Option<(String, bool, &str)> {
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return Some((unescape(&text[..index]), &text[..index] == "*", &text[index + 1..])),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        // A backslash at the end is an ordinary character.
        out.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WANTED: [&str; 4] = ["db1", "5432", "bench", "dyno"];

    #[test]
    fn passfile_fields_match_literally_or_by_star() {
        for (line, password) in [
            ("db1:5432:bench:dyno:secret", Some("secret")),
            ("*:*:*:*:secret", Some("secret")),
            ("*:*:*:dyno:with:colons", Some("with:colons")),
            (r"db1:5432:bench:dyno:a\:b\\c", Some(r"a:b\c")),
            ("db2:*:*:*:secret", None),
            ("db1:5433:bench:dyno:secret", None),
            ("#db1:5432:bench:dyno:secret", None),
            ("db1:5432:bench:dyno:", None),
            ("db1:5432:bench", None),
            (r"\*:*:*:*:secret", None),
            ("", None),
        ] {
            assert_eq!(matching(line, WANTED).as_deref(), password, "{line}");
        }
        assert_eq!(matching(r"\:\:1:5432:b:d:x", ["::1", "5432", "b", "d"]).as_deref(), Some("x"));
    }

    proptest! {
        #[test]
        fn passfile_matches_any_escaped_names(host in "[a-z:\\\\]{1,8}", user in "[a-z:\\\\]{1,8}", password in "[ -~]{1,12}") {
            let escape = |text: &str| text.replace('\\', r"\\").replace(':', r"\:");
            let line = format!("{}:5432:bench:{}:{}", escape(&host), escape(&user), escape(&password));
            let matched = matching(&line, [&host, "5432", "bench", &user]);
            prop_assert_eq!(matched, Some(password));
        }
    }
}
