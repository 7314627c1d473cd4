//! Tests connecting to real PostgreSQL servers: addresses, TLS, authentication, and the errors of failed
//! attempts.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use crate::wire::{each_version, write_private};
use dyno_engine::{OpenOptions, Refusal as _, Secret, TargetError, TargetErrorKind};
use dyno_postgres::connect::PostgresConnectConfig;
use dyno_postgres::wire::{PostgresConnection, PostgresError};
use dyno_testbed::{Postgres, certificates};

const PASSWORD: &str = "pass: wörd\\";

fn connect_as(url: &str, password: Option<&str>) -> Result<PostgresConnection, TargetError> {
    let password = password.map(|text| Secret::new(text.to_owned()));
    let options = OpenOptions { password, connect_timeout: Duration::from_secs(20) };
    PostgresConnection::open(&PostgresConnectConfig::from_url(&url.parse().unwrap(), &options)?, "dyno test")
}

fn connect(url: &str) -> Result<PostgresConnection, TargetError> {
    connect_as(url, None)
}

fn kind(result: Result<PostgresConnection, TargetError>) -> TargetErrorKind {
    let error = result.expect_err("the connection should fail");
    assert!(!error.to_string().contains('\n'), "{error}");
    assert!(!error.to_string().contains(PASSWORD), "{error}");
    error.kind
}

fn code(error: &TargetError) -> &str {
    PostgresError::of(error).map_or("", |server| &server.code)
}

/// Like [`server_with_methods`], if the server's build supports TLS; downloaded builds do not.
fn server_with_tls(version: &dyno_testbed::Version) -> Option<(Postgres, certificates::Certificates)> {
    let (server, made) = server_with_methods(version);
    (server.psql("SHOW ssl") == "on").then_some((server, made))
}

/// A server with one user per authentication method, and with TLS if its build supports it.
fn server_with_methods(version: &dyno_testbed::Version) -> (Postgres, certificates::Certificates) {
    let mut server = Postgres::start(version, &[("fsync", "off")]);
    let made = certificates::make();
    server.put_file("server.crt", made.server_cert.as_bytes());
    server.put_file("server.key", made.server_key.as_bytes());
    server.put_file("ca.crt", made.ca_cert.as_bytes());
    let tls = server.try_psql("postgres", "postgres", "ALTER SYSTEM SET ssl = on");
    if let Err(said) = &tls {
        assert!(said.contains("not supported by this build"), "{said}");
    }
    server.psql("ALTER SYSTEM SET ssl_ca_file = 'ca.crt'");
    let password = PASSWORD.replace('\'', "''");
    server.psql(&format!(
        "SET password_encryption = 'md5'; CREATE ROLE hashed LOGIN PASSWORD '{password}'; \
         SET password_encryption = 'scram-sha-256'; \
         CREATE ROLE clear LOGIN PASSWORD '{password}'; CREATE ROLE scram LOGIN PASSWORD '{password}'; \
         CREATE ROLE tls_only LOGIN PASSWORD '{password}'; CREATE ROLE plain_only LOGIN; \
         CREATE ROLE certified LOGIN; CREATE ROLE crowded LOGIN CONNECTION LIMIT 0"
    ));
    let mut hba = "local all scram scram-sha-256\n\
                   local all all trust\n\
                   host all clear 127.0.0.1/32 password\n\
                   host all hashed 127.0.0.1/32 md5\n\
                   host all scram 127.0.0.1/32 scram-sha-256\n\
                   host all postgres,crowded 127.0.0.1/32 trust\n"
        .to_owned();
    if tls.is_ok() {
        hba += "hostssl all tls_only 127.0.0.1/32 scram-sha-256\n\
                hostnossl all plain_only 127.0.0.1/32 trust\n\
                hostssl all certified 127.0.0.1/32 cert\n";
    }
    server.put_file("pg_hba.conf", hba.as_bytes());
    server.restart();
    (server, made)
}

/// The TLS modes to test: without TLS, and with it if the server's build supports it.
fn modes(server: &Postgres) -> &'static [&'static str] {
    if server.psql("SHOW ssl") == "on" { &["disable", "require"] } else { &["disable"] }
}

#[test]
fn server_without_tls_is_accepted_according_to_sslmode() {
    each_version(|version| {
        let server = Postgres::start(version, &[("fsync", "off")]);
        for mode in ["disable", "allow", "prefer"] {
            assert!(!connect(&format!("{}?sslmode={mode}", server.url())).unwrap().is_encrypted());
        }
        let error = connect(&format!("{}?sslmode=require", server.url())).expect_err("it has no TLS");
        assert_eq!(error.kind, TargetErrorKind::Denied, "{error}");
        assert!(error.hint.contains("sslmode=prefer"), "{}", error.hint);
        // As in psql, a Unix socket is as safe as the machine.
        connect(&format!("{}?sslmode=require", server.socket_url())).unwrap();
    });
}

#[test]
fn every_password_method_accepts_only_the_right_password() {
    each_version(|version| {
        let (server, _) = server_with_methods(version);
        for user in ["clear", "hashed", "scram"] {
            for mode in modes(&server) {
                let url = format!("{}?sslmode={mode}", server.url_of(user, "postgres"));
                let mut connection = connect_as(&url, Some(PASSWORD)).unwrap();
                let rows = connection.simple("SELECT current_user").unwrap();
                assert_eq!(rows[0].get(0), Some(user), "{url}");
                let error = connect_as(&url, Some("wrong")).expect_err("a wrong password");
                assert_eq!((error.kind, code(&error)), (TargetErrorKind::Denied, "28P01"), "{url}");
                assert!(error.hint.contains("password_env"), "{}", error.hint);
                assert_eq!(kind(connect(&url)), TargetErrorKind::PasswordNeeded, "{url}");
            }
        }
        let socket = server.socket_url().replace("postgres@", "scram@");
        connect_as(&socket, Some(PASSWORD)).unwrap();
        assert_eq!(kind(connect_as(&socket, Some("wrong"))), TargetErrorKind::Denied);
    });
}

#[test]
fn channel_binding_requires_scram_over_tls() {
    each_version(|version| {
        let Some((server, _)) = server_with_tls(version) else { return };
        let url = |user, params| format!("{}?{params}", server.url_of(user, "postgres"));
        let bound = "sslmode=require&channel_binding=require";
        connect_as(&url("scram", bound), Some(PASSWORD)).unwrap();
        connect_as(&url("scram", "sslmode=require&channel_binding=disable"), Some(PASSWORD)).unwrap();
        let unbound = "sslmode=disable&channel_binding=require";
        assert_eq!(kind(connect_as(&url("scram", unbound), Some(PASSWORD))), TargetErrorKind::Denied);
        // A server that requests the password in another way than SCRAM does not receive it.
        assert_eq!(kind(connect_as(&url("clear", bound), Some(PASSWORD))), TargetErrorKind::Denied);
        assert_eq!(kind(connect_as(&url("hashed", bound), Some(PASSWORD))), TargetErrorKind::Denied);
    });
}

#[test]
fn each_sslmode_checks_certificates_as_documented() {
    each_version(|version| {
        let Some((server, made)) = server_with_tls(version) else { return };
        let folder = tempfile::tempdir().unwrap();
        let ca = write_private(folder.path(), "ca.crt", &made.ca_cert);
        let other = write_private(folder.path(), "other.crt", &certificates::make().ca_cert);
        let port = server.port();
        let encrypted = |host: &str, params: &str| {
            let url = format!("postgres://postgres@{host}:{port}/postgres?hostaddr=127.0.0.1&{params}");
            let mut connection = connect(&url)?;
            let ssl = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
            let uses_tls = connection.simple(ssl)?[0].get(0) == Some("t");
            assert_eq!(connection.is_encrypted(), uses_tls);
            Ok::<bool, TargetError>(uses_tls)
        };
        let (ca, other) = (ca.display(), other.display());
        for (host, params, expected) in [
            ("localhost", "sslmode=disable".to_owned(), Some(false)),
            ("localhost", "sslmode=allow".to_owned(), Some(false)),
            ("localhost", "sslmode=prefer".to_owned(), Some(true)),
            ("localhost", "sslmode=require".to_owned(), Some(true)),
            ("localhost", format!("sslmode=require&sslrootcert={ca}"), Some(true)),
            ("localhost", format!("sslmode=require&sslrootcert={other}"), None),
            ("db.example", format!("sslmode=verify-ca&sslrootcert={ca}"), Some(true)),
            ("localhost", format!("sslmode=verify-ca&sslrootcert={other}"), None),
            ("localhost", format!("sslmode=verify-full&sslrootcert={ca}"), Some(true)),
            ("db.example", format!("sslmode=verify-full&sslrootcert={ca}"), None),
            ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ca}"), None),
            ("localhost", "sslrootcert=system".to_owned(), None),
        ] {
            match (encrypted(host, &params), expected) {
                (Ok(is_tls), Some(expected)) => assert_eq!(is_tls, expected, "{host} {params}"),
                (Err(error), None) => {
                    assert_eq!(error.kind, TargetErrorKind::Denied, "{host} {params}: {error}");
                    assert!(error.to_string().contains("certificate"), "{host} {params}: {error}");
                    assert!(error.hint.contains("sslrootcert"), "{}", error.hint);
                }
                (Ok(_), None) => panic!("{host} {params}: accepted"),
                (Err(error), Some(_)) => panic!("{host} {params}: {error}"),
            }
        }
    });
}

#[test]
fn self_signed_certificate_can_be_its_own_root() {
    each_version(|version| {
        let Some((mut server, _)) = server_with_tls(version) else { return };
        let (cert, key) = certificates::self_signed_authority("localhost");
        server.put_file("server.crt", cert.as_bytes());
        server.put_file("server.key", key.as_bytes());
        server.restart();
        let folder = tempfile::tempdir().unwrap();
        let root = write_private(folder.path(), "root.crt", &cert);
        let url = |host| {
            let (port, root) = (server.port(), root.display());
            format!(
                "postgres://postgres@{host}:{port}/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={root}"
            )
        };
        assert!(connect(&url("localhost")).unwrap().is_encrypted());
        assert_eq!(kind(connect(&url("db.example"))), TargetErrorKind::Denied);
    });
}

#[test]
fn sslmode_prefer_and_allow_try_other_mode_when_refused() {
    each_version(|version| {
        let Some((server, _)) = server_with_tls(version) else { return };
        let url = |user, mode| format!("{}?sslmode={mode}", server.url_of(user, "postgres"));
        assert!(!connect(&url("plain_only", "prefer")).unwrap().is_encrypted());
        assert!(connect_as(&url("tls_only", "allow"), Some(PASSWORD)).unwrap().is_encrypted());
        for (user, mode) in [("plain_only", "require"), ("tls_only", "disable")] {
            let error = connect_as(&url(user, mode), Some(PASSWORD)).expect_err("pg_hba.conf has no line");
            assert_eq!((error.kind, code(&error)), (TargetErrorKind::Denied, "28000"));
            assert!(error.hint.contains("pg_hba.conf"), "{}", error.hint);
        }
    });
}

#[test]
fn client_certificate_alone_suffices_for_login() {
    each_version(|version| {
        let Some((server, made)) = server_with_tls(version) else { return };
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = made.client("certified");
        let cert = write_private(folder.path(), "client.crt", &cert);
        let key = write_private(folder.path(), "client.key", &key);
        let url = |user| {
            let (cert, key) = (cert.display(), key.display());
            format!("{}?sslmode=require&sslcert={cert}&sslkey={key}", server.url_of(user, "postgres"))
        };
        connect(&url("certified")).unwrap();
        let bare = format!("{}?sslmode=require", server.url_of("certified", "postgres"));
        assert_eq!(kind(connect(&bare)), TargetErrorKind::Denied);
        readable_by_all(&key);
        let error = connect(&url("certified")).expect_err("a key that others can read");
        assert!(error.hint.contains("chmod 600"), "{error} {}", error.hint);
    });
}

fn readable_by_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn password_file_is_used_only_if_private() {
    each_version(|version| {
        let (server, _) = server_with_methods(version);
        let folder = tempfile::tempdir().unwrap();
        let escaped = PASSWORD.replace('\\', "\\\\").replace(':', "\\:");
        let text = format!("# mine\nother:*:*:*:no\n127.0.0.1:{}:*:scram:{escaped}\n", server.port());
        let file = write_private(folder.path(), "pgpass", &text);
        let url =
            |user| format!("{}?sslmode=disable&passfile={}", server.url_of(user, "postgres"), file.display());
        connect(&url("scram")).unwrap();
        assert_eq!(kind(connect(&url("hashed"))), TargetErrorKind::PasswordNeeded);
        readable_by_all(&file);
        let error = connect(&url("scram")).expect_err("the file is open to all");
        assert_eq!(error.kind, TargetErrorKind::PasswordNeeded);
        assert!(error.to_string().contains("ignored"), "{error}");
    });
}

#[test]
fn connection_refused_by_server_has_a_specific_hint() {
    each_version(|version| {
        let (server, _) = server_with_methods(version);
        for (user, database, sqlstate, expected, hint) in [
            ("postgres", "nowhere", "3D000", TargetErrorKind::Unreachable, "CREATE DATABASE"),
            ("crowded", "postgres", "53300", TargetErrorKind::Unreachable, "CONNECTION LIMIT"),
            ("stranger", "postgres", "28000", TargetErrorKind::Denied, "pg_hba.conf"),
        ] {
            let error = connect(&server.url_of(user, database)).expect_err(sqlstate);
            assert_eq!((error.kind, code(&error)), (expected, sqlstate), "{error}");
            assert!(error.hint.contains(hint), "{}", error.hint);
        }
    });
}

#[test]
fn server_shutdown_is_reported_as_such() {
    each_version(|version| {
        let server = Postgres::start(version, &[("fsync", "off")]);
        let mut held = connect(&server.url()).unwrap();
        let pid = std::fs::read_to_string(server.data_dir().join("postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        // A smart shutdown waits for the open session and soon rejects new ones.
        let error = loop {
            if let Err(error) = connect(&server.url()) {
                break error;
            }
        };
        assert_eq!((error.kind, code(&error)), (TargetErrorKind::Unreachable, "57P03"), "{error}");
        assert!(error.hint.contains("try again"), "{}", error.hint);
        held.simple("SELECT 1").unwrap();
    });
}

#[test]
fn error_without_listener_names_the_address() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = connect(&format!("postgres://me@127.0.0.1:{port}/db")).expect_err("nobody listens");
    assert_eq!(error.kind, TargetErrorKind::Unreachable);
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
    assert!(error.hint.contains("listen_addresses"), "{}", error.hint);
    let error = connect("postgres://me@/db?host=/nonexistent").expect_err("no socket");
    assert!(error.to_string().contains("/nonexistent/.s.PGSQL.5432"), "{error}");
    let error = connect("postgres://me@host.invalid/db").expect_err("no such host");
    assert!(error.to_string().contains("host.invalid"), "{error}");
}

/// A listener that executes `talk` with its first client.
fn impostor(talk: impl FnOnce(std::net::TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || talk(listener.accept().unwrap().0));
    port
}

#[test]
fn server_that_is_not_postgres_is_detected() {
    for mode in ["disable", "prefer"] {
        let port = impostor(|mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let error = connect(&format!("postgres://me@127.0.0.1:{port}/db?sslmode={mode}")).expect_err("HTTP");
        assert_eq!(error.kind, TargetErrorKind::Unreachable, "{error}");
        assert!(error.hint.contains("PostgreSQL server"), "{error} {}", error.hint);
    }
}

#[test]
fn silent_server_connection_times_out() {
    let port = impostor(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let url = format!("postgres://me@127.0.0.1:{port}/db?connect_timeout=1");
    let error = connect(&url).expect_err("it never answers");
    assert_eq!(error.kind, TargetErrorKind::Unreachable);
    assert!(error.to_string().contains("no answer in time"), "{error}");
}

#[test]
fn postgres_queries_and_copies_survive_errors() {
    each_version(|version| {
        let server = Postgres::start(version, &[("fsync", "off")]);
        for url in [server.url(), server.socket_url()] {
            let mut connection = connect(&format!("{url}?application_name=mine")).unwrap();
            assert_eq!(connection.server_version_num() / 10_000, version.major);
            let rows =
                connection.simple("SELECT 1, NULL; SELECT current_setting('application_name')").unwrap();
            assert_eq!((rows[0].get(0), rows[0].get(1)), (Some("1"), None));
            assert_eq!(rows[1].get(0), Some("dyno test mine"));
            let error = connection.query("SELECT $1::int4", &["x"]).expect_err("no number");
            assert_eq!(code(&error), "22P02");
            connection.simple("CREATE TEMP TABLE t (a int4)").unwrap();
            let mut copy = connection.copy_in("COPY t FROM STDIN").unwrap();
            (0..50_000).for_each(|i| copy.send(format!("{i}\n").as_bytes()).unwrap());
            assert_eq!(copy.finish().unwrap(), 50_000);
            let mut copy = connection.copy_in("COPY t FROM STDIN").unwrap();
            copy.send(b"no number\n").unwrap();
            assert_eq!(code(&copy.finish().expect_err("no number")), "22P02");
            let mut copy = connection.copy_in("COPY t FROM STDIN").unwrap();
            copy.send(b"1\n").unwrap();
            copy.fail().unwrap();
            drop(connection.copy_in("COPY t FROM STDIN").unwrap());
            assert!(connection.copy_in("SELECT 1").is_err());
            assert!(connection.simple("COPY t FROM STDIN").is_err());
            assert_eq!(connection.query("SELECT count(*) FROM t", &[]).unwrap()[0].parse(0), Some(50_000));
        }
    });
}

#[test]
fn a_statement_can_be_cancelled_from_another_thread() {
    each_version(|version| {
        let (server, _) = server_with_methods(version);
        for mode in modes(&server) {
            let mut connection = connect(&format!("{}?sslmode={mode}", server.url())).unwrap();
            let (token, pid) = (connection.cancel_token(), connection.backend_pid());
            let url = server.url();
            let watcher = std::thread::spawn(move || {
                let mut other = connect(&url).unwrap();
                let sql = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%' AND pid = $1::int";
                while other.query(sql, &[&pid.to_string()]).unwrap().is_empty() {}
                token.cancel().unwrap();
            });
            let error = connection.simple("SELECT pg_sleep(600)").expect_err("it was cancelled");
            assert_eq!(code(&error), "57014");
            watcher.join().unwrap();
            connection.simple("SELECT 1").unwrap();
        }
    });
}

#[test]
fn required_auth_methods_and_server_roles_are_enforced() {
    each_version(|version| {
        let (server, _) = server_with_methods(version);
        let as_user = |user: &str, params: &str| {
            let (host, port) = ("127.0.0.1", server.port());
            let url = format!("postgres://{user}@{host}:{port}/postgres?sslmode=disable&{params}");
            connect_as(&url, Some(PASSWORD))
        };
        assert!(as_user("scram", "require_auth=scram-sha-256").is_ok());
        assert!(as_user("scram", "require_auth=!password,!md5").is_ok());
        assert!(as_user("hashed", "require_auth=md5").is_ok());
        for (user, methods) in [("scram", "md5"), ("hashed", "scram-sha-256"), ("postgres", "!none")] {
            let error = as_user(user, &format!("require_auth={methods}")).expect_err(methods);
            assert_eq!(error.kind, TargetErrorKind::Denied, "{error}");
            assert!(error.message.contains(methods), "{error}");
            assert!(error.hint.contains("PGREQUIREAUTH"), "{error}");
        }
        if version.major >= 14 {
            for kind in ["any", "read-write", "primary", "prefer-standby"] {
                assert!(as_user("scram", &format!("target_session_attrs={kind}")).is_ok(), "{kind}");
            }
            for kind in ["standby", "read-only"] {
                let error = as_user("scram", &format!("target_session_attrs={kind}")).expect_err(kind);
                assert!(error.message.contains("the server is a primary"), "{error}");
            }
        }
    });
}
