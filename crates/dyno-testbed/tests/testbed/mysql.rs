//! MySQL and MariaDB servers behave as other tests expect.

use dyno_testbed::MySql;

#[test]
fn what_one_server_left_the_next_one_does_not_find() {
    for version in MySql::available() {
        for _ in 0..3 {
            let server = MySql::start(&version, &[]);
            assert_eq!(server.sql("SHOW TABLES"), "");
            assert_eq!(
                server.sql("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'other'"),
                "0"
            );
            server.sql("CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t VALUES (7); CREATE DATABASE other");
        }
    }
}
