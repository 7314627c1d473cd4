//! Reads option files by the rules of the `mysql` client: which files exist, and the options in the groups
//! for clients.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use dyno_engine::Secret;
use dyno_engine::net::Environment;

/// The groups that client programs read, of MySQL's and of MariaDB's client.
const GROUPS: [&str; 5] = ["client", "client-server", "client-mariadb", "mysql", "mariadb-client"];

/// The deepest nesting of included files; it also ends circular includes.
const INCLUDES_MAX: usize = 10;

/// The options that files set; the last value of each name counts.
#[derive(Debug, Clone, Default)]
pub(super) struct OptionFiles {
    options: Vec<FileOption>,
    /// The password, if a file that only its owner can read contains one.
    pub(super) password: Option<Secret>,
    /// Why a file or its password was not used.
    pub(super) notes: Vec<String>,
}

/// One option of a file.
#[derive(Debug, Clone)]
pub(super) struct FileOption {
    /// The name, with `-` between words.
    name: String,
    /// The value; `None` if the option has none.
    pub(super) value: Option<String>,
    /// The file that sets it, for error messages.
    pub(super) path: PathBuf,
}

impl OptionFiles {
    /// Reads the same files as the client, in its order.
    pub(super) fn read(environment: Environment) -> Self {
        let folder = |name| environment.var(name).map(|folder| PathBuf::from(folder).join("my.cnf"));
        let system = [Some(PathBuf::from("/etc/my.cnf")), Some(PathBuf::from("/etc/mysql/my.cnf"))];
        let user_files = [folder("MYSQL_HOME"), folder("MARIADB_HOME"), environment.home(".my.cnf")];
        let suffix = environment.var("MYSQL_GROUP_SUFFIX").unwrap_or_default();
        let mut files = Self::default();
        for path in system.into_iter().chain(user_files).flatten() {
            files.read_file(&path, &suffix, 0);
        }
        files
    }

    /// The option `name`, if a file sets it.
    pub(super) fn get(&self, name: &str) -> Option<&FileOption> {
        self.options.iter().find(|option| option.name == name)
    }

    fn read_file(&mut self, path: &Path, suffix: &str, depth: usize) {
        let Ok(facts) = std::fs::metadata(path) else { return };
        let mode = facts.permissions().mode();
        // Like the client: a file that others can write may be an attack.
        if mode & 0o002 != 0 {
            self.notes
                .push(format!("{} is ignored: users other than its owner can write it", path.display()));
            return;
        }
        match std::fs::read_to_string(path) {
            Ok(text) => self.parse(&text, path, mode & 0o077 == 0, suffix, depth),
            Err(error) => self.notes.push(format!("{} cannot be read: {error}", path.display())),
        }
    }

    /// Parses the text of the file at `path`; accepts a password only if `is_private`.
    fn parse(&mut self, text: &str, path: &Path, is_private: bool, suffix: &str, depth: usize) {
        let is_read = |group: &str| {
            GROUPS.contains(&group) || group.strip_suffix(suffix).is_some_and(|base| GROUPS.contains(&base))
        };
        let mut is_ours = false;
        for line in text.lines().map(str::trim) {
            if let Some(directive) = line.strip_prefix('!') {
                if depth < INCLUDES_MAX {
                    self.include(directive, suffix, depth + 1);
                }
                continue;
            }
            if let Some(rest) = line.strip_prefix('[') {
                is_ours = rest.split_once(']').is_some_and(|(group, _)| is_read(group.trim()));
                continue;
            }
            if !is_ours || line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let line = without_comment(line);
            let (name, value) = match line.split_once('=') {
                Some((name, value)) => (name, Some(unquoted(value.trim()))),
                None => (line, None),
            };
            let name = name.trim().replace('_', "-");
            let name = name.strip_prefix("loose-").unwrap_or(&name).to_owned();
            if matches!(name.as_str(), "password" | "password1") {
                self.take_password(value, path, is_private);
                continue;
            }
            self.options.retain(|option| option.name != name);
            self.options.push(FileOption { name, value, path: path.to_owned() });
        }
    }

    fn take_password(&mut self, value: Option<String>, path: &Path, is_private: bool) {
        let Some(value) = value.filter(|value| !value.is_empty()) else { return };
        if is_private {
            self.password = Some(Secret::new(value));
        } else {
            let path = path.display();
            self.notes.push(format!(
                "the password in {path} is ignored: users other than its owner can \
                read it"
            ));
        }
    }

    fn include(&mut self, directive: &str, suffix: &str, depth: usize) {
        if let Some(folder) = directive.strip_prefix("includedir").map(str::trim) {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "cnf"));
            paths.sort();
            paths.iter().for_each(|path| self.read_file(path, suffix, depth));
        } else if let Some(path) = directive.strip_prefix("include").map(str::trim) {
            self.read_file(Path::new(path), suffix, depth);
        }
    }
}

/// The line up to a `#` outside quotes.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut is_escaped) = (None, false);
    for (index, c) in line.char_indices() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            ('\'' | '"', Some(open)) if c == open && !is_escaped => quote = None,
            ('#', None) => return line[..index].trim_end(),
            _ => {}
        }
        is_escaped = quote.is_some() && c == '\\' && !is_escaped;
    }
    line
}

/// The value without the quotes around it, and with its escape sequences resolved.
fn unquoted(value: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let mut resolved = String::with_capacity(value.len());
    let mut rest = inner.unwrap_or(value).chars().peekable();
    while let Some(c) = rest.next() {
        let escape = match (c, rest.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            ('\\', Some('b')) => '\u{8}',
            ('\\', Some('s')) => ' ',
            ('\\', Some(&sign @ ('\\' | '"' | '\''))) => sign,
            // Any other backslash is an ordinary character.
            _ => {
                resolved.push(c);
                continue;
            }
        };
        resolved.push(escape);
        rest.next();
    }
    resolved
}

/// Options from a private file `/home/me/.my.cnf` with this text.
#[cfg(test)]
pub(super) fn of_text(text: &str) -> OptionFiles {
    let mut files = OptionFiles::default();
    files.parse(text, Path::new("/home/me/.my.cnf"), true, "", 0);
    files
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value<'a>(files: &'a OptionFiles, name: &str) -> Option<&'a str> {
        files.get(name)?.value.as_deref()
    }

    #[test]
    fn option_file_reads_only_client_groups() {
        let text = "# mine\n[mysqld]\nuser=mysql\nport=1\n[client]\nuser = me # not root\npassword=\"a#b c\"\n\
                    port=2\n[mysqldump]\nuser=x\n[mysql]\nport = 3\nssl_ca='/a b.pem'\nskip-ssl\n";
        let files = of_text(text);
        assert_eq!((value(&files, "user"), value(&files, "port")), (Some("me"), Some("3")));
        assert_eq!(value(&files, "ssl-ca"), Some("/a b.pem"));
        assert!(files.get("skip-ssl").is_some_and(|option| option.value.is_none()));
        assert_eq!(files.password.as_ref().map(Secret::expose), Some("a#b c"));
        assert!(!format!("{files:?}").contains("a#b c"));
    }

    #[test]
    fn option_file_values_are_unquoted_as_by_the_client() {
        for (written, meant) in [
            ("plain", "plain"),
            ("\"a b\"", "a b"),
            (r"a\sb\\c\d", r"a b\c\d"),
            ("'it\\'s'", "it's"),
            ("", ""),
        ] {
            assert_eq!(unquoted(written), meant, "{written}");
        }
    }

    #[test]
    fn option_files_follow_includes_despite_cycles() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display();
        let write = |name: &str, text: String, mode| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        write("a.cnf", format!("[client]\nport=1\n!include {place}/a.cnf\n!include {place}/b\n"), 0o644);
        write("b", "[client]\nport=2\nhost=db2\npassword=x\n".to_owned(), 0o644);
        write("c.cnf", "[client]\nhost=db3\n".to_owned(), 0o666);
        let mut files = OptionFiles::default();
        files.include(&format!("includedir {place}"), "", 0);
        assert_eq!((value(&files, "port"), value(&files, "host")), (Some("2"), Some("db2")));
        assert!(files.password.is_none());
        assert!(
            files.notes.iter().any(|note| note.contains("password in") && note.contains("/b is ignored"))
        );
        assert!(files.notes.iter().any(|note| note.contains("c.cnf is ignored")));
    }

    #[test]
    fn option_groups_with_chosen_suffix_are_read() {
        let mut files = OptionFiles::default();
        let text = "[client]\nport=1\n[client_two]\nport=2\n[client_three]\nport=3\n";
        files.parse(text, Path::new("a"), true, "_two", 0);
        assert_eq!(value(&files, "port"), Some("2"));
    }

    proptest! {
        #[test]
        fn option_file_value_is_read_quoted_or_not(text in "[a-zA-Z0-9/_.]{1,12}") {
            for written in [format!("host={text}"), format!("host = '{text}'"), format!("host=\"{text}\" # x")] {
                let files = of_text(&format!("[client]\n{written}\n"));
                prop_assert_eq!(value(&files, "host"), Some(text.as_str()));
            }
        }

        #[test]
        fn option_file_parser_survives_any_text(text in "[\\[\\]=#'\"\\\\a-z \n]{0,60}") {
            of_text(&format!("[client]\n{text}"));
        }
    }
}
