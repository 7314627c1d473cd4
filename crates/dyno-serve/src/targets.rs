//! The list of databases that pages may measure, and of hosts that they may observe. The server stores them
//! by name, so no URL, user, password or file name comes from a browser.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dyno_plan::{Engines, LocatedToml, PlanErrors, PlanFile, TargetUrl};
use serde::Deserialize;

use crate::listed_host::ListedHost;

/// How the file is written.
const HINT: &str = "docs/guides/serve.md has an example";

/// A database that jobs may measure.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct NamedTarget {
    /// URL of the database, without a password.
    pub url: String,
    /// A description for users.
    #[serde(default)]
    pub about: String,
    /// The environment variable that contains the password.
    pub password_env: Option<String>,
    /// The file whose first line is the password.
    pub password_file: Option<PathBuf>,
    /// The default variant of runs on this database.
    pub variant: Option<String>,
}

/// The databases and hosts by name.
#[derive(Debug, Clone, Default)]
pub struct ServeTargetList {
    named: BTreeMap<String, NamedTarget>,
    hosts: BTreeMap<String, ListedHost>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    targets: BTreeMap<String, NamedTarget>,
    #[serde(default)]
    hosts: BTreeMap<String, ListedHost>,
}

impl ServeTargetList {
    /// Reads the list from the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, is not such a list, or contains a URL that plans do not accept.
    pub fn read(path: &Path, engines: Engines) -> Result<Self, PlanErrors> {
        let file = PlanFile::open_input(path, "list of targets", HINT)?;
        Self::of_text(&file.name, &file.text, engines)
    }

    fn of_text(name: &str, text: &str, engines: Engines) -> Result<Self, PlanErrors> {
        let toml = LocatedToml::parse(name, text, HINT)?;
        let file: File = toml.read()?;
        let named = file.targets.keys().map(|name| ("targets", name));
        for (section, name) in named.chain(file.hosts.keys().map(|name| ("hosts", name))) {
            if !is_plain_name(name) {
                let rule = "a name of a target or host is 1 to 60 letters, digits, `_`, `-` and `.`";
                return Err(toml.error(&[section, name], rule, "").into());
            }
        }
        for (name, host) in &file.hosts {
            host.spec().map_err(|problem| toml.error(&["hosts", name], problem, HINT))?;
        }
        for (name, target) in &file.targets {
            TargetUrl::read(&target.url, engines).map_err(|_| {
                let problem = "not a database URL, or it contains a password";
                toml.error(
                    &["targets", name, "url"],
                    problem,
                    "write the password in password_env or password_file",
                )
            })?;
            if target.password_env.is_some() && target.password_file.is_some() {
                let problem = "password_env and password_file exclude each other";
                return Err(toml
                    .error(&["targets", name, "password_env"], problem, "keep one of them")
                    .into());
            }
        }
        Ok(Self { named: file.targets, hosts: file.hosts })
    }

    /// Adds the target `name` at `url`; its password, if it needs one, comes from the environment.
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

    /// The password files that the list names.
    pub fn password_files(&self) -> impl Iterator<Item = &Path> {
        let of_targets = self.named.values().filter_map(|target| target.password_file.as_deref());
        of_targets.chain(self.hosts.values().filter_map(ListedHost::password_file))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&NamedTarget> {
        self.named.get(name)
    }

    pub(crate) fn host(&self, name: &str) -> Option<&ListedHost> {
        self.hosts.get(name)
    }

    /// The hosts that runs may observe, by name.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = (&str, &ListedHost)> {
        self.hosts.iter().map(|(name, host)| (name.as_str(), host))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &NamedTarget)> {
        self.named.iter().map(|(name, target)| (name.as_str(), target))
    }
}

/// Whether `name` is safe in URLs, forms and file names without escaping.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=60).contains(&name.len()) && name.bytes().all(plain)
}

impl NamedTarget {
    /// The plan keys and values that locate the password.
    pub(crate) fn secrets(&self) -> Vec<(&'static str, String)> {
        let variable = self.password_env.iter().map(|name| ("target.password_env", name.clone()));
        let file = self.password_file.iter().map(|path| ("target.password_file", path.display().to_string()));
        variable.chain(file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ServeTargetList, PlanErrors> {
        ServeTargetList::of_text("targets.toml", text, crate::state::fixture::ENGINES)
    }

    #[test]
    fn targets_file_names_password_variable() {
        let targets = read("[targets.file]\nurl = \"sqlite:/tmp/x.db\"\npassword_env = \"P\"\n").unwrap();
        let target = targets.get("file").unwrap();
        assert_eq!(target.secrets(), [("target.password_env", "P".to_owned())]);
    }

    #[test]
    fn configured_host_becomes_observed_host_of_plan() {
        let text =
            "[hosts.db1]\nurl = \"ssh://root@db1\"\ndata = \"/srv/pg data\"\nabout = \"the new one\"\n";
        let targets = read(text).unwrap();
        let host = targets.host("db1").unwrap();
        assert_eq!(host.spec().unwrap().data.as_deref(), Some("/srv/pg data"));
        assert_eq!((host.shown(), host.about.as_str()), ("ssh://root@db1".to_owned(), "the new one"));
        assert!(targets.host("db2").is_none());
    }

    #[test]
    fn target_file_errors_do_not_contain_passwords() {
        for (text, place) in [
            (
                "[targets.a]\nurl = \"sqlite:x\"\npassword = \"geheim\"",
                "3:1: targets.a.password: unknown key; ",
            ),
            ("[targets.a]\nurl = \"nodb://me:geheim@h/d\"", "2:7: targets.a.url: not a database URL"),
            (
                "[targets.a]\nurl = \"sqlite:x\"\npassword_env = \"geheim\"\npassword_file = \"f\"",
                "3:16: targets.a.password_env: password_env and password_file exclude",
            ),
            ("[targets.\"<b>\"]\nurl = \"geheim\"", "1:1: a name of a target"),
            ("[targets.a\ngeheim", "1:11: not valid TOML: "),
            (
                "[targets.a]\nurl = \"sqlite:x\"\nvariant = [\"geheim\"]",
                "3:11: targets.a.variant: not a text",
            ),
            ("[targets.a]\nabout = \"geheim\"", "1:1: targets.a.url: missing; docs/guides/serve.md"),
            ("[hosts.a]\nurl = \"geheim\"", "1:1: hosts.a: "),
            ("[hosts.a]\nurl = \"ssh://h\"\npassword_env = \"geheim\"", "1:1: hosts.a: "),
            ("[hosts.\"a b\"]\nurl = \"ssh://h\"", "1:1: a name of a target"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("targets.toml:{place}")), "{error}");
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
