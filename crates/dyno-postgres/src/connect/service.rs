//! Reads services: named groups of parameters in `~/.pg_service.conf` or `pg_service.conf`, by libpq's rules.

use std::path::{Path, PathBuf};

use super::parameters;
use dyno_engine::net::Environment;
use dyno_engine::{Secret, TargetError};

/// Directories of `pg_service.conf` if `PGSYSCONFDIR` is not set: Debian's, Red Hat's, and PostgreSQL's own
/// default.
const SYSTEM_DIRS: [&str; 3] = ["/etc/postgresql-common", "/etc/sysconfig/pgsql", "/usr/local/pgsql/etc"];

/// The parameters of one service in a service file.
#[derive(Debug, Clone)]
pub(super) struct Service {
    /// Its name and file: `service "bench" in /home/me/.pg_service.conf`.
    pub(super) label: String,
    /// Parameters except the password; the first value of each name counts.
    values: Vec<(&'static str, String)>,
    /// The password; absent if the service has none.
    pub(super) password: Option<Secret>,
}

impl Service {
    /// The value of parameter `name`.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Reads service `name` from `file`, or from the user's file. If they lack it, the system's file is read.
///
/// # Errors
/// A file cannot be read or has a syntax error, or no file contains the service.
pub(super) fn load(
    name: &str,
    file: Option<PathBuf>,
    environment: Environment,
) -> Result<Service, TargetError> {
    let user_file = || environment.home(".pg_service.conf").filter(|path| path.exists());
    let system_dirs = match environment.var("PGSYSCONFDIR") {
        Some(dir) => vec![PathBuf::from(dir)],
        None => SYSTEM_DIRS.iter().map(PathBuf::from).collect(),
    };
    let system_files = system_dirs.into_iter().map(|dir| dir.join("pg_service.conf"));
    let mut searched = Vec::new();
    for path in file.or_else(user_file).into_iter().chain(system_files.filter(|path| path.exists())) {
        let text = std::fs::read_to_string(&path).map_err(|error| {
            TargetError::unsupported(format!("the service file {} cannot be read: {error}", path.display()))
                .hint("check PGSERVICEFILE, or servicefile in the URL")
        })?;
        if let Some(service) = parse(&text, name, &path)? {
            return Ok(service);
        }
        searched.push(path.display().to_string());
    }
    let place = match searched.as_slice() {
        [] => "there is no service file".to_owned(),
        files => format!("not in {}", files.join(" or ")),
    };
    Err(TargetError::unsupported(format!("the service {name:?} is not defined: {place}"))
        .hint("check PGSERVICE, service in the URL, PGSERVICEFILE and ~/.pg_service.conf"))
}

/// Parses the service `name` from a file's text. Errors give line numbers and never quote the line, which may
/// contain a password.
fn parse(text: &str, name: &str, path: &Path) -> Result<Option<Service>, TargetError> {
    let wrong = |index: usize, problem: &str| {
        TargetError::unsupported(format!("{}:{}: {problem}", path.display(), index + 1))
            .hint("write parameter=value, one on each line, without spaces around `=`")
    };
    let mut service: Option<Service> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_matches(|c: char| c.is_ascii_whitespace());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(group) = line.strip_prefix('[') {
            if service.is_some() {
                break;
            }
            if group.strip_prefix(name).is_some_and(|rest| rest.starts_with(']')) {
                let label = format!("service {name:?} in {}", path.display());
                service = Some(Service { label, values: Vec::new(), password: None });
            }
            continue;
        }
        let Some(service) = &mut service else { continue };
        if line.starts_with("ldap") && !line.contains('=') || line.starts_with("ldap://") {
            return Err(wrong(index, "Dyno does not look services up by LDAP"));
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(wrong(index, "the line has no `=`"));
        };
        match parameters::named(key) {
            Some(parameter) if matches!(parameter.name, "service" | "servicefile") => {
                return Err(wrong(index, "a service cannot name another service"));
            }
            Some(parameter) if parameter.name == "password" => {
                service.password.get_or_insert_with(|| Secret::new(value.to_owned()));
            }
            Some(parameter) if service.value(parameter.name).is_none() => {
                service.values.push((parameter.name, value.to_owned()));
            }
            Some(_) => {}
            None => return Err(wrong(index, "libpq has no such parameter")),
        }
    }
    Ok(service)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn service(text: &str, name: &str) -> Result<Option<Service>, TargetError> {
        parse(text, name, Path::new("/etc/pg_service.conf"))
    }

    #[test]
    fn service_uses_own_group_and_first_value_of_each_name() {
        let text = "# mine\nhost=outside\n[benchmark]\nhost=other\n[bench]\n  host=db1  \r\nhost=db2\nport=6000\n\
                    password=a=b c\noptions=-c work_mem=64MB\n\n[bench]\nuser=late\n";
        let service = service(text, "bench").unwrap().unwrap();
        assert_eq!((service.value("host"), service.value("port")), (Some("db1"), Some("6000")));
        assert_eq!((service.value("options"), service.value("user")), (Some("-c work_mem=64MB"), None));
        assert_eq!(service.password.as_ref().map(Secret::expose), Some("a=b c"));
        assert_eq!(service.label, "service \"bench\" in /etc/pg_service.conf");
        assert!(!format!("{service:?}").contains("a=b c"));
        assert!(super::tests::service(text, "nothing").unwrap().is_none());
    }

    #[test]
    fn service_file_syntax_error_gives_line_number_but_not_its_text() {
        for (line, problem) in [
            ("geheim", "has no `=`"),
            ("password =geheim", "no such parameter"),
            ("service=geheim", "cannot name another service"),
            ("ldap://geheim/dc=x?one", "LDAP"),
        ] {
            let error = service(&format!("[bench]\nhost=db1\n{line}\n"), "bench").expect_err(line);
            assert!(error.message.contains("/etc/pg_service.conf:3: "), "{error}");
            assert!(error.message.contains(problem), "{error}");
            assert!(!error.message.contains("geheim"), "{error}");
            assert!(!error.hint.contains("geheim"), "{error}");
        }
        assert!(service("[other]\ngeheim\n", "bench").unwrap().is_none());
    }

    proptest! {
        #[test]
        fn service_file_reads_any_single_line_value(value in "[!-~]([ -~]{0,20}[!-~])?") {
            let text = format!("[a b]\nhost={value}\npassword={value}\n");
            let service = service(&text, "a b").unwrap().unwrap();
            prop_assert_eq!(service.value("host"), Some(value.as_str()));
            prop_assert_eq!(service.password.as_ref().map(Secret::expose), Some(value.as_str()));
        }

        #[test]
        fn service_file_parser_survives_any_text(text in "[\\[\\]=#a-z \n\r]{0,80}", name in "[a-z\\]]{0,3}") {
            let _ = service(&text, &name);
        }
    }
}
