//! Fills a [`PostgresConnectConfig`] from the URL, then the service, then libpq's variables, then its defaults.

use std::path::Path;

use dyno_plan::TargetUrl;

use super::config::{ChannelBinding, PostgresConnectConfig};
use super::require_auth::RequireAuth;
use super::secure;
use super::session_attrs::SessionAttrs;
use super::settings::LibpqSettings;
use dyno_engine::net::parameters::{ConnectionSetting, UrlParameter, read};
use dyno_engine::net::sockopt::Keepalive;
use dyno_engine::net::{self, Address, Environment};
use dyno_engine::{OpenOptions, TargetError, parameters};

/// PostgreSQL's registered port at IANA.
const PORT: u16 = 5432;

/// Default directories of the server's socket: Debian's and Red Hat's packages, then PostgreSQL's own
/// default.
const SOCKET_DIRS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Whether `dir` is one of libpq's default directories; password files then call it `localhost`.
pub(super) fn is_default_socket_dir(dir: &Path) -> bool {
    SOCKET_DIRS.iter().any(|default| Path::new(default) == dir)
}

/// The directory of a server's socket.
pub(super) fn socket_dir(socket: &Path) -> &Path {
    socket.parent().unwrap_or(socket)
}

impl PostgresConnectConfig {
    /// Reads `url` and `options`. The service, the environment and libpq's defaults supply what is missing.
    ///
    /// # Errors
    /// `Unsupported`: a parameter is unknown, has an invalid value or is not supported, or the service does
    /// not exist.
    pub fn from_url(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        Self::read(url, options, Environment::PROCESS)
    }

    /// `url` with the values that were filled in, for output.
    pub fn effective_url(&self, url: &TargetUrl) -> TargetUrl {
        let addresses: Vec<Address> = self.addresses.iter().map(shown_address).collect();
        let mut effective = net::effective_url(url, &addresses, &self.user, &self.database, PORT);
        if let [Address::Tcp(host, _, Some(ip))] = self.addresses.as_slice()
            && *host != ip.to_string()
        {
            effective = effective.with(&[("hostaddr", &ip.to_string())]);
        }
        effective
    }

    pub(super) fn read(
        url: &TargetUrl,
        options: &OpenOptions,
        environment: Environment,
    ) -> Result<Self, TargetError> {
        let settings = LibpqSettings::read(url, environment)?;
        let port = match url.port {
            Some(port) => port,
            None => port(&settings)?,
        };
        let user = url.user.clone().or_else(|| settings.text("user")).or_else(|| environment.user());
        let user = user.ok_or_else(|| {
            TargetError::unsupported("no user name is given, and the operating system's user name is unknown")
                .hint("write postgres://USER@HOST/DATABASE")
        })?;
        let path = Some(url.path.clone()).filter(|path| !path.is_empty());
        let database = path.or_else(|| settings.text("dbname")).unwrap_or_else(|| user.clone());
        let (ssl_mode, ssl_root_cert) = secure::mode(&settings)?;
        let (ssl_cert, ssl_key) = secure::client_certificate(&settings)?;
        let mut config = Self {
            addresses: addresses(url, &settings, port)?,
            port,
            user,
            database,
            password: options.password.clone().or_else(|| settings.password()),
            passfile: settings.path("passfile").or_else(|| environment.home(".pgpass")),
            ssl_mode,
            ssl_root_cert,
            ssl_cert,
            ssl_key,
            tls_offer: secure::offer(&settings)?,
            channel_binding: ChannelBinding::Prefer,
            require_auth: None,
            target_session_attrs: SessionAttrs::Any,
            application_name: settings.text("application_name"),
            options: settings.text("options"),
            session_settings: settings.of_session(),
            connect_timeout: options.connect_timeout,
            keepalive: Keepalive::FREQUENT,
        };
        read(PARAMETERS, &mut config, |name| settings.get(name))?;
        Ok(config)
    }
}

/// Parameters that each determine one field; the others are read together.
const PARAMETERS: &[UrlParameter<PostgresConnectConfig>] = parameters! { config: PostgresConnectConfig, setting;
    "channel_binding", "disable, prefer or require", channel_binding = ChannelBinding::from_name(&setting.value);
    "require_auth", METHODS, require_auth = RequireAuth::parse(&setting.value);
    "target_session_attrs", SERVERS, target_session_attrs = SessionAttrs::from_name(&setting.value);
    "connect_timeout", NUMBER, connect_timeout = setting.seconds(0..=u32::MAX).map(|limit| if limit.is_zero() { config.connect_timeout } else { limit });
    "keepalives", NUMBER, keepalive.enabled = positive(setting, None).map(|number| number.is_some());
    "keepalives_idle", NUMBER, keepalive.idle_s = positive(setting, config.keepalive.idle_s);
    "keepalives_interval", NUMBER, keepalive.interval_s = positive(setting, config.keepalive.interval_s);
    "keepalives_count", NUMBER, keepalive.count = positive(setting, None);
    "tcp_user_timeout", NUMBER, keepalive.unacknowledged_ms = positive(setting, None);
};

const METHODS: &str = "password, md5, scram-sha-256, none, gss, sspi or oauth, several separated by commas, or \
    with ! before each";
const SERVERS: &str = "any, read-write, read-only, primary, standby or prefer-standby";
const NUMBER: &str = "a whole number";

/// The number that is set; 0 stands for the `default`.
fn positive(setting: &ConnectionSetting, default: Option<u32>) -> Option<Option<u32>> {
    setting.number(0..=u32::MAX).map(|number| Some(number).filter(|&number| number > 0).or(default))
}

/// An address as in URLs: a socket is written as its directory.
fn shown_address(address: &Address) -> Address {
    match address {
        Address::Unix(socket) => Address::Unix(socket_dir(socket).to_owned()),
        tcp @ Address::Tcp(..) => tcp.clone(),
    }
}

fn port(settings: &LibpqSettings<'_>) -> Result<u16, TargetError> {
    let Some(setting) = settings.get("port") else { return Ok(PORT) };
    let port = setting.value.trim().parse().ok().filter(|&port| port > 0);
    port.ok_or_else(|| setting.invalid_value("one whole number from 1 to 65535"))
}

fn addresses(url: &TargetUrl, settings: &LibpqSettings<'_>, port: u16) -> Result<Vec<Address>, TargetError> {
    let setting = settings.get("host").filter(|_| url.host.is_none());
    if let Some(list) = setting.as_ref().filter(|setting| setting.value.contains(',')) {
        return Err(list.invalid_value("one host: a target is one endpoint, a plan may name several"));
    }
    let host = url.host.clone().or_else(|| setting.map(|setting| setting.value));
    let ip = match settings.get("hostaddr") {
        Some(text) => Some(text.value.parse().map_err(|_| text.invalid_value("one IPv4 or IPv6 address"))?),
        None => None,
    };
    match (host, ip) {
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

/// The path of the socket in `dir` for a server with this port.
fn socket(dir: &str, port: u16) -> Address {
    Address::Unix(Path::new(dir).join(format!(".s.PGSQL.{port}")))
}

#[cfg(test)]
#[path = "from_url_tests.rs"]
mod tests;
