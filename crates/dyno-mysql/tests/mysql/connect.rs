//! Tests connecting to servers: accounts, passwords, TLS, and the errors of failed attempts.

use dyno_engine::{OpenOptions, Secret, TargetErrorKind};
use dyno_mysql::connect::MySqlConnectConfig;
use dyno_mysql::wire::MySqlConnection;
use dyno_testbed::{MySql, certificates};

use super::{on_each_server, on_each_server_with, target_at, try_target};

fn connection(url: &str, password: Option<&str>) -> Result<MySqlConnection, dyno_engine::TargetError> {
    let password = password.map(|text| Secret::new(text.to_owned()));
    let options = OpenOptions { password, connect_timeout: std::time::Duration::from_secs(20) };
    MySqlConnection::open(&MySqlConnectConfig::from_url(&url.parse().unwrap(), &options).unwrap(), "test")
}

fn user(server: &MySql, name: &str, identified: &str) {
    server.sql(&format!(
        "CREATE USER {name}@'127.0.0.1' {identified}; GRANT ALL ON bench.* TO {name}@'127.0.0.1'"
    ));
}

#[test]
fn server_is_reached_by_tcp_and_by_unix_socket() {
    on_each_server(|server| {
        for url in [server.url(), server.socket_url(), server.url().replace("mysql:", "mariadb:")] {
            let identity = target_at(&url).identify().unwrap();
            assert_eq!(identity.product, server.version().product.name());
            assert!(identity.version.starts_with(&server.version().full), "{}", identity.version);
            assert!(identity.same_host);
            assert!(identity.block_size == 16_384);
            assert_eq!(identity.data_path.as_deref(), server.data_dir().to_str());
        }
    });
}

#[test]
fn mysql_supported_account_types_can_log_in() {
    on_each_server(|server| {
        let kinds: &[(&str, &str)] = if server.is_mariadb() {
            server.sql("INSTALL SONAME 'auth_ed25519'");
            &[
                ("native", "IDENTIFIED VIA mysql_native_password USING PASSWORD('right')"),
                ("ed25519", "IDENTIFIED VIA ed25519 USING PASSWORD('right')"),
            ]
        } else {
            &[("sha2", "IDENTIFIED WITH caching_sha2_password BY 'right'")]
        };
        for (name, identified) in kinds {
            user(server, name, identified);
            for mode in ["DISABLED", "PREFERRED"] {
                let url = format!("{}?ssl-mode={mode}", server.url_of(name, "bench"));
                // The second time the server has cached the password and requires a shorter exchange.
                for _ in 0..2 {
                    let mut connection =
                        connection(&url, Some("right")).unwrap_or_else(|e| panic!("{name} {mode}: {e}"));
                    let rows = connection.simple("SELECT CURRENT_USER()").unwrap();
                    assert_eq!(rows[0].get(0), Some(format!("{name}@127.0.0.1").as_str()));
                    let tls = mode == "PREFERRED" && !server.is_mariadb();
                    assert_eq!(
                        connection.is_encrypted(),
                        tls,
                        "MySQL makes itself a certificate, MariaDB 10 does not"
                    );
                    connection.close();
                }
                let wrong = connection(&url, Some("wr0ng")).unwrap_err();
                assert_eq!(wrong.kind, TargetErrorKind::Denied, "{name}: {wrong}");
                assert!(!format!("{wrong} {}", wrong.hint).contains("wr0ng"));
                let error = connection(&url, None).unwrap_err();
                assert_eq!(error.kind, TargetErrorKind::PasswordNeeded, "{name}: {error}");
                assert!(error.hint.contains("MYSQL_PWD"), "{}", error.hint);
            }
        }
    });
}

#[test]
fn certificate_check_follows_ssl_mode() {
    for version in MySql::available() {
        let made = certificates::make();
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let ca = put("ca.pem", &made.ca_cert);
        let (cert, key) = (put("cert.pem", &made.server_cert), put("key.pem", &made.server_key));
        // The server's user must be able to read these files.
        let readable = |path: &str, mode| {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        readable(folder.path().to_str().unwrap(), 0o755);
        [&ca, &cert, &key].into_iter().for_each(|path| readable(path, 0o644));
        let server = MySql::start(&version, &[("ssl_ca", &ca), ("ssl_cert", &cert), ("ssl_key", &key)]);
        let at = |host: &str, rest: &str| {
            let url = format!("mysql://dyno@{host}:{}/bench?{rest}", server.port());
            connection(&url, None).map(|connection| connection.is_encrypted())
        };
        assert!(at("127.0.0.1", "ssl-mode=REQUIRED").unwrap());
        assert!(!at("127.0.0.1", "ssl-mode=DISABLED").unwrap());
        assert!(at("127.0.0.1", &format!("ssl-ca={ca}")).unwrap());
        assert!(at("localhost", &format!("ssl-ca={ca}&ssl-mode=VERIFY_IDENTITY")).unwrap());
        let other_name = at("127.0.0.1", &format!("ssl-ca={ca}&ssl-mode=VERIFY_IDENTITY")).unwrap_err();
        assert!(other_name.message.contains("not accepted"), "{other_name}");
        let stranger = put("stranger.pem", &certificates::make().ca_cert);
        let unknown = at("localhost", &format!("ssl-ca={stranger}")).unwrap_err();
        assert!(unknown.message.contains("not accepted"), "{unknown}");
        assert!(unknown.hint.contains("ssl-ca"), "{unknown}");
    }
}

#[test]
fn refused_connection_error_has_a_hint() {
    on_each_server_with(&[("max_connections", "10")], |server| {
        let nowhere = try_target(&server.url_of("dyno", "nowhere"), None).unwrap().identify().unwrap_err();
        assert_eq!(nowhere.kind, TargetErrorKind::Unreachable, "{nowhere}");
        assert!(nowhere.hint.contains("CREATE DATABASE `nowhere`"), "{}", nowhere.hint);
        user(server, "little", "");
        server.sql("REVOKE ALL ON bench.* FROM little@'127.0.0.1'");
        let no_right = try_target(&server.url_of("little", "bench"), None).unwrap().identify().unwrap_err();
        assert_eq!(no_right.kind, TargetErrorKind::Privilege, "{no_right}");
        assert!(no_right.hint.contains("GRANT"), "{}", no_right.hint);
        let open: Vec<_> = (0..20).map_while(|_| connection(&server.url(), None).ok()).collect();
        let full = connection(&server.url(), None).unwrap_err();
        assert_eq!(full.kind, TargetErrorKind::Unreachable, "{full}");
        assert!(full.hint.contains("max_connections"), "{}", full.hint);
        open.into_iter().for_each(MySqlConnection::close);
    });
}

#[test]
fn mysql_setup_commits_and_ignores_server_session_limits() {
    on_each_server(|server| {
        server.sql("SET GLOBAL autocommit = 0");
        server.sql("SET GLOBAL wait_timeout = 2");
        let target = target_at(&server.url());
        let mut settings = String::new();
        let statements = [
            "CREATE TABLE kept (id INT PRIMARY KEY)",
            "INSERT INTO kept VALUES (1), (2)",
            "SELECT @@autocommit, @@wait_timeout > 3600",
        ];
        let mut read = |rows: Vec<dyno_engine::TextRow>| {
            if let Some(row) = rows.first() {
                settings = format!("{} {}", row.text(0), row.text(1));
            }
            Ok(())
        };
        target.script(&statements, &mut read).unwrap();
        assert_eq!(settings, "1 1");
        let mut rows = None;
        let mut count = |counted: Vec<dyno_engine::TextRow>| {
            rows = counted.first().map(|row| row.text(0).to_owned());
            Ok(())
        };
        target.script(&["SELECT COUNT(*) FROM kept"], &mut count).unwrap();
        assert_eq!(rows.as_deref(), Some("2"), "the server rolled the inserted rows back");
    });
}
