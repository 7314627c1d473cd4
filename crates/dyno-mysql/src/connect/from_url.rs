//! Fills a [`MySqlConnectConfig`] from the URL, then the `mysql` client's option files and variables, then its
//! defaults.

use std::path::PathBuf;

use dyno_plan::TargetUrl;

use super::config::{MySqlConnectConfig, ResultMetadata};
use super::option_file::OptionFiles;
use super::secure;
use super::settings::ClientSettings;
use dyno_engine::net::parameters::{UrlParameter, check_names, read, wrong};
use dyno_engine::net::{self, Address, Environment};
use dyno_engine::{OpenOptions, Secret, TargetError, parameters};

/// MySQL's registered port at IANA.
const PORT: u16 = 3306;

/// Default paths of the server's socket: Debian's packages, Red Hat's packages, and the product's own
/// default.
const SOCKETS: [&str; 3] = ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// Parameters that each determine one field: long options of the `mysql` client, and one of Dyno's own.
const PARAMETERS: &[UrlParameter<MySqlConnectConfig>] = parameters! { config: MySqlConnectConfig, setting;
    "ssl-cert", "a file", ssl_cert = Some(setting.path());
    "ssl-key", "a file", ssl_key = Some(setting.path());
    // In a file, 0 means the client's own default.
    "connect-timeout", "whole seconds, from 1", connect_timeout = setting.seconds(setting.is_of_url().into()..=u32::MAX)
        .map(|limit| if limit.is_zero() { config.connect_timeout } else { limit });
    "result-metadata", "once or each", result_metadata = ResultMetadata::from_name(&setting.value);
};

/// Parameters that are read together with others.
const READ_TOGETHER: [&str; 4] = ["socket", "ssl-mode", "ssl-ca", "option-files"];

impl MySqlConnectConfig {
    /// Reads `url` and `options`. Option files, the environment (`MYSQL_HOST`, `MYSQL_TCP_PORT`,
    /// `MYSQL_UNIX_PORT`, `MYSQL_PWD`) and the `mysql` client's defaults supply what is missing.
    ///
    /// # Errors
    /// `Unsupported`: a parameter or an option has an invalid value or is not supported, or no database is
    /// named.
    pub fn from_url(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let environment = Environment::PROCESS;
        let files = match url.param("option-files") {
            None | Some("" | "on") => OptionFiles::read(environment),
            Some("off") => OptionFiles::default(),
            Some(other) => return Err(wrong("option-files", other, "on or off")),
        };
        Self::read(url, options, environment, &files)
    }

    /// `url` with the values that were filled in, for output.
    pub fn effective_url(&self, url: &TargetUrl) -> TargetUrl {
        net::effective_url(url, &self.addresses, &self.user, &self.database, PORT)
    }

    pub(super) fn read(
        url: &TargetUrl,
        options: &OpenOptions,
        environment: Environment,
        files: &OptionFiles,
    ) -> Result<Self, TargetError> {
        check_names(url, READ_TOGETHER.into_iter().chain(PARAMETERS.iter().map(|parameter| parameter.name)))?;
        let settings = ClientSettings { url, files, environment };
        settings.check()?;
        let path = Some(url.path.clone()).filter(|path| !path.is_empty());
        let database = path.or_else(|| settings.in_files("database").map(|setting| setting.value));
        let Some(database) = database.filter(|database| !database.contains('/')) else {
            return Err(TargetError::unsupported("the URL names no database for Dyno's tables")
                .hint("write mysql://USER@HOST:PORT/DATABASE; the database must exist"));
        };
        let file_user = settings.in_files("user").map(|setting| setting.value);
        let user = url.user.clone().or_else(|| file_user.clone()).or_else(|| environment.user());
        let user = user.ok_or_else(|| {
            TargetError::unsupported("no user name is given, and the operating system's user name is unknown")
                .hint("write mysql://USER@HOST/DATABASE")
        })?;
        let (ssl_mode, ssl_ca) = secure::mode(&settings)?;
        // A password in a file belongs to the user that the file names, if it names one.
        let from_file =
            || files.password.clone().filter(|_| file_user.as_ref().is_none_or(|named| *named == user));
        let from_environment = || environment.var("MYSQL_PWD").map(Secret::new);
        let mut config = Self {
            addresses: addresses(&settings)?,
            password: options.password.clone().or_else(from_file).or_else(from_environment),
            password_note: password_note(&settings),
            user,
            database,
            ssl_mode,
            ssl_ca,
            ssl_cert: None,
            ssl_key: None,
            tls_offer: secure::offer(&settings)?,
            result_metadata: ResultMetadata::default(),
            connect_timeout: options.connect_timeout,
        };
        read(PARAMETERS, &mut config, |name| settings.get(name))?;
        Ok(config)
    }
}

/// Why a password that was found was not used.
fn password_note(settings: &ClientSettings<'_>) -> Option<String> {
    let mut notes = settings.files.notes.clone();
    let named = settings.environment.var("MYSQL_TEST_LOGIN_FILE").map(PathBuf::from);
    let login_file = named.or_else(|| settings.environment.home(".mylogin.cnf"));
    if let Some(path) = login_file.filter(|path| path.exists()) {
        notes.push(format!("{} is not read: Dyno does not decrypt login paths", path.display()));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn port(settings: &ClientSettings<'_>) -> Result<u16, TargetError> {
    if let Some(port) = settings.url.port {
        return Ok(port);
    }
    let setting = settings.in_files("port").or_else(|| settings.in_environment("MYSQL_TCP_PORT"));
    match setting.as_ref().map(|setting| setting.value.parse()) {
        None | Some(Ok(0)) => Ok(PORT),
        Some(Ok(port)) => Ok(port),
        Some(Err(_)) => Err(setting.expect("it was parsed").invalid_value("a whole number from 1 to 65535")),
    }
}

/// The addresses of the server.
///
/// As in the `mysql` client, `localhost` from a file or the environment means the socket unless `protocol` is
/// TCP. In the URL it is an address.
fn addresses(settings: &ClientSettings<'_>) -> Result<Vec<Address>, TargetError> {
    let url = settings.url;
    if let Some(socket) = url.param("socket") {
        if url.host.as_deref().is_some_and(|host| host != "localhost") || url.port.is_some() {
            return Err(wrong("socket", socket, "either a host and port or a socket, not both"));
        }
        return Ok(vec![Address::Unix(socket.into())]);
    }
    let port = port(settings)?;
    match url.host.clone() {
        Some(path) if path.starts_with('/') => return Ok(vec![Address::Unix(path.into())]),
        Some(host) => return Ok(vec![Address::Tcp(host, port, None)]),
        None => {}
    }
    let host = settings.in_files("host").or_else(|| settings.in_environment("MYSQL_HOST"));
    let host = host.map(|setting| setting.value).filter(|host| host != "localhost");
    let protocol = settings.in_files("protocol");
    let transport = match protocol.as_ref().map(|setting| setting.value.to_ascii_lowercase()).as_deref() {
        None | Some("default") => None,
        Some("tcp") => Some(Transport::Tcp),
        Some("socket") => Some(Transport::Socket),
        Some(_) => return Err(protocol.expect("it was read").invalid_value("TCP or SOCKET")),
    };
    match (host, transport) {
        (Some(path), _) if path.starts_with('/') => Ok(vec![Address::Unix(path.into())]),
        (Some(host), None | Some(Transport::Tcp)) => Ok(vec![Address::Tcp(host, port, None)]),
        (None, Some(Transport::Tcp)) => Ok(vec![Address::Tcp("127.0.0.1".to_owned(), port, None)]),
        (_, Some(Transport::Socket)) => Ok(sockets(settings)),
        (None, None) => {
            let mut addresses = sockets(settings);
            // A socket that was named explicitly is the only address to try.
            if addresses.len() > 1 {
                addresses.push(Address::Tcp("127.0.0.1".to_owned(), port, None));
            }
            Ok(addresses)
        }
    }
}

/// The transport that `protocol` selects.
enum Transport {
    Tcp,
    Socket,
}

/// The socket that a file or the environment names; otherwise the default paths.
fn sockets(settings: &ClientSettings<'_>) -> Vec<Address> {
    let named = settings.in_files("socket").or_else(|| settings.in_environment("MYSQL_UNIX_PORT"));
    match named {
        Some(setting) => vec![Address::Unix(setting.value.into())],
        None => SOCKETS.iter().map(|path| Address::Unix(path.into())).collect(),
    }
}

#[cfg(test)]
#[path = "from_url_tests.rs"]
mod tests;
