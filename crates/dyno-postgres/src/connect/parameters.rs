//! Lists libpq's connection parameters and environment variables, and how Dyno handles each.

use dyno_engine::TargetError;
use dyno_engine::net::parameters::ConnectionSetting;

/// One connection parameter of libpq.
#[derive(Debug, Clone, Copy)]
pub(super) struct LibpqParameter {
    /// Its name in URLs and service files.
    pub(super) name: &'static str,
    /// The environment variable that sets it; empty without one.
    pub(super) variable: &'static str,
    /// What Dyno does with it.
    pub(super) rule: ParameterRule,
}

/// What Dyno does with a parameter.
#[derive(Debug, Clone, Copy)]
pub(super) enum ParameterRule {
    /// `from_url` and `secure` read it.
    Read,
    /// Dyno supports one behavior, which these values select. They are compared without regard to case.
    Only(&'static [&'static str]),
    /// Dyno's behavior does not depend on it.
    NoEffect,
    /// No value is supported; the text is a hint. The value may be a secret and is never shown.
    Refused(&'static str),
}

const fn read(name: &'static str, variable: &'static str) -> LibpqParameter {
    LibpqParameter { name, variable, rule: ParameterRule::Read }
}

const fn only(name: &'static str, variable: &'static str, values: &'static [&'static str]) -> LibpqParameter {
    LibpqParameter { name, variable, rule: ParameterRule::Only(values) }
}

const fn no_effect(name: &'static str, variable: &'static str) -> LibpqParameter {
    LibpqParameter { name, variable, rule: ParameterRule::NoEffect }
}

const fn refused(name: &'static str, variable: &'static str, way_out: &'static str) -> LibpqParameter {
    LibpqParameter { name, variable, rule: ParameterRule::Refused(way_out) }
}

const NO_REVOCATION: &str = "leave it out: Dyno does not check revoked certificates";
const NO_OAUTH: &str = "leave it out: Dyno does not log in by OAuth";
const NO_SCRAM_KEY: &str = "leave it out, and give the password itself";

/// libpq's parameters up to PostgreSQL 18, and `servicefile` of 19.
pub(super) const PARAMETERS: &[LibpqParameter] = &[
    read("service", "PGSERVICE"),
    read("servicefile", "PGSERVICEFILE"),
    read("host", "PGHOST"),
    read("hostaddr", "PGHOSTADDR"),
    read("port", "PGPORT"),
    read("user", "PGUSER"),
    read("dbname", "PGDATABASE"),
    read("password", "PGPASSWORD"),
    read("passfile", "PGPASSFILE"),
    read("application_name", "PGAPPNAME"),
    read("options", "PGOPTIONS"),
    read("connect_timeout", "PGCONNECT_TIMEOUT"),
    read("sslmode", "PGSSLMODE"),
    read("requiressl", "PGREQUIRESSL"),
    read("sslrootcert", "PGSSLROOTCERT"),
    read("sslcert", "PGSSLCERT"),
    read("sslkey", "PGSSLKEY"),
    read("sslcertmode", "PGSSLCERTMODE"),
    read("sslsni", "PGSSLSNI"),
    read("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    read("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    read("channel_binding", "PGCHANNELBINDING"),
    read("require_auth", "PGREQUIREAUTH"),
    read("target_session_attrs", "PGTARGETSESSIONATTRS"),
    read("keepalives", ""),
    read("keepalives_idle", ""),
    read("keepalives_interval", ""),
    read("keepalives_count", ""),
    read("tcp_user_timeout", ""),
    // Rows that Dyno generates are ASCII, and text that it reads is UTF-8.
    only("client_encoding", "PGCLIENTENCODING", &["UTF8", "UTF-8", "auto"]),
    only("gssencmode", "PGGSSENCMODE", &["disable", "prefer"]),
    only("sslnegotiation", "PGSSLNEGOTIATION", &["postgres"]),
    only("sslcompression", "PGSSLCOMPRESSION", &["0"]),
    only("load_balance_hosts", "PGLOADBALANCEHOSTS", &["disable"]),
    only("min_protocol_version", "PGMINPROTOCOLVERSION", &["3.0"]),
    only("max_protocol_version", "PGMAXPROTOCOLVERSION", &["3.0", "3.2", "latest"]),
    only("replication", "", &["false", "off", "no", "0"]),
    // Dyno sets its own application name.
    no_effect("fallback_application_name", ""),
    // Kerberos options: Dyno rejects a server that requires Kerberos.
    no_effect("krbsrvname", "PGKRBSRVNAME"),
    no_effect("gsslib", "PGGSSLIB"),
    no_effect("gssdelegation", "PGGSSDELEGATION"),
    refused("sslpassword", "", "name a private key without a passphrase with sslkey"),
    refused("sslcrl", "PGSSLCRL", NO_REVOCATION),
    refused("sslcrldir", "PGSSLCRLDIR", NO_REVOCATION),
    refused("sslkeylogfile", "", "leave it out: Dyno does not write TLS keys to a file"),
    refused("requirepeer", "PGREQUIREPEER", "leave it out: Dyno does not check who owns a Unix socket"),
    refused("scram_client_key", "", NO_SCRAM_KEY),
    refused("scram_server_key", "", NO_SCRAM_KEY),
    refused("oauth_issuer", "", NO_OAUTH),
    refused("oauth_client_id", "", NO_OAUTH),
    refused("oauth_client_secret", "", NO_OAUTH),
    refused("oauth_scope", "", NO_OAUTH),
];

/// Session settings that libpq takes only from the environment, with their variables.
pub(super) const SESSION_SETTINGS: [(&str, &str); 3] =
    [("datestyle", "PGDATESTYLE"), ("timezone", "PGTZ"), ("geqo", "PGGEQO")];

/// The parameter with this name; `None` if libpq has none.
pub(super) fn named(name: &str) -> Option<&'static LibpqParameter> {
    PARAMETERS.iter().find(|parameter| parameter.name == name)
}

/// Returns an error if Dyno does not support the value.
pub(super) fn check(setting: &ConnectionSetting, rule: ParameterRule) -> Result<(), TargetError> {
    match rule {
        ParameterRule::Read | ParameterRule::NoEffect => Ok(()),
        ParameterRule::Only(values)
            if values.iter().any(|value| value.eq_ignore_ascii_case(&setting.value)) =>
        {
            Ok(())
        }
        ParameterRule::Only(values) => Err(setting.invalid_value(&match setting.name {
            "gssencmode" => "prefer or disable: Dyno encrypts by TLS, as sslmode says".to_owned(),
            "client_encoding" => "UTF8, or leave it out".to_owned(),
            _ => format!("{}, or leave it out", dyno_plan::engine::or(values)),
        })),
        ParameterRule::Refused(way_out) => {
            let ConnectionSetting { name, origin, .. } = setting;
            let message = format!("{name} is set{origin}, which Dyno does not support");
            Err(TargetError::unsupported(message).hint(way_out))
        }
    }
}
