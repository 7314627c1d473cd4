//! The user's option file `~/.my.cnf`: user and password of its `[client]` groups, as the `mysql` client reads them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use dyno_engine::Secret;
use dyno_engine::net::Environment;

/// The groups that programs which connect read; later ones win.
const GROUPS: [&str; 4] = ["client", "client-server", "client-mariadb", "mysql"];

/// What the file says.
#[derive(Debug, Clone, Default)]
pub(super) struct OptionFile {
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret>,
    /// Why it was not used, if it is there and was not.
    pub(super) ignored: Option<String>,
}

/// Reads the file of the user that `environment` is of.
pub(super) fn read(environment: Environment) -> OptionFile {
    environment.home(".my.cnf").map(|path| read_file(&path)).unwrap_or_default()
}

fn read_file(path: &Path) -> OptionFile {
    let Ok(facts) = std::fs::metadata(path) else { return OptionFile::default() };
    // The client takes a file that others can write for an attack, and one that others can read holds no secret.
    if facts.permissions().mode() & 0o077 != 0 {
        let ignored = format!("{} is ignored: others than its owner may use it", path.display());
        return OptionFile { ignored: Some(ignored), ..OptionFile::default() };
    }
    std::fs::read_to_string(path).map(|text| parse(&text)).unwrap_or_default()
}

fn parse(text: &str) -> OptionFile {
    let mut file = OptionFile::default();
    let mut ours = false;
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            ours = GROUPS.contains(&group.trim());
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| ours && !line.starts_with(['#', ';']))
        else {
            continue;
        };
        let value = unquoted(value.trim());
        match name.trim() {
            "user" => file.user = Some(value),
            "password" => file.password = Some(Secret::new(value)),
            _ => {}
        }
    }
    file
}

/// The value without the quotes around it; a backslash gives its letter a meaning only before these.
fn unquoted(value: &str) -> String {
    let quoted = ['"', '\''].iter().find_map(|&q| value.strip_prefix(q)?.strip_suffix(q));
    quoted.unwrap_or(value).replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_groups_are_read_and_no_others() {
        let text =
            "# mine\n[mysqld]\nuser=mysql\n[client]\nuser = me\npassword=\"a#b c\"\n[mysqldump]\nuser=x\n";
        let file = parse(text);
        assert_eq!(file.user.as_deref(), Some("me"));
        assert_eq!(file.password.as_ref().map(Secret::expose), Some("a#b c"));
    }

    #[test]
    fn a_file_that_others_may_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".my.cnf");
        std::fs::write(&path, "[client]\npassword=x\n").unwrap();
        for (mode, used) in [(0o644, false), (0o600, true)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let file = read_file(&path);
            assert_eq!((file.password.is_some(), file.ignored.is_none()), (used, used));
        }
    }
}
