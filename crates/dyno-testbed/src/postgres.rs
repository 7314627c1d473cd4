//! One PostgreSQL server.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use tempfile::TempDir;

use crate::bins::{self, Version};
use crate::child::{self, RunAs, wait_until};
use crate::command::run;
use crate::data_dirs::DataDir;
use crate::skip::test_all_versions;
use crate::template;

/// The longest wait for a server to accept connections, crash recovery included.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// The longest wait for a server to end.
const ENDED_WITHIN: Duration = Duration::from_secs(30);
/// Ports to try: another process may take a free port between its choice and its use.
const PORT_ATTEMPTS: u32 = 5;

/// One PostgreSQL server, a child of the test.
///
/// Settings are the server's defaults including `fsync`, so that sync counters and preflight findings are
/// those of a real platform; a test that only needs speed asks for `("fsync", "off")`. It has trust
/// authentication, superuser `postgres`, database `postgres`, a loopback port, and a Unix socket in its own
/// folder. Dropping the value stops the server at once and removes its folder.
#[derive(Debug)]
pub struct Postgres {
    version: Version,
    run_as: Option<RunAs>,
    // Dropped before the folder around it is removed.
    data: DataDir,
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

impl Postgres {
    /// The oldest and the newest version of this machine, or all of them, oldest first, if
    /// [`crate::ALL_VERSIONS_ENV`] is set. Reports and counts missing wanted versions.
    pub fn available() -> Vec<Version> {
        let mut versions = bins::available();
        if versions.len() > 2 && !test_all_versions() {
            versions.drain(1..versions.len() - 1);
        }
        versions
    }

    /// The newest version, or all of them if [`crate::ALL_VERSIONS_ENV`] is set: for a long test that is
    /// equal on each version.
    pub fn newest_or_all() -> Vec<Version> {
        let mut versions = Self::available();
        if !test_all_versions() {
            versions.drain(..versions.len().saturating_sub(1));
        }
        versions
    }

    /// Starts a server with `settings` and waits until it accepts connections.
    ///
    /// # Panics
    /// It does not start; the message contains the server's output.
    pub fn start(version: &Version, settings: &[(&str, &str)]) -> Self {
        match Self::try_start(version, settings) {
            Ok(server) => server,
            Err(why) => panic!("PostgreSQL {} did not start: {why}", version.full),
        }
    }

    /// As [`Postgres::start`].
    ///
    /// # Errors
    /// The output of the server or of `initdb`, or the system's error.
    pub fn try_start(version: &Version, settings: &[(&str, &str)]) -> Result<Self, String> {
        let run_as = RunAs::choose();
        // Under the shortest temporary folder: a Unix socket's path has at most 107 bytes.
        let folder = tempfile::Builder::new()
            .prefix("dyno-pg-")
            .tempdir()
            .map_err(|e| format!("no temporary folder: {e}"))?;
        // Clients of any user may pass through to the socket.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))
            .map_err(|e| e.to_string())?;
        let data = template::data_dir(version, run_as, folder.path().join("data"))?;
        let mut server = Self { version: version.clone(), run_as, data, folder, port: 0, child: None };
        server.configure(settings)?;
        template::give_ownership(server.folder.path(), run_as)?;
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

    /// Starts a standby that streams from this server, and waits until it accepts connections.
    ///
    /// # Panics
    /// It does not start; the message contains its output.
    #[must_use]
    pub fn standby(&self) -> Self {
        match self.try_standby() {
            Ok(standby) => standby,
            Err(why) => panic!("the standby did not start: {why}"),
        }
    }

    fn try_standby(&self) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("dyno-pg-").tempdir().map_err(|e| e.to_string())?;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))
            .map_err(|e| e.to_string())?;
        template::give_ownership(folder.path(), self.run_as)?;
        let mut backup = Command::new(self.version.bins.join("pg_basebackup"));
        backup.arg("-D").arg(folder.path().join("data")).args(["-X", "stream", "-c", "fast", "-R"]);
        backup.args(["-h", "127.0.0.1", "-U", self.superuser(), "-p", &self.port.to_string()]);
        backup.env_remove("PGPASSWORD").current_dir("/");
        if let Some(user) = self.run_as {
            user.apply(&mut backup);
        }
        run(&mut backup)?;
        let mut standby = Self {
            version: self.version.clone(),
            run_as: self.run_as,
            data: DataDir::of(folder.path().join("data")),
            folder,
            port: free_port()?,
            child: None,
        };
        let socket_dir = standby.socket_dir().display().to_string();
        let settings = standby.data_dir().join("postgresql.auto.conf");
        let mut text = std::fs::read_to_string(&settings).map_err(|e| e.to_string())?;
        // The copied configuration names the primary's folder; the last line of a setting counts.
        text.push_str(&format!("unix_socket_directories = '{socket_dir}'\n"));
        std::fs::write(&settings, text).map_err(|e| e.to_string())?;
        standby.launch()?;
        Ok(standby)
    }

    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The superuser's name; it needs no password.
    pub fn superuser(&self) -> &'static str {
        "postgres"
    }

    /// The port number on loopback and of the socket.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Process ID of the postmaster, the parent of all the server's processes; `None` while it does not run.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// The URL of database `postgres` for the superuser over loopback.
    pub fn url(&self) -> String {
        self.url_of(self.superuser(), "postgres")
    }

    /// The URL of `database` for `user` over loopback.
    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    /// The URL of database `postgres` for the superuser over the Unix socket.
    pub fn socket_url(&self) -> String {
        let folder = self.socket_dir().display().to_string().replace('/', "%2F");
        format!("postgres://{}@{folder}:{}/postgres", self.superuser(), self.port)
    }

    /// The folder of the Unix socket.
    pub fn socket_dir(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    /// Path of the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.data.path().to_path_buf()
    }

    /// The server's log since its first start.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Runs `sql` as the superuser in database `postgres` and returns psql's output, unaligned and without
    /// column headings.
    ///
    /// # Panics
    /// A statement fails.
    pub fn psql(&self, sql: &str) -> String {
        match self.try_psql(self.superuser(), "postgres", sql) {
            Ok(text) => text,
            Err(said) => panic!("psql failed: {said}\n{sql}"),
        }
    }

    /// Runs `sql` as `user` in `database`; stops at the first statement that fails.
    ///
    /// # Errors
    /// psql's error output.
    pub fn try_psql(&self, user: &str, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.version.bins.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", user, "-d", database, "-c", sql]);
        psql.arg("-h").arg(self.socket_dir()).arg("-p").arg(self.port.to_string());
        psql.env("PGOPTIONS", "").current_dir("/");
        let output = psql.output().map_err(|e| format!("{psql:?} cannot be run: {e}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
        }
    }

    /// Replaces `pg_hba.conf` and makes the server read it.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn set_hba(&self, text: &str) {
        let path = self.data_dir().join("pg_hba.conf");
        std::fs::write(&path, text).expect("the test's own folder can be written");
        self.psql("SELECT pg_reload_conf()");
    }

    /// Writes a file into the data directory, owned by the server and unreadable to others; returns its path.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn put_file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.data_dir().join(name);
        std::fs::write(&path, content).expect("the test's own folder can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
            .expect("the file is the test's own");
        template::give_ownership(&path, self.run_as).expect("the file is the test's own");
        path
    }

    /// Makes the server's user the owner of a folder outside the data directory, for a tablespace.
    ///
    /// # Panics
    /// The folder does not belong to the test.
    pub fn give_to_server(&self, folder: &Path) {
        template::give_ownership(folder, self.run_as).expect("the folder is the test's own");
    }

    /// Stops the server cleanly: it disconnects sessions and checkpoints its data.
    ///
    /// # Panics
    /// It does not stop.
    pub fn stop(&mut self) {
        assert!(self.end(libc::SIGINT), "the server did not stop:\n{}", self.log());
    }

    /// Kills every process of the server with SIGKILL, like a power failure that leaves the disks intact.
    pub fn kill9(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let postmaster = child.id();
        // Stopped first, so that it starts no process that would be missed.
        child::signal(postmaster, libc::SIGSTOP);
        let backends = child::children(postmaster);
        child::signal(postmaster, libc::SIGKILL);
        backends.iter().for_each(|&pid| child::signal(pid, libc::SIGKILL));
        let _ = child.wait();
        // Its shared memory is free only when all processes are gone; a restart fails before that.
        wait_until(ENDED_WITHIN, || backends.iter().all(|&pid| child::ended(pid)));
    }

    /// Starts the server again on the same port after [`Postgres::stop`] or [`Postgres::kill9`]; stops it
    /// first if it runs.
    ///
    /// # Panics
    /// It does not start.
    pub fn restart(&mut self) {
        if self.child.is_some() {
            self.stop();
        }
        if let Err(said) = self.launch() {
            panic!("PostgreSQL {} did not start again: {said}", self.version.full);
        }
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn configure(&self, settings: &[(&str, &str)]) -> Result<(), String> {
        let socket_dir = self.socket_dir().display().to_string();
        let base = [("listen_addresses", "127.0.0.1"), ("unix_socket_directories", socket_dir.as_str())];
        let mut text = String::new();
        for (name, value) in base.iter().chain(settings) {
            text.push_str(&format!("{name} = '{}'\n", value.replace('\'', "''")));
        }
        let path = self.data_dir().join("postgresql.auto.conf");
        std::fs::write(&path, text).map_err(|e| format!("{} cannot be written: {e}", path.display()))
    }

    fn launch(&mut self) -> Result<(), String> {
        let open = |path: &Path| File::options().create(true).append(true).open(path);
        let log = open(&self.log_path()).map_err(|e| format!("the log cannot be opened: {e}"))?;
        let log_before = self.log().len();
        let mut command = Command::new(self.version.bins.join("postgres"));
        command.arg("-D").arg(self.data_dir()).arg("-p").arg(self.port.to_string()).current_dir("/");
        command.stdin(std::process::Stdio::null());
        command.stdout(log.try_clone().map_err(|e| e.to_string())?).stderr(log);
        if let Some(user) = self.run_as {
            user.apply(&mut command);
        }
        let mut child = child::spawn(command).map_err(|e| format!("postgres cannot be run: {e}"))?;
        let mut exited = false;
        let socket = self.socket_dir().join(format!(".s.PGSQL.{}", self.port));
        let settled = wait_until(READY_WITHIN, || {
            exited = matches!(child.try_wait(), Ok(Some(_)));
            exited || accepts(&socket)
        });
        self.child = Some(child);
        if exited || !settled {
            self.end(libc::SIGQUIT);
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
        if obeyed {
            self.child = None;
        } else {
            self.kill9();
        }
        obeyed
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.end(libc::SIGQUIT);
    }
}

pub(crate) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("no free port: {e}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|e| e.to_string())
}

/// Whether the server answers a startup packet with an authentication request, which it does only after
/// recovery.
fn accepts(socket: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket) else { return false };
    let mut packet = vec![0, 0, 0, 0, 0, 3, 0, 0];
    packet.extend_from_slice(b"user\0postgres\0database\0postgres\0\0");
    let length = u32::try_from(packet.len()).expect("the packet is a few dozen bytes");
    packet[..4].copy_from_slice(&length.to_be_bytes());
    let mut kind = [0u8; 1];
    let exchange = stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .and_then(|()| stream.write_all(&packet))
        .and_then(|()| stream.read_exact(&mut kind));
    if exchange.is_err() || &kind != b"R" {
        return false;
    }
    // Terminate, so that the log shows no broken connection.
    let _ = stream.write_all(b"X\0\0\0\x04");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    true
}
