//! The settings of connections.

use dyno_engine::{Statement, StatementId};

use super::statements::setup;
use super::{on_each_server, target_at};

/// A loader has the settings of a session, except for its patience and those that give values one meaning.
#[test]
fn loader_has_settings_of_session() {
    const OF_MARIADB: &str =
        "SELECT VARIABLE_NAME AS name, SESSION_VALUE AS value FROM information_schema.SYSTEM_VARIABLES";
    const OF_MYSQL: &str =
        "SELECT VARIABLE_NAME AS name, VARIABLE_VALUE AS value FROM performance_schema.session_variables";
    // These differ between any two sessions.
    const COMPARE: &str =
        "SELECT GROUP_CONCAT(LOWER(s.name) ORDER BY 1) FROM of_session s JOIN of_loader l USING (name)
        WHERE NOT (s.value <=> l.value) AND s.name NOT IN
        ('gtid_executed', 'pseudo_thread_id', 'rand_seed1', 'rand_seed2', 'statement_id', 'timestamp')";
    on_each_server(|server| {
        let target = target_at(&server.url());
        let (variables, different) = match server.is_mariadb() {
            true => {
                (OF_MARIADB, "innodb_lock_wait_timeout,net_read_timeout,net_write_timeout,sql_mode,time_zone")
            }
            false => (
                OF_MYSQL,
                "information_schema_stats_expiry,innodb_lock_wait_timeout,net_read_timeout,net_write_timeout,\
                 resultset_metadata,sql_mode,time_zone",
            ),
        };
        let keep = |table: &str| format!("CREATE TABLE {table} AS {variables}");
        let setup = setup(vec![Statement::write("keep", keep("of_session"), &[])]);
        let mut session = target.session(&setup).unwrap();
        session.execute(StatementId(0), &[]).unwrap();
        session.close();
        let (mut loader, _) = target.bulk_load().unwrap().filler().unwrap();
        loader.execute(&keep("of_loader")).unwrap();
        loader.close();
        let mut differences = Vec::new();
        let mut keep_rows = |rows| {
            differences = rows;
            Ok(())
        };
        target.script(&[COMPARE], &mut keep_rows).unwrap();
        assert_eq!(differences[0].get(0), Some(different));
    });
}
