//! One MySQL or MariaDB server.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, RunAs, wait_until};
use crate::command::run;
use crate::data_dirs::DataDir;
use crate::mysql_bins::{MyProduct, MyVersion};
use crate::postgres::free_port;
use crate::template;
use crate::testbeds_dir;

/// The longest wait for a server to accept connections, crash recovery included.
const READY_WITHIN: Duration = Duration::from_secs(120);
/// The longest wait for a server to end.
const ENDED_WITHIN: Duration = Duration::from_secs(60);
/// Ports to try: another process may take a free port between its choice and its use.
const PORT_ATTEMPTS: u32 = 5;

/// SQL that every server runs at its first start: creates the tests' user with all rights, and an empty
/// database.
const INIT: &str = "CREATE DATABASE IF NOT EXISTS bench;
CREATE USER IF NOT EXISTS dyno@'localhost';
GRANT ALL PRIVILEGES ON *.* TO dyno@'localhost' WITH GRANT OPTION;
CREATE USER IF NOT EXISTS dyno@'127.0.0.1';
GRANT ALL PRIVILEGES ON *.* TO dyno@'127.0.0.1' WITH GRANT OPTION;
";

/// Settings that keep data directories and test servers small.
const SMALL: [&str; 1] = ["--innodb-buffer-pool-size=64M"];

/// One initialization at a time per process; between processes the rename decides.
static MAKING: Mutex<()> = Mutex::new(());

/// One MySQL or MariaDB server, a child of the test.
///
/// Settings are the server's defaults except a buffer pool of 64 MiB. It has user `dyno` with all rights and
/// no password, an empty database `bench`, a loopback port, and a Unix socket in its own folder. Dropping the
/// value kills the server and removes its folder.
#[derive(Debug)]
pub struct MySql {
    version: MyVersion,
    run_as: Option<RunAs>,
    // Dropped before the folder around it is removed.
    data: DataDir,
    folder: TempDir,
    settings: Vec<String>,
    port: u16,
    child: Option<Child>,
}

impl MySql {
    /// Both products, where installed; reports and counts a missing one.
    pub fn available() -> Vec<MyVersion> {
        MyVersion::available()
    }

    /// Starts a server with `settings` (`("log_bin", "on")`) and waits until it accepts connections.
    ///
    /// # Panics
    /// It does not start; the message contains the server's output.
    pub fn start(version: &MyVersion, settings: &[(&str, &str)]) -> Self {
        match Self::try_start(version, settings) {
            Ok(server) => server,
            Err(why) => panic!("{} {} did not start: {why}", version.product.name(), version.full),
        }
    }

    /// As [`MySql::start`].
    ///
    /// # Errors
    /// The output of the server, or the system's error.
    pub fn try_start(version: &MyVersion, settings: &[(&str, &str)]) -> Result<Self, String> {
        let run_as = RunAs::choose();
        // Under the shortest temporary folder: a Unix socket's path has at most 107 bytes.
        let folder = tempfile::Builder::new().prefix("dyno-my-").tempdir().map_err(|e| e.to_string())?;
        // Clients of any user may pass through to the socket.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).map_err(|e| e.to_string())?;
        // Fixed when a data directory is made; a server accepts no other page size on it.
        let page_size =
            settings.iter().find(|(name, _)| *name == "innodb_page_size").map(|(_, value)| *value);
        let template = data_template(version, run_as, page_size)?;
        let data = DataDir::like(template, folder.path().join("data"))?;
        std::fs::write(folder.path().join("init.sql"), INIT).map_err(|e| e.to_string())?;
        template::give_ownership(folder.path(), run_as)?;
        let settings = settings.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-")));
        let settings = settings.collect();
        let mut server =
            Self { version: version.clone(), run_as, data, folder, settings, port: 0, child: None };
        let mut last = String::new();
        for _ in 0..PORT_ATTEMPTS {
            server.port = free_port()?;
            match server.launch() {
                Ok(()) => return Ok(server),
                Err(said) if said.contains("ddress already in use") => last = said,
                Err(said) => return Err(said),
            }
        }
        Err(last)
    }

    pub fn version(&self) -> &MyVersion {
        &self.version
    }

    pub fn is_mariadb(&self) -> bool {
        self.version.product == MyProduct::MariaDb
    }

    /// The user of the tests, who needs no password.
    pub fn superuser(&self) -> &'static str {
        "dyno"
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of database `bench` for the user of the tests over loopback.
    pub fn url(&self) -> String {
        self.url_of(self.superuser(), "bench")
    }

    /// The URL of `database` for `user` over loopback.
    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("mysql://{user}@127.0.0.1:{}/{database}", self.port)
    }

    /// The URL of database `bench` for the user of the tests over the Unix socket.
    pub fn socket_url(&self) -> String {
        format!("mysql://{}@/bench?socket={}", self.superuser(), self.socket().display())
    }

    /// Path of the Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("s.sock")
    }

    /// Path of the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.data.path().to_path_buf()
    }

    /// The server's log since its first start.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Runs `sql` as the user of the tests in database `bench` and returns the client's output without column
    /// headings.
    ///
    /// # Panics
    /// A statement fails.
    pub fn sql(&self, sql: &str) -> String {
        match self.try_sql(self.superuser(), sql) {
            Ok(text) => text,
            Err(said) => panic!("the statement failed: {said}\n{sql}"),
        }
    }

    /// Runs `sql` as `user`; stops at the first statement that fails.
    ///
    /// # Errors
    /// The client's error output.
    pub fn try_sql(&self, user: &str, sql: &str) -> Result<String, String> {
        let mut client = Command::new("mariadb");
        client.args([
            "--no-defaults",
            "--skip-column-names",
            "--batch",
            // The server is on this machine, and a TLS handshake costs more than most statements.
            "--skip-ssl",
            "--user",
            user,
            "--database",
            "bench",
        ]);
        client.arg("--socket").arg(self.socket()).arg("--execute").arg(sql).env_remove("MYSQL_PWD");
        let output = client.output().map_err(|e| format!("{client:?} cannot be run: {e}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
        }
    }

    /// Writes a file into the server's folder, owned by the server and unreadable to others; returns its
    /// path.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn put_file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("the test's own folder can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .expect("the file is the test's own");
        template::give_ownership(&path, self.run_as).expect("the file is the test's own");
        path
    }

    /// Adds or replaces a setting for the next start.
    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.push(format!("--{}={value}", name.replace('_', "-")));
    }

    /// Stops the server cleanly.
    ///
    /// # Panics
    /// It does not stop.
    pub fn stop(&mut self) {
        assert!(self.end(libc::SIGTERM), "the server did not stop:\n{}", self.log());
    }

    /// Kills the server with SIGKILL, like a power failure that leaves the disks intact.
    pub fn kill9(&mut self) {
        self.end(libc::SIGKILL);
    }

    /// Process ID of the server; absent while it is stopped.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Starts the server again on the same port after [`MySql::stop`] or [`MySql::kill9`]; stops it first if
    /// it runs.
    ///
    /// # Panics
    /// It does not start.
    pub fn restart(&mut self) {
        if self.child.is_some() {
            self.stop();
        }
        if let Err(said) = self.launch() {
            panic!("{} {} did not start again: {said}", self.version.product.name(), self.version.full);
        }
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log.err")
    }

    fn launch(&mut self) -> Result<(), String> {
        let log_before = self.log().len();
        let folder = self.folder.path();
        let mut command = server_command(&self.version, &self.data_dir(), self.run_as);
        let argument = |name: &str, path: &Path| format!("--{name}={}", path.display());
        command.arg(argument("socket", &self.socket())).arg(argument("pid-file", &folder.join("pid")));
        command.arg(argument("tmpdir", folder)).arg(argument("init-file", &folder.join("init.sql")));
        command.arg(argument("log-error", &self.log_path()));
        command.arg(format!("--port={}", self.port)).arg("--bind-address=127.0.0.1");
        command.args(SMALL).args(&self.settings);
        let mut child = child::spawn(command).map_err(|e| format!("the server cannot be run: {e}"))?;
        let mut exited = false;
        let socket = self.socket();
        let settled = wait_until(READY_WITHIN, || {
            exited = matches!(child.try_wait(), Ok(Some(_)));
            exited || sends_greeting(&socket)
        });
        self.child = Some(child);
        if exited || !settled {
            self.end(libc::SIGKILL);
            let why = if exited { "it ended" } else { "it accepted no connection in time" };
            return Err(format!("{why}: {}", self.log().get(log_before..).unwrap_or_default().trim()));
        }
        Ok(())
    }

    /// Stops the server with `signal`, then with SIGKILL if it does not obey; returns whether it obeyed.
    fn end(&mut self, signal: libc::c_int) -> bool {
        let Some(child) = self.child.as_mut() else { return true };
        child::signal(child.id(), signal);
        let obeyed = wait_until(ENDED_WITHIN, || !matches!(child.try_wait(), Ok(None)));
        if !obeyed {
            child::signal(child.id(), libc::SIGKILL);
            // A killed process is reaped at once.
            let _ = child.wait();
        }
        self.child = None;
        // A leftover socket file would look like a running server.
        let _ = std::fs::remove_file(self.socket());
        obeyed
    }
}

impl Drop for MySql {
    fn drop(&mut self) {
        self.end(libc::SIGKILL);
    }
}

/// The server on `data`, without the machine's own configuration.
fn server_command(version: &MyVersion, data: &Path, run_as: Option<RunAs>) -> Command {
    let mut command = Command::new(&version.server[0]);
    command.args(&version.server[1..]).arg("--no-defaults").args(version.base_arguments());
    command.arg(format!("--datadir={}", data.display())).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(user) = run_as {
        user.apply(&mut command);
    }
    command
}

/// Whether the server sends its greeting; a starting or recovering server does not.
fn sends_greeting(socket: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket) else { return false };
    let mut head = [0u8; 5];
    let read =
        stream.set_read_timeout(Some(Duration::from_secs(5))).and_then(|()| stream.read_exact(&mut head));
    // Protocol version 10, after the length and the sequence number.
    read.is_ok() && head[4] == 10
}

/// A fresh data directory of `version` with pages of `page_size`, made once and kept.
fn data_template(
    version: &MyVersion,
    run_as: Option<RunAs>,
    page_size: Option<&str>,
) -> Result<PathBuf, String> {
    let _one_at_a_time = MAKING.lock().map_err(|_| "an earlier initialisation panicked".to_owned())?;
    let dir = testbeds_dir().join("templates");
    let pages = page_size.map(|size| format!("-pages-{size}")).unwrap_or_default();
    let name = format!("{}-{}{pages}", version.product.name().to_lowercase(), version.full);
    let template = dir.join(&name);
    if template.exists() {
        return Ok(template);
    }
    std::fs::create_dir_all(&dir).map_err(|e| format!("{} cannot be made: {e}", dir.display()))?;
    // Made where the server's user can write, then copied home under a name of this process, then renamed.
    let work = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    template::give_ownership(work.path(), run_as)?;
    let made = work.path().join("data");
    let page_size = page_size.map(|size| format!("--innodb-page-size={size}"));
    match version.product {
        MyProduct::MariaDb => {
            let mut install = Command::new("mariadb-install-db");
            install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
            install.arg(format!("--datadir={}", made.display())).args(&page_size).current_dir(work.path());
            // A starting server removes what it considers leftover temporary tables, including those of
            // another server that initializes in the same folder.
            install.env("TMPDIR", work.path());
            if let Some(user) = run_as {
                user.apply(&mut install);
            }
            run(&mut install)?;
        }
        MyProduct::MySql => {
            let log = work.path().join("log");
            let open = |path: &Path| File::options().create(true).append(true).open(path);
            let mut initialize = server_command(version, &made, run_as);
            initialize.args(["--initialize-insecure", "--innodb-redo-log-capacity=8M"]).args(&page_size);
            initialize.env("TMPDIR", work.path());
            initialize.stderr(open(&log).map_err(|e| e.to_string())?);
            run(&mut initialize).map_err(|why| {
                format!("{why}: {}", std::fs::read_to_string(&log).unwrap_or_default().trim())
            })?;
        }
    }
    let home = dir.join(format!(".{name}.{}", std::process::id()));
    run(Command::new("cp").arg("-a").arg(&made).arg(&home))?;
    if std::fs::rename(&home, &template).is_err() {
        // Another process was faster; its template is equally good.
        std::fs::remove_dir_all(&home).map_err(|e| format!("{} cannot be removed: {e}", home.display()))?;
    }
    Ok(template)
}
