//! The list of databases that may be measured from a page: names on the server's side, so that no URL, user, password or file
//! name ever comes from a browser.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dyno_plan::{Engines, TargetUrl};
use serde::Deserialize;

use crate::error::ServeError;

/// One database that may be measured.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct NamedTarget {
    /// Where it is; never with a password.
    pub url: String,
    /// What it is, in words.
    #[serde(default)]
    pub about: String,
    /// The environment variable that holds its password.
    pub password_env: Option<String>,
    /// The file whose first line is its password.
    pub password_file: Option<PathBuf>,
    /// The variant under which runs on it are found again, where none is given.
    pub variant: Option<String>,
}

/// All of them, by name.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    named: BTreeMap<String, NamedTarget>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    targets: BTreeMap<String, NamedTarget>,
}

impl Targets {
    /// Reads the list in the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, is no such list, or names a URL that no plan may have.
    pub fn read(path: &Path, engines: Engines) -> Result<Self, ServeError> {
        let text = std::fs::read_to_string(path).map_err(|error| ServeError::file(path, &error))?;
        Self::of_text(path, &text, engines)
    }

    fn of_text(path: &Path, text: &str, engines: Engines) -> Result<Self, ServeError> {
        let wrong = |detail: String| ServeError::Targets { path: path.to_owned(), detail };
        // The message of the reader shows the line; a password that somebody wrote there all the same must not be in it.
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            wrong(format!("line {line}: {}", error.message()))
        })?;
        for (name, target) in &file.targets {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            if name.is_empty() || name.len() > 60 || !name.bytes().all(plain) {
                return Err(wrong("a name of a target is 1 to 60 letters, digits, `_`, `-` and `.`".into()));
            }
            TargetUrl::read(&target.url, engines).map_err(|_| {
                wrong(format!("targets.{name}: url is not that of a database, or has a password"))
            })?;
            if target.password_env.is_some() && target.password_file.is_some() {
                return Err(wrong(format!(
                    "targets.{name}: password_env and password_file exclude each other"
                )));
            }
        }
        Ok(Self { named: file.targets })
    }

    /// Adds the target `name` at `url`, which needs no password that the environment does not give.
    pub fn add(&mut self, name: &str, url: &str) {
        let target = NamedTarget {
            url: url.to_owned(),
            about: String::new(),
            password_env: None,
            password_file: None,
            variant: None,
        };
        self.named.insert(name.to_owned(), target);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&NamedTarget> {
        self.named.get(name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &NamedTarget)> {
        self.named.iter().map(|(name, target)| (name.as_str(), target))
    }
}

impl NamedTarget {
    /// What says where its password is, as a plan has it: key and value.
    pub(crate) fn secrets(&self) -> Vec<(&'static str, String)> {
        let variable = self.password_env.iter().map(|name| ("target.password_env", name.clone()));
        let file = self.password_file.iter().map(|path| ("target.password_file", path.display().to_string()));
        variable.chain(file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Targets, ServeError> {
        Targets::of_text(Path::new("targets.toml"), text, crate::state::fixture::ENGINES)
    }

    #[test]
    fn names_urls_and_where_the_password_is() {
        let targets = read("[targets.file]\nurl = \"sqlite:/tmp/x.db\"\npassword_env = \"P\"\n").unwrap();
        let target = targets.get("file").unwrap();
        assert_eq!(target.secrets(), [("target.password_env", "P".to_owned())]);
    }

    #[test]
    fn what_is_wrong_is_told_without_what_could_be_a_password() {
        for text in [
            "[targets.a]\nurl = \"sqlite:x\"\npassword = \"geheim\"",
            "[targets.a]\nurl = \"nodb://me:geheim@h/d\"",
            "[targets.a]\nurl = \"sqlite:x\"\npassword_env = \"geheim\"\npassword_file = \"f\"",
            "[targets.\"<b>\"]\nurl = \"geheim\"",
            "[targets.a\ngeheim",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("targets.toml: ") && !error.contains("geheim"), "{error}");
        }
    }
}
