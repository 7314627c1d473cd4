//! PostgreSQL servers behave as other tests expect.

use dyno_testbed::Postgres;

#[test]
fn testbed_server_starts_answers_and_leaves_nothing() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[("max_connections", "17")]);
        assert_eq!(server.psql("SHOW max_connections"), "17");
        assert_eq!(server.psql("SHOW fsync"), "on");
        let major = format!("{}0000", version.major);
        assert_eq!(server.psql("SELECT current_setting('server_version_num')::int / 10000 * 10000"), major);
        let (folder, port) = (server.socket_dir(), server.port());
        drop(server);
        assert!(!folder.exists(), "{} is still there", folder.display());
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    }
}

#[test]
fn committed_rows_survive_kill_and_stop() {
    for version in Postgres::available() {
        let mut server = Postgres::start(&version, &[]);
        server.psql("CREATE TABLE t AS SELECT generate_series(1, 1000) AS n");
        server.kill9();
        assert!(server.try_psql("postgres", "postgres", "SELECT 1").is_err());
        server.restart();
        assert_eq!(server.psql("SELECT count(*) FROM t"), "1000");
        assert!(server.log().contains("was not properly shut down"), "{}", server.log());
        server.restart();
        assert_eq!(server.psql("SELECT sum(n) FROM t"), "500500");
    }
}

#[test]
fn setting_refused_by_server_is_named_in_the_error() {
    for version in Postgres::available() {
        let error = Postgres::try_start(&version, &[("shared_buffers", "banana")]).unwrap_err();
        assert!(error.contains("shared_buffers"), "{error}");
    }
}

#[test]
fn a_server_outlives_the_thread_that_started_it() {
    let versions = Postgres::available();
    let Some(version) = versions.last().cloned() else { return };
    let server = std::thread::spawn(move || Postgres::start(&version, &[])).join().unwrap();
    assert_eq!(server.psql("SELECT 1"), "1");
}

#[test]
fn new_mysql_server_has_no_data_of_the_previous_one() {
    for version in Postgres::available() {
        for _ in 0..3 {
            let server = Postgres::start(&version, &[]);
            let row = server
                .psql("SELECT count(*), to_regclass('t'), current_setting('work_mem') FROM pg_database");
            assert_eq!(row, "3||4MB");
            server.psql("CREATE TABLE t AS SELECT generate_series(1, 1000) AS n");
            server.psql("CREATE DATABASE other");
            server.psql("ALTER SYSTEM SET work_mem = '8MB'");
        }
    }
}
