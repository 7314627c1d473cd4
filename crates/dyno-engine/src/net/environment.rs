//! Reads what database clients take from outside the URL: variables, the operating system's user, the home
//! directory.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The environment of the process; a type, so that tests can replace it.
#[derive(Debug, Clone, Copy)]
pub struct Environment(pub fn(&str) -> Option<String>);

impl Environment {
    /// The environment of this process.
    pub const PROCESS: Self = Self(|name| std::env::var(name).ok());

    /// The value of a variable that is set and not empty.
    pub fn var(self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// A file in the user's home directory.
    pub fn home(self, file: &str) -> Option<PathBuf> {
        self.var("HOME").map(|home| PathBuf::from(home).join(file))
    }

    /// The name of the operating system's user.
    pub fn user(self) -> Option<String> {
        passwd_user().or_else(|| self.var("USER")).or_else(|| self.var("LOGNAME"))
    }
}

/// The name in `/etc/passwd` of the user of this process.
///
/// The owner of `/proc/self` is the effective user, and reading it needs no unsafe call. Users that only a
/// directory service knows are found by `USER`.
fn passwd_user() -> Option<String> {
    let uid = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}
