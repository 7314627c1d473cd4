//! Filling a [`ConnectConfig`]: the URL's parts and parameters first, then libpq's variables, then its defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_plan::TargetUrl;

use super::config::{ChannelBinding, ConnectConfig, SslMode};
use dyno_engine::net::sockopt::Keepalive;
use dyno_engine::net::url::{check_names, wrong};
use dyno_engine::net::{Address, Environment};
use dyno_engine::{OpenOptions, Secret, TargetError};

/// PostgreSQL's registered port.
const PORT: u16 = 5432;

/// Where servers put their socket if nobody says otherwise: Debian's and Red Hat's packages, then PostgreSQL's own default.
const SOCKET_DIRS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Whether libpq would take `dir` without being told; password files then call it `localhost`.
pub(super) fn is_default_socket_dir(dir: &Path) -> bool {
    SOCKET_DIRS.iter().any(|default| Path::new(default) == dir)
}

/// The directory of a server's socket.
pub(super) fn socket_dir(socket: &Path) -> &Path {
    socket.parent().unwrap_or(socket)
}

/// The URL parameters that are understood.
const PARAMETERS: [&str; 21] = [
    "host",
    "hostaddr",
    "port",
    "user",
    "dbname",
    "application_name",
    "options",
    "connect_timeout",
    "passfile",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "channel_binding",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "client_encoding",
    "gssencmode",
    "fallback_application_name",
];

impl ConnectConfig {
    /// What `url` and `options` say, filled up from the environment (`PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`,
    /// `PGPASSWORD`, `PGPASSFILE`, `PGSSLMODE`, …) and libpq's defaults.
    ///
    /// # Errors
    /// `Unsupported`: a parameter is unknown or has an impossible value.
    pub fn from_url(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        Self::read(url, options, Environment::PROCESS)
    }

    pub(super) fn read(
        url: &TargetUrl,
        options: &OpenOptions,
        environment: Environment,
    ) -> Result<Self, TargetError> {
        check_params(url)?;
        let source = Source { url, environment };
        let port = source.number("port", "PGPORT")?.filter(|_| url.port.is_none());
        let port = match port.map(u16::try_from) {
            Some(Ok(port)) => port,
            Some(Err(_)) => return Err(wrong("port", &port.unwrap_or_default().to_string(), "1 to 65535")),
            None => url.port.unwrap_or(PORT),
        };
        let user = url.user.clone().or_else(|| source.text("user", "PGUSER")).or_else(|| environment.user());
        let user = user.ok_or_else(|| {
            TargetError::unsupported("no user name is given, and the operating system's cannot be found")
                .hint("write postgres://USER@HOST/DATABASE")
        })?;
        let path = Some(url.path.clone()).filter(|path| !path.is_empty());
        let database = path.or_else(|| source.text("dbname", "PGDATABASE")).unwrap_or_else(|| user.clone());
        let (ssl_mode, ssl_root_cert) = tls(source)?;
        let timeout = source.number("connect_timeout", "")?.filter(|&seconds| seconds > 0);
        Ok(Self {
            addresses: addresses(source, port)?,
            port,
            user,
            database,
            password: options.password.clone().or_else(|| environment.var("PGPASSWORD").map(Secret::new)),
            passfile: source.path("passfile", "PGPASSFILE").or_else(|| environment.home(".pgpass")),
            ssl_mode,
            ssl_root_cert,
            ssl_cert: source
                .path("sslcert", "PGSSLCERT")
                .or_else(|| environment.home(".postgresql/postgresql.crt").filter(|path| path.exists())),
            ssl_key: source
                .path("sslkey", "PGSSLKEY")
                .or_else(|| environment.home(".postgresql/postgresql.key").filter(|path| path.exists())),
            channel_binding: channel_binding(source)?,
            application_name: source.text("application_name", "PGAPPNAME"),
            options: source.text("options", "PGOPTIONS"),
            connect_timeout: timeout.map_or(options.connect_timeout, |s| Duration::from_secs(s.into())),
            keepalive: Keepalive {
                enabled: source.number("keepalives", "")? != Some(0),
                idle_s: source.number("keepalives_idle", "")?.filter(|&n| n > 0),
                interval_s: source.number("keepalives_interval", "")?.filter(|&n| n > 0),
                count: source.number("keepalives_count", "")?.filter(|&n| n > 0),
            },
        })
    }
}

/// The two places where a setting may be, the URL first.
#[derive(Clone, Copy)]
struct Source<'a> {
    url: &'a TargetUrl,
    environment: Environment,
}

impl Source<'_> {
    fn text(self, parameter: &str, variable: &str) -> Option<String> {
        let own = self.url.param(parameter).filter(|value| !value.is_empty()).map(str::to_owned);
        own.or_else(|| self.environment.var(variable))
    }

    fn path(self, parameter: &str, variable: &str) -> Option<PathBuf> {
        self.text(parameter, variable).map(PathBuf::from)
    }

    fn number(self, parameter: &str, variable: &str) -> Result<Option<u32>, TargetError> {
        self.text(parameter, variable)
            .map(|text| text.parse().map_err(|_| wrong(parameter, &text, "a whole number")))
            .transpose()
    }
}

fn check_params(url: &TargetUrl) -> Result<(), TargetError> {
    check_names(url, &PARAMETERS)?;
    for (name, value) in &url.params {
        let lower = value.to_ascii_lowercase();
        if name == "client_encoding" && !["utf8", "utf-8", "auto"].contains(&lower.as_str()) {
            return Err(wrong(name, value, "UTF8, or leave it out: rows here are plain ASCII"));
        }
        if name == "gssencmode" && lower == "require" {
            return Err(wrong(name, value, "prefer or disable: encryption here is TLS, by sslmode"));
        }
    }
    Ok(())
}

fn addresses(source: Source<'_>, port: u16) -> Result<Vec<Address>, TargetError> {
    let host = source.url.host.clone().or_else(|| source.text("host", "PGHOST"));
    let ip = source
        .text("hostaddr", "PGHOSTADDR")
        .map(|text| text.parse().map_err(|_| wrong("hostaddr", &text, "one IPv4 or IPv6 address")))
        .transpose()?;
    match (host, ip) {
        (Some(host), _) if host.contains(',') => {
            Err(wrong("host", &host, "one host: a target is one endpoint, a plan may name several"))
        }
        (Some(dir), None) if dir.starts_with('/') => Ok(vec![socket(&dir, port)]),
        (Some(host), ip) => Ok(vec![Address::Tcp(host, port, ip)]),
        (None, Some(ip)) => Ok(vec![Address::Tcp(ip.to_string(), port, Some(ip))]),
        (None, None) => {
            let sockets = SOCKET_DIRS.iter().map(|dir| socket(dir, port));
            let local = Address::Tcp("localhost".to_owned(), port, None);
            Ok(sockets.chain([local]).collect())
        }
    }
}

/// The socket that a server with this port has in `dir`.
fn socket(dir: &str, port: u16) -> Address {
    Address::Unix(Path::new(dir).join(format!(".s.PGSQL.{port}")))
}

/// The TLS mode and the root certificates; libpq's rules for `sslrootcert=system`, and for a root certificate at its
/// usual place.
fn tls(source: Source<'_>) -> Result<(SslMode, Option<PathBuf>), TargetError> {
    let words = "disable, allow, prefer, require, verify-ca or verify-full";
    let mode = source
        .text("sslmode", "PGSSLMODE")
        .map(|text| SslMode::from_name(&text).ok_or_else(|| wrong("sslmode", &text, words)))
        .transpose()?;
    let given = source.path("sslrootcert", "PGSSLROOTCERT");
    if given.as_deref().is_some_and(|path| path.as_os_str() == "system") {
        return match mode {
            None | Some(SslMode::VerifyFull) => Ok((SslMode::VerifyFull, given)),
            Some(weak) => Err(wrong(
                "sslmode",
                weak.name(),
                "verify-full with sslrootcert=system: anyone can get a certificate of a public authority, so the host name has to be checked",
            )),
        };
    }
    let usual = source.environment.home(".postgresql/root.crt").filter(|path| path.exists());
    Ok((mode.unwrap_or(SslMode::Prefer), given.or(usual)))
}

fn channel_binding(source: Source<'_>) -> Result<ChannelBinding, TargetError> {
    match source.text("channel_binding", "PGCHANNELBINDING").as_deref() {
        None | Some("prefer") => Ok(ChannelBinding::Prefer),
        Some("disable") => Ok(ChannelBinding::Disable),
        Some("require") => Ok(ChannelBinding::Require),
        Some(other) => Err(wrong("channel_binding", other, "disable, prefer or require")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;

    fn options() -> OpenOptions {
        OpenOptions { password: None, connect_timeout: Duration::from_secs(7) }
    }

    fn read(url: &str, environment: fn(&str) -> Option<String>) -> Result<ConnectConfig, TargetError> {
        ConnectConfig::read(&url.parse().unwrap(), &options(), Environment(environment))
    }

    fn nothing(_: &str) -> Option<String> {
        None
    }

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp(host.to_owned(), port, None)
    }

    #[test]
    fn the_url_alone_says_everything() {
        let config = read("postgres://me@db1:6543/bench?sslmode=disable", nothing).unwrap();
        assert_eq!((config.user.as_str(), config.database.as_str(), config.port), ("me", "bench", 6543));
        assert_eq!(config.addresses, [tcp("db1", 6543)]);
        assert_eq!((config.ssl_mode, config.connect_timeout.as_secs()), (SslMode::Disable, 7));
    }

    #[test]
    fn what_is_missing_has_libpqs_defaults() {
        let config = read("postgres://me@/", nothing).unwrap();
        assert_eq!((config.database.as_str(), config.port, config.ssl_mode), ("me", 5432, SslMode::Prefer));
        assert_eq!(config.addresses[0], Address::Unix("/var/run/postgresql/.s.PGSQL.5432".into()));
        assert_eq!(config.addresses.last(), Some(&tcp("localhost", 5432)));
    }

    #[test]
    fn variables_fill_up_and_the_url_wins() {
        fn environment(name: &str) -> Option<String> {
            let value = match name {
                "PGUSER" => "them",
                "PGHOST" => "db2",
                "PGPORT" => "7000",
                "PGDATABASE" => "theirs",
                "PGSSLMODE" => "require",
                "PGPASSWORD" => "secret",
                "PGAPPNAME" => "",
                _ => return None,
            };
            Some(value.to_owned())
        }
        let config = read("postgres:///", environment).unwrap();
        assert_eq!((config.user.as_str(), config.database.as_str(), config.port), ("them", "theirs", 7000));
        assert_eq!(
            (config.addresses.as_slice(), config.ssl_mode),
            ([tcp("db2", 7000)].as_slice(), SslMode::Require)
        );
        assert_eq!(config.password.as_ref().map(Secret::expose), Some("secret"));
        assert_eq!(config.application_name, None);
        assert!(!format!("{config:?}").contains("secret"));
        let config = read("postgres://me@db1:1/mine?sslmode=allow", environment).unwrap();
        assert_eq!((config.user.as_str(), config.database.as_str(), config.port), ("me", "mine", 1));
        assert_eq!(
            (config.addresses.as_slice(), config.ssl_mode),
            ([tcp("db1", 1)].as_slice(), SslMode::Allow)
        );
    }

    #[test]
    fn a_socket_directory_is_a_host() {
        for url in ["postgres://me@%2Ftmp%2Fpg:6000/db", "postgres://me@/db?host=/tmp/pg&port=6000"] {
            let config = read(url, nothing).unwrap();
            assert_eq!(
                (config.addresses, config.port),
                (vec![Address::Unix("/tmp/pg/.s.PGSQL.6000".into())], 6000)
            );
        }
    }

    #[test]
    fn an_address_spares_the_lookup_and_keeps_the_name() {
        let config = read("postgres://me@db1/db?hostaddr=::1", nothing).unwrap();
        let address = Some("::1".parse().unwrap());
        assert_eq!(config.addresses, [Address::Tcp("db1".to_owned(), 5432, address)]);
    }

    #[test]
    fn what_cannot_be_used_is_named_with_what_can() {
        for (params, named, allowed) in [
            ("sslmode=maybe", "maybe", "verify-full"),
            ("colour=red", "colour", "sslmode"),
            ("connect_timeout=soon", "soon", "whole number"),
            ("hostaddr=db1", "db1", "address"),
            ("channel_binding=yes", "yes", "require"),
            ("client_encoding=LATIN1", "LATIN1", "UTF8"),
            ("gssencmode=require", "require", "sslmode"),
            ("sslrootcert=system&sslmode=require", "require", "verify-full"),
            ("port=70000", "70000", "65535"),
        ] {
            let error = read(&format!("postgres://me@/db?{params}"), nothing).expect_err(params);
            assert_eq!(error.kind, TargetErrorKind::Unsupported);
            assert!(error.to_string().contains(named), "{error}");
            assert!(error.hint.contains(allowed), "{}", error.hint);
        }
        let error = read("postgres://me@/db?host=db1,db2", nothing).expect_err("two hosts");
        assert!(error.hint.contains("one endpoint"), "{}", error.hint);
    }
}
