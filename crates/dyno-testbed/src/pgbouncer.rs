//! PgBouncer in front of a PostgreSQL server: a hard case, since poolers break what sessions rely on.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, RunAs, wait_until};
use crate::postgres::{Postgres, free_port};
use crate::template;

/// The longest wait for it to accept connections or to end.
const WITHIN: Duration = Duration::from_secs(20);

/// One PgBouncer with transaction pooling, a child of the test.
#[derive(Debug)]
pub struct PgBouncer {
    port: u16,
    child: Child,
    _folder: TempDir,
}

impl PgBouncer {
    /// Starts `program` in front of `server`.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(program: &Path, server: &Postgres) -> Self {
        let folder = tempfile::Builder::new().prefix("dyno-pgb-").tempdir().expect("a temporary folder");
        let port = free_port().expect("a free port");
        let users = folder.path().join("users");
        let config = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = transaction\n\
             ignore_startup_parameters = extra_float_digits,options\n",
            server.port(),
            users.display()
        );
        std::fs::write(&users, "\"postgres\" \"\"\n").expect("the test's own folder can be written");
        std::fs::write(&config, text).expect("the test's own folder can be written");
        let run_as = RunAs::choose();
        template::own(folder.path(), run_as).expect("the folder is the test's own");
        let mut command = Command::new(program);
        command.arg("-q").arg(&config).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
        if let Some(user) = run_as {
            user.apply(&mut command);
        }
        let child = child::spawn(command).expect("pgbouncer can be run");
        let ready = wait_until(WITHIN, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(ready, "pgbouncer accepted no connection in time");
        Self { port, child, _folder: folder }
    }

    /// The URL of database `postgres` for the superuser through the pooler.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        child::signal(self.child.id(), libc::SIGQUIT);
        if !wait_until(WITHIN, || !matches!(self.child.try_wait(), Ok(None))) {
            child::signal(self.child.id(), libc::SIGKILL);
            let _ = self.child.wait();
        }
    }
}
