//! Filling a [`ConnectConfig`]: the URL's parts and parameters first, then the `mysql` client's variables and option file,
//! then its defaults.

use std::path::PathBuf;
use std::time::Duration;

use dyno_plan::TargetUrl;

use super::config::{ConnectConfig, ResultMetadata, SslMode};
use super::option_file;
use dyno_engine::net::url::{check_names, path, whole, wrong};
use dyno_engine::net::{Address, Environment};
use dyno_engine::{OpenOptions, Secret, TargetError};

/// MySQL's registered port.
const PORT: u16 = 3306;

/// Where servers put their socket if nobody says otherwise: Debian's packages, Red Hat's, the product's own default.
const SOCKETS: [&str; 3] = ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// The URL parameters that are understood, as the `mysql` client's long options are called.
const PARAMETERS: [&str; 7] =
    ["socket", "ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "connect-timeout", "result-metadata"];

impl ConnectConfig {
    /// What `url` and `options` say, filled up from the environment (`MYSQL_HOST`, `MYSQL_TCP_PORT`, `MYSQL_UNIX_PORT`,
    /// `MYSQL_PWD`), `~/.my.cnf` (user and password) and the `mysql` client's defaults.
    ///
    /// # Errors
    /// `Unsupported`: a parameter is unknown or has an impossible value, or no database is named.
    pub fn from_url(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        Self::read(url, options, Environment::PROCESS)
    }

    pub(super) fn read(
        url: &TargetUrl,
        options: &OpenOptions,
        environment: Environment,
    ) -> Result<Self, TargetError> {
        check_names(url, &PARAMETERS)?;
        if url.path.is_empty() || url.path.contains('/') {
            return Err(TargetError::unsupported("the URL names no database for Dyno's tables")
                .hint("write mysql://USER@HOST:PORT/DATABASE; the database has to be there"));
        }
        let file = option_file::read(environment);
        let user = url.user.clone().or_else(|| file.user.clone()).or_else(|| environment.user());
        let user = user.ok_or_else(|| {
            TargetError::unsupported("no user name is given, and the operating system's cannot be found")
                .hint("write mysql://USER@HOST/DATABASE")
        })?;
        let (ssl_mode, ssl_ca) = tls(url, path(url, "ssl-ca"))?;
        let from_file =
            || file.password.clone().filter(|_| file.user.as_ref().is_none_or(|own| *own == user));
        let from_environment = || environment.var("MYSQL_PWD").map(Secret::new);
        let timeout = whole(url, "connect-timeout", "whole seconds, from 1", 1..=u32::MAX)?;
        Ok(Self {
            addresses: addresses(url, environment)?,
            password: options.password.clone().or_else(from_environment).or_else(from_file),
            password_note: file.ignored.clone(),
            user,
            database: url.path.clone(),
            ssl_mode,
            ssl_ca,
            ssl_cert: path(url, "ssl-cert"),
            ssl_key: path(url, "ssl-key"),
            result_metadata: result_metadata(url)?,
            connect_timeout: timeout.map_or(options.connect_timeout, |s| Duration::from_secs(s.into())),
        })
    }
}

fn result_metadata(url: &TargetUrl) -> Result<ResultMetadata, TargetError> {
    match url.param("result-metadata") {
        None => Ok(ResultMetadata::default()),
        Some(text) => {
            ResultMetadata::from_name(text).ok_or_else(|| wrong("result-metadata", text, "once or each"))
        }
    }
}

fn addresses(url: &TargetUrl, environment: Environment) -> Result<Vec<Address>, TargetError> {
    if let Some(socket) = url.param("socket") {
        if url.host.as_deref().is_some_and(|host| host != "localhost") || url.port.is_some() {
            return Err(wrong("socket", socket, "either a host and port or a socket, not both"));
        }
        return Ok(vec![Address::Unix(socket.into())]);
    }
    let port = match (url.port, environment.var("MYSQL_TCP_PORT")) {
        (Some(port), _) => port,
        (None, Some(text)) => {
            text.parse().map_err(|_| wrong("MYSQL_TCP_PORT", &text, "a whole number from 1 to 65535"))?
        }
        (None, None) => PORT,
    };
    let host = url.host.clone().or_else(|| environment.var("MYSQL_HOST"));
    match host {
        Some(path) if path.starts_with('/') => Ok(vec![Address::Unix(path.into())]),
        Some(host) => Ok(vec![Address::Tcp(host, port, None)]),
        None => {
            let named = environment.var("MYSQL_UNIX_PORT").map(PathBuf::from);
            let usual = SOCKETS.iter().map(PathBuf::from);
            let sockets = named.into_iter().chain(usual).map(Address::Unix);
            Ok(sockets.chain([Address::Tcp("127.0.0.1".to_owned(), port, None)]).collect())
        }
    }
}

/// The TLS mode and the root certificates. As the `mysql` client: a root certificate alone asks for `VERIFY_CA`.
fn tls(url: &TargetUrl, ca: Option<PathBuf>) -> Result<(SslMode, Option<PathBuf>), TargetError> {
    let words = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
    let mode = url
        .param("ssl-mode")
        .map(|text| {
            SslMode::from_name(&text.to_ascii_uppercase().replace('-', "_"))
                .ok_or_else(|| wrong("ssl-mode", text, words))
        })
        .transpose()?;
    let system = ca.as_deref().is_some_and(|path| path.as_os_str() == "system");
    match (mode, &ca) {
        (Some(weak @ (SslMode::Disabled | SslMode::Preferred | SslMode::Required)), Some(_)) => Err(wrong(
            "ssl-mode",
            weak.name(),
            "VERIFY_CA or VERIFY_IDENTITY with ssl-ca: a certificate that is not checked proves nothing",
        )),
        (Some(SslMode::VerifyCa), Some(_)) if system => Err(wrong(
            "ssl-mode",
            "VERIFY_CA",
            "VERIFY_IDENTITY with ssl-ca=system: anyone can get a certificate of a public authority",
        )),
        (Some(strict @ (SslMode::VerifyCa | SslMode::VerifyIdentity)), None) => Err(wrong(
            "ssl-mode",
            strict.name(),
            "ssl-ca=FILE beside it, or ssl-ca=system for the authorities that this machine trusts",
        )),
        (None, Some(_)) if system => Ok((SslMode::VerifyIdentity, ca)),
        (None, Some(_)) => Ok((SslMode::VerifyCa, ca)),
        (mode, _) => Ok((mode.unwrap_or(SslMode::Preferred), ca)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;

    fn read(url: &str, environment: fn(&str) -> Option<String>) -> Result<ConnectConfig, TargetError> {
        let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(7) };
        ConnectConfig::read(&url.parse().unwrap(), &options, Environment(environment))
    }

    fn nothing(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn the_url_alone_says_everything() {
        let config = read("mysql://me@db1:3307/bench?ssl-mode=disabled&connect-timeout=3", nothing).unwrap();
        assert_eq!((config.user.as_str(), config.database.as_str()), ("me", "bench"));
        assert_eq!(config.addresses, [Address::Tcp("db1".into(), 3307, None)]);
        assert_eq!((config.ssl_mode, config.connect_timeout.as_secs()), (SslMode::Disabled, 3));
    }

    #[test]
    fn mariadb_is_another_word_for_it() {
        let config = read("mariadb://me@db1/bench", nothing).unwrap();
        assert_eq!(config.addresses, [Address::Tcp("db1".into(), PORT, None)]);
    }

    #[test]
    fn a_socket_is_a_parameter_or_a_host() {
        for url in ["mysql://me@/b?socket=/tmp/m.sock", "mysql://me@%2Ftmp%2Fm.sock/b"] {
            assert_eq!(read(url, nothing).unwrap().addresses, [Address::Unix("/tmp/m.sock".into())]);
        }
    }

    #[test]
    fn variables_fill_up_and_the_url_wins() {
        fn environment(name: &str) -> Option<String> {
            let value = match name {
                "MYSQL_HOST" => "db2",
                "MYSQL_TCP_PORT" => "7000",
                "MYSQL_PWD" => "secret",
                _ => return None,
            };
            Some(value.to_owned())
        }
        let config = read("mysql://me@/b", environment).unwrap();
        assert_eq!(config.addresses, [Address::Tcp("db2".into(), 7000, None)]);
        assert_eq!(config.password.as_ref().map(Secret::expose), Some("secret"));
        assert!(!format!("{config:?}").contains("secret"));
        let config = read("mysql://me@db1:1/b", environment).unwrap();
        assert_eq!(config.addresses, [Address::Tcp("db1".into(), 1, None)]);
    }

    #[test]
    fn what_cannot_be_used_is_named_with_what_can() {
        for (url, named, allowed) in [
            ("mysql://me@db1/b?ssl-mode=maybe", "maybe", "VERIFY_CA"),
            ("mysql://me@db1/b?colour=red", "colour", "ssl-mode"),
            ("mysql://me@db1/b?connect-timeout=soon", "soon", "whole seconds"),
            ("mysql://me@db1/b?ssl-mode=VERIFY_CA", "VERIFY_CA", "ssl-ca=FILE"),
            ("mysql://me@db1/b?ssl-mode=REQUIRED&ssl-ca=x", "REQUIRED", "VERIFY_IDENTITY"),
            ("mysql://me@db1/b?socket=/tmp/x", "socket", "not both"),
            ("mysql://me@db1/", "no database", "DATABASE"),
        ] {
            let error = read(url, nothing).expect_err(url);
            assert_eq!(error.kind, TargetErrorKind::Unsupported);
            assert!(error.to_string().contains(named), "{error}");
            assert!(error.hint.contains(allowed), "{}", error.hint);
        }
    }
}
