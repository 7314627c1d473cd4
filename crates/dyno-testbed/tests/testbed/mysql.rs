//! MySQL and MariaDB servers behave as other tests expect.

use dyno_testbed::MySql;

#[test]
fn new_mysql_server_has_no_data_of_the_previous_one() {
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
