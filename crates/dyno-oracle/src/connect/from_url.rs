//! Fills a [`OracleConnectConfig`] from the URL's parts and parameters, then from the environment (`TWO_TASK`,
//! `TNS_ADMIN`, `DYNO_WALLET_PASSWORD`).

use std::time::Duration;

use dyno_plan::TargetUrl;

use super::client_settings::{located, without_effect};
use super::config::{Endpoint, OracleConnectConfig, OracleNetProtocol};
use dyno_engine::net::Environment;
use dyno_engine::net::url::{check_names, path, whole, wrong};
use dyno_engine::{OpenOptions, Secret, TargetError};

/// The listener's registered ports: without and with TLS.
const PORT: u16 = 1521;
const PORT_TLS: u16 = 2484;

/// The longest wait of a run's session for one reply if the URL has no `call-timeout`. Scans and slices take
/// less. It ends sessions that wait for a lock or a hanging server.
const SESSION_CALL_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The variable that contains the password of the wallet's private key.
const WALLET_PASSWORD: &str = "DYNO_WALLET_PASSWORD";

/// The URL parameters that Dyno accepts.
const PARAMETERS: [&str; 11] = [
    "protocol",
    "server",
    "instance",
    "sid",
    "sdu",
    "wallet",
    "tns-admin",
    "connect-timeout",
    "call-timeout",
    "tablespace",
    "index-logging",
];

/// Parameters that describe a listener; an alias includes them already.
const OF_LISTENER: [&str; 5] = ["protocol", "server", "instance", "sid", "sdu"];

impl OracleConnectConfig {
    /// Reads `url` and `options`; the environment supplies what is missing.
    ///
    /// # Errors
    /// `Unsupported`: a parameter is unknown or has an invalid value, or no user or service is named.
    pub fn from_url(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        Self::read(url, options, Environment::PROCESS)
    }

    /// `url` with the database from the environment, for output.
    ///
    /// # Errors
    /// As [`OracleConnectConfig::from_url`].
    pub fn effective_url(url: &TargetUrl) -> Result<TargetUrl, TargetError> {
        located(url, Environment::PROCESS)
    }

    pub(super) fn read(
        url: &TargetUrl,
        options: &OpenOptions,
        environment: Environment,
    ) -> Result<Self, TargetError> {
        check_names(url, &PARAMETERS)?;
        let url = &located(url, environment)?;
        let user = url.user.clone().ok_or_else(|| {
            TargetError::unsupported("the URL names no user")
                .hint("write oracle://USER@HOST:PORT/SERVICE, or oracle://USER@/ALIAS of tnsnames.ora")
        })?;
        let endpoint = match &url.host {
            Some(host) => listener(url, host)?,
            None => alias(url)?,
        };
        let seconds = |name| whole(url, name, "whole seconds, from 1", 1..=86_400);
        let call_timeout = whole(url, "call-timeout", "whole seconds, or 0 for no limit", 0..=86_400)?
            .map(|seconds| Some(Duration::from_secs(seconds.into())).filter(|limit| !limit.is_zero()));
        let tablespace = url.param("tablespace").map(tablespace).transpose()?;
        let index_nologging = match url.param("index-logging") {
            None | Some("on") => false,
            Some("off") => true,
            Some(other) => return Err(wrong("index-logging", other, "on or off")),
        };
        Ok(Self {
            endpoint,
            one_instance: ["instance", "sid"].into_iter().any(|name| url.param(name).is_some()),
            user,
            password: options.password.clone(),
            without_effect: without_effect(path(url, "tns-admin").as_ref(), environment),
            tns_admin: path(url, "tns-admin"),
            wallet: path(url, "wallet"),
            wallet_password: environment.var(WALLET_PASSWORD).map(Secret::new),
            sdu: whole(url, "sdu", "512 to 2097152 bytes", 512..=2_097_152)?,
            connect_timeout: seconds("connect-timeout")?
                .map_or(options.connect_timeout, |s| Duration::from_secs(s.into())),
            call_timeout: call_timeout.flatten(),
            session_call_timeout: call_timeout.unwrap_or(Some(SESSION_CALL_TIMEOUT)),
            tablespace,
            index_nologging,
        })
    }
}

/// The name of a tablespace in a form that is safe in a statement.
fn tablespace(name: &str) -> Result<String, TargetError> {
    let upper = name.to_ascii_uppercase();
    let plain = upper.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$#".contains(&b));
    if plain && upper.len() <= 128 && upper.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Ok(upper);
    }
    Err(wrong("tablespace", name, "a name of letters, digits, _, $ and #, a letter first"))
}

/// Checks a value for a descriptor: it must not end the descriptor or add to it.
fn plain<'a>(name: &str, value: &'a str) -> Result<&'a str, TargetError> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.$#:/%".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return Ok(value);
    }
    Err(wrong(name, value, "letters, digits and any of _ - . $ # :"))
}

/// The listener at the URL's host and port, and the connect data for it.
fn listener(url: &TargetUrl, host: &str) -> Result<Endpoint, TargetError> {
    let protocol = match url.param("protocol") {
        None => OracleNetProtocol::Tcp,
        Some(name) => {
            OracleNetProtocol::from_name(name).ok_or_else(|| wrong("protocol", name, "tcp or tcps"))?
        }
    };
    let wanted = match (url.param("sid"), url.path.as_str()) {
        (None, "") => {
            return Err(TargetError::unsupported("the URL names no service")
                .hint("write oracle://USER@HOST:PORT/SERVICE, as `lsnrctl status` lists services"));
        }
        (None, service) => format!("(SERVICE_NAME={})", plain("the service", service)?),
        (Some(sid), "") => format!("(SID={})", plain("sid", sid)?),
        (Some(sid), _) => return Err(wrong("sid", sid, "either /SERVICE or ?sid=SID, not both")),
    };
    let instance = match url.param("instance") {
        Some(name) => format!("(INSTANCE_NAME={})", plain("instance", name)?),
        None => String::new(),
    };
    let server = match url.param("server") {
        Some(word @ ("dedicated" | "shared" | "pooled")) => format!("(SERVER={word})"),
        Some(other) => return Err(wrong("server", other, "dedicated, shared or pooled")),
        None => String::new(),
    };
    Ok(Endpoint::Listener {
        host: plain("the host", host)?.to_owned(),
        port: url.port.unwrap_or(if protocol == OracleNetProtocol::Tcps { PORT_TLS } else { PORT }),
        protocol,
        connect_data: format!("{wanted}{instance}{server}"),
    })
}

/// The alias of a URL without a host.
fn alias(url: &TargetUrl) -> Result<Endpoint, TargetError> {
    if url.path.is_empty() {
        return Err(TargetError::unsupported("the URL names neither a host nor an alias of tnsnames.ora")
            .hint("write oracle://USER@HOST:PORT/SERVICE, or oracle://USER@/ALIAS"));
    }
    if let Some(name) = OF_LISTENER.iter().find(|name| url.param(name).is_some()) {
        return Err(TargetError::unsupported(format!("{name} requires a host, but the URL has an alias"))
            .hint("write it into the alias in tnsnames.ora, or give HOST:PORT"));
    }
    Ok(Endpoint::Alias(plain("the alias", &url.path)?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;
    use std::path::PathBuf;

    fn read(url: &str) -> Result<OracleConnectConfig, TargetError> {
        fn nothing(_: &str) -> Option<String> {
            None
        }
        let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(7) };
        OracleConnectConfig::read(&url.parse().unwrap(), &options, Environment(nothing))
    }

    #[test]
    fn oracle_url_becomes_a_connect_descriptor() {
        for (url, descriptor) in [
            (
                "oracle://me@db1/bench",
                "(DESCRIPTION=(RETRY_DELAY=0)(ADDRESS=(PROTOCOL=tcp)(HOST=db1)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=bench)))",
            ),
            (
                "oracle://me@db1:1600/b.example.com?server=shared&instance=orcl1&sdu=65535",
                "(DESCRIPTION=(RETRY_DELAY=0)(SDU=65535)(ADDRESS=(PROTOCOL=tcp)(HOST=db1)(PORT=1600))\
                 (CONNECT_DATA=(SERVICE_NAME=b.example.com)(INSTANCE_NAME=orcl1)(SERVER=shared)))",
            ),
            (
                "oracle://me@[fe80::1]/?sid=ORCL&protocol=tcps",
                "(DESCRIPTION=(RETRY_DELAY=0)(ADDRESS=(PROTOCOL=tcps)(HOST=fe80::1)(PORT=2484))(CONNECT_DATA=(SID=ORCL)))",
            ),
            ("oracle://me@/PROD.WORLD?tns-admin=/etc/oracle", "PROD.WORLD"),
        ] {
            let config = read(url).unwrap();
            assert_eq!(config.connect_string(), descriptor, "{url}");
        }
    }

    #[test]
    fn single_instance_is_detected_from_instance_or_sid() {
        for (url, one) in [
            ("oracle://me@db1/bench", false),
            ("oracle://me@db1/bench?instance=orcl1", true),
            ("oracle://me@db1/?sid=ORCL", true),
            ("oracle://me@/PROD.WORLD", false),
        ] {
            assert_eq!(read(url).unwrap().one_instance, one, "{url}");
        }
    }

    #[test]
    fn driver_accepts_every_connect_descriptor() {
        for url in ["oracle://me@db1/bench", "oracle://me@[fe80::1]/?sid=ORCL&protocol=tcps"] {
            let string = read(url).unwrap().connect_string();
            let config = oracledb::Config::default().set_connect_string(&string).unwrap();
            assert!(config.get_connect_descriptor().contains("CONNECT_DATA"), "{url}");
        }
    }

    #[test]
    fn oracle_url_parameters_are_read() {
        let config = read(
            "oracle://me@db1/b?connect-timeout=3&call-timeout=60&tablespace=bench_ts&index-logging=off&wallet=/w",
        )
        .unwrap();
        assert_eq!(config.connect_timeout, Duration::from_secs(3));
        assert_eq!(config.call_timeout, Some(Duration::from_secs(60)));
        assert_eq!(config.tablespace_clause(), "TABLESPACE BENCH_TS");
        assert_eq!((config.index_nologging, config.wallet), (true, Some(PathBuf::from("/w"))));
    }

    #[test]
    fn session_calls_have_default_timeout_unless_disabled() {
        let limits = |parameters: &str| {
            let config = read(&format!("oracle://me@db1/b{parameters}")).unwrap();
            assert_eq!(config.for_sessions().call_timeout, config.session_call_timeout);
            (config.call_timeout, config.session_call_timeout)
        };
        assert_eq!(limits(""), (None, Some(Duration::from_secs(3_600))), "a load takes as long as it takes");
        assert_eq!(limits("?call-timeout=7"), (Some(Duration::from_secs(7)), Some(Duration::from_secs(7))));
        assert_eq!(limits("?call-timeout=0"), (None, None));
    }

    #[test]
    fn invalid_parameter_error_lists_allowed_values() {
        for (url, named, allowed) in [
            ("oracle://db1/b", "no user", "USER@HOST"),
            ("oracle://me@db1/", "no service", "/SERVICE"),
            ("oracle://me@/", "neither a host", "ALIAS"),
            ("oracle://me@/X?server=shared", "server requires a host", "tnsnames.ora"),
            ("oracle://me@db1/b?colour=red", "colour", "tablespace"),
            ("oracle://me@db1/b?sid=x", "sid", "not both"),
            ("oracle://me@db1/b?protocol=udp", "udp", "tcps"),
            ("oracle://me@db1/b?sdu=1", "sdu", "512"),
            ("oracle://me@db1/b?call-timeout=-1", "call-timeout", "0 for no limit"),
            ("oracle://me@db1/b?index-logging=no", "index-logging", "on or off"),
            ("oracle://me@db1/b?tablespace=a;drop", "tablespace", "letters"),
            ("oracle://me@db1/b)(SID=x", "the service", "letters"),
            ("oracle://me@d(b/b", "the host", "letters"),
        ] {
            let error = read(url).expect_err(url);
            assert_eq!(error.kind, TargetErrorKind::Unsupported);
            assert!(error.to_string().contains(named), "{error}");
            assert!(error.hint.contains(allowed), "{}", error.hint);
        }
    }
}
