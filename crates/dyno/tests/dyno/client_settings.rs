//! Files and variables of the databases' own clients lead Dyno to the server that those clients reach.

use std::os::unix::fs::PermissionsExt;

use dyno_testbed::{MySql, Postgres};

use crate::common::TestEnv;

fn write_private(desk: &TestEnv, name: &str, text: &str) {
    let path = desk.path().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn postgres_service_selects_server_and_hides_password() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    server.psql("CREATE ROLE few LOGIN PASSWORD 'geheim'; GRANT CREATE ON DATABASE postgres TO few");
    server.set_hba(
        "local all all trust\nhost all few 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n",
    );
    let port = server.port();
    let service =
        format!("[bench]\nhost=127.0.0.1\nport={port}\nuser=few\ndbname=postgres\npassword=geheim\n");
    write_private(&desk, ".pg_service.conf", &service);
    let shown = format!("postgres://few@127.0.0.1:{port}/postgres");
    let by_variable = desk.dyno_with(("PGSERVICE", "bench"), &["check", "--target", "postgres:///"]);
    let by_url = desk.dyno(&["check", "--target", "postgres:///?service=bench"]);
    for check in [by_variable, by_url] {
        assert_eq!(check.code, 0, "{check:#?}");
        assert!(format!("{}{}", check.out, check.err).contains(&shown), "{check:#?}");
        assert!(!format!("{check:?}").contains("geheim"), "{check:#?}");
    }
    let missing = desk.dyno_with(("PGSERVICE", "other"), &["check", "--target", "postgres:///"]);
    assert_eq!(missing.code, 2, "{missing:#?}");
    assert!(missing.err.contains("\"other\" is not defined: not in "), "{missing:#?}");
    let refused = desk.dyno_with(("PGGSSENCMODE", "require"), &["check", "--target", "postgres:///"]);
    assert!(refused.err.contains("environment variable PGGSSENCMODE"), "{refused:#?}");
}

#[test]
fn mysql_option_file_selects_server_and_hides_password() {
    for version in MySql::available() {
        let (server, desk) = (MySql::start(&version, &[]), TestEnv::new());
        server.sql("CREATE USER few IDENTIFIED BY 'geheim'; GRANT ALL ON bench.* TO few");
        let port = server.port();
        let file = format!(
            "[client]\nhost=127.0.0.1\nport={port}\nuser=few\npassword=geheim\n[mysql]\ndatabase=bench\n"
        );
        write_private(&desk, ".my.cnf", &file);
        let check = desk.dyno(&["check", "--target", "mysql:///"]);
        assert!(
            format!("{}{}", check.out, check.err).contains(&format!("mysql://few@127.0.0.1:{port}/bench")),
            "{check:#?}"
        );
        assert!(check.out.contains("as few"), "{check:#?}");
        assert!(!format!("{check:?}").contains("geheim"), "{check:#?}");
        write_private(&desk, ".my.cnf", &format!("{file}[client]\ncompress\n"));
        let refused = desk.dyno(&["check", "--target", "mysql:///"]);
        assert!(refused.err.contains(".my.cnf sets compress"), "{refused:#?}");
        assert!(refused.err.contains("option-files=off"), "{refused:#?}");
    }
}
