//! Tests where the settings of a connection come from.

use std::time::Duration;

use super::*;
use crate::connect::MySqlSslMode;
use crate::connect::option_file::of_text;
use dyno_engine::TargetErrorKind;

fn read(url: &str, environment: fn(&str) -> Option<String>) -> Result<MySqlConnectConfig, TargetError> {
    read_with(url, environment, "")
}

/// Reads the settings with this text in the user's option file.
fn read_with(
    url: &str,
    environment: fn(&str) -> Option<String>,
    file: &str,
) -> Result<MySqlConnectConfig, TargetError> {
    let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(7) };
    MySqlConnectConfig::read(&url.parse().unwrap(), &options, Environment(environment), &of_text(file))
}

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn url_alone_determines_the_connection_config() {
    let config = read("mysql://me@db1:3307/bench?ssl-mode=disabled&connect-timeout=3", nothing).unwrap();
    assert_eq!((config.user.as_str(), config.database.as_str()), ("me", "bench"));
    assert_eq!(config.addresses, [Address::Tcp("db1".into(), 3307, None)]);
    assert_eq!((config.ssl_mode, config.connect_timeout.as_secs()), (MySqlSslMode::Disabled, 3));
}

#[test]
fn mariadb_scheme_is_accepted_as_mysql_url() {
    let config = read("mariadb://me@db1/bench", nothing).unwrap();
    assert_eq!(config.addresses, [Address::Tcp("db1".into(), PORT, None)]);
}

#[test]
fn socket_path_is_accepted_as_parameter_or_host() {
    for url in ["mysql://me@/b?socket=/tmp/m.sock", "mysql://me@%2Ftmp%2Fm.sock/b"] {
        assert_eq!(read(url, nothing).unwrap().addresses, [Address::Unix("/tmp/m.sock".into())]);
    }
}

#[test]
fn environment_fills_gaps_and_url_takes_precedence() {
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
fn invalid_parameter_error_lists_allowed_values() {
    for (url, named, allowed) in [
        ("mysql://me@db1/b?ssl-mode=maybe", "maybe", "VERIFY_CA"),
        ("mysql://me@db1/b?ssl-mod=REQUIRED", "ssl-mod", "did you mean ssl-mode? known parameters: socket"),
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

fn variables(name: &str) -> Option<String> {
    let value = match name {
        "MYSQL_HOST" => "db2",
        "MYSQL_TCP_PORT" => "7000",
        "MYSQL_PWD" => "of the environment",
        _ => return None,
    };
    Some(value.to_owned())
}

#[test]
fn mysql_option_files_rank_between_url_and_environment() {
    let file = "[client]\nuser=us\npassword=geheim\nhost=db3\nport=3310\nconnect-timeout=3\n[mysql]\ndatabase=ours\n";
    let config = read_with("mysql:///", variables, file).unwrap();
    assert_eq!((config.user.as_str(), config.database.as_str()), ("us", "ours"));
    assert_eq!(config.addresses, [Address::Tcp("db3".into(), 3310, None)]);
    assert_eq!(config.password.as_ref().map(Secret::expose), Some("geheim"));
    assert_eq!(config.connect_timeout, Duration::from_secs(3));
    assert_eq!(config.effective_url(&"mysql:///".parse().unwrap()).to_string(), "mysql://us@db3:3310/ours");
    assert!(!format!("{config:?}").contains("geheim"));
    let config = read_with("mysql://me@db1:1/b?connect-timeout=5", variables, file).unwrap();
    assert_eq!(config.addresses, [Address::Tcp("db1".into(), 1, None)]);
    // The file's password belongs to another user.
    assert_eq!(config.password.as_ref().map(Secret::expose), Some("of the environment"));
    assert_eq!((config.user.as_str(), config.connect_timeout.as_secs()), ("me", 5));
}

#[test]
fn local_host_and_protocol_follow_mysql_client_rules() {
    let socket = |path: &str| vec![Address::Unix(path.into())];
    for (file, addresses) in [
        ("host=localhost\nsocket=/tmp/x.sock", socket("/tmp/x.sock")),
        ("protocol=socket\nhost=db1\nsocket=/tmp/x.sock", socket("/tmp/x.sock")),
        ("protocol=TCP\nport=1", vec![Address::Tcp("127.0.0.1".into(), 1, None)]),
        ("host=db1\nprotocol=tcp", vec![Address::Tcp("db1".into(), PORT, None)]),
    ] {
        let config = read_with("mysql://me@/b", nothing, &format!("[client]\n{file}\n")).unwrap();
        assert_eq!(config.addresses, addresses, "{file}");
    }
    assert_eq!(read_with("mysql://me@/b", nothing, "").unwrap().addresses.len(), SOCKETS.len() + 1);
}

#[test]
fn tls_settings_of_option_files_are_honored() {
    for (url, file, mode, ca) in [
        ("mysql://me@db1/b", "ssl-ca=/ca.pem", MySqlSslMode::VerifyCa, Some("/ca.pem")),
        (
            "mysql://me@db1/b",
            "ssl_mode=VERIFY_IDENTITY\nssl_ca=/ca.pem",
            MySqlSslMode::VerifyIdentity,
            Some("/ca.pem"),
        ),
        ("mysql://me@db1/b?ssl-mode=REQUIRED", "ssl-ca=/ca.pem", MySqlSslMode::Required, None),
        ("mysql://me@db1/b", "skip-ssl", MySqlSslMode::Disabled, None),
        ("mysql://me@db1/b", "ssl", MySqlSslMode::Required, None),
        (
            "mysql://me@db1/b",
            "ssl-verify-server-cert\nssl-ca=/ca.pem",
            MySqlSslMode::VerifyIdentity,
            Some("/ca.pem"),
        ),
        ("mysql://me@db1/b", "ssl-verify-server-cert=off\nssl-ca=/ca.pem", MySqlSslMode::Required, None),
    ] {
        let config = read_with(url, nothing, &format!("[client]\n{file}\n")).unwrap();
        let ca = ca.map(PathBuf::from);
        assert_eq!((config.ssl_mode, config.ssl_ca), (mode, ca), "{url} {file}");
    }
    let config = read_with("mysql://me@db1/b", nothing, "[client]\ntls-version=TLSv1.3\n").unwrap();
    assert_eq!((config.tls_offer.tls12, config.tls_offer.tls13), (false, true));
}

#[test]
fn unsupported_mysql_options_are_refused_with_file_name() {
    for (line, named) in [
        ("port=soon", "port"),
        ("protocol=pipe", "protocol"),
        ("tls-version=TLSv1.1", "tls-version"),
        ("ssl-mode=maybe", "ssl-mode"),
        ("ssl-crl=/x", "ssl-crl"),
        ("compress", "compress"),
        ("init_command='SET NAMES latin1'", "init-command"),
        ("ssl-passphrase=geheim", "ssl-passphrase"),
    ] {
        let error = read_with("mysql://me@/b", nothing, &format!("[client]\n{line}\n")).expect_err(line);
        assert_eq!(error.kind, TargetErrorKind::Unsupported);
        assert!(error.message.contains(named), "{error}");
        assert!(error.message.contains("/home/me/.my.cnf"), "{error}");
        assert!(!error.hint.is_empty());
        assert!(!format!("{error} {}", error.hint).contains("geheim"));
    }
}
