//! A real server with test data, and access to it for other users.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dyno_testbed::{MySql, Postgres};

use super::file::Attack;
use crate::common::TestEnv;

/// The data of every attack: small, with a table for scans.
pub(crate) const DATA: [&str; 4] = ["--set", "data.scale=1000 blocks", "--set", "data.scan_scale=50 blocks"];

/// A database that the run does not use.
const OTHER: &str = "other";

pub(crate) struct AttackBench {
    /// Name and version of the server: `postgres-18`.
    pub(crate) name: String,
    /// Folder of its attack files.
    pub(crate) engine: &'static str,
    server: Server,
    desk: TestEnv,
}

/// Starts a server and loads the data.
type BenchFactory = Box<dyn FnOnce() -> AttackBench>;

enum Server {
    Sqlite,
    Postgres(Postgres),
    MySql(MySql),
}

/// Access of another user to a server; it survives restarts.
#[derive(Debug, Clone)]
pub(crate) enum Client {
    Sqlite(PathBuf),
    Postgres { psql: PathBuf, folder: PathBuf, port: u16 },
    MySql { socket: PathBuf },
}

impl AttackBench {
    /// Engines with factories for all servers of this machine; each server is started when it is needed.
    pub(crate) fn all() -> Vec<(&'static str, BenchFactory)> {
        let mut makers: Vec<(&str, BenchFactory)> =
            vec![("sqlite", Box::new(|| Self::new("sqlite".into(), "sqlite", Server::Sqlite)))];
        for version in Postgres::available() {
            let maker = move || {
                let name = format!("postgres-{}", version.major);
                Self::new(name, "postgres", Server::Postgres(Postgres::start(&version, &[])))
            };
            makers.push(("postgres", Box::new(maker)));
        }
        for version in MySql::available() {
            let maker = move || {
                let name = version.product.name().to_lowercase();
                // Some attacks reset statement counters; both products have them.
                let settings = [("performance_schema", "ON")];
                Self::new(name, "mysql", Server::MySql(MySql::start(&version, &settings)))
            };
            makers.push(("mysql", Box::new(maker)));
        }
        makers
    }

    fn new(name: String, engine: &'static str, server: Server) -> Self {
        let bench = Self { name, engine, server, desk: TestEnv::new() };
        let other = match &bench.server {
            Server::Sqlite => None,
            Server::Postgres(_) | Server::MySql(_) => Some(format!("CREATE DATABASE {OTHER}")),
        };
        if let Some(sql) = other {
            bench.client().run(None, &sql).unwrap();
        }
        bench.load_into(None);
        bench
    }

    /// URL of the run's database, or of another one.
    pub(crate) fn url(&self, database: Option<&str>) -> String {
        match &self.server {
            Server::Sqlite => format!("sqlite:{}", self.file(database).display()),
            Server::Postgres(server) => server.url_of(server.superuser(), database.unwrap_or("postgres")),
            Server::MySql(server) => server.url_of(server.superuser(), database.unwrap_or("bench")),
        }
    }

    fn file(&self, database: Option<&str>) -> PathBuf {
        self.desk.file(&format!("{}.db", database.unwrap_or("bench")))
    }

    /// Loads the test data if it is missing.
    pub(crate) fn load_into(&self, database: Option<&str>) {
        let url = self.url(database);
        let output = self.desk.dyno(&[&["load", "--target", &url][..], &DATA].concat());
        assert_eq!(output.code, 0, "{}: {output:#?}", self.name);
    }

    /// Drops and reloads the test data, whatever its state.
    pub(crate) fn reload_data(&self) {
        // The data left by an attack may be too incomplete to drop, but still block a load.
        let _ = self.desk.dyno(&["drop", "--yes", "--target", &self.url(None)]);
        let sql = match &self.server {
            Server::Postgres(_) => Some("DROP SCHEMA IF EXISTS dyno CASCADE"),
            Server::MySql(_) => Some("DROP DATABASE bench; CREATE DATABASE bench"),
            Server::Sqlite => None,
        };
        match sql {
            Some(sql) => drop(self.client().run(Some(self.maintenance_database()), sql).unwrap()),
            None => ["", "-wal", "-shm", "-journal"].iter().for_each(|end| {
                let _ = std::fs::remove_file(self.desk.file(&format!("bench.db{end}")));
            }),
        }
        self.load_into(None);
    }

    /// A database that is never reloaded.
    fn maintenance_database(&self) -> &'static str {
        if self.engine == "mysql" { OTHER } else { "postgres" }
    }

    /// Whether `attack` applies to this server.
    pub(crate) fn supports(&self, attack: &Attack) -> bool {
        attack.on.is_empty() || attack.on.iter().any(|on| *on == self.name || *on == self.engine)
    }

    pub(crate) fn client(&self) -> Client {
        match &self.server {
            Server::Sqlite => Client::Sqlite(self.file(None)),
            Server::Postgres(server) => Client::Postgres {
                psql: server.version().bins.join("psql"),
                folder: server.socket_dir(),
                port: server.port(),
            },
            Server::MySql(server) => Client::MySql { socket: server.socket() },
        }
    }

    /// A folder on the device that holds the data.
    pub(crate) fn scratch_folder(&self) -> PathBuf {
        match &self.server {
            Server::Sqlite => self.desk.path().to_path_buf(),
            Server::Postgres(server) => server.data_dir(),
            Server::MySql(server) => server.data_dir(),
        }
    }

    /// The server's processes whose titles contain `word`; the main process for `server`.
    pub(crate) fn processes(&self, word: &str) -> Vec<u32> {
        let first = match &self.server {
            Server::Sqlite => None,
            Server::Postgres(server) => server.pid(),
            Server::MySql(server) => server.pid(),
        };
        let Some(first) = first else { return Vec::new() };
        let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
        let children = children.unwrap_or_default();
        let children = children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok());
        if word == "server" {
            return std::iter::once(first).chain(children).collect();
        }
        let title = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        children.filter(|pid| String::from_utf8_lossy(&title(pid)).contains(word)).collect()
    }

    /// Stops or kills the server, and starts it again.
    pub(crate) fn restart(&mut self, how: &str) {
        match (&mut self.server, how) {
            (Server::Sqlite, _) => {}
            (Server::Postgres(server), "kill") => {
                server.kill9();
                server.restart();
            }
            (Server::Postgres(server), _) => server.restart(),
            (Server::MySql(server), "kill") => {
                server.kill9();
                server.restart();
            }
            (Server::MySql(server), _) => server.restart(),
        }
    }
}

impl Client {
    /// Runs `sql` on a separate connection.
    pub(crate) fn run(&self, database: Option<&str>, sql: &str) -> Result<String, String> {
        let mut command = match self {
            Self::Sqlite(_) => return self.in_file(database, sql, None, Duration::ZERO),
            Self::Postgres { psql, folder, port } => {
                let mut command = Command::new(psql);
                command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres"]);
                // Each line is a separate transaction.
                command.args(sql.lines().flat_map(|line| ["-c", line]));
                command.arg("-h").arg(folder).arg("-p").arg(port.to_string());
                command.arg("-d").arg(database.unwrap_or("postgres")).current_dir("/");
                command
            }
            Self::MySql { socket } => {
                let mut command = Command::new("mariadb");
                command.args(["--no-defaults", "--skip-column-names", "--batch", "--user", "dyno"]);
                command.arg("--database").arg(database.unwrap_or("bench")).arg("--socket").arg(socket);
                command.arg("--execute").arg(sql);
                command
            }
        };
        let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()),
        }
    }

    /// Runs `sql`, and `then` after `pause` on the same connection.
    pub(crate) fn run_in_sequence(
        &self,
        database: Option<&str>,
        sql: &str,
        then: &str,
        pause: Duration,
    ) -> Result<String, String> {
        match self {
            Self::Sqlite(_) => self.in_file(database, sql, Some(then), pause),
            Self::Postgres { .. } => {
                self.run(database, &format!("{sql}; SELECT pg_sleep({}); {then}", pause.as_secs_f64()))
            }
            Self::MySql { .. } => {
                self.run(database, &format!("{sql}; SELECT SLEEP({}); {then}", pause.as_secs_f64()))
            }
        }
    }

    /// Repeats `sql` until `stop_flag` is set.
    pub(crate) fn run_until(
        &self,
        database: Option<&str>,
        sql: &str,
        stop_flag: &AtomicBool,
    ) -> Result<String, String> {
        let mut last = Ok(String::new());
        while !stop_flag.load(Ordering::SeqCst) {
            last = self.run(database, sql);
            if last.is_err() {
                break;
            }
        }
        last
    }

    fn in_file(
        &self,
        database: Option<&str>,
        sql: &str,
        then: Option<&str>,
        pause: Duration,
    ) -> Result<String, String> {
        let Self::Sqlite(file) = self else { return Err("no file".into()) };
        let file = database.map_or(file.clone(), |name| file.with_file_name(format!("{name}.db")));
        let connection = rusqlite::Connection::open(file).map_err(|error| error.to_string())?;
        connection.busy_timeout(Duration::from_secs(10)).map_err(|error| error.to_string())?;
        connection.execute_batch(sql).map_err(|error| error.to_string())?;
        if let Some(then) = then {
            std::thread::park_timeout(pause);
            connection.execute_batch(then).map_err(|error| error.to_string())?;
        }
        Ok(String::new())
    }
}
