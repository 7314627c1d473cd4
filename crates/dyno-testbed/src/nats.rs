//! A real NATS server.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, RunAs, wait_until};
use crate::postgres::free_port;
use crate::skip::skip;
use crate::template;

/// The longest wait for it to answer or to end.
const WITHIN: Duration = Duration::from_secs(60);
/// Where Debian's package and a local build install it.
const PROGRAMS: [&str; 3] = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];

/// One NATS server, a child of the test.
#[derive(Debug)]
pub struct Nats {
    port: u16,
    folder: TempDir,
    arguments: Vec<String>,
    child: Option<Child>,
}

impl Nats {
    /// Starts one with these `arguments` besides its address. Returns `None` and counts a skip if it is not
    /// installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        Self::with_config("", arguments)
    }

    /// Like [`Nats::start`] with a configuration file of this text; `FOLDER` in it stands for the server's
    /// own folder.
    ///
    /// # Panics
    /// It does not start.
    pub fn with_config(config: &str, arguments: &[&str]) -> Option<Self> {
        Self::with_files(config, &[], arguments)
    }

    /// Like [`Nats::with_config`] with these files, by name and text, in the server's own folder.
    ///
    /// # Panics
    /// It does not start.
    pub fn with_files(config: &str, files: &[(&str, &str)], arguments: &[&str]) -> Option<Self> {
        if program().is_none() {
            skip("the test with NATS", "nats-server is not here; run scripts/testbeds.sh");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("dyno-nats-").tempdir().expect("a temporary folder");
        let mut arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("the test's own folder can be written");
        }
        if !config.is_empty() {
            let path = folder.path().join("nats.conf");
            let text = config.replace("FOLDER", &folder.path().display().to_string());
            std::fs::write(&path, text).expect("the test's own folder can be written");
            arguments.extend(["-c".to_owned(), path.display().to_string()]);
        }
        let mut nats = Self { port: free_port().expect("a free port"), folder, arguments, child: None };
        nats.start_server();
        Some(nats)
    }

    /// Host and port on which it listens, without a scheme.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// URL at which it listens.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address())
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts it, or starts it again at the same address after it was stopped.
    ///
    /// # Panics
    /// It does not start.
    pub fn start_server(&mut self) {
        let run_as = RunAs::choose();
        template::give_ownership(self.folder.path(), run_as).expect("the folder is the test's own");
        let mut command = Command::new(program().expect("it was there before"));
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string()]).args(&self.arguments);
        self.child = Some(child::serve(command, run_as).expect("nats-server can be run"));
        let answers = || TcpStream::connect(self.address()).is_ok();
        assert!(wait_until(WITHIN, answers), "nats-server did not answer in time");
    }

    /// Kills it, like a crash.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended already; that is fine.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

fn program() -> Option<PathBuf> {
    PROGRAMS.iter().map(PathBuf::from).find(|path| path.exists())
}
