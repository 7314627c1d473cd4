//! PostgreSQL servers behave as other tests expect.

use dyno_testbed::Postgres;

#[test]
fn a_server_starts_answers_and_leaves_nothing() {
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
fn what_was_committed_survives_a_kill_and_a_stop() {
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
fn a_setting_the_server_refuses_is_told_in_its_own_words() {
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
fn what_one_server_left_the_next_one_does_not_find() {
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
