//! Where and how to connect: the URL's parts and parameters, filled up from libpq's variables and defaults.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_plan::TargetUrl;

use super::environment::Environment;
use crate::error::{TargetError, TargetErrorKind};
use crate::open::OpenOptions;
use crate::secret::Secret;

/// PostgreSQL's registered port.
const PORT: u16 = 5432;

/// Where servers put their socket if nobody says otherwise: Debian's and Red Hat's packages, then PostgreSQL's own default.
const SOCKET_DIRS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Whether libpq would take `dir` without being told; password files then call it `localhost`.
pub(super) fn is_default_socket_dir(dir: &Path) -> bool {
    SOCKET_DIRS.iter().any(|default| Path::new(default) == dir)
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

/// Whether and how the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SslMode {
    /// Never.
    Disable,
    /// Only if the server does not take it plain.
    Allow,
    /// If the server can.
    Prefer,
    /// Always; the server's certificate is not checked unless a root certificate is given.
    Require,
    /// Always, with a certificate of a trusted authority.
    VerifyCa,
    /// Always, with a certificate of a trusted authority for this very host.
    VerifyFull,
}

impl SslMode {
    /// libpq's word for it: `verify-full`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Allow => "allow",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        }
    }

    fn read(text: &str) -> Option<Self> {
        let all = [Self::Disable, Self::Allow, Self::Prefer, Self::Require, Self::VerifyCa, Self::VerifyFull];
        all.into_iter().find(|mode| mode.name() == text)
    }
}

/// Whether the password exchange is bound to the TLS connection (SCRAM-SHA-256-PLUS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// If the server can.
    Prefer,
    /// Always; a server that cannot is refused.
    Require,
}

/// One place where the server may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A Unix socket in this directory.
    Unix(PathBuf),
    /// A host by name or address; with `address` the name is only for certificates and password files.
    Tcp {
        /// The name.
        host: String,
        /// The address, if it is not to be looked up.
        address: Option<IpAddr>,
    },
}

/// How a dead peer is noticed on TCP; absent is the system's own setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keepalive {
    /// Whether at all.
    pub(super) enabled: bool,
    /// Seconds without traffic before the first probe.
    pub(super) idle_s: Option<u32>,
    /// Seconds between probes.
    pub(super) interval_s: Option<u32>,
    /// Probes without an answer before the connection is dead.
    pub(super) count: Option<u32>,
}

/// Everything that is needed to open connections to one server; cheap to clone, never shows a password.
#[derive(Debug, Clone)]
pub struct ConnectConfig {
    /// Where the server may be, tried in this order.
    pub endpoints: Vec<Endpoint>,
    /// The port, also part of a Unix socket's name.
    pub port: u16,
    /// The role.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password that the user gave, if so.
    pub password: Option<Secret>,
    /// The file to look for a password in.
    pub passfile: Option<PathBuf>,
    /// Whether and how to encrypt.
    pub ssl_mode: SslMode,
    /// The file of trusted root certificates, or `system`.
    pub ssl_root_cert: Option<PathBuf>,
    /// The client's certificate.
    pub ssl_cert: Option<PathBuf>,
    /// The client's private key.
    pub ssl_key: Option<PathBuf>,
    /// Whether to bind the password exchange to TLS.
    pub channel_binding: ChannelBinding,
    /// What the user wants to read in `application_name`, behind Dyno's own words.
    pub application_name: Option<String>,
    /// Command-line options for the server process: `-c work_mem=64MB`.
    pub options: Option<String>,
    /// The longest wait for one connection to be ready.
    pub connect_timeout: Duration,
    /// How a dead peer is noticed.
    pub(super) keepalive: Keepalive,
}

fn unsupported(message: String) -> TargetError {
    TargetError::new(TargetErrorKind::Unsupported, message)
}

fn wrong(name: &str, value: &str, allowed: &str) -> TargetError {
    unsupported(format!("{name} {value:?} cannot be used")).hint(format!("write {allowed}"))
}

impl ConnectConfig {
    /// What `url` and `options` say, filled up from the environment (`PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`,
    /// `PGPASSWORD`, `PGPASSFILE`, `PGSSLMODE`, …) and libpq's defaults.
    ///
    /// # Errors
    /// [`TargetErrorKind::Unsupported`]: a parameter is unknown or has an impossible value.
    pub fn from_url(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        Self::read(url, options, Environment::PROCESS)
    }

    pub(super) fn read(
        url: &TargetUrl,
        options: &OpenOptions,
        environment: Environment,
    ) -> Result<Self, TargetError> {
        check_names(url)?;
        let source = Source { url, environment };
        let port = source.number("port", "PGPORT")?.filter(|_| url.port.is_none());
        let port = match port.map(u16::try_from) {
            Some(Ok(port)) => port,
            Some(Err(_)) => return Err(wrong("port", &port.unwrap_or_default().to_string(), "1 to 65535")),
            None => url.port.unwrap_or(PORT),
        };
        let user = url.user.clone().or_else(|| source.text("user", "PGUSER")).or_else(|| environment.user());
        let user = user.ok_or_else(|| {
            unsupported("no user name is given, and the operating system's cannot be found".to_owned())
                .hint("write postgres://USER@HOST/DATABASE")
        })?;
        let path = Some(url.path.clone()).filter(|path| !path.is_empty());
        let database = path.or_else(|| source.text("dbname", "PGDATABASE")).unwrap_or_else(|| user.clone());
        let (ssl_mode, ssl_root_cert) = tls(source)?;
        let timeout = source.number("connect_timeout", "")?.filter(|&seconds| seconds > 0);
        Ok(Self {
            endpoints: endpoints(source)?,
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

fn check_names(url: &TargetUrl) -> Result<(), TargetError> {
    for (name, value) in &url.params {
        if !PARAMETERS.contains(&name.as_str()) {
            return Err(unsupported(format!("the URL parameter {name:?} is not known here"))
                .hint(format!("these are: {}", PARAMETERS.join(", "))));
        }
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

fn endpoints(source: Source<'_>) -> Result<Vec<Endpoint>, TargetError> {
    let host = source.url.host.clone().or_else(|| source.text("host", "PGHOST"));
    let address = source
        .text("hostaddr", "PGHOSTADDR")
        .map(|text| text.parse().map_err(|_| wrong("hostaddr", &text, "one IPv4 or IPv6 address")))
        .transpose()?;
    match (host, address) {
        (Some(host), _) if host.contains(',') => {
            Err(wrong("host", &host, "one host: a target is one endpoint, a plan may name several"))
        }
        (Some(dir), None) if dir.starts_with('/') => Ok(vec![Endpoint::Unix(dir.into())]),
        (Some(host), address) => Ok(vec![Endpoint::Tcp { host, address }]),
        (None, Some(address)) => {
            Ok(vec![Endpoint::Tcp { host: address.to_string(), address: Some(address) }])
        }
        (None, None) => {
            let sockets = SOCKET_DIRS.iter().map(|dir| Endpoint::Unix(dir.into()));
            let local = Endpoint::Tcp { host: "localhost".to_owned(), address: None };
            Ok(sockets.chain([local]).collect())
        }
    }
}

/// The TLS mode and the root certificates; libpq's rules for `sslrootcert=system`, and for a root certificate at its
/// usual place.
fn tls(source: Source<'_>) -> Result<(SslMode, Option<PathBuf>), TargetError> {
    let words = "disable, allow, prefer, require, verify-ca or verify-full";
    let mode = source
        .text("sslmode", "PGSSLMODE")
        .map(|text| SslMode::read(&text).ok_or_else(|| wrong("sslmode", &text, words)))
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
