//! Tests where the settings of a connection come from.

use std::time::Duration;

use super::*;
use crate::connect::PostgresSslMode;
use dyno_engine::{Secret, TargetErrorKind};

fn options() -> OpenOptions {
    OpenOptions { password: None, connect_timeout: Duration::from_secs(7) }
}

fn read(url: &str, environment: fn(&str) -> Option<String>) -> Result<PostgresConnectConfig, TargetError> {
    PostgresConnectConfig::read(&url.parse().unwrap(), &options(), Environment(environment))
}

fn nothing(_: &str) -> Option<String> {
    None
}

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp(host.to_owned(), port, None)
}

#[test]
fn url_alone_determines_the_connection_config() {
    let config = read("postgres://me@db1:6543/bench?sslmode=disable", nothing).unwrap();
    assert_eq!((config.user.as_str(), config.database.as_str(), config.port), ("me", "bench", 6543));
    assert_eq!(config.addresses, [tcp("db1", 6543)]);
    assert_eq!((config.ssl_mode, config.connect_timeout.as_secs()), (PostgresSslMode::Disable, 7));
}

#[test]
fn missing_parameters_have_libpq_defaults() {
    let config = read("postgres://me@/", nothing).unwrap();
    assert_eq!(
        (config.database.as_str(), config.port, config.ssl_mode),
        ("me", 5432, PostgresSslMode::Prefer)
    );
    assert_eq!(config.addresses[0], Address::Unix("/var/run/postgresql/.s.PGSQL.5432".into()));
    assert_eq!(config.addresses.last(), Some(&tcp("localhost", 5432)));
}

#[test]
fn environment_fills_gaps_and_url_takes_precedence() {
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
        ([tcp("db2", 7000)].as_slice(), PostgresSslMode::Require)
    );
    assert_eq!(config.password.as_ref().map(Secret::expose), Some("secret"));
    assert_eq!(config.application_name, None);
    assert!(!format!("{config:?}").contains("secret"));
    let config = read("postgres://me@db1:1/mine?sslmode=allow", environment).unwrap();
    assert_eq!((config.user.as_str(), config.database.as_str(), config.port), ("me", "mine", 1));
    assert_eq!(
        (config.addresses.as_slice(), config.ssl_mode),
        ([tcp("db1", 1)].as_slice(), PostgresSslMode::Allow)
    );
}

#[test]
fn socket_directory_is_accepted_as_host() {
    for url in ["postgres://me@%2Ftmp%2Fpg:6000/db", "postgres://me@/db?host=/tmp/pg&port=6000"] {
        let config = read(url, nothing).unwrap();
        assert_eq!(
            (config.addresses, config.port),
            (vec![Address::Unix("/tmp/pg/.s.PGSQL.6000".into())], 6000)
        );
    }
}

#[test]
fn hostaddr_skips_lookup_and_keeps_host_name() {
    let config = read("postgres://me@db1/db?hostaddr=::1", nothing).unwrap();
    let address = Some("::1".parse().unwrap());
    assert_eq!(config.addresses, [Address::Tcp("db1".to_owned(), 5432, address)]);
}

#[test]
fn invalid_parameter_error_lists_allowed_values() {
    for (params, named, allowed) in [
        ("sslmode=maybe", "maybe", "verify-full"),
        ("colour=red", "colour", "sslmode"),
        ("connect_timeout=soon", "soon", "whole number"),
        ("hostaddr=db1", "db1", "address"),
        ("channel_binding=yes", "yes", "require"),
        ("require_auth=md6", "md6", "scram-sha-256"),
        ("target_session_attrs=writable", "writable", "read-write"),
        ("ssl_min_protocol_version=TLSv2", "TLSv2", "TLSv1.3"),
        ("ssl_max_protocol_version=TLSv1.1", "TLSv1.1", "TLSv1.2"),
        ("ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.2", "TLSv1.2", "TLSv1.3"),
        ("sslcertmode=require", "require", "disable"),
        ("sslnegotiation=direct", "direct", "postgres"),
        ("load_balance_hosts=random", "random", "disable"),
        ("min_protocol_version=3.2", "3.2", "3.0"),
        ("replication=database", "database", "off"),
        ("sslcrl=/root.crl", "sslcrl", "revoked"),
        ("requirepeer=postgres", "requirepeer", "leave it out"),
        ("scram_client_key=xyz", "scram_client_key", "password"),
        ("client_encoding=LATIN1", "LATIN1", "UTF8"),
        ("gssencmode=require", "require", "sslmode"),
        ("sslrootcert=system&sslmode=require", "require", "verify-full"),
        ("port=70000", "70000", "65535"),
        ("port=5432,5433", "5432,5433", "one whole number"),
        ("service=nowhere", "nowhere", "PGSERVICE"),
    ] {
        let error = read(&format!("postgres://me@/db?{params}"), nothing).expect_err(params);
        assert_eq!(error.kind, TargetErrorKind::Unsupported);
        assert!(error.to_string().contains(named), "{error}");
        assert!(error.hint.contains(allowed), "{}", error.hint);
    }
    let error = read("postgres://me@/db?host=db1,db2", nothing).expect_err("two hosts");
    assert!(error.hint.contains("one endpoint"), "{}", error.hint);
}
/// Defines variables by name for `Environment`, whose function cannot capture.
macro_rules! environment {
    ($($name:literal = $value:expr),* $(,)?) => {
        |name: &str| match name { $($name => Some(String::from($value)),)* _ => None }
    };
}

/// A folder that contains the fixture's home (for `$HOME`) and the system's `pg_service.conf`.
const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/services/home");
const SYSTEM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/services/system");
const OTHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/services/other.conf");

fn place(config: &PostgresConnectConfig) -> String {
    let Address::Tcp(host, port, _) = &config.addresses[0] else { return "a socket".to_owned() };
    format!("{}@{host}:{port}/{}", config.user, config.database)
}

#[test]
fn service_ranks_between_url_and_environment() {
    let config = read(
        "postgres:///",
        environment!("HOME" = HOME, "PGSERVICE" = "bench", "PGUSER" = "them", "PGDATABASE" = "theirs"),
    );
    let config = config.unwrap();
    assert_eq!(place(&config), "them@127.0.0.1:58115/bench");
    assert_eq!(config.password.as_ref().map(Secret::expose), Some("geheim"));
    assert!(!format!("{config:?}").contains("geheim"));
    let config = read(
        "postgres://me@db9/mine?service=bench",
        environment!("HOME" = HOME, "PGSERVICE" = "nowhere", "PGHOST" = "db8"),
    );
    assert_eq!(place(&config.unwrap()), "me@db9:58115/mine");
}

#[test]
fn service_files_are_searched_in_libpq_order() {
    // The user's file is read first; the system's file supplies missing services.
    let config = read(
        "postgres:///?service=wide",
        environment!("HOME" = HOME, "PGSYSCONFDIR" = SYSTEM, "USER" = "me", "PGUSER" = "me"),
    );
    assert_eq!(place(&config.unwrap()), "me@wide.example:5432/me");
    let config = read(
        "postgres:///?service=bench",
        environment!("HOME" = HOME, "PGSERVICEFILE" = OTHER, "PGUSER" = "me"),
    );
    assert_eq!(place(&config.unwrap()), "me@other.example:5432/me");
    let config = read(
        &format!("postgres:///?service=bench&servicefile={OTHER}"),
        environment!("HOME" = HOME, "PGUSER" = "me"),
    );
    assert_eq!(place(&config.unwrap()), "me@other.example:5432/me");
    let error = read(
        "postgres:///?service=bench",
        environment!("PGSERVICEFILE" = "/nonexistent/svc", "PGUSER" = "me"),
    );
    assert!(error.expect_err("no file").message.contains("/nonexistent/svc cannot be read"));
}

#[test]
fn libpq_variables_are_honored_or_refused() {
    type Variables = fn(&str) -> Option<String>;
    let refused: [(Variables, &str); 15] = [
        (environment!("PGPORT" = "soon"), "PGPORT"),
        (environment!("PGHOST" = "a,b"), "PGHOST"),
        (environment!("PGSSLMODE" = "maybe"), "PGSSLMODE"),
        (environment!("PGTARGETSESSIONATTRS" = "mine"), "PGTARGETSESSIONATTRS"),
        (environment!("PGREQUIREAUTH" = "mine"), "PGREQUIREAUTH"),
        (environment!("PGCLIENTENCODING" = "LATIN1"), "PGCLIENTENCODING"),
        (environment!("PGGSSENCMODE" = "require"), "PGGSSENCMODE"),
        (environment!("PGSSLCRL" = "/x"), "PGSSLCRL"),
        (environment!("PGSSLCRLDIR" = "/x"), "PGSSLCRLDIR"),
        (environment!("PGREQUIREPEER" = "postgres"), "PGREQUIREPEER"),
        (environment!("PGSSLNEGOTIATION" = "direct"), "PGSSLNEGOTIATION"),
        (environment!("PGLOADBALANCEHOSTS" = "random"), "PGLOADBALANCEHOSTS"),
        (environment!("PGMINPROTOCOLVERSION" = "3.2"), "PGMINPROTOCOLVERSION"),
        (environment!("PGSSLCERTMODE" = "require"), "PGSSLCERTMODE"),
        (environment!("PGCONNECT_TIMEOUT" = "soon"), "PGCONNECT_TIMEOUT"),
    ];
    for (variables, name) in refused {
        let error = read("postgres://me@/db", variables).expect_err(name);
        assert!(error.message.contains(name), "{error}");
        assert!(!error.hint.is_empty(), "{error}");
    }
    let config = read(
        "postgres://me@db1/db",
        environment!(
            "PGCONNECT_TIMEOUT" = "3",
            "PGTARGETSESSIONATTRS" = "primary",
            "PGREQUIREAUTH" = "scram-sha-256",
            "PGSSLMINPROTOCOLVERSION" = "TLSv1.3",
            "PGSSLSNI" = "0",
            "PGREQUIRESSL" = "1",
            "PGTZ" = "UTC",
            "PGDATESTYLE" = "default",
            "PGGEQO" = "off",
            "PGOPTIONS" = "-c jit=off",
            "PGKRBSRVNAME" = "postgres",
        ),
    )
    .unwrap();
    assert_eq!((config.connect_timeout.as_secs(), config.ssl_mode), (3, PostgresSslMode::Require));
    assert_eq!(config.target_session_attrs, SessionAttrs::Primary);
    assert!(config.require_auth.as_ref().is_some_and(|methods| !methods.accepts("password")));
    assert_eq!(
        (config.tls_offer.tls12, config.tls_offer.tls13, config.tls_offer.server_name),
        (false, true, false)
    );
    assert_eq!(config.session_settings, [("timezone", "UTC".to_owned()), ("geqo", "off".to_owned())]);
    assert_eq!(config.options.as_deref(), Some("-c jit=off"));
}

#[test]
fn url_parameter_overrides_unsupported_environment_variable() {
    let config = read("postgres://me@/db?gssencmode=disable", environment!("PGGSSENCMODE" = "require"));
    assert!(config.is_ok());
}

#[test]
fn effective_url_shows_where_connections_go() {
    let shown = |url: &str, variables| {
        let config = read(url, variables).unwrap();
        config.effective_url(&url.parse().unwrap()).to_string()
    };
    assert_eq!(
        shown("postgres:///", environment!("HOME" = HOME, "PGSERVICE" = "bench", "PGUSER" = "me")),
        "postgres://me@127.0.0.1:58115/bench"
    );
    assert_eq!(
        shown("postgres://me@db1/b", environment!("PGHOSTADDR" = "10.0.0.9")),
        "postgres://me@db1/b?hostaddr=10.0.0.9"
    );
    assert_eq!(shown("postgres://me@db1:1/b", nothing), "postgres://me@db1:1/b");
    assert_eq!(shown("postgres://me@%2Ftmp/b", nothing), "postgres://me@%2Ftmp/b");
}
