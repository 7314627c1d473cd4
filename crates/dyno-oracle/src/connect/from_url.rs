//! Fills a [`OracleConnectConfig`] from the URL's parts and parameters, then from the environment (`TWO_TASK`,
//! `TNS_ADMIN`, `DYNO_WALLET_PASSWORD`).

use std::path::PathBuf;
use std::time::Duration;

use dyno_plan::TargetUrl;

use super::client_settings::{located, without_effect};
use super::config::{Endpoint, OracleConnectConfig, OracleNetProtocol};
use dyno_engine::net::Environment;
use dyno_engine::net::parameters::{UrlParameter, read_url, wrong};
use dyno_engine::{OpenOptions, Secret, TargetError, parameters};

/// The listener's registered ports: without and with TLS.
const PORT: u16 = 1521;
const PORT_TLS: u16 = 2484;

/// The longest wait of a run's session for one reply if the URL has no `call-timeout`. Scans and slices take
/// less. It ends sessions that wait for a lock or a hanging server.
const SESSION_CALL_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The variable that contains the password of the wallet's private key.
const WALLET_PASSWORD: &str = "DYNO_WALLET_PASSWORD";

/// The values of the URL parameters.
#[derive(Default)]
struct OracleParameters {
    protocol: OracleNetProtocol,
    server: Option<&'static str>,
    instance: Option<String>,
    sid: Option<String>,
    sdu: Option<u32>,
    wallet: Option<PathBuf>,
    tns_admin: Option<PathBuf>,
    connect_timeout: Option<Duration>,
    /// The longest wait for one reply; zero for no limit.
    call_timeout: Option<Duration>,
    tablespace: Option<String>,
    index_nologging: bool,
}

/// The URL parameters that Dyno accepts.
const PARAMETERS: &[UrlParameter<OracleParameters>] = parameters! { values: OracleParameters, setting;
    "protocol", "tcp or tcps", protocol = OracleNetProtocol::from_name(&setting.value);
    "server", "dedicated, shared or pooled", server = setting.choice(&["dedicated", "shared", "pooled"]);
    "instance", PLAIN, instance = plain(&setting.value).map(str::to_owned);
    "sid", PLAIN, sid = plain(&setting.value).map(str::to_owned);
    "sdu", "512 to 2097152 bytes", sdu = setting.number(512..=2_097_152);
    "wallet", "a folder", wallet = Some(setting.path());
    "tns-admin", "a folder", tns_admin = Some(setting.path());
    "connect-timeout", "whole seconds, from 1", connect_timeout = setting.seconds(1..=86_400);
    "call-timeout", "whole seconds, or 0 for no limit", call_timeout = setting.seconds(0..=86_400);
    "tablespace", "a name of letters, digits, _, $ and #, a letter first", tablespace = tablespace(&setting.value);
    "index-logging", "on or off", index_nologging = setting.choice(&["on", "off"]).map(|word| word == "off");
};

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
        let mut parameters = OracleParameters::default();
        read_url(url, PARAMETERS, &mut parameters)?;
        let url = &located(url, environment)?;
        let user = url.user.clone().ok_or_else(|| {
            TargetError::unsupported("the URL names no user")
                .hint("write oracle://USER@HOST:PORT/SERVICE, or oracle://USER@/ALIAS of tnsnames.ora")
        })?;
        let endpoint = match &url.host {
            Some(host) => listener(url, host, &parameters)?,
            None => alias(url)?,
        };
        let call_timeout = parameters.call_timeout.map(|limit| Some(limit).filter(|limit| !limit.is_zero()));
        Ok(Self {
            endpoint,
            one_instance: parameters.instance.is_some() || parameters.sid.is_some(),
            user,
            password: options.password.clone(),
            without_effect: without_effect(parameters.tns_admin.as_ref(), environment),
            tns_admin: parameters.tns_admin,
            wallet: parameters.wallet,
            wallet_password: environment.var(WALLET_PASSWORD).map(Secret::new),
            sdu: parameters.sdu,
            connect_timeout: parameters.connect_timeout.unwrap_or(options.connect_timeout),
            call_timeout: call_timeout.flatten(),
            session_call_timeout: call_timeout.unwrap_or(Some(SESSION_CALL_TIMEOUT)),
            tablespace: parameters.tablespace,
            index_nologging: parameters.index_nologging,
        })
    }
}

/// The name of a tablespace in a form that is safe in a statement.
fn tablespace(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let is_plain = upper.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$#".contains(&b));
    let is_name = is_plain && upper.len() <= 128 && upper.starts_with(|c: char| c.is_ascii_alphabetic());
    is_name.then_some(upper)
}

/// The characters of values in a descriptor.
const PLAIN: &str = "letters, digits and any of _ - . $ # :";

/// A value for a descriptor, which it must not end or add to.
fn plain(value: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.$#:/%".contains(c);
    (!value.is_empty() && value.chars().all(is_plain)).then_some(value)
}

/// As [`plain`], for the part `name` of a URL.
fn plain_part<'a>(name: &str, value: &'a str) -> Result<&'a str, TargetError> {
    plain(value).ok_or_else(|| wrong(name, value, PLAIN))
}

/// The listener at the URL's host and port, and the connect data for it.
fn listener(url: &TargetUrl, host: &str, parameters: &OracleParameters) -> Result<Endpoint, TargetError> {
    let protocol = parameters.protocol;
    let wanted = match (&parameters.sid, url.path.as_str()) {
        (None, "") => {
            return Err(TargetError::unsupported("the URL names no service")
                .hint("write oracle://USER@HOST:PORT/SERVICE, as `lsnrctl status` lists services"));
        }
        (None, service) => format!("(SERVICE_NAME={})", plain_part("the service", service)?),
        (Some(sid), "") => format!("(SID={sid})"),
        (Some(sid), _) => return Err(wrong("sid", sid, "either /SERVICE or ?sid=SID, not both")),
    };
    let part =
        |name: &str, value: Option<&str>| value.map_or(String::new(), |value| format!("({name}={value})"));
    let instance = part("INSTANCE_NAME", parameters.instance.as_deref());
    let server = part("SERVER", parameters.server);
    Ok(Endpoint::Listener {
        host: plain_part("the host", host)?.to_owned(),
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
    Ok(Endpoint::Alias(plain_part("the alias", &url.path)?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;

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
            (
                "oracle://me@db1/b?tabelspace=x",
                "tabelspace",
                "did you mean tablespace? known parameters: protocol",
            ),
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
