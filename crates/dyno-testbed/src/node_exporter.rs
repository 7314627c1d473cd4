//! A real node_exporter on a loopback port.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{self, wait_until};
use crate::postgres::free_port;
use crate::skip::skip;

/// The longest wait for it to answer.
const WITHIN: Duration = Duration::from_secs(60);

const PROGRAM: &str = "/usr/bin/prometheus-node-exporter";

/// One node_exporter, a child of the test.
#[derive(Debug)]
pub struct NodeExporter {
    port: u16,
    child: Child,
    _folder: TempDir,
}

impl NodeExporter {
    /// Starts one with these options. Returns `None` and counts a skip if it is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(options: &[&str]) -> Option<Self> {
        Self::start_with(&[], options)
    }

    /// Like [`NodeExporter::start`] with these files, by name and text, in its own folder; a file `web.yml`
    /// configures access to it.
    ///
    /// # Panics
    /// It does not start.
    pub fn start_with(files: &[(&str, &str)], options: &[&str]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            skip("the test with node_exporter", "it is not here; run scripts/testbeds.sh");
            return None;
        }
        let port = free_port().expect("a free port");
        let mut command = Command::new(PROGRAM);
        command.arg(format!("--web.listen-address=127.0.0.1:{port}")).args(options);
        let folder = tempfile::Builder::new().prefix("dyno-node-").tempdir().expect("a temporary folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("the test's own folder can be written");
            if *name == "web.yml" {
                command.arg(format!("--web.config.file={}", folder.path().join(name).display()));
            }
        }
        let child = child::serve(command, None).expect("node_exporter can be run");
        let exporter = Self { port, child, _folder: folder };
        let ready = wait_until(WITHIN, || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(ready, "node_exporter does not listen");
        Some(exporter)
    }

    /// Loopback port on which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its URL as plans write it.
    pub fn url(&self) -> String {
        format!("node-exporter://127.0.0.1:{}", self.port)
    }
}

impl Drop for NodeExporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
