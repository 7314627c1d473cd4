//! PgBouncer in front of a PostgreSQL server. It is a hard case, since poolers break assumptions about
//! sessions.

use std::ffi::OsString;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, RunAs, wait_until};
use crate::mysql_bins::unpacked;
use crate::postgres::{Postgres, free_port};
use crate::skip::skip;
use crate::{template, testbeds_dir};

/// The longest wait for it to accept connections or to end.
const WITHIN: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BouncerVersion {
    /// The full version, such as `1.18.0`.
    pub full: String,
    /// Whether it supports prepared statements, as it does since 1.21.
    pub carries: bool,
    words: Vec<OsString>,
}

impl BouncerVersion {
    /// The system's version and the newest, where installed; reports and counts what is missing.
    pub fn available() -> Vec<Self> {
        let system = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(Path::new);
        let system = system.into_iter().find(|path| path.exists()).map(|path| vec![path.into()]);
        let root = testbeds_dir().join("pgbouncer").canonicalize().ok();
        let newest = root.and_then(|root| unpacked(&root, "usr/sbin/pgbouncer"));
        let candidates = [("the system's PgBouncer", system), ("the newest PgBouncer", newest)];
        let versions = candidates.into_iter().filter_map(|(name, words)| {
            let version = words.and_then(Self::of);
            if version.is_none() {
                skip(&format!("the test behind {name}"), "it is not here; run scripts/testbeds.sh");
            }
            version
        });
        versions.collect()
    }

    fn of(words: Vec<OsString>) -> Option<Self> {
        let output = Command::new(&words[0]).args(&words[1..]).arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        // `PgBouncer 1.18.0`
        let full = text.split_whitespace().nth(1)?.to_owned();
        let mut numbers = full.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let carries = (numbers.next()?, numbers.next()?) >= (1, 21);
        Some(Self { full, carries, words })
    }
}

/// One PgBouncer with transaction pooling, a child of the test.
#[derive(Debug)]
pub struct PgBouncer {
    port: u16,
    child: Child,
    _folder: TempDir,
}

impl PgBouncer {
    /// Starts `version` in front of `server`, with further lines of `settings`.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(version: &BouncerVersion, server: &Postgres, settings: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("dyno-pgb-").tempdir().expect("a temporary folder");
        let port = free_port().expect("a free port");
        let users = folder.path().join("users");
        let config = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = transaction\n\
             ignore_startup_parameters = extra_float_digits,options\n{settings}\n",
            server.port(),
            users.display()
        );
        std::fs::write(&users, "\"postgres\" \"\"\n").expect("the test's own folder can be written");
        std::fs::write(&config, text).expect("the test's own folder can be written");
        let run_as = RunAs::choose();
        template::give_ownership(folder.path(), run_as).expect("the folder is the test's own");
        let mut command = Command::new(&version.words[0]);
        command.args(&version.words[1..]).arg("-q").arg(&config);
        let child = child::serve(command, run_as).expect("pgbouncer can be run");
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
