//! A database with test data, and readings of it that are independent of Dyno.

use std::hash::{DefaultHasher, Hasher as _};
use std::time::{Duration, Instant};

use dyno_testbed::{MyProduct, MySql, Postgres};

use super::bounded::{self, BOUND};
use super::command::{KillTask, ROWS};
use super::engine::Engine;
use super::figures::{DatabaseReading, ServerCounts};
use crate::common::TestEnv;

/// A server with loaded test data.
pub(crate) struct KillBench {
    pub(crate) engine: Engine,
    server: Server,
    desk: TestEnv,
    /// Number of rows of an undisturbed load.
    pub(crate) loaded_rows_hash: u64,
    pub(crate) load_took: Duration,
}

enum Server {
    Sqlite,
    Postgres(Postgres),
    MariaDb(MySql),
}

impl KillBench {
    /// Starts and loads one; `None` if this machine has no such server.
    pub(crate) fn start(engine: Engine) -> Option<Self> {
        let server = match engine {
            Engine::Sqlite => Server::Sqlite,
            Engine::Postgres => Server::Postgres(Postgres::start(&Postgres::available().pop()?, &[])),
            Engine::MariaDb => {
                let version = MySql::available().into_iter().find(|v| v.product == MyProduct::MariaDb)?;
                Server::MariaDb(MySql::start(&version, &[]))
            }
        };
        let mut bench = Self {
            engine,
            server,
            desk: TestEnv::new(),
            loaded_rows_hash: 0,
            load_took: Duration::default(),
        };
        let (_, took) =
            bounded::run_successfully(&bench.desk, &KillTask::Load.arguments(&bench.url())).unwrap();
        (bench.loaded_rows_hash, bench.load_took) = (bench.rows_hash(), took);
        Some(bench)
    }

    pub(crate) fn url(&self) -> String {
        match &self.server {
            Server::Sqlite => format!("sqlite:{}", self.file().display()),
            Server::Postgres(server) => server.url(),
            Server::MariaDb(server) => server.url(),
        }
    }

    fn file(&self) -> std::path::PathBuf {
        self.desk.file("bench.db")
    }

    /// Kills all processes of the server at once.
    pub(crate) fn kill_server(&mut self) {
        match &mut self.server {
            Server::Sqlite => {}
            Server::Postgres(server) => server.kill9(),
            Server::MariaDb(server) => server.kill9(),
        }
    }

    /// Starts the killed server again.
    pub(crate) fn start_server(&mut self) {
        match &mut self.server {
            Server::Sqlite => {}
            Server::Postgres(server) => server.restart(),
            Server::MariaDb(server) => server.restart(),
        }
    }

    /// Recreates the data, whatever the state of server and data.
    pub(crate) fn renew(&mut self) {
        self.kill_server();
        self.start_server();
        match &self.server {
            Server::Sqlite => ["", "-wal", "-shm", "-journal"].iter().for_each(|end| {
                let _ = std::fs::remove_file(self.desk.file(&format!("bench.db{end}")));
            }),
            Server::Postgres(server) => drop(server.psql("DROP SCHEMA IF EXISTS dyno CASCADE")),
            Server::MariaDb(server) => drop(server.sql("DROP DATABASE bench; CREATE DATABASE bench")),
        }
        bounded::run_successfully(&TestEnv::new(), &KillTask::Load.arguments(&self.url())).unwrap();
    }

    /// Reads the rows and the server's counters.
    pub(crate) fn reading(&self) -> DatabaseReading {
        let of_rows = |table: &str| {
            format!(
                "(SELECT SUM(ver) FROM {table} WHERE custid <= {ROWS}), (SELECT COUNT(custid) FROM {table})"
            )
        };
        let (text, is_counted) = match &self.server {
            Server::Sqlite => (self.in_file(&format!("SELECT {}", of_rows("dyno_rows_1")), "|"), false),
            Server::Postgres(server) => {
                let rows = "FROM pg_stat_user_tables WHERE schemaname = 'dyno' AND relname = 'rows_1'";
                let counted =
                    ["n_tup_upd", "n_tup_ins", "n_tup_del"].map(|name| format!("(SELECT {name} {rows})"));
                let commits = "(SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())";
                let rows = of_rows("dyno.rows_1");
                (server.psql(&format!("SELECT {rows}, {}, {commits}", counted.join(", "))), true)
            }
            Server::MariaDb(server) => {
                let status = |name: &str| {
                    format!(
                        "(SELECT variable_value FROM information_schema.global_status WHERE variable_name = '{name}')"
                    )
                };
                let counted = ["Handler_update", "Handler_write", "Handler_delete", "Handler_commit"];
                let rows = of_rows("dyno_rows_1");
                (server.sql(&format!("SELECT {rows}, {}", counted.map(status).join(", "))), true)
            }
        };
        let numbers: Vec<i64> =
            text.split(['|', '\t']).map(|cell| cell.trim().parse().unwrap_or(0)).collect();
        let counted = is_counted.then(|| ServerCounts {
            updated: numbers[2],
            inserted: numbers[3],
            deleted: numbers[4],
            commits: numbers[5],
            // InnoDB stores a spacer next to each row, so that no page has two rows.
            per_row: if self.engine == Engine::MariaDb { 2 } else { 1 },
        });
        DatabaseReading { updates: numbers[0], rows: numbers[1], server_counts: counted }
    }

    /// A hash over all rows with all columns.
    pub(crate) fn rows_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (table, order) in [("rows_1", "custid"), ("scan_1", "1, 2, 3")] {
            let sql = |prefix: &str| format!("SELECT * FROM {prefix}{table} ORDER BY {order}");
            let text = match &self.server {
                Server::Sqlite => self.in_file(&sql("dyno_"), "|"),
                Server::Postgres(server) => server.psql(&sql("dyno.")),
                Server::MariaDb(server) => server.sql(&sql("dyno_")),
            };
            hasher.write(text.as_bytes());
        }
        hasher.finish()
    }

    pub(crate) fn table_count(&self) -> i64 {
        let text = match &self.server {
            Server::Sqlite => self.in_file("SELECT count(*) FROM sqlite_master WHERE name LIKE 'dyno%'", "|"),
            Server::Postgres(server) => {
                server.psql("SELECT count(*) FROM pg_class WHERE relnamespace::regnamespace::text = 'dyno'")
            }
            Server::MariaDb(server) => server
                .sql("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'bench' AND table_name LIKE 'dyno%'"),
        };
        text.parse().unwrap()
    }

    /// Remains of an ended Dyno: sessions, orphaned locks, or a damaged file.
    pub(crate) fn leftovers(&self) -> Option<String> {
        let leftover_sql = match &self.server {
            Server::Sqlite => {
                let check_result = self.in_file("PRAGMA integrity_check", "|");
                return (check_result != "ok").then(|| format!("the data's file is damaged: {check_result}"));
            }
            Server::Postgres(_) => {
                "SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'dyno%') + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')"
            }
            // Locks belong to sessions, and end with them.
            Server::MariaDb(_) => {
                "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'dyno' AND id <> CONNECTION_ID()"
            }
        };
        let since = Instant::now();
        loop {
            let left = match &self.server {
                Server::Sqlite => return None,
                Server::Postgres(server) => server.psql(leftover_sql),
                Server::MariaDb(server) => server.sql(leftover_sql),
            };
            if left == "0" {
                return None;
            }
            if since.elapsed() > BOUND / 3 {
                return Some(format!("{left} sessions or locks of Dyno's are still there"));
            }
        }
    }

    fn in_file(&self, sql: &str, between: &str) -> String {
        let connection = rusqlite::Connection::open(self.file()).unwrap();
        connection.busy_timeout(BOUND).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut text = String::new();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                let value = match row.get_ref(column).unwrap() {
                    rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                    rusqlite::types::ValueRef::Null => String::new(),
                    other => other.as_str().unwrap_or_default().to_owned(),
                };
                text.push_str(&value);
                if column + 1 < columns {
                    text.push_str(between);
                }
            }
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}
